package stress

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/load"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/wire"
)

// plainRunner knows none of our extensions. Its destination makes each stream durable at a time of its own, and stores the stream's STATE then: what
// comes back to the source has mixed ages.
type plainRunner struct {
	t       *testing.T
	cluster *pgtest.Cluster
	path    string
	config  func(run int) []byte
	catalog []byte
	slot    string
	streams []string
	fold    *replay.Fold
	stored  map[string]stored
	runs    int

	mixed int // starts with states of different positions
}

type stored struct {
	raw json.RawMessage // the STATE as it was printed
	at  uint64          // the position up to which the stream is covered
}

// plainRun is one run of it, with the output of each stream kept apart.
type plainRun struct {
	*watched
	whole     *replay.Run
	perStream map[string]*replay.Run
}

func newPlainRunner(t *testing.T, cluster *pgtest.Cluster, slot string, config func(run int) []byte, glob string, tables []replay.Table) *plainRunner {
	t.Helper()
	r := &plainRunner{
		t: t, cluster: cluster, path: binary.Build(t, "source-postgres"), config: config, slot: slot,
		fold: replay.New(false, tables...), stored: map[string]stored{},
	}
	for _, table := range tables {
		r.streams = append(r.streams, table.Stream)
	}
	r.catalog = configured(t, r.path, config(0), glob, nil)
	return r
}

// start starts a run from what is stored.
func (r *plainRunner) start() *plainRun {
	r.t.Helper()
	states := []json.RawMessage{}
	ages := map[uint64]bool{}
	for _, s := range r.stored {
		states = append(states, s.raw)
		ages[s.at] = true
	}
	if len(ages) > 1 {
		r.mixed++
	}
	run, lingers := &plainRun{perStream: map[string]*replay.Run{}}, r.runs%3 == 1
	for _, stream := range r.streams {
		run.perStream[stream] = &replay.Run{}
	}
	take := func(line []byte) error {
		m, err := wire.Airbyte(line)
		if err != nil {
			return err
		}
		var stream string
		switch {
		case strings.Contains(string(line), "estuary.dev/") && m.Log == nil:
			return fmt.Errorf("a key of our extensions, to a runner that sent none: %.300s", line)
		case m.State != nil && (m.State.Type != "STREAM" || m.State.Merge || m.State.Data != nil):
			return fmt.Errorf("a STATE that is more than one stream's: %.300s", line)
		case m.State != nil:
			stream = m.State.Stream.String()
		case m.Record != nil:
			stream = m.Record.Stream.String()
			if lingers {
				time.Sleep(800 * time.Millisecond) // statuses are sent meanwhile
				lingers = false
			}
		default:
			return nil
		}
		if run.perStream[stream] == nil {
			return fmt.Errorf("a message of stream %s, which was not asked for: %.300s", stream, line)
		}
		_, err = run.perStream[stream].Line(line)
		return err
	}
	command := binary.Command{Path: r.path, Args: []string{"read"}, Config: r.config(r.runs), Catalog: r.catalog, State: asJSON(r.t, states)}
	run.watched, run.whole = watchRead(r.t, command, -1, take)
	return run
}

// limit is what the slot may be confirmed up to: the oldest stored position, or, while a stream has none, what it is confirmed up to already.
func (r *plainRunner) limit() uint64 {
	r.t.Helper()
	at := ^uint64(0)
	if len(r.stored) < len(r.streams) {
		if now := confirmed(r.t, r.cluster, r.slot); now > 0 { // else the first run is to make the slot
			at = now
		}
		return at
	}
	for _, s := range r.stored {
		at = min(at, s.at)
	}
	return at
}

// guard watches the slot until the function that it returns is called, which tells how often it looked: confirmed_flush_lsn must not pass the limit.
func (r *plainRunner) guard(limit uint64) (stop func() int) {
	done, ended := make(chan struct{}), make(chan struct{})
	var looks atomic.Int64
	go func() {
		defer close(ended)
		for last := false; !last; {
			select {
			case <-done:
				last = true
			case <-time.After(30 * time.Millisecond):
			}
			rows, err := r.cluster.Query("postgres", "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = '"+r.slot+"' AND confirmed_flush_lsn IS NOT NULL")
			if err != nil {
				r.t.Error(err)
				return
			}
			if len(rows) == 1 {
				looks.Add(1)
				if at := lsn(r.t, rows[0][0]); at > limit {
					r.t.Errorf("the slot is confirmed up to %X, past the oldest stored position %X", at, limit)
					return
				}
			}
		}
	}()
	return func() int {
		close(done)
		<-ended
		return int(looks.Load())
	}
}

// positionOf reads the position from a STREAM state: the later of the log's and the stream's own.
func positionOf(t *testing.T, s *wire.State) uint64 {
	t.Helper()
	type at struct {
		LSN string `json:"lsn"`
	}
	var body struct {
		Position *at `json:"position"`
		Shared   struct {
			Position at `json:"position"`
		} `json:"~shared"`
	}
	if err := json.Unmarshal(s.Body, &body); err != nil || body.Shared.Position.LSN == "" {
		t.Fatalf("a STREAM state without a position (%v): %s", err, s.Body)
	}
	position := lsn(t, body.Shared.Position.LSN)
	if body.Position != nil {
		position = max(position, lsn(t, body.Position.LSN))
	}
	return position
}

// store makes a stream durable up to one of the STATEs of a run; -1: none of them.
func (r *plainRunner) store(run *plainRun, stream string, upTo int) {
	r.t.Helper()
	out := run.perStream[stream]
	if upTo < 0 {
		if err := r.fold.Discard(r.runs, out); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	if err := r.fold.Add(r.runs, out, upTo); err != nil {
		r.t.Fatal(err)
	}
	was := r.stored[stream].at
	r.stored[stream] = stored{out.State(upTo).Raw, positionOf(r.t, out.State(upTo))}
	if now := r.stored[stream].at; now < was {
		r.t.Errorf("the state of %s went back from %X to %X", stream, was, now)
	}
}

func TestPlainRunner_StatesStoredAtDifferentTimesLoseNothing(t *testing.T) {
	for _, s := range seeds(t, 2) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { mixedAges(t, s) })
	}
}

func mixedAges(t *testing.T, seed uint64) {
	t.Logf("replay with: go test ./stress -run '%s' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cluster := servers.Cluster(t, 15)
	database := cluster.NewDatabase(t)
	frequentStatuses(t, cluster, database)
	conn, l := loaded(ctx, t, load.Options{DSN: cluster.DSN(database), Schema: "public", Seed: seed, Keys: 60, Pause: 4 * time.Millisecond})
	l.Run()
	slot := "plain_" + database
	r := newPlainRunner(t, cluster, slot, func(int) []byte {
		return asJSON(t, connection(cluster, database, map[string]any{"slotName": slot, "backfill_chunk_size": 1 + rng.IntN(64)}))
	}, "by_*", foldTables())
	looks, kept := 0, 0
	for n := 0; n < 7 || (r.mixed < 5 || kept < 10 || looks < 20) && n < 35; n++ {
		stop := r.guard(r.limit())
		run := r.start()
		records := 1 + rng.IntN(400)
		run.Await("so many records", func() bool { return run.whole.Records() >= records || run.Ended() })
		_ = run.process.Kill()
		run.Finished()
		looks += stop()
		for _, stream := range r.streams {
			states := run.perStream[stream].States()
			upTo := rng.IntN(states+1) - 1 // any of them, or none
			if rng.IntN(3) == 0 {
				upTo = states - 1
			}
			if upTo < states-1 {
				kept++
			}
			r.store(run, stream, upTo)
		}
		r.runs++
	}
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	stop := r.guard(r.limit())
	run := r.start()
	if exit := run.Finished(); exit.Code != 0 {
		t.Fatalf("the last run ended with code %d: %s", exit.Code, lastLogs(run.whole))
	}
	looks += stop()
	for _, stream := range r.streams {
		if n := run.perStream[stream].RecordsAfterState(); n > 0 {
			t.Errorf("%d records of %s came after its last STATE", n, stream)
		}
		r.store(run, stream, run.perStream[stream].States()-1)
	}
	r.check(ctx, conn)
	t.Logf("%d starts with mixed ages, %d times a stream kept an older state than it could, %d looks at the slot; %+v", r.mixed, kept, looks, r.fold.Stats)
	if r.mixed < 5 || kept < 10 || looks < 20 {
		t.Errorf("the test does not bite: %d starts with mixed ages (want 5), %d older states (want 10), %d looks at the slot (want 20)", r.mixed, kept, looks)
	}
}

func (r *plainRunner) check(ctx context.Context, conn *pgx.Conn) {
	r.t.Helper()
	if err := r.fold.Err(); err != nil {
		r.t.Error(err)
	}
	for _, stream := range r.streams {
		differences, _, err := replay.Compare(ctx, conn, "public", strings.TrimPrefix(stream, "public."), r.fold, stream)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, d := range differences {
			r.t.Error(d)
		}
	}
}

// A destination holds rows of a stream from a run that was killed before the stream's first STATE was stored. The rows were deleted since, and the other
// streams' positions are past that: the deletions must come nevertheless.
func TestPlainRunner_StreamWithoutStateGetsTheDeletionsThatItMissed(t *testing.T) {
	for _, deselected := range []bool{false, true} {
		t.Run(map[bool]string{false: "its part of a run was lost", true: "it was deselected for a run"}[deselected], func(t *testing.T) {
			s := newSmallPlain(t, "a", "b", "c")
			s.exec("INSERT INTO a SELECT n, 1 FROM generate_series(1, 50) n", "INSERT INTO b SELECT n, 1 FROM generate_series(1, 50) n",
				"INSERT INTO c SELECT n, 1 FROM generate_series(1, 50) n")
			run := s.runner.start()
			run.Finished()
			out := run.perStream["public.c"]
			if out.Records() == 0 {
				t.Fatal("the first run printed nothing of c")
			}
			s.keepAll(run, "public.c") // its rows, not its STATE
			delete(s.runner.stored, "public.c")
			s.exec("DELETE FROM c WHERE k <= 20", "UPDATE a SET ver = ver + 1", "UPDATE b SET ver = ver + 1")

			catalog := s.runner.catalog
			if deselected {
				s.runner.catalog = onlyStreams(t, catalog, "a", "b")
			}
			before := s.runner.stored["public.a"].at
			run = s.runner.start()
			run.Finished()
			s.keepAll(run) // of c nothing
			if !deselected {
				delete(s.runner.stored, "public.c")
			}
			if after := s.runner.stored["public.a"].at; after <= before {
				t.Fatalf("the position of a is still %X", after)
			}

			s.runner.catalog = catalog
			confirmedBefore := confirmed(t, s.cluster, s.runner.slot)
			run = s.runner.start()
			run.Finished()
			if at := confirmed(t, s.cluster, s.runner.slot); at != confirmedBefore {
				t.Errorf("the slot was confirmed up to %X while a stream had no state, before it was %X", at, confirmedBefore)
			}
			s.keepAll(run, "public.c")
			s.equal("a", "b", "c")
		})
	}
}

// A stream that was deselected comes back after the log has gone on.
func TestPlainRunner_DeselectedStreamThatComesBack(t *testing.T) {
	for _, onGap := range []string{"fail", "rebackfill"} {
		t.Run(onGap, func(t *testing.T) {
			s := newSmallPlain(t, "a", "b")
			s.advanced["on_gap"] = onGap
			s.exec("INSERT INTO a SELECT n, 1 FROM generate_series(1, 30) n", "INSERT INTO b SELECT n, 1 FROM generate_series(1, 30) n")
			run := s.runner.start()
			run.Finished()
			s.keepAll(run, "public.b")
			catalog := s.runner.catalog
			old := s.runner.stored["public.b"]
			s.runner.catalog = onlyStreams(t, catalog, "a")
			for i := range 3 { // the second of them confirms the position of a after the first
				s.exec("UPDATE a SET ver = ver + 1 WHERE k % 2 = 0")
				s.exec(fmt.Sprintf("UPDATE b SET ver = ver + 1 WHERE k = %d", i+1))
				delete(s.runner.stored, "public.b")
				run = s.runner.start()
				run.Finished()
				s.keepAll(run)
			}
			s.runner.stored["public.b"] = old
			if at := confirmed(t, s.cluster, s.runner.slot); at <= old.at {
				t.Fatalf("the slot still reaches back to %X, before the state of b at %X: there is no gap", at, old.at)
			}
			s.exec("UPDATE a SET ver = ver + 1 WHERE k % 2 = 1")

			s.runner.catalog = catalog
			run = s.runner.start()
			exit := run.Finished()
			said := lastLogs(run.whole)
			if onGap == "fail" {
				if exit.Code != 1 || !strings.Contains(said, "public.b") || !strings.Contains(said, "on_gap") {
					t.Errorf("code %d, want 1 and an error that names public.b and on_gap:\n%s", exit.Code, said)
				}
				if n := run.perStream["public.b"].Records(); n > 0 {
					t.Errorf("%d records of b came in spite of the gap", n)
				}
				s.keepAll(run)
				s.equal("a")
				return
			}
			if exit.Code != 0 {
				t.Fatalf("code %d: %s", exit.Code, said)
			}
			s.keepAll(run, "public.b")
			s.equal("a", "b")
		})
	}
}

// smallPlain is a plain runner over tables of (k int, ver int), whose destination keeps all that it gets.
type smallPlain struct {
	t        *testing.T
	cluster  *pgtest.Cluster
	database string
	advanced map[string]any
	runner   *plainRunner
}

func newSmallPlain(t *testing.T, tables ...string) *smallPlain {
	t.Helper()
	s := &smallPlain{t: t, cluster: servers.Cluster(t, 15)}
	s.database = s.cluster.NewDatabase(t)
	var folded []replay.Table
	for _, table := range tables {
		s.exec("CREATE TABLE " + table + " (k int PRIMARY KEY, ver int)")
		folded = append(folded, replay.Table{Stream: "public." + table, Key: []string{"k"}})
	}
	slot := "plain_" + s.database
	s.advanced = map[string]any{"slotName": slot}
	s.runner = newPlainRunner(t, s.cluster, slot, func(int) []byte { return asJSON(t, connection(s.cluster, s.database, s.advanced)) }, "*", folded)
	return s
}

func (s *smallPlain) exec(statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		if err := s.cluster.Exec(s.database, sql); err != nil {
			s.t.Fatal(err)
		}
	}
}

// keepAll makes a and what else is named durable, with the last STATE of each.
func (s *smallPlain) keepAll(run *plainRun, more ...string) {
	s.t.Helper()
	for _, stream := range append([]string{"public.a", "public.b"}, more...) {
		out := run.perStream[stream]
		if out == nil || out.Records() == 0 && out.States() == 0 {
			continue
		}
		if states := out.States(); states > 0 {
			s.runner.stored[stream] = stored{out.State(states - 1).Raw, positionOf(s.t, out.State(states-1))}
		}
		if err := s.runner.fold.Add(s.runner.runs, out, replay.Whole); err != nil {
			s.t.Fatal(err)
		}
	}
	s.runner.runs++
}

// equal compares the destination with the tables.
func (s *smallPlain) equal(tables ...string) {
	s.t.Helper()
	for _, table := range tables {
		rows, err := s.cluster.Query(s.database, "SELECT k, ver FROM "+table+" ORDER BY k")
		if err != nil {
			s.t.Fatal(err)
		}
		have := s.runner.fold.Rows("public." + table)
		if len(have) != len(rows) {
			s.t.Errorf("the destination holds %d rows of %s, the server %d", len(have), table, len(rows))
		}
		for _, row := range rows {
			if got := string(have[row[0]]["ver"]); got != row[1] {
				s.t.Errorf("%s, key %s: the destination has version %q, the server %s", table, row[0], got, row[1])
			}
		}
	}
}

// onlyStreams leaves some streams of a catalog.
func onlyStreams(t *testing.T, catalog []byte, names ...string) []byte {
	t.Helper()
	var c struct {
		Streams []map[string]json.RawMessage `json:"streams"`
	}
	if err := json.Unmarshal(catalog, &c); err != nil {
		t.Fatal(err)
	}
	kept := []map[string]json.RawMessage{}
	for _, s := range c.Streams {
		for _, name := range names {
			if strings.Contains(string(s["stream"]), `"name":"`+name+`"`) {
				kept = append(kept, s)
			}
		}
	}
	if len(kept) != len(names) {
		t.Fatalf("%d of the streams %v are in the catalog %s", len(kept), names, catalog)
	}
	return asJSON(t, map[string]any{"streams": kept})
}
