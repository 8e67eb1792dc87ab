package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v4"
)

const (
	// origin is a slot that nobody reads: all runs begin with a copy of it, and so at the same position.
	origin        = "bench_origin"
	referenceSlot = "bench_reference"
)

// log measures the capture of changes, from a STATE that was printed before they were made, beside pg_recvlogical that writes the same log to a file.
func (b *bench) log(ctx context.Context, r *report) (err error) {
	const database = "bench_log"
	s, lineBytes, err := b.prepareLog(ctx, database, baseRows(b.changes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	b.progress("making %s changes", grouped(b.changes))
	var end string
	err = b.in(ctx, database, func(conn *pgx.Conn) error {
		if err := makeChanges(ctx, conn, b.changes); err != nil {
			return err
		}
		return conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&end)
	})
	if err != nil {
		return err
	}
	verified, err := b.verifyLog(ctx, s)
	if err != nil {
		return err
	}
	loop := &loop{b: b, database: database, lineBytes: lineBytes, comparison: comparison{units: rowsAfter(b.changes)}}
	c, err := alternate(b.pairs, b.changes,
		func() (usage, error) {
			return b.recvlogical(ctx, s, end, verified.kinds)
		},
		func() (usage, error) {
			return b.measured(ctx, subjectName, database, verified.expected(), func(sink *counter) (usage, error) { return s.read(ctx, sink) }, copySlot(slot))
		},
		func() error { return loop.run(ctx) })
	if err != nil {
		return err
	}
	r.compared("log", "pg_recvlogical to a file", c, logBars, loop.comparison)
	return b.dropDatabase(ctx, database)
}

func copySlot(name string) string {
	return "SELECT pg_copy_logical_replication_slot('" + origin + "', '" + name + "')"
}

// prepareLog makes the table, captures it, and keeps the STATE and the slot as they are then. lineBytes is how long the line of a row is.
func (b *bench) prepareLog(ctx context.Context, database string, rows int64) (_ *subject, lineBytes int64, _ error) {
	if err := b.openDatabase(ctx, database, rows); err != nil {
		return nil, 0, err
	}
	s, err := b.newSubject(ctx, database)
	if err != nil {
		return nil, 0, err
	}
	v, err := b.verifyBackfill(ctx, s, rows)
	if err == nil {
		err = s.keepState(v.lastState)
	}
	if err == nil {
		err = b.awaitIdle(ctx, database)
	}
	if err == nil {
		err = b.exec(ctx, database, "SELECT pg_copy_logical_replication_slot('"+slot+"', '"+origin+"')")
	}
	if err != nil {
		return nil, 0, errors.Join(err, s.close())
	}
	return s, v.lineBytes(), nil
}

// verifyLog runs the connector once to compare the rows that it prints with the table, and the changes with those that were made.
func (b *bench) verifyLog(ctx context.Context, s *subject) (*verification, error) {
	if err := b.prepare(ctx, s.database, copySlot(slot)); err != nil {
		return nil, err
	}
	v := newVerification()
	if _, err := s.read(ctx, v); err != nil {
		return nil, err
	}
	rounds := b.changes / roundChanges
	if v.kinds["c"] != rounds*40 || v.kinds["u"] != rounds*40 || v.kinds["d"] != rounds*20 {
		return nil, fmt.Errorf("verifying the log: changes by kind %v, want %d of c, %d of u and %d of d", v.kinds, rounds*40, rounds*40, rounds*20)
	}
	if err := b.in(ctx, s.database, func(conn *pgx.Conn) error { return v.matches(ctx, conn, changed(b.changes)) }); err != nil {
		return nil, err
	}
	b.progress("source-postgres: %s changes, every column equals the table", grouped(v.records()))
	return v, nil
}

// recvlogical takes one timed run of the reference, and counts afterwards whether its file holds the changes that the subject printed.
func (b *bench) recvlogical(ctx context.Context, s *subject, end string, kinds map[string]int64) (usage, error) {
	file := filepath.Join(s.dir, "recvlogical.out")
	defer os.Remove(file) //nolint:errcheck // the folder goes at the end
	u, err := b.measured(ctx, "pg_recvlogical", s.database, expected{}, func(*counter) (usage, error) {
		// It would wait for its file to be on the disk, now and then and at the end. Nobody else here waits for a disk, so it does not, either.
		return b.program(ctx, "pg_recvlogical", s.database, io.Discard, "--start", "--slot="+referenceSlot, "--dbname="+s.database, "--option=proto_version=1",
			"--option=publication_names="+publication, "--endpos="+end, "--file="+file, "--fsync-interval=0", "--no-loop")
	}, dropSlots("slot_name = '"+referenceSlot+"'"), copySlot(referenceSlot))
	if err != nil {
		return u, err
	}
	counted, err := countFile(file)
	if err != nil {
		return u, err
	}
	if got := counted.byOp(); got["c"] != kinds["c"] || got["u"] != kinds["u"] || got["d"] != kinds["d"] {
		return u, fmt.Errorf("comparing the changes: pg_recvlogical has %v, source-postgres %v", got, kinds)
	}
	return u, nil
}
