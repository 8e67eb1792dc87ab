// Package rows cuts delimited text into rows of fields: CSV, TSV and their kin (Scanner), and the W3C Extended Log Format (W3C).
//
// It gets UTF-8 without a byte order mark and knows nothing of names, types or documents. A row is cut into (start, end, flags) over the read buffer: no
// field is copied, doubled quotes and escapes stay in the text until Dialect.AppendField undoes them. Lines, comments, blank lines, a first line sep=; and a
// last Ctrl-Z are dealt with here. Detect finds out what the user left open.
//
// Quotes are read leniently, and counted: a quote opens a quoted field only as the first character of it, text behind the closing quote belongs to the
// field. A quoted field that is never closed, or not before a field of a later line opens with a quote, is a RowError; scanning goes on with the line after
// the one that opened it, so that one stray quote costs one line and not those behind it.
//
// The same bytes give the same rows however the reader splits them: a row that the buffer does not hold as a whole is cut anew once it does, so that no
// state survives a read. Memory is bounded by Options.MaxRow.
//
// Start with Dialect and Scanner.Next. The common dialects (one ASCII delimiter, LF or CRLF, no escape) go through plain.go, eight bytes at a time; general.go
// knows all of them.
package rows
