// Package charset turns a text in any encoding of the WHATWG, in UTF-32 or in code page 437 into UTF-8, strictly: bytes that mean nothing in the encoding
// are an error with their position, never U+FFFD.
//
// Read Detect first. UTF-8 itself passes through untouched; whoever reads it has to check it, row by row.
package charset
