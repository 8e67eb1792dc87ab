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
	c, err := compare(b.pairs, b.rows,
		func() (usage, error) {
			return b.measured(ctx, "psql", database, expected{lines: b.rows}, func(sink *counter) (usage, error) {
				return b.program(ctx, "psql", database, sink, "--no-psqlrc", "--command", copyJSON)
			})
		},
		func() (usage, error) {
			return b.measured(ctx, subjectName, database, verified.expected(), func(sink *counter) (usage, error) { return s.read(ctx, sink) })
		})
	if err != nil {
		return err
	}
	r.compared("backfill", "psql, COPY of row_to_json", c, backfillBars)
	loop, err := b.loop(ctx, database, verified)
	if err != nil {
		return err
	}
	r.loop = &loop
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
func (b *bench) loop(ctx context.Context, database string, verified *verification) (comparison, error) {
	c := comparison{units: b.rows}
	self, err := executable()
	if err != nil {
		return c, err
	}
	lineBytes := strconv.FormatInt(verified.bytes/verified.lines, 10)
	for range b.pairs {
		u, err := b.measured(ctx, "plain loop", database, expected{lines: b.rows}, func(sink *counter) (usage, error) {
			return execute(ctx, self, []string{plainLoopCommand, lineBytes}, b.environment(database), sink)
		})
		if err != nil {
			return c, err
		}
		c.pairs = append(c.pairs, pair{subject: u})
	}
	return c, nil
}
