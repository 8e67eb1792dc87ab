package main

import (
	"context"
	"errors"
)

// write measures `materialize-postgres write` of rows whose keys are all new, from a file, beside psql that copies the same rows into a table like the one
// that the sink makes, the document as a whole included.
func (b *bench) write(ctx context.Context, r *report) (err error) {
	const database = "bench_write"
	l, err := b.written(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if err = l.dump(ctx, "new"); err != nil {
		return err
	}
	psql := l.psql(l.database, "COPY "+twin+" FROM STDIN")
	psql.stdin = l.file("new.copy")
	c, err := alternate(b.pairs, b.rows,
		func() (usage, error) { return l.timed(ctx, psql, twin, "true", l.twin()) },
		func() (usage, error) { return l.timed(ctx, l.write("new"), table, "true", l.empty()) })
	if err != nil {
		return err
	}
	r.compared("write", "psql, COPY FROM of the same rows and documents", c, writeBars, comparison{})
	return errors.Join(l.drop(ctx), b.dropDatabase(ctx, database))
}

// written fills a table, captures it, and lets the sink write it once, which is compared.
func (b *bench) written(ctx context.Context, database string) (*lake, error) {
	if err := b.openDatabase(ctx, database, b.rows); err != nil {
		return nil, err
	}
	l, err := b.newLake(ctx, database+"_sink")
	if err != nil {
		return nil, err
	}
	if err := l.captureAndWrite(ctx, database, "new"); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// captureAndWrite reads a database to a file, writes that once, and compares the two tables.
func (l *lake) captureAndWrite(ctx context.Context, database, name string) (err error) {
	s, err := l.b.newSubject(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err = l.capture(ctx, s, name); err != nil {
		return err
	}
	if _, err = l.write(name).run(ctx, new(counter)); err != nil {
		return err
	}
	return l.equals(ctx, database, l.b.rows)
}
