// Package source is what the author of a source reads: Connector describes the binary, Source is what to implement, Out is where records and state go.
// Main owns everything else: the command line, the wire formats, statuses, signals and the one writer to stdout.
package source

import (
	"context"
	"time"

	"github.com/estuary/connectors/protocol"
)

// Connector describes a binary. C is its config struct, R its per-stream resource struct; Main decodes both strictly before New is called.
type Connector[C, R any] struct {
	Name    string // "source-postgres"
	Title   string // "PostgreSQL"
	Version string
	DocsURL string
	// ResourcePath holds JSON pointers into R: their values are a stream's identity.
	ResourcePath []string
	// MemoryBytes is the sum of the connector's buffers; Main sets GOMEMLIMIT to 0.85 of it. 0: no limit.
	MemoryBytes int64
	// Cores is how many goroutines may run at the same moment; 0: as many as the machine has cores. A source with a single stream of work saves the
	// wake-ups of other threads with 1.
	Cores int
	// New makes the source. It must not touch the network.
	New func(C) (Source, error)
}

// Source is one configured source. Methods are called one at a time.
type Source interface {
	// Check looks for everything that would stop a read, and never writes. task is as in Request; bs is what is configured, nil when unknown. It returns
	// an errors.Join of *protocol.Problem; any other error means "could not check".
	Check(ctx context.Context, task string, bs []protocol.Binding) error
	// Discover lists the streams.
	Discover(ctx context.Context) ([]protocol.Stream, error)
	// Read captures until it has caught up, or after req.Stop until the next checkpoint, and returns nil then. When ctx is cancelled it returns at once.
	Read(ctx context.Context, req Request, out *Out) error
	Close() error
}

// Request says what to read.
type Request struct {
	Bindings []protocol.Binding
	// Task is the capture's name where the runner gives one (Flow, pipeline); else empty.
	Task string
	// Range is always set.
	Range protocol.Range
	// Tail: go on after catching up.
	Tail bool
	// Stop is closed to ask for an end at the next checkpoint: cancelling ctx would close database connections before it.
	Stop <-chan struct{}
	// Durable holds the newest durable checkpoint; capacity 1, older values are overwritten. Nil when this runner never acknowledges.
	Durable <-chan Mark
	// KeepsTail: the runner may keep records that came after the last checkpoint of a killed run (Airbyte commands).
	KeepsTail bool
	// HonoursReset: the runner acts on Out.Reset. Where it does not, rows deleted by a TRUNCATE stay downstream.
	HonoursReset bool
}

// Mark numbers checkpoints, from 1, in the order of emission. Zero: none.
type Mark uint64

// Progress is what an operator wants to know of a stream.
type Progress struct {
	RowsDone     int64
	RowsExpected int64 // 0: unknown
	Lag          time.Duration
}
