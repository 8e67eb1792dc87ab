// Package protocol is the neutral vocabulary that every connector speaks: streams and their schemas, bindings with their state, ranges of the key
// space, and the problems that are told to people. It knows no wire format: internal/airbyte and internal/flow render it.
//
// Start with Stream (what a source offers) and Binding (what a runner asked for).
package protocol
