package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/fixture"
)

// memory measures the peaks of memory where it would show if something grew with the data: the source's alone, and those of a pipeline's three processes.
// Nothing is timed.
func (b *bench) memory(ctx context.Context, r *report) error {
	if err := b.memoryOfRows(ctx, r); err != nil {
		return err
	}
	return b.memoryOfTransaction(ctx, r)
}

func (b *bench) memoryOfRows(ctx context.Context, r *report) (err error) {
	const database = "bench_memory_rows"
	if err = b.openDatabase(ctx, database, b.memoryRows); err != nil {
		return err
	}
	s, err := b.newSubject(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	u, err := b.measured(ctx, subjectName, database, expected{lines: b.memoryRows}, func(sink *counter) (usage, error) { return s.read(ctx, sink) })
	if err != nil {
		return err
	}
	r.remembered(fmt.Sprintf("backfill of %s rows", grouped(b.memoryRows)), u.peak, memoryBar)
	c, err := b.newCopying(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if u, err = c.measured(ctx, b.memoryRows, c.fresh()...); err != nil {
		return err
	}
	r.pipelineMemory(fmt.Sprintf("%s rows", grouped(b.memoryRows)), u)
	return errors.Join(c.drop(ctx), b.dropDatabase(ctx, database))
}

func (b *bench) memoryOfTransaction(ctx context.Context, r *report) (err error) {
	const (
		database = "bench_memory_transaction"
		before   = 1000
	)
	s, _, err := b.prepareLog(ctx, database, before)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	c, err := b.newCopying(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err = c.measured(ctx, before, c.fresh()...); err != nil {
		return err
	}
	b.progress("inserting %s rows in one transaction", grouped(b.memoryInOne))
	err = b.in(ctx, database, func(conn *pgx.Conn) error { return fixture.AddWide(ctx, conn, table, before+1, before+b.memoryInOne) })
	if err != nil {
		return err
	}
	u, err := b.measured(ctx, subjectName, database, expected{lines: b.memoryInOne}, func(sink *counter) (usage, error) { return s.read(ctx, sink) }, copySlot(slot))
	if err != nil {
		return err
	}
	what := fmt.Sprintf("one transaction of %s rows", grouped(b.memoryInOne))
	r.remembered(what, u.peak, memoryBar)
	if u, err = c.measured(ctx, before+b.memoryInOne); err != nil {
		return err
	}
	r.pipelineMemory(what, u)
	return errors.Join(c.drop(ctx), b.dropDatabase(ctx, database))
}
