package filesource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/filesource/sweep"
	"github.com/estuary/connectors/internal/keyrange"
	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// reader is one Read.
type reader struct {
	*Source
	bucket  blob.Bucket
	req     source.Request
	out     *source.Out
	binding int
	parser  parser.Config

	mu      sync.Mutex // guards machine: the planner and the workers ask it, the emitter tells it
	machine *sweep.Machine

	ahead  *budget       // bytes of small objects
	ranged chan struct{} // whoever holds the token may fetch in ranges

	emitter emitter
	listing time.Duration // what listing took in this sweep
}

func (s *Source) newReader(bucket blob.Bucket, req source.Request, out *source.Out, binding int) (*reader, error) {
	b := req.Bindings[binding]
	r := &reader{
		Source: s, bucket: bucket, req: req, out: out, binding: binding,
		ahead: newBudget(s.limits.aheadBytes), ranged: make(chan struct{}, 1),
	}
	r.parser = s.parserConfig(b)
	r.parser.OnWarning = func(sentence string) { log.Warn(sentence) }
	r.parser.OnInfo = func(sentence string) { log.Debug(sentence) }
	hash, err := json.Marshal(r.parser)
	if err != nil {
		return nil, fmt.Errorf("hashing the parser's configuration: %w", err)
	}
	owns := func(key string) bool {
		return s.settings.wanted(key) && keyrange.Owns(req.Range, s.settings.name(key))
	}
	a := s.settings.Advanced
	r.machine, err = sweep.New(b.State, sweep.Rules{
		Bucket: s.settings.Bucket, Lookback: a.Lookback, Horizon: a.Horizon, Ascending: a.AscendingKeys,
		Config: fmt.Sprintf("%016x", keyrange.Sum64(string(hash))), Owns: owns,
	})
	if err != nil {
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: "the state of " + b.Stream.Name + " is not one that this source wrote", Fix: "read from the start, without it", Err: err}
	}
	if r.machine.Restarted() {
		log.Warn("the parser's configuration is another one than before: the file that was read in part is read from its start")
	}
	r.emitter = emitter{reader: r, patched: s.now()}
	return r, nil
}

// parserConfig is the user's, and what a document needs to have a key.
func (s *Source) parserConfig(b protocol.Binding) parser.Config {
	return parser.Merge(s.settings.Parser, parser.Config{
		AddRecordOffset: offsetPointer, Projections: b.Projections, Schema: sorted(b.Schema),
	})
}

// sorted orders the members of a schema's objects by name: a runner may send them in another order each time, and the configuration is the same one then.
func sorted(schema json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || value == nil {
		return schema // the parser tells what is wrong
	}
	text, err := json.Marshal(value)
	if err != nil {
		return schema
	}
	return text
}

// errStopped ends a sweep at its last checkpoint.
var errStopped = errors.New("stopped")

// run sweeps until it has caught up, or was stopped.
func (r *reader) run(ctx context.Context) error {
	for {
		end, err := r.sweep(ctx)
		switch {
		case errors.Is(err, errStopped):
			return nil
		case err != nil:
			return err
		case end.Again:
			continue
		case !r.req.Tail:
			return r.emitter.checkpoint()
		}
		if err := r.emitter.idle(); err != nil {
			return err
		}
		const listings = 5
		select {
		case <-r.after(max(r.settings.Advanced.PollInterval, listings*r.listing)):
		case <-r.req.Stop:
			return r.emitter.checkpoint()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sweep runs planner, workers and emitter over one listing. When it returns, all have ended.
func (r *reader) sweep(ctx context.Context) (end sweep.End, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	units, work := make(chan *unit, r.limits.inFlight), make(chan *unit, r.limits.inFlight)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(units)
		defer close(work)
		p := planner{reader: r, units: units, work: work, running: &running}
		if err := p.run(inner); err != nil {
			cancel(err)
		}
	})
	for range r.limits.workers {
		running.Go(func() {
			for u := range work {
				r.parse(inner, u)
			}
		})
	}
	err = r.emitter.run(inner, units)
	cancel(nil)
	running.Wait()
	r.emitter.tellArchived()
	if err != nil {
		return end, err
	}
	r.emitter.told()
	end = r.machine.End()
	if end.Short {
		log.WithField("lookback", end.Left.String()).Warnf("more objects are inside the look-back than can be remembered; what appears with a time more than %s before the newest object is not read", end.Left)
	}
	const skew = time.Minute // of the clocks of one store
	if end.Ahead > skew {
		log.Warnf("the state is %s ahead of the store's clock: what was put, or will be, before that time comes is not read; start without the state if the clock was put back", end.Ahead)
	}
	return end, nil
}

// known tells whether a version that took another's place was read before.
func (r *reader) known(o *blob.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.machine.Known(o)
}
