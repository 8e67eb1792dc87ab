package simdb

import (
	"context"
	"errors"
	"time"

	"github.com/estuary/connectors/sqlcapture"
)

// slot is the log's reservation for one reader.
type slot struct {
	confirmed int64
	created   int64 // where it began
	highest   int64 // that was ever confirmed
}

// opener plays sqlcapture.Opener for the reader that owns the slot with this name.
type opener struct {
	w    *World
	slot string
	// parent is the slot that a missing one is copied from, for a process that was split off with a state; empty: none.
	parent string
}

// Earliest implements sqlcapture.Opener.
func (o opener) Earliest(ctx context.Context) (sqlcapture.Position, string, error) {
	if err := o.w.point(ctx); err != nil {
		return nil, "", err
	}
	s := o.w.slots[o.slot]
	if s == nil {
		s = o.w.slots[o.parent]
	}
	if s == nil {
		return nil, "", nil
	}
	return Position(s.confirmed), "", nil
}

// Open implements sqlcapture.Opener. A slot begins where the log ends once every transaction that ran when the creation began has ended; those that
// began meanwhile may have committed before that without being visible. A position below the slot's is skipped without a word.
func (o opener) Open(ctx context.Context, from sqlcapture.Position) (sqlcapture.Log, sqlcapture.Position, error) {
	w := o.w
	if err := w.point(ctx); err != nil {
		return nil, nil, err
	}
	s := w.slots[o.slot]
	if parent := w.slots[o.parent]; s == nil && parent != nil && from != nil && parent.confirmed <= int64(from.(Position)) {
		s = &slot{confirmed: parent.confirmed, created: parent.created}
		w.slots[o.slot] = s
	}
	if s == nil {
		var old []*txn
		for _, t := range w.txns {
			if t.active() {
				old = append(old, t)
			}
		}
		for anyActive(old) && w.force() {
		}
		w.durable = w.end
		s = &slot{confirmed: w.end, created: w.end}
		w.slots[o.slot] = s
	}
	at := s.confirmed
	if from != nil {
		at = max(at, int64(from.(Position)))
	}
	l := &reader{w: w, slot: s, at: at}
	for l.next < len(w.log) && w.log[l.next].end <= at {
		l.next++
	}
	return l, Position(at), nil
}

func anyActive(list []*txn) bool {
	for _, t := range list {
		if t.active() {
			return true
		}
	}
	return false
}

// reader plays sqlcapture.Log.
type reader struct {
	w       *World
	slot    *slot
	at      int64
	next    int // index into World.log
	waiting []sqlcapture.Event
	told    map[*incarnation]*sqlcapture.Table
	closed  bool
}

var errClosed = errors.New("the log was closed")

// Next implements sqlcapture.Log.
func (l *reader) Next(ctx context.Context, wait time.Duration) (sqlcapture.Events, error) {
	w := l.w
	if l.closed {
		return sqlcapture.Events{}, errClosed
	}
	if err := w.point(ctx); err != nil {
		return sqlcapture.Events{}, err
	}
	l.load()
	if len(l.waiting) == 0 {
		w.now += wait
		e := sqlcapture.Events{Drained: true}
		if w.durable > l.at {
			l.at = w.durable
			e.List = []sqlcapture.Event{{Kind: sqlcapture.EventProgress, Position: Position(l.at), LSN: uint64(l.at)}} //nolint:gosec // positive
		}
		e.Release = func() {}
		w.waited()
		return e, nil
	}
	w.idle = 0
	n := len(l.waiting)
	if !w.Quiet && n > 1 {
		switch w.choose.Choose(3, ChooseBatch) {
		case 1:
			n = l.firstTxn()
		case 2:
			n = 1
		}
	}
	w.now += time.Millisecond
	if !w.Quiet && w.choose.Choose(2, ChoosePace) == 1 {
		w.now += 300 * time.Millisecond
	}
	list := l.waiting[:n]
	l.waiting = l.waiting[n:]
	return sqlcapture.Events{List: list, Drained: len(l.waiting) == 0, Release: func() { release(list) }}, nil
}

// release spoils what may not be used any more.
func release(list []sqlcapture.Event) {
	for i := range list {
		spoil(list[i].Before)
		spoil(list[i].After)
		list[i] = sqlcapture.Event{}
	}
}

func (l *reader) firstTxn() int {
	for i := range l.waiting {
		switch l.waiting[i].Kind { //nolint:exhaustive // what ends a unit
		case sqlcapture.EventCommit, sqlcapture.EventFence, sqlcapture.EventProgress:
			return i + 1
		}
	}
	return len(l.waiting)
}

// load decodes what is durable.
func (l *reader) load() {
	for ; l.next < len(l.w.log) && l.w.log[l.next].end <= l.w.durable; l.next++ {
		e := l.w.log[l.next]
		l.at = e.end
		if e.txn == nil {
			l.waiting = append(l.waiting, sqlcapture.Event{Kind: sqlcapture.EventFence, Fence: sqlcapture.FenceID(e.fence), Bytes: 10}) //nolint:gosec // positive
			continue
		}
		l.decode(e)
	}
}

func (l *reader) decode(e *entry) {
	txn := &sqlcapture.Txn{
		ID: sqlcapture.TxnID(uint32(e.txn.full)), Commit: Position(e.at), TimeMicros: e.timeMicro, //nolint:gosec // the log has 32 bits of it
		Final: uint64(e.at), PrevEnd: uint64(e.prevEnd), //nolint:gosec // positive
	}
	rows := map[*incarnation]int64{}
	empty := true
	for i := range e.txn.changes {
		c := &e.txn.changes[i]
		if !c.logged {
			continue
		}
		empty = false
		ev := sqlcapture.Event{Txn: txn, Table: l.table(c, txn), LSN: uint64(c.lsn), Row: rows[c.gen], Bytes: 10} //nolint:gosec // positive
		rows[c.gen]++
		full := c.table.spec.Full || !c.table.spec.Kind.HasKey()
		switch c.kind {
		case insert:
			ev.Kind, ev.After = sqlcapture.EventInsert, c.table.values(c.row, false)
		case update:
			ev.Kind, ev.After = sqlcapture.EventUpdate, c.table.values(c.row, c.short)
			if full || c.row.Key != c.key {
				ev.Before = c.table.oldValues(c.old, full)
			}
		case remove:
			ev.Kind, ev.Before = sqlcapture.EventDelete, c.table.oldValues(c.old, full)
		case truncate:
			ev.Kind = sqlcapture.EventTruncate
		case recreate:
			continue
		}
		l.waiting = append(l.waiting, ev)
	}
	switch {
	case !empty || l.w.cfg.EmptyCommits:
		l.waiting = append(l.waiting, sqlcapture.Event{Kind: sqlcapture.EventCommit, Txn: txn, Position: Position(e.end), LSN: uint64(e.at), Bytes: 10}) //nolint:gosec // positive
	default:
		l.waiting = append(l.waiting, sqlcapture.Event{Kind: sqlcapture.EventProgress, Position: Position(e.end)})
	}
}

// table returns the log's description, after an EventTable when it is new to this reader.
func (l *reader) table(c *change, txn *sqlcapture.Txn) *sqlcapture.Table {
	if l.told == nil {
		l.told = map[*incarnation]*sqlcapture.Table{}
	}
	d := l.told[c.gen]
	if d == nil {
		d = c.table.describe(c.gen, true)
		l.told[c.gen] = d
		l.waiting = append(l.waiting, sqlcapture.Event{Kind: sqlcapture.EventTable, Table: d, Txn: txn})
	}
	return d
}

// oldValues is the old row as the replica identity gives it.
func (t *table) oldValues(r *Row, full bool) []sqlcapture.Value {
	v := t.values(r, false)
	if !full {
		v[1], v[2] = sqlcapture.Absent(), sqlcapture.Absent()
	}
	return v
}

// Fence implements sqlcapture.Log: a small transaction of its own.
func (l *reader) Fence(ctx context.Context) (sqlcapture.FenceID, error) {
	w := l.w
	if err := w.point(ctx); err != nil {
		return 0, err
	}
	w.fences++
	w.appendEntry(&entry{fence: w.fences})
	w.completed = max(w.completed, w.nextXID)
	w.nextXID++
	if w.cfg.FenceWaits {
		w.durable = w.end
	}
	return sqlcapture.FenceID(w.fences), nil //nolint:gosec // positive
}

// Confirm implements sqlcapture.Log.
func (l *reader) Confirm(p sqlcapture.Position) {
	at := int64(p.(Position))
	l.slot.highest = max(l.slot.highest, at)
	l.slot.confirmed = max(l.slot.confirmed, at)
}

// Close implements sqlcapture.Log.
func (l *reader) Close() error {
	l.closed = true
	return nil
}
