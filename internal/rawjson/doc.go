// Package rawjson reads JSON text without decoding it: values come back as views of the input, numbers and strings byte for byte as they were written.
// Nothing here allocates per value. Everything that is scanned is checked against RFC 8259, so that a second pass is never needed.
//
// Start with Object and Extractor. Of members with one name the last counts, as in encoding/json and PostgreSQL's jsonb; Object shows them all.
// Like encoding/json, it lets bytes pass that are no UTF-8; AppendUnquoted and AppendQuoted write U+FFFD for them.
package rawjson
