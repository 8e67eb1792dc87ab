// Package airbyte is the wire form of the Airbyte protocol for a source: the messages that it prints (Append…), the configured catalog (DecodeCatalog)
// and the state (DecodeState) that it is given. It holds no state of its own and does no input or output.
package airbyte
