// Package parquet reads Apache Parquet files as JSON, value by value: bytes of pages in, JSON text out, no Go value in between.
//
// Start with [Open], which reads the footer, then [File.Rows]: [Rows.Next] goes to a row, [Rows.AppendField] appends one of its fields. Nothing is read of the
// columns that nobody asks for, and a reader that starts at a row skips the pages before it.
//
// github.com/parquet-go/parquet-go knows the structures of the format: footer and page headers are decoded by it, after a check of our own that they do not
// ask for more memory than they may ([checkThrift]). Pages are decoded here, because their sizes and counts are a stranger's: see docs/adr/0014-parquet-go.md.
//
// A column is read in three steps: chunk.go gets its bytes by ranges, page.go opens one page after the other and brings every encoding into one of two forms
// (PLAIN, or indexes into a dictionary whose values are JSON already), column.go goes over levels and values. assemble.go makes nested values of several columns.
//
// What a type looks like in JSON is in leaf.go; rules of the format: https://github.com/apache/parquet-format (Encodings.md, LogicalTypes.md).
package parquet
