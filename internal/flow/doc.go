// Package flow is the wire form of the Flow capture protocol as JSON lines: the requests that a source is sent (DecodeRequest) and the responses that it
// prints (Append…). Responses hold no member that the protocol does not know, except "reset", which only a runner that asked for it is sent.
// It holds no state of its own and does no input or output.
package flow
