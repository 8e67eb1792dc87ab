// Package pgoutput decodes the messages of PostgreSQL's pgoutput plugin, protocol version 1: bytes to changes, no network, no types of columns.
//
// A Decoder remembers the relations of one replication session. Decode fills a Message whose values are views into the payload, in wire text, and in the
// forms of sqlcapture: nil for NULL, sqlcapture.Absent() for what the log did not send. Decoding a change allocates nothing.
//
// The layouts: https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html.
package pgoutput
