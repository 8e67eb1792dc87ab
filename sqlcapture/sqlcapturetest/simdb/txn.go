package simdb

// A transaction's life: idle → running → logged (its commit record is in the log) → ended (visible, its locks are free).
type txnState uint8

const (
	idle txnState = iota
	running
	logged
	ended
	aborted
)

type txn struct {
	program Program
	next    int // statement
	state   txnState
	full    uint64 // transaction id with its epoch
	changes []change
	// exclusive lists tables that it has locked against everybody.
	exclusive []*table
	entry     *entry
}

func (t *txn) active() bool { return t.state == running || t.state == logged }

// entry is a commit record, or a fence.
type entry struct {
	at, end   int64
	prevEnd   int64
	txn       *txn
	fence     int64
	timeMicro int64
}

type changeKind uint8

const (
	insert changeKind = iota
	update
	remove
	truncate
	recreate
)

type change struct {
	table *table
	gen   *incarnation
	kind  changeKind
	key   int  // of the old row, or of the inserted one
	old   *Row // update, remove
	row   *Row // insert, update
	lsn   int64
	seq   int64
	// logged: the table was published when the change was made.
	logged bool
	// short: the long column is not in the log.
	short bool
}

// Row is a version of a row.
type Row struct {
	Key int
	// Version rises with every change of any row.
	Version int64
	// Long is the version at which the long column was written.
	Long int64
}

type table struct {
	spec    *TableSpec
	index   int
	gens    []*incarnation
	readers int // open chunks
}

// incarnation is one life of a table's name.
type incarnation struct {
	id        string
	published bool
	by        *txn
}

// current is the incarnation that the holder of the table's lock sees.
func (t *table) current() *incarnation {
	for i := len(t.gens) - 1; i > 0; i-- {
		if t.gens[i].by.state != aborted {
			return t.gens[i]
		}
	}
	return t.gens[0]
}

// seen is the incarnation that the catalog shows to others.
func (t *table) seen() *incarnation {
	for i := len(t.gens) - 1; i > 0; i-- {
		if t.gens[i].by.state == ended {
			return t.gens[i]
		}
	}
	return t.gens[0]
}

// step is something that the world can do next.
type step struct {
	txn   *txn // nil: the log becomes durable
	abort bool // as a victim of a deadlock
}

// steps lists what can be done now: one entry for each transaction that can go on, then the log.
func (w *World) steps() []step {
	var list []step
	for _, t := range w.txns {
		switch t.state {
		case ended, aborted:
			continue
		case idle, running, logged:
		}
		if t.state != logged && t.next < len(t.program.Ops) {
			blockers, reader := w.blockers(t, t.program.Ops[t.next])
			if len(blockers) > 0 || reader {
				if w.deadlocked(t) {
					list = append(list, step{txn: t, abort: true})
				}
				continue
			}
		}
		list = append(list, step{txn: t})
	}
	if w.durable < w.end {
		list = append(list, step{})
	}
	return list
}

// take does a step.
func (w *World) take(s step) {
	t := s.txn
	if w.Trace != nil {
		w.traceStep(s)
	}
	switch {
	case t == nil:
		w.durable = w.end
		return
	case s.abort:
		w.abort(t)
		return
	case t.state == logged:
		w.finish(t, ended)
		return
	}
	if t.state == idle {
		t.state = running
		t.full = w.nextXID
		w.nextXID++
	}
	if t.next < len(t.program.Ops) {
		t.next++
		w.execute(t, t.program.Ops[t.next-1])
		return
	}
	if t.program.Rollback {
		w.abort(t)
		return
	}
	w.appendCommit(t)
	t.state = logged
}

func (w *World) abort(t *txn) { w.finish(t, aborted) }

func (w *World) finish(t *txn, s txnState) {
	t.state = s
	t.exclusive = nil
	w.completed = max(w.completed, t.full)
}

// record makes room for a record in the log and returns its position.
func (w *World) record() int64 {
	at := w.end
	w.end += 10
	return at
}

func (w *World) appendCommit(t *txn) {
	e := &entry{txn: t, timeMicro: w.Now().UnixMicro()}
	w.appendEntry(e)
	t.entry = e
	for i := range t.changes {
		w.seq++
		t.changes[i].seq = w.seq
	}
}

func (w *World) appendEntry(e *entry) {
	if n := len(w.log); n > 0 {
		e.prevEnd = w.log[n-1].end
	}
	e.at = w.record()
	e.end = w.end
	w.log = append(w.log, e)
}

func (w *World) traceStep(s step) {
	switch t := s.txn; {
	case t == nil:
		w.Trace("the log is durable up to %d", w.end)
	case s.abort:
		w.Trace("transaction %d is the victim of a deadlock", t.full)
	case t.state == logged:
		w.Trace("transaction %d is visible", t.full)
	case t.state == idle:
		w.Trace("transaction %d begins: %s", w.nextXID, t.program)
	case t.next < len(t.program.Ops):
		w.Trace("transaction %d goes on at %d", t.full, w.end)
	case t.program.Rollback:
		w.Trace("transaction %d rolls back", t.full)
	default:
		w.Trace("transaction %d commits at %d to %d", t.full, w.end, w.end+10)
	}
}
