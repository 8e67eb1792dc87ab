package sqlcapturetest

// fault is one changed line of the engine. The explorer is not told which; it has to find a schedule that shows it.
type fault struct {
	name string // the letter is sql-cdc §4.1's
	file string // in sqlcapture
	old  string // a line, without the space around it; it must stand exactly once in the file
	new  string
	// ignore switches off checks that see the cause and not the effect, so that the effect has to show.
	ignore string
	shows  []string // the invariants that may break
	// shape and within: the first seeds of this shape have to show it; empty: any of any shape.
	shape  string
	within int
}

var faults = []fault{
	{
		name: "a: contained events are dropped by key alone", file: "stream.go",
		old: `return w.lacks(txn)`, new: `return w.lacks(txn) && false`,
		ignore: "I14", shows: []string{"I1", "I3"},
	},
	{
		name: "a: no contained event is dropped", file: "stream.go",
		old: `return w.lacks(txn)`, new: `return w.lacks(txn) || true`,
		shows: []string{"I2", "I3"},
	},
	{
		name: "a: no contained event is dropped, keys without engine order", file: "stream.go",
		old: `return w == nil || !w.keys.has(key) || w.lacks(txn)`, new: `return true`,
		shows: []string{"I2", "I3"},
	},
	{
		name: "a: contained events are dropped by key alone, keys without engine order", file: "stream.go",
		old: `return w == nil || !w.keys.has(key) || w.lacks(txn)`, new: `return w == nil || !w.keys.has(key)`,
		ignore: "I14", shows: []string{"I1", "I3"},
	},
	{
		name: "a: no contained event is dropped, keyless", file: "stream.go",
		old: `return s.paged || w == nil || w.lacks(txn)`, new: `return true`,
		shows: []string{"I2", "I3"},
	},
	{
		name: "b: the filter reaches the keys of earlier chunks", file: "stream.go",
		old:    `case s.scanned != nil && bytes.Compare(key, s.scanned) <= 0:`,
		new:    `case s.scanned != nil && bytes.Compare(key, s.scanned) <= 0 && (w == nil || !w.snapshot.Contains(txn)):`,
		ignore: "I14", shows: []string{"I1", "I3"},
	},
	{
		name: "c: the log is opened where it ends after the first chunk", file: "chunk.go",
		old: `if w.fence, err = e.log.Fence(ctx); err != nil {`,
		new: `if newest, _ := e.db.ParsePosition([]byte("\"1000000000\"")); w.from == nil { if l, _, err := e.db.Opener.Open(ctx, newest); err == nil { e.log = l } }; ` +
			`if w.fence, err = e.log.Fence(ctx); err != nil {`,
		shows: []string{"I1", "I3", "I14", "I16"},
	},
	{
		name: "d: events above the scanned keys are dropped in an active table", file: "stream.go",
		old: `case s.phase == active:`, new: `case s.phase == active && (!s.ordered || s.key == nil || bytes.Compare(key, rowkey.AppendInt(nil, s.rows)) < 0):`,
		shows: []string{"I1", "I3", "I14"},
	},
	{
		name: "e: a state between a chunk and its fence", file: "chunk.go",
		old:   `s.phase, s.window, e.window, e.clean = backfill, w, s, false`,
		new:   `s.phase, s.window, e.window = backfill, w, s; err = e.emitState(); e.clean = false; return err`,
		shows: []string{"I1", "I2", "I3"},
	},
	{
		name: "e: a state between a chunk and its fence, with the keys that are waiting for it", file: "chunk.go",
		old: `s.phase, s.window, e.window, e.clean = backfill, w, s, false`,
		new: `s.phase, s.window, e.window = backfill, w, s; old := s.scanned; if s.scanned, s.dirty = w.to, true; w.end && s.key == nil { s.phase = active }; ` +
			`err = e.emitState(); s.phase, s.scanned, e.clean = backfill, old, false; return err`,
		shows: []string{"I1", "I2", "I3", "I6"},
	},
	{
		name: "f: a chunk is read while a consumed transaction is not visible", file: "engine.go",
		old: `if e.clean {`, new: `if e.clean = e.clean || !e.inTxn && e.window == nil; e.clean {`,
		ignore: "I14", shows: []string{"I1", "I2", "I3"},
	},
	{
		name: "g: a state while a consumed transaction is not visible", file: "checkpoint.go",
		old: `if err := e.settle(ctx); err != nil {`, new: `if err := e.prune(ctx, true); err != nil {`,
		shows: []string{"I16"},
	},
	{
		name: "g: the same, by what is lost", file: "checkpoint.go",
		old: `if err := e.settle(ctx); err != nil {`, new: `if err := e.prune(ctx, true); err != nil {`,
		ignore: "I16,I14", shows: []string{"I1", "I2", "I3"},
	},
	{
		name: "i: the line for deletes is off", file: "stream.go",
		old: `return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)`, new: `return w != nil && false`,
		shows: []string{"I1"},
	},
	{
		name: "i: not while pending", file: "stream.go",
		old: `if !isDelete || !e.alwaysDeletes || s.key == nil {`, new: `if !isDelete || !e.alwaysDeletes || s.key == nil || s.phase == pending {`,
		shows: []string{"I1"},
	},
	{
		name: "i: not between windows", file: "stream.go",
		old: `return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)`, new: `return w != nil && (!w.snapshot.Contains(txn) || !w.keys.has(key))`,
		shows: []string{"I1"},
	},
	{
		name: "i: not beyond the window", file: "stream.go",
		old:   `return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)`,
		new:   `return w == nil || (w.end || bytes.Compare(key, w.to) <= 0) && (!w.snapshot.Contains(txn) || !w.keys.has(key))`,
		shows: []string{"I1"},
	},
	{
		name: "i: not for contained deletes", file: "stream.go",
		old: `return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)`, new: `return w == nil || !w.snapshot.Contains(txn)`,
		shows: []string{"I1"},
	},
	{
		name: "k: the line for deletes without its exception", file: "stream.go",
		old: `return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)`, new: `return true || w == nil`,
		shows: []string{"I2"},
	},
	{
		name: "k: its exception without contained", file: "stream.go",
		old: `if s.emits(txn, key) {`, new: `if isDelete && e.alwaysDeletes && s.window != nil && s.window.keys.has(key) { return false }; if s.emits(txn, key) {`,
		shows: []string{"I1", "I3", "I14"},
	},
	{
		name: "the gate is open", file: "chunk.go",
		old: `if s.gate <= e.gateSettled {`, new: `if true || s.gate <= e.gateSettled {`,
		shows: []string{"I1", "I3", "I14"},
	},
	{
		name: "values of a changed key are not read again", file: "engine.go",
		old: `if e.db.Filler != nil && key != nil && hasAbsent(image) {`, new: `if false && key != nil && hasAbsent(image) {`,
		shows: []string{"I1"},
	},
	{
		name: "the position of a run is confirmed before it is durable", file: "checkpoint.go",
		old:   `e.lastState, e.bytes, e.clean, e.moved = e.clock.Now(), 0, true, false`,
		new:   `e.log.Confirm(e.position); e.lastState, e.bytes, e.clean, e.moved = e.clock.Now(), 0, true, false`,
		shows: []string{"I8", "panic"},
	},
	{
		name: "a plain runner's log is opened at the newest position", file: "start.go",
		old: `if oldest == nil || at.Compare(oldest) < 0 {`, new: `if oldest == nil || at.Compare(oldest) > 0 {`,
		ignore: "I8,I14", shows: []string{"I1", "I3"}, shape: "plain", within: 20,
	},
}
