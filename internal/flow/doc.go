// Package flow is the wire form of the Flow capture and materialize protocols as JSON lines. For sources: the requests that they are sent (DecodeRequest) and
// the responses that they print (Append…); for sinks the same (SinkDecoder, AppendSink…); for runners the other direction (runner_*.go).
// Responses hold no member that the protocol does not know, except "reset", which only a runner that asked for it is sent.
// It holds no state of its own and does no input or output.
package flow
