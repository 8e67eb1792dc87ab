package simdb

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// scanner plays sqlcapture.Scanner and sqlcapture.Filler.
type scanner struct{ w *World }

// Scan implements sqlcapture.Scanner. Lock and snapshot are one step here: their order is the concern of a real database's scanner.
func (s scanner) Scan(ctx context.Context, req sqlcapture.ScanRequest) (sqlcapture.Chunk, error) {
	if err := s.w.point(ctx); err != nil {
		return nil, err
	}
	t := s.w.table(req.Table)
	if t == nil {
		return nil, sqlcapture.ErrNoTable
	}
	if s.w.exclusivelyLocked(t) {
		s.w.waited()
		return nil, sqlcapture.ErrLocked
	}
	s.w.idle = 0
	gen := t.seen()
	snap := s.w.snapshot()
	c := &chunk{w: s.w, ctx: ctx, t: t, gen: gen, snap: snap, described: t.describe(gen, false)}
	rows := s.w.fold(gen, func(x *txn) bool { return snap.sees[x] })
	if err := c.choose(rows, req); err != nil {
		return nil, err
	}
	t.readers++
	return c, nil
}

func (w *World) table(n sqlcapture.TableName) *table {
	for _, t := range w.tables {
		if t.spec.Name == n {
			return t
		}
	}
	return nil
}

// chunk plays sqlcapture.Chunk.
type chunk struct {
	w         *World
	ctx       context.Context
	t         *table
	gen       *incarnation
	snap      *snapshot
	described *sqlcapture.Table
	rows      []*Row
	more      bool
	progress  rowkey.Key
	until     rowkey.Key
	last      []sqlcapture.Value
	closed    bool
}

// place is where a row stands: by key, or, without one, where its newest version was written.
func (c *chunk) place(r *Row) int64 {
	if c.t.spec.Kind == Paged {
		return r.Version
	}
	return int64(r.Key)
}

// choose picks the rows after req.After up to req.Until, as many as allowed.
func (c *chunk) choose(rows map[int]*Row, req sqlcapture.ScanRequest) error {
	kind := c.t.spec.Kind
	after, until := int64(-1), int64(1)<<60
	var err error
	if kind == Paged && req.After != nil {
		if after, until, err = parsePages(req.After); err != nil {
			return err
		}
	}
	if kind.HasKey() {
		if after, err = c.bound(req.After, after); err != nil {
			return err
		}
		if until, err = c.bound(req.Until, until); err != nil {
			return err
		}
	}
	var all []*Row
	highest := int64(-1)
	for _, r := range rows {
		highest = max(highest, c.place(r))
		if p := c.place(r); p > after && p <= until {
			all = append(all, r)
		}
	}
	sort.Slice(all, func(i, j int) bool { return c.place(all[i]) < c.place(all[j]) })
	if kind == Paged && req.After == nil {
		until = highest
	}
	limit := req.Limit
	if kind == Keyless {
		limit = len(all) // one snapshot for the whole table
	} else if c.w.cfg.Timeouts && c.w.choose.Choose(4, ChooseCut) == 3 {
		limit = min(limit, len(all)/2)
		c.more = true
	}
	c.more = c.more || len(all) > limit || c.w.cfg.LooseMore && len(all) == limit && limit > 0 && kind != Keyless
	c.rows = all[:min(limit, len(all))]
	switch {
	case kind == Paged:
		at := after
		if n := len(c.rows); n > 0 {
			at = c.place(c.rows[n-1])
		}
		c.progress = rowkey.AppendInt(rowkey.AppendInt(nil, at), until)
	case kind == Keyless:
		c.progress = rowkey.AppendInt(nil, 0)
	case req.Until == nil && highest >= 0:
		c.until, err = c.described.Columns[0].AppendKey(nil, []byte(KeyText(kind, int(highest))))
	}
	return err
}

// bound reads a key as the database compares it.
func (c *chunk) bound(k rowkey.Key, none int64) (int64, error) {
	if k == nil {
		return none, nil
	}
	list, err := rowkey.Literals(k)
	if err != nil || len(list) != 1 {
		return 0, fmt.Errorf("reading scan key %x: %d elements, %w", []byte(k), len(list), err)
	}
	n := ParseKey(c.t.spec.Kind, list[0].Text)
	if n < 0 {
		return 0, fmt.Errorf("reading scan key %x: no such key %q", []byte(k), list[0].Text)
	}
	return int64(n), nil
}

func parsePages(k rowkey.Key) (after, end int64, err error) {
	list, err := rowkey.Literals(k)
	if err != nil || len(list) != 2 {
		return 0, 0, fmt.Errorf("reading progress %x: %d elements, %w", []byte(k), len(list), err)
	}
	if after, err = strconv.ParseInt(list[0].Text, 10, 64); err != nil {
		return 0, 0, err
	}
	end, err = strconv.ParseInt(list[1].Text, 10, 64)
	return after, end, err
}

// Table implements sqlcapture.Chunk.
func (c *chunk) Table() *sqlcapture.Table { return c.described }

// Snapshot implements sqlcapture.Chunk.
func (c *chunk) Snapshot() sqlcapture.Snapshot { return c.snap }

// Next implements sqlcapture.Chunk.
func (c *chunk) Next() ([]sqlcapture.Value, error) {
	spoil(c.last)
	if err := c.w.point(c.ctx); err != nil {
		return nil, err
	}
	if len(c.rows) == 0 {
		return nil, io.EOF
	}
	c.last = c.t.values(c.rows[0], false)
	c.rows = c.rows[1:]
	return c.last, nil
}

// spoil overwrites values that are no longer valid.
func spoil(values []sqlcapture.Value) {
	for _, v := range values {
		if !sqlcapture.IsAbsent(v) {
			for i := range v {
				v[i] = '?'
			}
		}
	}
}

// More implements sqlcapture.Chunk.
func (c *chunk) More() bool { return c.more }

// Progress implements sqlcapture.Chunk.
func (c *chunk) Progress() rowkey.Key { return c.progress }

// Until implements sqlcapture.Chunk.
func (c *chunk) Until() rowkey.Key { return c.until }

// Restarted implements sqlcapture.Chunk.
func (c *chunk) Restarted() bool { return false }

// Close implements sqlcapture.Chunk.
func (c *chunk) Close() error {
	if !c.closed {
		c.closed = true
		c.t.readers = max(0, c.t.readers-1)
	}
	return nil
}

// Visible implements sqlcapture.Scanner.
func (s scanner) Visible(ctx context.Context, txns []sqlcapture.TxnID) (waiting []sqlcapture.TxnID, who string, err error) {
	if err := s.w.point(ctx); err != nil {
		return nil, "", err
	}
	snap := s.w.snapshot()
	for _, id := range txns {
		if !snap.contains(id) {
			waiting = append(waiting, id)
		}
	}
	if len(waiting) == 0 {
		s.w.idle = 0
		return nil, "", nil
	}
	s.w.waited()
	return waiting, fmt.Sprintf("transaction %d", waiting[0]), nil
}

// Fill implements sqlcapture.Filler.
func (s scanner) Fill(
	ctx context.Context, n sqlcapture.TableName, keyColumns []string, keys []rowkey.Key, cols []string,
) ([][]sqlcapture.Value, error) {
	if err := s.w.point(ctx); err != nil {
		return nil, err
	}
	t := s.w.table(n)
	if t == nil || len(keyColumns) != 1 || keyColumns[0] != "k" {
		return nil, fmt.Errorf("filling %v by %v: no such table or key", n, keyColumns)
	}
	c := &chunk{w: s.w, t: t}
	rows := s.w.fold(t.seen(), func(x *txn) bool { return x.state == ended })
	list := make([][]sqlcapture.Value, 0, len(keys))
	for _, k := range keys {
		key, err := c.bound(k, -1)
		if err != nil {
			return nil, err
		}
		row := rows[int(key)]
		if row == nil {
			list = append(list, nil)
			continue
		}
		all := t.values(row, false)
		var some []sqlcapture.Value
		for _, name := range cols {
			for i, have := range []string{"k", "v", "long"} {
				if name == have {
					some = append(some, all[i])
				}
			}
		}
		list = append(list, some)
	}
	return list, nil
}

// barrier plays sqlcapture.Barrier.
type barrier struct{ w *World }

// Raise implements sqlcapture.Barrier: a transaction takes an id and ends.
func (b barrier) Raise(ctx context.Context) (uint64, error) {
	if err := b.w.point(ctx); err != nil {
		return 0, err
	}
	mark := b.w.nextXID
	b.w.nextXID++
	b.w.completed = max(b.w.completed, mark)
	return mark, nil
}

// Settled implements sqlcapture.Barrier.
func (b barrier) Settled(ctx context.Context, mark uint64) (bool, string, error) {
	if err := b.w.point(ctx); err != nil {
		return false, "", err
	}
	if s := b.w.snapshot(); s.xmin < mark {
		b.w.waited()
		return false, fmt.Sprintf("transaction %d", s.xmin), nil
	}
	b.w.idle = 0
	return true, "", nil
}
