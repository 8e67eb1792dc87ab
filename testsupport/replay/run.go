package replay

import (
	"fmt"

	"github.com/estuary/connectors/testsupport/wire"
)

// Whole is the place after everything that a run printed.
const Whole = -1

// Run is what one process printed, in order.
type Run struct {
	items  []item
	states []int // indexes of items
	// Messages that are neither records nor states, in order.
	Others []*wire.Message
}

// item is a record of a stream, or a STATE.
type item struct {
	stream   string
	document document
	state    *wire.State
}

// Line takes one line of an Airbyte connector, and keeps it.
func (r *Run) Line(line []byte) (*wire.Message, error) {
	m, err := wire.Airbyte(line)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Record != nil:
		r.items = append(r.items, item{stream: m.Record.Stream.String(), document: parse(m.Record.Data)})
	case m.State != nil:
		r.states = append(r.states, len(r.items))
		r.items = append(r.items, item{state: m.State})
	default:
		r.Others = append(r.Others, m)
	}
	return m, nil
}

// States is how many STATEs the run printed.
func (r *Run) States() int { return len(r.states) }

// State returns the n-th STATE, from 0.
func (r *Run) State(n int) *wire.State { return r.items[r.states[n]].state }

// Records is how many records the run printed.
func (r *Run) Records() int { return len(r.items) - len(r.states) }

// RecordsAfterState is how many records follow the last STATE.
func (r *Run) RecordsAfterState() int {
	if len(r.states) == 0 {
		return len(r.items)
	}
	return len(r.items) - 1 - r.states[len(r.states)-1]
}

// Add folds a run, the n-th of the destination's life. It counts up to STATE number upTo (from 0); Whole: all of it. A STREAM STATE covers its own
// stream only, so records of another stream count up to that one's own last STATE at or before upTo; every other STATE covers all that is before it.
// With KeepsAll everything is folded, and upTo says nothing.
func (f *Fold) Add(n int, r *Run, upTo int) error {
	end := len(r.items)
	covered := map[string]int{} // stream → records before this index count
	all := 0
	switch {
	case upTo == Whole:
		all = end
	case upTo < 0 || upTo >= len(r.states):
		return fmt.Errorf("folding a run up to STATE %d: it printed %d", upTo, len(r.states))
	default:
		for _, at := range r.states[:upTo+1] {
			if s := r.items[at].state; s.Type == "STREAM" && s.Data == nil {
				covered[s.Stream.String()] = at
			} else {
				all = at
			}
		}
	}
	for i, it := range r.items {
		if it.state != nil {
			continue
		}
		if f.KeepsAll || i < all || i < covered[it.stream] {
			f.record(n, it.stream, it.document)
		} else {
			f.Stats.Discarded++
		}
	}
	return nil
}

// Discard forgets a run that printed no STATE to resume from: nothing of it counts, unless the destination keeps all.
func (f *Fold) Discard(n int, r *Run) error {
	if f.KeepsAll {
		return f.Add(n, r, Whole)
	}
	f.Stats.Discarded += int64(r.Records())
	return nil
}

// Document folds a single document, and keeps it, for sessions whose caller decides what counts (Flow).
func (f *Fold) Document(n int, stream string, doc []byte) { f.record(n, stream, parse(doc)) }
