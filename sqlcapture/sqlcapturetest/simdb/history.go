package simdb

// Entry is a version of a row in the order of the log.
type Entry struct {
	Seq     int64 // among all changes
	LSN     int64
	Commit  int64 // end of the transaction's commit record
	Version int64 // 0: deleted
	Long    int64 // version at which the long column was written
	Logged  bool  // the change is in the log
	Emptied bool  // the table was truncated or created anew: this ends every row
}

// History returns the committed versions of a row, the ends of the whole table among them, in the order of the log.
func (w *World) History(tableIndex, key int) []Entry {
	var list []Entry
	t := w.tables[tableIndex]
	for _, e := range w.log {
		if e.txn == nil {
			continue
		}
		for i := range e.txn.changes {
			c := &e.txn.changes[i]
			if c.table != t {
				continue
			}
			x := Entry{Seq: c.seq, LSN: c.lsn, Commit: e.end, Logged: c.logged}
			switch {
			case c.kind == truncate || c.kind == recreate:
				x.Emptied = true
			case c.kind == remove && c.key == key, c.kind == update && c.key == key && c.row.Key != key:
			case c.row != nil && c.row.Key == key:
				x.Version, x.Long = c.row.Version, c.row.Long
			default:
				continue
			}
			list = append(list, x)
		}
	}
	return list
}

// Rows returns what a query sees now.
func (w *World) Rows(tableIndex int) map[int]*Row {
	t := w.tables[tableIndex]
	return w.fold(t.seen(), func(x *txn) bool { return x.state == ended })
}

// InvisibleBelow returns the id of a transaction that the slot's reader was handed, that committed at or before the position, and that no snapshot sees
// yet; 0: there is none. What the log never held, from before the slot or of other tables, is the concern of the gate.
func (w *World) InvisibleBelow(slot string, position int64) uint64 {
	s := w.slots[slot]
	for _, e := range w.log {
		if e.end <= position && e.end > s.created && e.txn != nil && e.txn.state != ended && (w.cfg.EmptyCommits || e.txn.logs()) {
			return e.txn.full
		}
	}
	return 0
}

func (t *txn) logs() bool {
	for i := range t.changes {
		if t.changes[i].logged {
			return true
		}
	}
	return false
}

// Inside tells whether the position lies inside the log record of a commit, that is, at no boundary.
func (w *World) Inside(position int64) bool { return position%10 != 0 }

// CommitEnd returns where the commit record ends whose start a document's source names; 0: there is none.
func (w *World) CommitEnd(final int64) int64 {
	for _, e := range w.log {
		if e.at == final && e.txn != nil {
			return e.end
		}
	}
	return 0
}

// Committed lists the entries of the log up to now: the commit ends of what is visible.
func (w *World) Committed() map[int64]bool {
	m := map[int64]bool{}
	for _, e := range w.log {
		if e.txn != nil && e.txn.state == ended {
			m[e.end] = true
		}
	}
	return m
}

// Tables returns the tables' specs.
func (w *World) Tables() []TableSpec { return w.cfg.Tables }

// LastSeq returns the number of the last change in the log that a run which begins now has to hand out. A table's re-creation that no catalog shows
// yet, and what follows, is not among them.
func (w *World) LastSeq() int64 {
	seq := int64(0)
	for _, e := range w.log {
		if e.txn == nil {
			continue
		}
		for i := range e.txn.changes {
			if c := &e.txn.changes[i]; c.kind == recreate && e.txn.state != ended {
				return seq
			}
		}
		if n := len(e.txn.changes); n > 0 {
			seq = e.txn.changes[n-1].seq
		}
	}
	return seq
}
