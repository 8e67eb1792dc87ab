package load

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v4"
)

func (w *writer) insert(ctx context.Context, tx pgx.Tx, table, key int, doomed bool) error {
	again := w.slots[table][key].ver != 0
	ver := w.step(table, key, true, doomed)
	t := w.load.tables[table]
	var a arguments
	columns, values := append([]string(nil), t.Key...), []string(nil)
	for i, v := range w.keyValues(table, key) {
		values = append(values, a.text(v, t.keyCast(i)))
	}
	row := rowValues(w.random, ver)
	for _, column := range Columns {
		columns = append(columns, column)
		if column == "ver" {
			values = append(values, fmt.Sprint(ver))
		} else {
			values = append(values, a.text(row[column], casts[column]))
		}
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", w.name(table), strings.Join(columns, ", "), strings.Join(values, ", "))
	if err := w.exec(ctx, tx, sql, a); err != nil {
		return err
	}
	w.stats.Inserts++
	if again {
		w.stats.Reinserts++
	}
	return w.ledger(ctx, tx, table, key, ver, "c")
}

func (w *writer) update(ctx context.Context, tx pgx.Tx, table, key int, doomed bool) error {
	ver := w.step(table, key, true, doomed)
	var a arguments
	set := w.assignments(&a, ver)
	sql := fmt.Sprintf("UPDATE %s SET %s WHERE %s", w.name(table), set, w.where(&a, table, key))
	if err := w.exec(ctx, tx, sql, a); err != nil {
		return err
	}
	w.stats.Updates++
	return w.ledger(ctx, tx, table, key, ver, "u")
}

// assignments sets ver and about half of the columns; the out-of-line one in one update of four, so that most updates leave it alone.
func (w *writer) assignments(a *arguments, ver int64) string {
	set := []string{"ver = " + fmt.Sprint(ver)}
	row := rowValues(w.random, ver)
	for _, column := range Columns[1:] {
		chance := 2
		if column == "big" {
			chance = 4
		}
		if w.random.IntN(chance) != 0 {
			if column == "big" {
				w.stats.BigUntouched++
			}
			continue
		}
		if column == "big" {
			w.stats.BigTouched++
		}
		if row[column] == nil {
			w.stats.Cleared++
		}
		set = append(set, column+" = "+a.text(row[column], casts[column]))
	}
	return strings.Join(set, ", ")
}

func (w *writer) remove(ctx context.Context, tx pgx.Tx, table, key int, doomed bool) error {
	ver := w.step(table, key, false, doomed)
	var a arguments
	if err := w.exec(ctx, tx, fmt.Sprintf("DELETE FROM %s WHERE %s", w.name(table), w.where(&a, table, key)), a); err != nil {
		return err
	}
	w.stats.Deletes++
	return w.ledger(ctx, tx, table, key, ver, "d")
}

// changeKey gives a row the key of one that does not exist: a deletion of the old key, a creation of the new one. The keyless table's rows are only
// updated, since k is what the tests tell them apart by.
func (w *writer) changeKey(ctx context.Context, tx pgx.Tx, table, from, to int, doomed bool) error {
	if w.load.tables[table].Keyless {
		return w.update(ctx, tx, table, from, doomed)
	}
	gone := w.step(table, from, false, doomed)
	ver := w.step(table, to, true, doomed)
	t := w.load.tables[table]
	var a arguments
	var set []string
	for i, v := range w.keyValues(table, to) {
		set = append(set, t.Key[i]+" = "+a.text(v, t.keyCast(i)))
	}
	set = append(set, w.assignments(&a, ver))
	sql := fmt.Sprintf("UPDATE %s SET %s WHERE %s", w.name(table), strings.Join(set, ", "), w.where(&a, table, from))
	if err := w.exec(ctx, tx, sql, a); err != nil {
		return err
	}
	w.stats.KeyChanges++
	w.stats.Deletes++
	w.stats.Inserts++
	if err := w.ledger(ctx, tx, table, from, gone, "d"); err != nil {
		return err
	}
	return w.ledger(ctx, tx, table, to, ver, "c")
}

// copyIn adds rows to the keyless table by COPY, which writes many rows under one position of the log. Their keys are never used again.
func (w *writer) copyIn(ctx context.Context, tx pgx.Tx) error {
	table := -1
	for i, t := range w.load.tables {
		if t.Keyless {
			table = i
		}
	}
	if table < 0 {
		return nil
	}
	n := 5 + w.random.IntN(20)
	var rows [][]any
	var keys []string
	for range n {
		// Above every key of the slots, and of this writer alone.
		k := int64(1_000_000_000 + w.next*w.load.options.Writers + w.index)
		w.next++
		rows = append(rows, []any{k, int64(1), fmt.Sprintf("copied %d", k)})
		keys = append(keys, fmt.Sprint(k))
	}
	schema, name := w.load.options.Schema, w.load.tables[table].Name
	copied, err := tx.CopyFrom(ctx, pgx.Identifier{schema, name}, []string{"k", "ver", "word"}, pgx.CopyFromRows(rows))
	if err != nil || copied != int64(n) {
		return fmt.Errorf("copying %d rows into %s.%s: %d arrived: %w", n, schema, name, copied, err)
	}
	_, err = tx.Exec(ctx, "INSERT INTO "+schema+".ledger (tbl, key, ver, op) SELECT $1, k, 1, 'c' FROM unnest($2::text[]) WITH ORDINALITY AS u(k, n) ORDER BY n", name, keys)
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	w.stats.Copies++
	w.stats.Copied += int64(n)
	return nil
}
