package source

import (
	"time"

	"github.com/estuary/connectors/protocol"
)

// Wire is the wire form of one read: how its records and its state are written. Out calls it under its lock, except Opening and AppendClosing, which
// may run at any time. A method appends whole lines to dst and returns it.
type Wire interface {
	// Opening returns what stands before each document of a binding. Called once per binding.
	Opening(binding int) []byte
	// AppendClosing appends what stands after a document that was read at this time, newline included.
	AppendClosing(dst []byte, now time.Time) []byte
	// AppendStart appends what comes before everything else.
	AppendStart(dst []byte, now time.Time) []byte
	// AppendCheckpoint appends the state after the patches. An error means that a patch is no JSON.
	AppendCheckpoint(dst []byte, c Checkpoint) ([]byte, error)
	// AppendEnd appends what comes after everything else.
	AppendEnd(dst []byte, e End) []byte
}

// Checkpoint is the patches of one batch, in order.
type Checkpoint struct {
	Now     time.Time
	Patches []Patch
}

// Patch is an RFC 7396 merge patch; Binding -1 is the state that all bindings share.
type Patch struct {
	Binding int
	JSON    []byte
}

// End is how a read ended.
type End struct {
	Now      time.Time
	CaughtUp bool // false: stopped, or ended by an error
	Open     bool // something was written after the last checkpoint, and the read ended well
	Failures []Failure
	Err      error // the read's own; nil: it ended well
}

// Failure is a stream's problem, told to Out.Fail.
type Failure struct {
	Binding int
	Problem *protocol.Problem
}

// What only some wires have is a one-method interface.
type (
	// recordCounter hears of records before they are written.
	recordCounter interface {
		AppendBeforeRecords(dst []byte, binding, records int, now time.Time) []byte
	}
	failureNoter interface{ noteFailure(binding int) }
	schemaWriter interface {
		AppendSchema(dst []byte, binding int, s protocol.Schema) []byte
	}
	resetWriter interface {
		AppendReset(dst []byte, binding int, why string) []byte
	}
	progressWriter interface {
		AppendProgress(dst []byte, binding int, p Progress, now time.Time) []byte
	}
	// heartbeater repeats something harmless after a long silence.
	heartbeater interface {
		AppendHeartbeat(dst []byte, now time.Time) []byte
	}
)
