package main

import (
	"context"
	"errors"
)

// updates measures `materialize-postgres write` of rows whose keys are all there already, beside a program that updates the same rows, every column of them,
// in batches of 5,000.
func (b *bench) updates(ctx context.Context, r *report) (err error) {
	const (
		database = "bench_updates"
		base     = "base.wide"
		// updated is true for every row after the update, and for none before.
		updated = "note LIKE '% changed'"
	)
	l, err := b.written(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	err = l.exec(ctx, l.database, "CREATE SCHEMA base", "CREATE TABLE "+base+" AS SELECT * FROM "+table+" ORDER BY id")
	if err == nil {
		b.progress("updating %s rows of the source", grouped(b.rows))
		err = b.exec(ctx, database, "UPDATE "+table+" SET quantity = quantity + 1, price = price + 1, updated_at = created_at, active = NOT active, note = note || ' changed'", "VACUUM FULL "+table)
	}
	if err == nil {
		err = l.captureAndWrite(ctx, database, "changed")
	}
	if err == nil {
		err = l.dump(ctx, "changed")
	}
	if err != nil {
		return err
	}
	self, err := executable()
	if err != nil {
		return err
	}
	// Both begin with the table as it was, filled in the order of the keys and vacuumed.
	restore := []string{"TRUNCATE " + table, "INSERT INTO " + table + " SELECT * FROM " + base, "VACUUM (ANALYZE) " + table}
	batches := command{path: self, args: []string{batchCommand, table, "id"}, env: l.environment(l.database), stdin: l.file("changed.copy")}
	c, err := alternate(b.pairs, b.rows,
		func() (usage, error) { return l.timed(ctx, batches, table, updated, restore) },
		func() (usage, error) { return l.timed(ctx, l.write("changed"), table, updated, restore) })
	if err != nil {
		return err
	}
	r.compared("updates by write", "pgx batches of 5,000 updates", c, updatesBars, comparison{})
	return errors.Join(l.drop(ctx), b.dropDatabase(ctx, database))
}
