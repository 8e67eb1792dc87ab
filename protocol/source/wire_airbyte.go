package source

import (
	"bytes"
	"slices"
	"time"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
)

// allStates is how often a plain runner gets the state of every stream, changed or not: the log position in it moves on.
const allStates = time.Minute

// AirbyteWire is the wire form of the Airbyte commands for a plain runner, which replaces a stream's state by each STATE: states are whole, each with its
// own copy of the shared part.
func AirbyteWire(bs []protocol.Binding) Wire {
	w := &plainWire{airbyteStreams: newAirbyteStreams(bs), moved: make([]bool, len(bs))}
	for _, b := range bs {
		if w.newcomers == nil && b.Shared != nil {
			w.newcomers = folded(b.Shared)
		}
	}
	for i, b := range bs {
		w.states = append(w.states, folded(b.State))
		w.given = append(w.given, b.State != nil)
		w.shared = append(w.shared, folded(b.Shared))
		if b.Shared == nil {
			w.shared[i] = w.newcomers
		}
	}
	return w
}

// plainWire renders whole states.
type plainWire struct {
	*airbyteStreams
	states    []folded
	given     []bool   // the stream has a state of its own: from the runner, or patched since
	shared    []folded // by binding: copies of different ages come back from the runner
	newcomers folded   // the copy that streams without a state start from
	moved     []bool   // the shared part is another one than in the stream's last STATE
	lastAll   time.Time
}

var (
	_ recordCounter  = (*plainWire)(nil)
	_ progressWriter = (*plainWire)(nil)
	_ heartbeater    = (*plainWire)(nil)
	_ failureNoter   = (*plainWire)(nil)
)

func (w *plainWire) AppendStart(dst []byte, now time.Time) []byte {
	w.lastAll = now
	return w.airbyteStreams.AppendStart(dst, now)
}

func (w *plainWire) AppendCheckpoint(dst []byte, c Checkpoint) ([]byte, error) {
	due := make([]bool, len(w.streams))
	for _, p := range c.Patches {
		if p.Binding == sharedBinding {
			if err := w.foldShared(p.JSON); err != nil {
				return nil, patchError(p, err)
			}
			continue
		}
		state, err := w.states[p.Binding].fold(p.JSON)
		if err != nil {
			return nil, patchError(p, err)
		}
		w.states[p.Binding], w.given[p.Binding], due[p.Binding] = state, true, true
	}
	all := c.Now.Sub(w.lastAll) >= allStates
	if all {
		w.lastAll = c.Now
	}
	for i := range w.streams {
		if due[i] || w.streams[i].records > 0 || all && w.given[i] {
			dst = w.appendState(dst, i, c.Now)
		}
	}
	return dst, nil
}

// foldShared applies the patch to every copy. Copies of the same bytes are folded once: after a few checkpoints all are the same.
func (w *plainWire) foldShared(patch []byte) error {
	type result struct{ before, after folded }
	var done []result
	for i, before := range w.shared {
		k := slices.IndexFunc(done, func(r result) bool { return bytes.Equal(r.before, before) })
		if k < 0 {
			after, err := before.fold(patch)
			if err != nil {
				return err
			}
			k, done = len(done), append(done, result{before, after})
		}
		w.shared[i], w.moved[i] = done[k].after, true
	}
	return nil
}

// appendState writes the stream's state. A failed stream keeps the last one: its position would claim what nobody read.
func (w *plainWire) appendState(dst []byte, binding int, now time.Time) []byte {
	s := &w.streams[binding]
	if s.failed {
		return dst
	}
	s.stated = now
	dst = airbyte.AppendState(dst, airbyte.StreamState{Descriptor: s.descriptor, State: w.whole(binding), Records: s.records})
	s.records, w.moved[binding] = 0, false
	return dst
}

// whole returns the state of a stream with its copy of the shared part.
func (w *plainWire) whole(binding int) []byte {
	return joinShared(w.states[binding], w.shared[binding])
}

// AppendEnd writes the state of every stream whose last STATE is not the same, then the statuses, then what failed. After an error a stream whose last records
// no state covers gets none.
func (w *plainWire) AppendEnd(dst []byte, e End) []byte {
	for i := range w.streams {
		s := &w.streams[i]
		covered := s.records == 0 || e.Err == nil
		told := !s.stated.IsZero() && s.records == 0 && !w.moved[i]
		if covered && !told && (w.given[i] || e.CaughtUp) {
			dst = w.appendState(dst, i, e.Now)
		}
	}
	return w.airbyteStreams.AppendEnd(dst, e)
}

// AppendHeartbeat repeats the state of the stream that has waited longest for one, among those without records since: it says nothing new.
func (w *plainWire) AppendHeartbeat(dst []byte, now time.Time) []byte {
	oldest := -1
	for i := range w.streams {
		s := &w.streams[i]
		if s.records == 0 && !s.failed && w.given[i] && (oldest < 0 || s.stated.Before(w.streams[oldest].stated)) {
			oldest = i
		}
	}
	if oldest < 0 {
		return dst
	}
	return w.appendState(dst, oldest, now)
}
