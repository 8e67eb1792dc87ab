package sqlcapture

import (
	"context"
	"time"

	"github.com/estuary/connectors/protocol"
)

// Choice is what to do when something happens that cannot be repaired unseen.
type Choice string

// The choices of Options.
const (
	Fail       Choice = "fail"
	Warn       Choice = "warn"
	Rebackfill Choice = "rebackfill"
)

// Options are the engine's settings. Zero values mean the defaults in brackets.
type Options struct {
	// Table names the table of a binding [namespace and name of its stream].
	Table func(protocol.Binding) TableName
	// ChunkRows is the most rows that one chunk reads [50,000].
	ChunkRows int
	// OnGap: the log no longer holds the changes after a stream's position [Fail] | Rebackfill.
	OnGap Choice
	// OnTruncate, for runners that do not honour Reset [Warn] | Fail.
	OnTruncate Choice
	// OnRewrite: a column with a default was added, or a type changed [Warn] | Rebackfill.
	OnRewrite Choice
	// SkipBackfill tells which tables start with their changes only; nil: none.
	SkipBackfill func(TableName) bool
	// Rediscover is the time between two looks at the catalog; each wait is multiplied by a random factor in [0.5, 1.5) [15 min]. Whether a table was
	// replaced or its key changed is looked at 15 times as often.
	Rediscover time.Duration
	// MaxRuntime ends a tailing run cleanly at the first checkpoint after it, so that the next start confirms what is durable by then; 0: never.
	MaxRuntime time.Duration
	// MaxUnackedBytes ends a tailing run cleanly once so many bytes of log were consumed without an acknowledgement; 0: never.
	MaxUnackedBytes int64
	// Clock is the time [the system's].
	Clock Clock
}

// Clock is where the engine gets its time.
type Clock interface {
	Now() time.Time
	// Sleep returns early with ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (o Options) withDefaults() Options {
	if o.ChunkRows <= 0 {
		o.ChunkRows = 50_000
	}
	if o.Table == nil {
		o.Table = func(b protocol.Binding) TableName { return TableName{b.Stream.Namespace, b.Stream.Name} }
	}
	if o.OnGap == "" {
		o.OnGap = Fail
	}
	if o.OnTruncate == "" {
		o.OnTruncate = Warn
	}
	if o.OnRewrite == "" {
		o.OnRewrite = Warn
	}
	if o.Rediscover <= 0 {
		o.Rediscover = 15 * time.Minute
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return o
}
