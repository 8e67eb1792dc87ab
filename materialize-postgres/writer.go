package main

import (
	"context"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/internal/sqlsink"
)

// writer sends chunks to the server, and merges what is staged. One goroutine runs it, which alone uses the session meanwhile.
type writer struct {
	t      *transactor
	chunks chan chunk
	failed chan struct{} // closed when err is set
	err    error

	// saved: there is a savepoint before the last rows that went straight into a table.
	saved  bool
	staged map[tempTable]int64 // rows of the current binding
}

func (w *writer) send(c chunk) error {
	select {
	case w.chunks <- c:
		return nil
	case <-w.failed:
		if c.rows != nil {
			w.t.buffers.put(c.rows)
		}
		return errStopped
	}
}

func (w *writer) run(ctx context.Context) {
	w.staged = map[tempTable]int64{}
	for c := range w.chunks {
		if w.err == nil {
			if err := w.take(ctx, c); err != nil {
				w.err = err
				close(w.failed)
			}
		}
		if c.rows != nil {
			w.t.buffers.put(c.rows)
		}
	}
}

func (w *writer) take(ctx context.Context, c chunk) error {
	if err := w.t.begin(ctx); err != nil {
		return err
	}
	if w.t.touched == nil {
		w.t.touched = map[int]bool{}
		for _, b := range w.t.bindings {
			b.mustStage = false // bug materializations 64: "must merge" stayed set after the first update
		}
	}
	w.t.touched[w.t.claimOf(c.b)] = true
	switch {
	case c.goal == finish:
		return w.merge(ctx, c.b)
	case c.goal == insert && c.b.delta:
		if _, err := w.t.session.copyIn(ctx, c.b.into(), c); err != nil {
			return w.t.config.explainRows(c, err)
		}
		return nil
	case c.goal == insert && !c.b.mustStage:
		return w.straight(ctx, c)
	}
	return w.stage(ctx, c)
}

func (t *transactor) claimOf(b *binding) int {
	if t.perTable {
		return b.index
	}
	return 0
}

const savepoint = "flow_rows"

// straight copies new rows into the table. When a key is there although nobody knew, the rows are staged instead, as are those that follow.
func (w *writer) straight(ctx context.Context, c chunk) error {
	sql := "SAVEPOINT " + savepoint + "; " + c.b.into()
	if w.saved {
		sql = "RELEASE " + savepoint + "; " + sql
	}
	_, err := w.t.session.copyIn(ctx, sql, c)
	w.saved = true
	if pgserver.State(err) != codeUniqueViolation {
		if err != nil {
			return w.t.config.explainRows(c, err)
		}
		return nil
	}
	if err := w.t.session.run(ctx, "ROLLBACK TO "+savepoint); err != nil {
		return w.t.config.explain("going back to a savepoint", err)
	}
	c.b.mustStage = true
	return w.stage(ctx, c)
}

func (w *writer) stage(ctx context.Context, c chunk) error {
	temp := c.goal.temp()
	if err := w.t.makeTemp(ctx, c.b, temp); err != nil {
		return err
	}
	n, err := w.t.session.copyIn(ctx, c.b.stage(temp), c)
	if err != nil {
		return w.t.config.explainRows(c, err)
	}
	w.staged[temp] += n
	c.b.used[temp] = true
	return nil
}

// makeTemp makes a temporary table when a session needs it first.
func (t *transactor) makeTemp(ctx context.Context, b *binding, temp tempTable) error {
	if b.made[temp] {
		return nil
	}
	if err := t.session.run(ctx, b.create(temp)); err != nil {
		return t.config.explainStep(sqlsink.Step{Table: b.target.rows.String(), SQL: b.create(temp)}, err)
	}
	b.made[temp] = true
	return nil
}

// merge puts what was staged for a binding into its table. Keys are staged once each, so the order does not matter.
func (w *writer) merge(ctx context.Context, b *binding) error {
	for _, m := range []struct {
		temp tempTable
		do   func(context.Context, *binding) error
	}{{tempKeys, w.remove}, {tempGone, w.bury}, {tempRows, w.replace}} {
		if w.staged[m.temp] == 0 { // bug materializations 66: a query over nothing staged failed
			continue
		}
		if err := m.do(ctx, b); err != nil {
			return w.t.config.explainRows(chunk{b: b}, err)
		}
	}
	clear(w.staged)
	return nil
}

func (w *writer) remove(ctx context.Context, b *binding) error {
	return w.t.session.run(ctx, b.remove())
}

func (w *writer) bury(ctx context.Context, b *binding) error {
	if sql := b.bury(); sql != "" {
		return w.t.session.run(ctx, sql)
	}
	return nil
}

// replace puts staged rows in the place of others. Most often all of those are there, and then an update takes less than an insert that meets each of them.
func (w *writer) replace(ctx context.Context, b *binding) error {
	if b.mustStage && b.unique {
		return w.t.session.run(ctx, b.merge())
	}
	found := int64(0)
	if sql := b.update(); sql != "" {
		var err error
		if found, err = w.t.session.count(ctx, sql); err != nil {
			return err
		}
	}
	if found >= w.staged[tempRows] && b.unique {
		return nil
	}
	return w.t.session.run(ctx, b.insert())
}
