// Package pgwire speaks the PostgreSQL wire protocol where it is hot: rows of COPY, out and in, and the messages of logical replication.
//
// Opening a connection (TLS, authentication, fallback hosts, dial functions) is pgconn's job; Connect takes the opened connection over. After
// that every byte goes through here: lengths are checked before they are believed, one message is bounded by a limit, nothing is copied between the socket
// and the caller, and a row or a change costs no allocation.
//
// Start with Conn. Conn.Exec and Conn.ExecParams run statements, Conn.CopyOut returns a CopyReader (rows split into fields), Conn.CopyIn sends rows,
// Conn.StartReplication turns the connection into a Stream. The package knows no type of a column and no message of an output plugin.
//
// The protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html and .../protocol-replication.html.
package pgwire
