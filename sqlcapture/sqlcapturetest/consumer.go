package sqlcapturetest

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/estuary/connectors/internal/keyrange"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// consumer is the runner: it takes the output of all runs, checks it as it comes, and keeps what it needs to resume from any checkpoint.
type consumer struct {
	w        *simdb.World
	scenario Scenario
	trace    func(format string, args ...any)
	tracks   []*track
	slot     string
	parent   string         // slot that a missing one is copied from
	part     protocol.Range // of the key space
	noKill   bool

	// of the current run
	err       error
	partial   []byte
	marks     source.Mark
	states    []int64 // position of each checkpoint of this run
	recordsOf []int   // by binding, since the last checkpoint
	oldest    int     // index of the checkpoint that the next run may go back to
	cut       bool    // the run is dead: nothing more arrives
}

// track is what the consumer holds of one stream.
type track struct {
	items []item // what counts: up to the last checkpoint of each run, then this run's
	kept  []item // everything that ever came
	view  *view
	saved []saved
	// of the current run
	from    int64 // position that this stream was resumed from
	begun   int   // len(items) when the run began
	state   json.RawMessage
	shared  json.RawMessage
	pending int // records since the last STATE
}

// saved is a STATE of a stream.
type saved struct {
	items    int // records before it
	state    json.RawMessage
	shared   json.RawMessage
	position int64
}

func newConsumer(w *simdb.World, s Scenario) *consumer {
	c := &consumer{w: w, scenario: s, recordsOf: make([]int, len(s.DB.Tables)), slot: "slot", part: protocol.FullRange}
	for i := range s.DB.Tables {
		c.tracks = append(c.tracks, &track{view: newView(w, i), saved: []saved{{}}})
	}
	return c
}

// Write implements io.Writer. An error ends the run.
func (c *consumer) Write(p []byte) (int, error) {
	if c.cut || c.w.Crashed() {
		return len(p), nil
	}
	c.partial = append(c.partial, p...)
	for {
		end := bytes.IndexByte(c.partial, '\n')
		if end < 0 {
			return len(p), nil
		}
		var l line
		if c.trace != nil {
			c.trace("%s", c.partial[:end])
		}
		if err := json.Unmarshal(c.partial[:end], &l); err != nil {
			c.err = broken("format", "line %s: %v", c.partial[:end], err)
		} else if c.err == nil {
			c.err = c.take(l)
		}
		c.partial = append(c.partial[:0], c.partial[end+1:]...)
		if c.err != nil {
			return 0, c.err
		}
	}
}

func (c *consumer) take(l line) error {
	t := c.tracks[l.Binding]
	switch {
	case l.State != nil:
		return c.checkpoint(l.State)
	case l.Reset != nil:
		return c.keep(t, item{reset: true, honoured: c.scenario.HonoursReset})
	}
	it, err := parseItem(c.w, t.view.spec, l.Doc)
	if err != nil {
		return err
	}
	if it.lsn != 0 && it.commit <= t.from {
		return broken("I3", "table %d: %s ends at %d, before the position %d that the run began with", t.view.table, it.original, it.commit, t.from)
	}
	if n := len(c.states); it.lsn != 0 && n > 0 && it.commit <= c.states[n-1] {
		return broken("I7", "table %d: %s ends at %d, and comes after the checkpoint at %d", t.view.table, it.original, it.commit, c.states[n-1])
	}
	if !c.owns(l.Binding) {
		return broken("R20", "table %d: %s comes from a process that does not own it", l.Binding, it.original)
	}
	c.recordsOf[l.Binding]++
	t.pending++
	return c.keep(t, it)
}

// owns tells whether a table belongs to this process's part of the key space.
func (c *consumer) owns(table int) bool { return owns(c.part, c.w.Tables()[table].Name) }

func owns(part protocol.Range, n sqlcapture.TableName) bool {
	return keyrange.Owns(part, n.Schema+"."+n.Name)
}

func (c *consumer) keep(t *track, it item) error {
	t.items = append(t.items, it)
	t.kept = append(t.kept, it)
	return t.view.add(it, true)
}

// checkpoint folds the patches and checks where the checkpoint stands.
func (c *consumer) checkpoint(patches []statePatch) error {
	patched := map[int]bool{}
	for _, p := range patches {
		for i, t := range c.tracks {
			var err error
			switch {
			case p.Binding == i:
				patched[i] = true
				if err := c.scanForward(t, p.Patch); err != nil {
					return err
				}
				t.state, err = fold(t.state, p.Patch)
			case p.Binding < 0:
				t.shared, err = fold(t.shared, p.Patch)
			}
			if err != nil {
				return broken("I15", "patch %s: %v", p.Patch, err)
			}
		}
	}
	position := positionIn(c.tracks[0].shared)
	if n := len(c.states); n > 0 && position < c.states[n-1] {
		return broken("I6", "the position went back from %d to %d", c.states[n-1], position)
	}
	if c.w.Inside(position) {
		return broken("I7", "position %d is inside a commit record", position)
	}
	if id := c.w.InvisibleBelow(c.slot, position); id != 0 && c.scenario.checks("I16") {
		return broken("I16", "the checkpoint at %d covers transaction %d, which no snapshot sees yet", position, id)
	}
	c.marks++
	c.states = append(c.states, position)
	clear(c.recordsOf)
	for i, t := range c.tracks {
		for j := len(t.items) - 1; j >= t.begun && j >= t.saved[len(t.saved)-1].items; j-- {
			if it := t.items[j]; it.lsn != 0 && it.commit > position && it.commit > positionIn(t.state) {
				return broken("I7", "table %d: %s ends at %d, and comes before the checkpoint at %d", i, it.original, it.commit, position)
			}
		}
		if c.scenario.Plain && !patched[i] && t.pending == 0 && len(t.saved) > 1 {
			continue // a plain runner gets a STATE for streams with news only
		}
		t.pending = 0
		t.saved = append(t.saved, saved{len(t.items), t.state, t.shared, max(position, positionIn(t.state))})
	}
	return nil
}

// scanForward is I6 for one stream: the scanned key rises.
func (c *consumer) scanForward(t *track, patch json.RawMessage) error {
	type scan struct {
		Mode    string `json:"mode"`
		Scanned []byte `json:"scanned"`
	}
	var before, after scan
	if len(t.state) > 0 {
		if err := json.Unmarshal(t.state, &before); err != nil {
			return broken("I15", "state %s: %v", t.state, err)
		}
	}
	if err := json.Unmarshal(patch, &after); err != nil {
		return broken("I15", "patch %s: %v", patch, err)
	}
	if t.view.spec.Kind == simdb.Ordered && before.Mode == "backfill" && after.Mode == "backfill" && bytes.Compare(after.Scanned, before.Scanned) < 0 {
		return broken("I6", "table %d: the scanned key went back", t.view.table)
	}
	return nil
}

// positionIn reads the position of a shared state or of a stream's; 0: it holds none.
func positionIn(state json.RawMessage) int64 {
	var s struct {
		Position string `json:"position"`
	}
	if len(state) == 0 || json.Unmarshal(state, &s) != nil {
		return 0
	}
	n, err := strconv.ParseInt(s.Position, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// resume drops what came after the checkpoints that the next run starts from, and returns the bindings with their states.
func (c *consumer) resume(p *player, alive bool) ([]protocol.Binding, error) {
	common := -1
	if !c.scenario.Plain {
		common = c.pick(p, c.oldest, len(c.tracks[0].saved), alive)
		c.oldest = common
	}
	var bs []protocol.Binding
	for i, t := range c.tracks {
		at := common
		if c.scenario.Plain {
			at = c.pick(p, 0, len(t.saved), alive)
		}
		t.saved = t.saved[:at+1]
		if c.scenario.Plain {
			t.saved = t.saved[at:] // stored: it never goes back behind it
		}
		s := t.saved[len(t.saved)-1]
		t.items = t.items[:s.items]
		t.state, t.shared, t.from, t.begun, t.pending = s.state, s.shared, s.position, s.items, 0
		t.view = newView(c.w, i)
		for _, it := range t.items {
			if err := t.view.add(it, true); err != nil {
				return nil, err
			}
		}
		name := c.w.Tables()[i].Name
		b := protocol.Binding{
			Stream: protocol.Stream{Name: name.Name, Namespace: name.Schema}, Mode: protocol.Incremental, StateKey: name.Name,
			State: s.state,
		}
		if s.state != nil {
			b.Shared = s.shared
		}
		bs = append(bs, b)
	}
	c.err, c.partial, c.marks, c.states, c.cut = nil, nil, 0, nil, false
	clear(c.recordsOf)
	return bs, nil
}

// pick chooses a checkpoint: the last one, or an earlier one of those that count.
func (c *consumer) pick(p *player, low, n int, alive bool) int {
	if n-low > 1 && alive {
		return n - 1 - p.Choose(min(n-low, 6), simdb.ChooseRun)
	}
	return n - 1
}

// end is what must hold when a run ended by itself.
func (c *consumer) end(tail bool) error {
	for i, n := range c.recordsOf {
		if n > 0 && !tail {
			return broken("I14", "table %d: %d records follow the last checkpoint", i, n)
		}
	}
	return nil
}

// keptView reduces everything that ever came, as a consumer does that keeps the records of killed runs.
func (c *consumer) keptView(i int) (*view, error) {
	v := newView(c.w, i)
	for _, it := range c.tracks[i].kept {
		if it.reset {
			continue // it would repair what is to be seen here
		}
		if err := v.add(it, false); err != nil {
			return nil, err
		}
	}
	return v, nil
}
