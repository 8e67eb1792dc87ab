// Package protocoltest holds a connector to what its runners do. Each suite plays one runner, or one part of the protocols, against the built binary:
// over pipes, with real signals, and with decoders of its own, so that a mistake of our wire formats cannot agree with itself.
//
// A connector runs them all from its conformance_test.go:
//
//	func TestConformance(t *testing.T) { protocoltest.Source(t, newFixture) }
//
// where newFixture makes a Fixture with data of its own; a materialization calls protocoltest.Sink with a SinkFixture, an empty destination. A suite returns
// findings, sentences about what a runner would trip over; none is a pass. That each suite can find something is tested here, with a connector that has one
// fault at a time.
package protocoltest
