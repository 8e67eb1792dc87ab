// Package jsonkey packs the values of a document's key into a tuple whose bytes sort as the key does: FoundationDB's tuple encoding
// (https://github.com/apple/foundationdb/blob/main/design/tuple.md), as Flow uses it. Null sorts before objects and arrays, then come strings (by code
// point), integers of any size, false and true. Compare tuples with bytes.Compare.
//
// The bytes are a public format: they stand in checkpoints, and file names and document ids are made of them.
//
// Numbers that are integers by value (1.0, 1e3) pack as integers, so that one key has one form however its number is spelled; other numbers are refused,
// because their equality is a matter of rounding. AppendValue takes those, too. Strings pack as UTF-8, so a lone surrogate packs as U+FFFD.
package jsonkey
