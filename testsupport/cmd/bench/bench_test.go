package main

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/binary"
)

// smallBench is the whole bench with little data.
func smallBench(t *testing.T) *bench {
	t.Helper()
	built := programs{source: binary.Build(t, subjectName), sink: binary.Build(t, sinkName), runner: binary.Build(t, runnerName)}
	b, err := newBench(built, sizes{rows: 3000, chunk: 700, changes: 4000, pairs: 1, memoryRows: 2000, memoryInOne: 2000}, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestBench_EveryPartMeasures(t *testing.T) {
	b := smallBench(t)
	r := &report{}
	for name, part := range map[string]func() error{
		"backfill": func() error { return b.backfill(t.Context(), r) },
		"log":      func() error { return b.log(t.Context(), r) },
		"write":    func() error { return b.write(t.Context(), r) },
		"updates":  func() error { return b.updates(t.Context(), r) },
		"pipeline": func() error { return b.pipeline(t.Context(), r) },
		"memory":   func() error { return b.memory(t.Context(), r) },
	} {
		if err := part(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(r.results) != 5 || len(r.memories) != 5+2+2+6 || len(r.withCPU()) != 3 {
		t.Fatalf("%d comparisons, %d figures of memory, %d of CPU", len(r.results), len(r.memories), len(r.withCPU()))
	}
	for _, c := range r.withCPU() {
		if c.loop.cpu() <= 0 {
			t.Errorf("%s: the plain loop takes %v", c.what, c.loop.cpu())
		}
	}
	for _, c := range r.results {
		if c.measured.ratio() <= 0 || c.measured.cpu() <= 0 {
			t.Errorf("%s: ratio %v, CPU %v", c.what, c.measured.ratio(), c.measured.cpu())
		}
	}
	for _, m := range r.memories {
		if m.peak < 1<<20 {
			t.Errorf("%s: %d bytes", m.what, m.peak)
		}
	}
	for _, s := range []*server{b.server, b.sinks} {
		rows, err := s.cluster.Query("postgres", "SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_database WHERE datname LIKE 'bench%')")
		if err != nil || rows[0][0] != "0" || rows[0][1] != "0" {
			t.Errorf("left behind: %v slots and databases, %v", rows, err)
		}
	}
}

// One value that differs between output and table is found, with its column; so is one change that pg_recvlogical has more than the connector.
func TestBench_FindsDifferences(t *testing.T) {
	b := smallBench(t)
	s, _, err := b.prepareLog(t.Context(), "bench_different", baseRows(b.changes))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for column, change := range map[string]string{
		"price":      "price = price + 0.01",
		"note":       "note = NULL",
		"updated_at": "updated_at = updated_at + interval '1 us'",
		"tags":       "tags = tags || 'more'::text",
		"attributes": `attributes = attributes || '{"n":"other"}'`,
	} {
		v := newVerification()
		if err = b.prepare(t.Context(), s.database, copySlot(slot)); err != nil {
			t.Fatal(err)
		}
		whole := &subject{b: b, database: s.database, dir: s.dir} // from the start
		if _, err = whole.read(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		err = b.in(t.Context(), s.database, func(conn *pgx.Conn) error {
			if err := v.matches(t.Context(), conn, "true"); err != nil {
				t.Errorf("before the change: %v", err)
			}
			if err := execAll(t.Context(), conn, "UPDATE "+table+" SET "+change+" WHERE id = 7"); err != nil {
				return err
			}
			different := v.matches(t.Context(), conn, "true")
			if different == nil || !strings.Contains(different.Error(), "column "+column) || strings.Count(different.Error(), "column ") != 1 {
				t.Errorf("%s: %v, want that column alone", change, different)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	end, err := b.cluster.Query(s.database, "SELECT pg_current_wal_insert_lsn()")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = b.recvlogical(t.Context(), s, end[0][0], map[string]int64{"u": 5}); err != nil {
		t.Errorf("with the five updates: %v", err)
	}
	if _, err = b.recvlogical(t.Context(), s, end[0][0], map[string]int64{"u": 4}); err == nil || !strings.Contains(err.Error(), "comparing the changes") {
		t.Errorf("with one update less: %v", err)
	}
}

func TestMeasured_ShortOutputIsAnError(t *testing.T) {
	b := smallBench(t)
	run := func(want expected) error {
		_, err := b.measured(t.Context(), "psql", "postgres", want, func(sink *counter) (usage, error) {
			return b.program(t.Context(), "psql", "postgres", sink, "--no-psqlrc", "--command", "COPY (SELECT generate_series(1, 10)) TO STDOUT")
		})
		return err
	}
	if err := run(expected{lines: 10, bytes: 21}); err != nil {
		t.Error(err)
	}
	for _, want := range []expected{{lines: 11}, {bytes: 22}} {
		if err := run(want); err == nil || !strings.Contains(err.Error(), "10 lines and 21 bytes") {
			t.Errorf("%+v: %v", want, err)
		}
	}
}
