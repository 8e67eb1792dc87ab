package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v4"
)

const copyJSON = "COPY (SELECT row_to_json(t) FROM " + table + " t) TO STDOUT"

// backfill measures the capture of existing rows, from the process's start to its exit, beside psql that copies them as JSON. The slot is made by each
// run and read while it lasts.
func (b *bench) backfill(ctx context.Context, r *report) (err error) {
	const database = "bench_backfill"
	if err = b.openDatabase(ctx, database, b.rows); err != nil {
		return err
	}
	s, err := b.newSubject(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	verified, err := b.verifyBackfill(ctx, s, b.rows)
	if err != nil {
		return err
	}
	loop := &loop{b: b, database: database, lineBytes: verified.lineBytes(), comparison: comparison{units: b.rows}}
	c, err := alternate(b.pairs, b.rows,
		func() (usage, error) {
			return b.measured(ctx, "psql", database, expected{lines: b.rows}, func(sink *counter) (usage, error) {
				return b.program(ctx, "psql", database, sink, "--no-psqlrc", "--command", copyJSON)
			})
		},
		func() (usage, error) {
			return b.measured(ctx, subjectName, database, verified.expected(), func(sink *counter) (usage, error) { return s.read(ctx, sink) })
		},
		func() error { return loop.run(ctx) })
	if err != nil {
		return err
	}
	r.compared("backfill", "psql, COPY of row_to_json", c, backfillBars, loop.comparison)
	return b.dropDatabase(ctx, database)
}

// verifyBackfill runs the connector once to compare everything that it prints with the table.
func (b *bench) verifyBackfill(ctx context.Context, s *subject, rows int64) (*verification, error) {
	v := newVerification()
	if _, err := s.read(ctx, v); err != nil {
		return nil, err
	}
	if v.kinds["c"] != rows || v.records() != rows {
		return nil, fmt.Errorf("verifying the backfill: records by kind %v, want %d of c", v.kinds, rows)
	}
	if err := b.in(ctx, s.database, func(conn *pgx.Conn) error { return v.matches(ctx, conn, "true") }); err != nil {
		return nil, err
	}
	b.progress("source-postgres: %s records, every column equals the table", grouped(v.records()))
	return v, nil
}

// loop measures for scale what a small program takes that does the least: see plainLoop.
type loop struct {
	comparison // its subject sides only

	b         *bench
	database  string
	lineBytes int64
}

// run takes one timed run over the table, which has as many rows as the comparison has units.
func (l *loop) run(ctx context.Context) error {
	self, err := executable()
	if err != nil {
		return err
	}
	u, err := l.b.measured(ctx, "plain loop", l.database, expected{lines: l.units}, func(sink *counter) (usage, error) {
		return execute(ctx, self, []string{plainLoopCommand, strconv.FormatInt(l.lineBytes, 10)}, l.b.environment(l.database), sink)
	})
	if err != nil {
		return err
	}
	l.pairs = append(l.pairs, pair{subject: u})
	return nil
}
