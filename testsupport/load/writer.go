package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v4"
)

// slot is what a writer knows of one of its keys.
type slot struct {
	ver   int64
	alive bool
}

// writer owns keys that no other writer touches, so that it knows every version without asking and never waits for a lock.
type writer struct {
	load   *Load
	index  int
	conn   *pgx.Conn
	random *rand.Rand
	slots  [][]slot // by table, by key
	undo   []undo   // what the open transaction changed, newest last
	next   int      // next key of rows that COPY adds
	stats  Stats    // of the open transaction
}

type undo struct {
	table, key int
	was        slot
}

func newWriter(l *Load, index int, conn *pgx.Conn) *writer {
	w := &writer{load: l, index: index, conn: conn, random: randomOf(l.options.Seed, index)}
	for range l.tables {
		w.slots = append(w.slots, make([]slot, l.options.Keys))
	}
	return w
}

// keyValues are the SQL text forms of a key; writers' keys are interleaved.
func (w *writer) keyValues(table, key int) []string {
	return w.load.tables[table].values(key*w.load.options.Writers + w.index)
}

func (w *writer) run(ctx context.Context) error {
	for {
		select {
		case <-w.load.stop:
			return nil
		default:
		}
		if err := w.transaction(ctx); err != nil {
			return err
		}
		if w.load.options.Pause > 0 {
			time.Sleep(w.load.options.Pause)
		}
	}
}

func (w *writer) fill(ctx context.Context) error {
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	for table := range w.slots {
		for key := range w.slots[table] {
			if key%2 == 0 {
				if err := w.insert(ctx, tx, table, key, false); err != nil {
					return errors.Join(err, tx.Rollback(ctx))
				}
			}
		}
	}
	return w.commit(ctx, tx)
}

func (w *writer) begin(ctx context.Context) (pgx.Tx, error) {
	w.undo, w.stats = w.undo[:0], Stats{}
	tx, err := w.conn.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	return tx, nil
}

func (w *writer) commit(ctx context.Context, tx pgx.Tx) error {
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	w.stats.Commits++
	w.load.total.add(w.stats)
	return nil
}

// transaction is one of: a few changes; the same rolled back; with a part that is rolled back to a savepoint; slow; with a COPY.
func (w *writer) transaction(ctx context.Context) error {
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	kind := w.random.IntN(100)
	doomed := kind < 10
	changes := 1 + w.random.IntN(4)
	if kind >= 90 {
		changes += w.random.IntN(30)
	}
	long := kind == 50 || kind == 51
	part := -1 // the change that a savepoint undoes
	if kind >= 10 && kind < 30 {
		part = w.random.IntN(changes)
	}
	if kind >= 60 && kind < 65 && !doomed {
		// Visible to others before it is in the log's durable part: the other order than with a synchronous standby.
		if _, err = tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
	}
	for i := range changes {
		if i == part {
			if err = w.savepoint(ctx, tx); err != nil {
				return errors.Join(err, tx.Rollback(ctx))
			}
		}
		if err = w.change(ctx, tx, doomed); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
		if long {
			time.Sleep(time.Duration(50+w.random.IntN(100)) * time.Millisecond)
		}
	}
	if kind >= 80 && kind < 88 {
		if err = w.copyIn(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
	}
	if doomed {
		w.revert(0)
		if err := tx.Rollback(ctx); err != nil {
			return fmt.Errorf("rolling back: %w", err)
		}
		w.load.total.add(Stats{Rollbacks: 1})
		return nil
	}
	if long {
		w.stats.LongTransactions++
	}
	return w.commit(ctx, tx)
}

// savepoint makes changes and takes them back, inside a transaction that will commit.
func (w *writer) savepoint(ctx context.Context, tx pgx.Tx) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return fmt.Errorf("setting a savepoint: %w", err)
	}
	mark, stats := len(w.undo), w.stats
	for range 1 + w.random.IntN(3) {
		if err = w.change(ctx, inner, true); err != nil {
			return err
		}
	}
	if err = inner.Rollback(ctx); err != nil {
		return fmt.Errorf("rolling back to a savepoint: %w", err)
	}
	w.revert(mark)
	w.stats = stats
	w.stats.Savepoints++
	return nil
}

// revert forgets what was changed since the mark.
func (w *writer) revert(mark int) {
	for i := len(w.undo) - 1; i >= mark; i-- {
		u := w.undo[i]
		w.slots[u.table][u.key] = u.was
	}
	w.undo = w.undo[:mark]
}

// change changes one random key of one random table. doomed: it will be rolled back, and says so in its ver.
func (w *writer) change(ctx context.Context, tx pgx.Tx, doomed bool) error {
	table := w.random.IntN(len(w.slots))
	key := w.random.IntN(len(w.slots[table]))
	if !w.slots[table][key].alive {
		return w.insert(ctx, tx, table, key, doomed)
	}
	switch n := w.random.IntN(100); {
	case n < 18:
		return w.remove(ctx, tx, table, key, doomed)
	case n < 28:
		for to := range w.slots[table] {
			to = (to + key) % len(w.slots[table])
			if !w.slots[table][to].alive {
				return w.changeKey(ctx, tx, table, key, to, doomed)
			}
		}
	}
	return w.update(ctx, tx, table, key, doomed)
}

// step moves a key to its next version and returns it as it is to be stored.
func (w *writer) step(table, key int, alive, doomed bool) int64 {
	s := &w.slots[table][key]
	w.undo = append(w.undo, undo{table, key, *s})
	s.ver++
	s.alive = alive
	if doomed {
		return -s.ver
	}
	return s.ver
}

// arguments numbers SQL parameters.
type arguments struct{ list []any }

// text adds a value that goes to the server as text and gets the column's type there.
func (a *arguments) text(v any, cast string) string {
	a.list = append(a.list, v)
	return fmt.Sprintf("$%d::text::%s", len(a.list), cast)
}

var casts = map[string]string{"word": "text", "amount": "numeric", "doc": "jsonb", "big": "text", "at": "timestamptz", "tags": "text[]", "flag": "boolean"}

func (w *writer) name(table int) string {
	return w.load.options.Schema + "." + w.load.tables[table].Name
}

// keyCast is a key column's type without its collation.
func (t Table) keyCast(i int) string {
	cast, _, _ := strings.Cut(t.types[i], " ")
	return cast
}

func (w *writer) where(a *arguments, table, key int) string {
	t := w.load.tables[table]
	var terms []string
	for i, v := range w.keyValues(table, key) {
		terms = append(terms, t.Key[i]+" = "+a.text(v, t.keyCast(i)))
	}
	return strings.Join(terms, " AND ")
}

func (w *writer) ledger(ctx context.Context, tx pgx.Tx, table, key int, ver int64, op string) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+w.load.options.Schema+".ledger (tbl, key, ver, op) VALUES ($1, $2, $3, $4)",
		w.load.tables[table].Name, KeyText(w.keyValues(table, key)...), ver, op)
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// exec runs a statement that must change exactly one row.
func (w *writer) exec(ctx context.Context, tx pgx.Tx, sql string, a arguments) error {
	tag, err := tx.Exec(ctx, sql, a.list...)
	if err != nil {
		return fmt.Errorf("running %.80q: %w", sql, err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("running %.80q: %d rows changed, want one: somebody else writes to these keys", sql, tag.RowsAffected())
	}
	return nil
}
