// Package proto reads Protobuf messages as JSON: a message's bytes in, JSON text out, with no tree of values in between.
//
// Start with [Parse], which compiles the text of a .proto file, then [Message.NewDecoder]: [Decoder.Decode] takes a message apart, [Decoder.AppendField] appends one of its
// fields, [Decoder.Append] the whole. [Reader] cuts a stream into messages.
//
// Values are those of the JSON mapping (https://protobuf.dev/programming-guides/json/), with names as they are declared and three things decided: fields without
// presence are written with their defaults, an enum number without a name is a number, and google.protobuf.Any, whose type is not known here, is
// {"@type":…,"value":base64}.
//
// The compiler is bufbuild's protocompile. Bytes are read by the rules of https://protobuf.dev/programming-guides/encoding/ (plan.go, scan.go, write.go): what is unknown is
// skipped, of a field that comes twice the last counts, messages that come twice are merged.
package proto
