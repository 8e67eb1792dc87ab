package simdb

import "fmt"

// blockers lists the transactions whose locks stand in the way of op, and whether a chunk that is being read does.
func (w *World) blockers(t *txn, op Op) (list []*txn, reader bool) {
	tab := w.tables[op.Table]
	whole := op.Kind == Truncate || op.Kind == Recreate
	for _, o := range w.txns {
		if o == t || !o.active() {
			continue
		}
		if o.locks(tab, op, whole) {
			list = append(list, o)
		}
	}
	return list, whole && tab.readers > 0
}

// locks tells whether a lock that t holds is in the way of op.
func (t *txn) locks(tab *table, op Op, whole bool) bool {
	for _, x := range t.exclusive {
		if x == tab {
			return true
		}
	}
	for i := range t.changes {
		c := &t.changes[i]
		if c.table != tab {
			continue
		}
		if whole || c.holds(op.Key) || op.Kind == Move && c.holds(op.To) {
			return true
		}
	}
	return false
}

// holds tells whether the change has locked the key.
func (c *change) holds(key int) bool { return c.key == key || c.row != nil && c.row.Key == key }

// deadlocked tells whether t waits, through others, for itself.
func (w *World) deadlocked(t *txn) bool {
	seen := map[*txn]bool{}
	var visit func(x *txn) bool
	visit = func(x *txn) bool {
		if x.state != running || x.next >= len(x.program.Ops) {
			return false
		}
		waitsFor, _ := w.blockers(x, x.program.Ops[x.next])
		for _, y := range waitsFor {
			if y == t {
				return true
			}
			if !seen[y] {
				seen[y] = true
				if visit(y) {
					return true
				}
			}
		}
		return false
	}
	return visit(t)
}

// execute runs a statement, as READ COMMITTED would: on the rows that are committed now, since it holds their locks.
func (w *World) execute(t *txn, op Op) {
	tab := w.tables[op.Table]
	gen := tab.current()
	switch op.Kind {
	case Truncate:
		t.exclusive = append(t.exclusive, tab)
		w.change(t, change{table: tab, gen: gen, kind: truncate, key: -1})
		return
	case Recreate:
		t.exclusive = append(t.exclusive, tab)
		next := &incarnation{id: fmt.Sprintf("%d.%d", tab.index, len(tab.gens)), published: w.cfg.AllTables, by: t}
		tab.gens = append(tab.gens, next)
		w.change(t, change{table: tab, gen: next, kind: recreate, key: -1})
		return
	case Put, PutLong, Delete, Move:
	}
	rows := w.fold(gen, func(o *txn) bool { return o == t || o.state == ended })
	old := rows[op.Key]
	if op.Kind == Delete {
		if old != nil {
			w.change(t, change{table: tab, gen: gen, kind: remove, key: op.Key, old: old})
		}
		return
	}
	w.version++
	row := &Row{Key: op.Key, Version: w.version, Long: w.version}
	if old == nil {
		w.change(t, change{table: tab, gen: gen, kind: insert, key: op.Key, row: row})
		return
	}
	c := change{table: tab, gen: gen, kind: update, key: op.Key, old: old, row: row}
	if op.Kind != PutLong {
		c.short, row.Long = true, old.Long
	}
	if op.Kind == Move && rows[op.To] == nil {
		row.Key = op.To
	}
	w.change(t, c)
}

func (w *World) change(t *txn, c change) {
	c.lsn = w.record()
	c.logged = c.gen.published && c.kind != recreate
	t.changes = append(t.changes, c)
}

// fold returns the rows of a table after the transactions that are in, in the order of the log; those that are not logged yet come last.
func (w *World) fold(gen *incarnation, in func(*txn) bool) map[int]*Row {
	rows := map[int]*Row{}
	apply := func(t *txn) {
		for i := range t.changes {
			c := &t.changes[i]
			if c.gen != gen {
				continue
			}
			switch c.kind {
			case insert:
				rows[c.row.Key] = c.row
			case update:
				delete(rows, c.key)
				rows[c.row.Key] = c.row
			case remove:
				delete(rows, c.key)
			case truncate, recreate:
				clear(rows)
			}
		}
	}
	for _, e := range w.log {
		if e.txn != nil && in(e.txn) {
			apply(e.txn)
		}
	}
	for _, t := range w.txns {
		if t.state == running && in(t) {
			apply(t)
		}
	}
	return rows
}
