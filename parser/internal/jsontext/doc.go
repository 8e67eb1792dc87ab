// Package jsontext writes JSON strings and reads JSON values, for the decoders of the parser: bytes in, bytes out, nothing in between.
//
// [AppendString] and [AppendStringStrict] turn text into a JSON string, eight bytes at a time. [Scanner] cuts a stream of values into objects and checks
// each completely on the way: grammar, escapes, UTF-8, numbers, depth, size. [AppendValue] does the same to one value. [Members] walks over what has been checked.
//
// The package knows no schema and builds no values. Numbers keep their digits, because a detour over a float would round beyond 2^53.
package jsontext
