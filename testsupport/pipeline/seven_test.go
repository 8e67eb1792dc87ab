package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/compare"
	"github.com/estuary/connectors/testsupport/load"
)

// Seven tables that are changed in every way there is, by three writers, from before the backfill on; ten kills of runner, source and sink at random
// moments. In the end both databases are equal, and the table without a key is the list of its changes.
func TestSevenTables_KilledTenTimes(t *testing.T) {
	t.Parallel() // beside the tests that mostly wait
	for _, s := range seeds(t, 1) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) {
			t.Logf("replay with: go test ./pipeline -run '%s' -seed %d", t.Name(), s)
			sevenTables(t, s)
		})
	}
}

func sevenTables(t *testing.T, seed uint64) {
	const kills = 10
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	r := newRig(t)
	if err := load.Create(ctx, r.left, "public"); err != nil {
		t.Fatal(err)
	}
	l, err := load.New(ctx, load.Options{DSN: r.cluster.DSN(r.source), Seed: seed, Writers: 3, Keys: 150, Pause: 12 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Stop() }() // it was stopped, or the test has failed
	if err := l.Fill(ctx); err != nil {
		t.Fatal(err)
	}
	l.Run()
	r.file.Streams = Streams("public.by_*")
	r.file.Source.Config = Capture(r.cluster, r.source, map[string]any{"slotName": "slot_" + r.source, "backfill_chunk_size": 1 + rng.IntN(64)})
	r.write()
	r.start()
	inRow := 0 // of sources and sinks
	for n := 0; n < kills; {
		time.Sleep(time.Duration(rng.IntN(800)) * time.Millisecond)
		who := rng.IntN(3)
		if inRow == 2 { // the runner waits for twice as long after each that gets nowhere: a new one starts at the shortest wait
			who = 0
		}
		if inRow++; who == 0 {
			inRow = 0
		}
		if r.killOne(who) {
			n++
		}
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		if n == kills/2 { // the rest among changes alone
			r.until("the end of the backfill", func() bool { return r.copied(r.right) >= r.copied(r.left)*9/10 })
		}
	}
	r.until("enough changes of every kind", func() bool { return len(rare(l.Stats())) == 0 || l.Err() != nil })
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	r.awaitCommit()
	r.finish()
	for _, table := range load.Tables {
		name := compare.Name{Schema: "public", Table: table.Name}
		if table.Keyless {
			r.same(compare.Changes(ctx, r.left, r.right, compare.List{Source: name, Sink: name, Key: table.Key, Version: "ver", Ledger: compare.Name{Schema: "public", Table: "ledger"}}))
			continue
		}
		r.equal(table.Key, table.Name)
	}
	t.Logf("%+v", l.Stats())
	for what, sql := range map[string]string{
		"numbers of 30 digits":      "SELECT count(*) FROM by_int WHERE amount > 1e28",
		"keys beyond a float":       "SELECT count(*) FROM by_int WHERE abs(k::numeric) > 9007199254740993",
		"arrays with NULL":          "SELECT count(*) FROM by_int WHERE array_position(tags, NULL) IS NOT NULL",
		"values out of line":        "SELECT count(*) FROM by_int WHERE pg_column_size(big) > 4000",
		"documents with other keys": "SELECT count(DISTINCT k) FROM (SELECT jsonb_object_keys(doc) AS k FROM by_int) AS keys WHERE k LIKE 'k%'",
	} {
		if n := one(t, r.left, "SELECT ("+sql+")::text"); n == "0" {
			t.Errorf("the test does not bite: %s: none", what)
		}
	}
}

// copied counts the rows of the tables with keys on one side.
func (r *rig) copied(conn *pgx.Conn) (total int) {
	for _, table := range load.Tables {
		if n := 0; !table.Keyless {
			_, _ = fmt.Sscan(one(r.t, conn, "SELECT count(*)::text FROM "+table.Name), &n) // 0: there is no such table yet
			total += n
		}
	}
	return total
}

// killOne kills the runner, the source or the sink, and starts the runner again when it was that one. Not ok: it had ended a moment before.
func (r *rig) killOne(who int) (ok bool) {
	r.t.Helper()
	pid := r.process.PID()
	if who > 0 {
		r.until("a child to kill", func() bool {
			var err error
			if pid, err = Child(r.process.PID(), []string{"", "source-postgres", "materialize-postgres"}[who]); err != nil {
				r.t.Fatal(err)
			}
			return pid != 0
		})
	}
	err := syscall.Kill(pid, syscall.SIGKILL)
	if err != nil && err != syscall.ESRCH {
		r.t.Fatal(err)
	}
	if who == 0 {
		if exit := r.ended(); exit.Signal != syscall.SIGKILL {
			r.t.Fatalf("the runner ended with code %d, signal %d before it was killed: %s", exit.Code, exit.Signal, lastOf(exit.Stderr))
		}
		r.start()
	}
	return err == nil
}

// awaitCommit waits until a change that is made now has arrived.
func (r *rig) awaitCommit() {
	r.t.Helper()
	run(r.t, r.left, "INSERT INTO by_none (k, ver) VALUES (-1, 1)", "INSERT INTO ledger (tbl, key, ver, op) VALUES ('by_none', '-1', 1, 'c')")
	r.until("a commit", func() bool { return one(r.t, r.right, "SELECT count(*)::text FROM by_none WHERE k = -1") == "1" })
}

// rare returns the kinds of change that have not come up twenty times.
func rare(s load.Stats) []string {
	var list []string
	for what, n := range map[string]int64{"columns set to NULL": s.Cleared, "TOASTed columns left alone": s.BigUntouched, "keys changed": s.KeyChanges, "rows deleted and inserted again": s.Reinserts, "rows by COPY": s.Copied} {
		if n < 20 {
			list = append(list, what)
		}
	}
	return list
}
