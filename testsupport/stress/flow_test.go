package stress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/load"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/watch"
)

// acknowledgedWithin is how soon an acknowledgement has to reach the slot.
const acknowledgedWithin = 10 * time.Second

// smallFlow is a task with two tables of (k int, ver bigint).
func smallFlow(t *testing.T, advanced map[string]any) (*flowTask, *pgtest.Cluster, string) {
	t.Helper()
	cluster := servers.Cluster(t, 15)
	database := cluster.NewDatabase(t)
	exec(t, cluster, database, `
		CREATE TABLE a (k int PRIMARY KEY, ver bigint NOT NULL); INSERT INTO a SELECT n, 1 FROM generate_series(1, 20) n;
		CREATE TABLE b (k int PRIMARY KEY, ver bigint NOT NULL); INSERT INTO b SELECT n, 1 FROM generate_series(1, 12) n`)
	return newFlowTask(t, cluster, database, advanced, replay.Table{Stream: "public.a", Key: []string{"k"}, Version: "ver"},
		replay.Table{Stream: "public.b", Key: []string{"k"}, Version: "ver"}), cluster, database
}

func exec(t *testing.T, cluster *pgtest.Cluster, database, sql string) {
	t.Helper()
	if err := cluster.Exec(database, sql); err != nil {
		t.Fatal(err)
	}
}

// change updates every row of both tables, in a transaction each.
func change(t *testing.T, cluster *pgtest.Cluster, database string) {
	t.Helper()
	exec(t, cluster, database, "UPDATE a SET ver = ver + 1")
	exec(t, cluster, database, "UPDATE b SET ver = ver + 1")
}

func TestFlow_RequestsBeforeOpen(t *testing.T) {
	task, cluster, database := smallFlow(t, map[string]any{})
	s := task.connect(-1)
	r := s.ask("discover", map[string]any{"name": "acme/capture", "connectorType": "IMAGE", "config": task.config})
	var names []string
	for _, b := range r.Discovered {
		names = append(names, b.RecommendedName)
		if !slices.Equal(b.Key, []string{"/k"}) || b.IsFallbackKey || !slices.Equal(b.ResourcePath, []string{"public", strings.TrimPrefix(b.RecommendedName, "public/")}) {
			t.Errorf("binding %s is discovered with key %v and path %v", b.RecommendedName, b.Key, b.ResourcePath)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"public/a", "public/b"}) {
		t.Errorf("discovered %v", names)
	}
	bindings := []map[string]any{}
	for _, b := range task.bindings {
		bindings = append(bindings, map[string]any{"resourceConfig": b.spec["resourceConfig"], "collection": b.spec["collection"]})
	}
	r = s.ask("validate", map[string]any{"name": "acme/capture", "connectorType": "IMAGE", "config": task.config, "bindings": bindings})
	if len(r.Validated) != 2 || !slices.Equal(r.Validated[0], []string{"public", "a"}) || !slices.Equal(r.Validated[1], []string{"public", "b"}) {
		t.Errorf("validated %v", r.Validated)
	}
	if r = s.ask("apply", map[string]any{"capture": task.captureSpec(), "version": "v1"}); r.Kind != "applied" {
		t.Errorf("the answer to apply is %s", r.Kind)
	}
	if n := one(t, cluster, database, "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '"+task.slot+"'"); n != "0" {
		t.Errorf("%s slots exist before the capture is open", n)
	}
	s.openCapture(nil)
	s.Await("both backfills in a checkpoint", func() bool {
		n := len(s.checkpoints)
		return n > 0 && strings.Count(string(s.checkpoints[n-1].document), `"mode":"active"`) == 2
	})
	if !s.described[0] || !s.described[1] {
		t.Errorf("the schemas of bindings %v came, want both", s.described)
	}
	if err := s.process.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if exit := s.Finished(); exit.Code != 0 || s.open {
		t.Errorf("after the end of stdin: code %d; something came after the last checkpoint: %v\n%s", exit.Code, s.open, watch.Last(exit.Stderr))
	}
	s.commit(len(s.checkpoints))
	compareSmall(t, cluster, database, task.fold)
}

func TestFlow_UnaryRequestsEndWithTheInput(t *testing.T) {
	task, _, _ := smallFlow(t, map[string]any{})
	s := task.connect(-1)
	s.ask("discover", map[string]any{"name": "acme/capture", "connectorType": "IMAGE", "config": task.config})
	if err := s.process.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if exit := s.Finished(); exit.Code != 0 {
		t.Errorf("code %d: %s", exit.Code, watch.Last(exit.Stderr))
	}
}

func compareSmall(t *testing.T, cluster *pgtest.Cluster, database string, fold *replay.Fold) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, cluster.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := fold.Err(); err != nil {
		t.Error(err)
	}
	for _, table := range []string{"a", "b"} {
		differences, _, err := replay.Compare(ctx, conn, "public", table, fold, "public."+table)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences {
			t.Error(d)
		}
	}
}

// frequentStatuses makes the source tell the server its positions twice a second, instead of every ten: each time it could tell too much.
func frequentStatuses(t *testing.T, cluster *pgtest.Cluster, database string) {
	t.Helper()
	exec(t, cluster, database, "ALTER DATABASE "+database+" SET wal_sender_timeout = '1500ms'")
}

func TestFlow_OnlyAcknowledgementsConfirm(t *testing.T) {
	task, cluster, database := smallFlow(t, map[string]any{"backfill_chunk_size": 4})
	frequentStatuses(t, cluster, database)
	// A first session gives the state that the second is opened with.
	tail := false
	s := task.connect(-1).openCapture(&tail)
	s.Await("the last checkpoint", func() bool {
		n := len(s.checkpoints)
		return n > 0 && strings.Count(string(s.checkpoints[n-1].document), `"mode":"active"`) == 2
	})
	if err := s.process.CloseInput(); err != nil {
		t.Fatal(err)
	}
	s.Finished()
	s.commit(len(s.checkpoints))
	start := position(t, task.state)

	s = task.connect(-1).openCapture(nil)
	for i := range 6 { // several checkpoints
		change(t, cluster, database)
		s.Await("a checkpoint with the changes", func() bool { return len(s.docs) >= 32*(i+1) && !s.open })
	}
	until(t, "the position of open.state", func() bool { return confirmed(t, cluster, task.slot) >= start })
	for range 25 { // several statuses
		if at := confirmed(t, cluster, task.slot); at != start {
			t.Fatalf("without an acknowledgement the slot is confirmed up to %X, open.state ends at %X", at, start)
		}
		time.Sleep(100 * time.Millisecond)
	}
	var checkpoints []flowCheckpoint
	s.Locked(func() { checkpoints = slices.Clone(s.checkpoints) })
	for n := 0; n < len(checkpoints); {
		more := min(1+n%3, len(checkpoints)-n)
		n += more
		want := checkpoints[n-1].position
		s.acknowledge(more)
		begin := time.Now()
		for confirmed(t, cluster, task.slot) < want {
			if time.Since(begin) > acknowledgedWithin {
				t.Fatalf("after the acknowledgement of %d checkpoints the slot is confirmed up to %X, not %X", n, confirmed(t, cluster, task.slot), want)
			}
			time.Sleep(20 * time.Millisecond)
		}
		for range 10 { // a status comes meanwhile, or nearly so
			if at := confirmed(t, cluster, task.slot); at != want {
				t.Fatalf("after the acknowledgement of %d checkpoints the slot is confirmed up to %X, past %X", n, at, want)
			}
			time.Sleep(30 * time.Millisecond)
		}
	}
	if len(checkpoints) < 5 {
		t.Errorf("only %d checkpoints came: the test does not bite", len(checkpoints))
	}
	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.Finished()
}

func TestFlow_WithoutTailItEndsAfterTheLastCheckpoint(t *testing.T) {
	task, cluster, database := smallFlow(t, map[string]any{"backfill_chunk_size": 4})
	tail := false
	s := task.connect(-1).openCapture(&tail)
	acknowledged := 0
	for s.process.Alive() {
		if n := s.checkpointCount(); n > acknowledged {
			s.acknowledge(n - acknowledged)
			acknowledged = n
		}
		time.Sleep(5 * time.Millisecond)
	}
	if exit := s.Finished(); exit.Code != 0 || s.open {
		t.Fatalf("code %d; something came after the last checkpoint: %v\n%s", exit.Code, s.open, watch.Last(exit.Stderr))
	}
	s.commit(len(s.checkpoints))
	compareSmall(t, cluster, database, task.fold)
	if want, at := position(t, task.state), confirmed(t, cluster, task.slot); acknowledged == len(s.checkpoints) && at > want {
		t.Errorf("the slot is confirmed up to %X, past the last checkpoint at %X", at, want)
	}
}

// A session in which each checkpoint could have been the last one that was committed.
func TestFlow_ReopenedFromEveryCheckpoint(t *testing.T) {
	task, cluster, database := smallFlow(t, map[string]any{"backfill_chunk_size": 3})
	first := task.connect(-1).openCapture(nil)
	changed := 0
	for i := 0; ; i++ { // changes between the chunks and after them
		n := first.checkpointCount()
		if i > 0 && n >= 12 && changed >= 4 {
			break
		}
		change(t, cluster, database)
		changed++
		first.Await("another checkpoint", func() bool { return len(first.checkpoints) > n && !first.open })
	}
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Finished()
	change(t, cluster, database)
	base := task.state
	for n := 1; n <= len(first.checkpoints); n++ { // in order, since each start confirms its position
		again := newFlowTask(t, cluster, database, map[string]any{"backfill_chunk_size": 5},
			replay.Table{Stream: "public.a", Key: []string{"k"}, Version: "ver"}, replay.Table{Stream: "public.b", Key: []string{"k"}, Version: "ver"})
		again.state = base
		first.task = again
		first.commit(n)
		noTail := false
		s := again.connect(-1).openCapture(&noTail)
		s.Await("the end of the output or of the work", func() bool { return caughtUp(s) })
		if err := s.process.CloseInput(); err != nil {
			t.Fatal(err)
		}
		if exit := s.Finished(); exit.Code != 0 || s.open {
			t.Fatalf("re-opened from checkpoint %d: code %d: %s", n, exit.Code, watch.Last(exit.Stderr))
		}
		s.commit(len(s.checkpoints))
		compareSmall(t, cluster, database, again.fold)
		if again.fold.Stats.Repeats > 0 || again.fold.Stats.Rescans > 0 {
			t.Errorf("re-opened from checkpoint %d: %d changes and %d rows came twice", n, again.fold.Stats.Repeats, again.fold.Stats.Rescans)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("re-opened from each of %d checkpoints", len(first.checkpoints))
}

// caughtUp: the process says that it waits for the acknowledgement of its last checkpoint, or its output has ended.
func caughtUp(s *session) bool {
	return s.Ended() || !s.open && len(s.checkpoints) > 0 && strings.Count(string(s.checkpoints[len(s.checkpoints)-1].document), `"mode":"active"`) == len(s.task.bindings)
}

func TestFlow_KilledAndReopenedAddsUpToTheTables(t *testing.T) {
	for _, s := range seeds(t, 1) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { killFlow(t, s) })
	}
}

func killFlow(t *testing.T, seed uint64) {
	t.Logf("replay with: go test ./stress -run '%s' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cluster := servers.Cluster(t, 15)
	database := cluster.NewDatabase(t)
	conn, l := loaded(ctx, t, load.Options{DSN: cluster.DSN(database), Schema: "public", Seed: seed, Keys: 100, Pause: 3 * time.Millisecond})
	l.Run()
	advanced := map[string]any{}
	task := newFlowTask(t, cluster, database, advanced, foldTables()...)
	earlier, uncovered := 0, 0
	for n := 0; n < 10 || (earlier < 2 || uncovered < 1) && n < 50; n++ {
		advanced["backfill_chunk_size"] = 1 + rng.IntN(64)
		task.lengths = n%2 == 0
		s := task.connect(-1).openCapture(nil)
		documents, checkpoints := 1+rng.IntN(400), rng.IntN(6)
		durable := 0
		for done := false; !done; {
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			s.Locked(func() { done = len(s.docs) >= documents && len(s.checkpoints) >= checkpoints || s.Ended() })
			if n := s.checkpointCount(); n > durable && rng.IntN(6) == 0 { // the runtime commits now and then
				more := 1 + rng.IntN(n-durable)
				durable += more
				s.acknowledge(more)
			}
		}
		if err := s.process.Kill(); err != nil {
			t.Fatal(err)
		}
		if exit := s.Finished(); exit.Signal == 0 {
			t.Fatalf("the session ended by itself with code %d: %s", exit.Code, watch.Last(exit.Stderr))
		}
		// The runtime may have committed more than it could acknowledge.
		n := durable + rng.IntN(len(s.checkpoints)-durable+1)
		if n < len(s.checkpoints) {
			earlier++
		}
		if s.open {
			uncovered++
		}
		s.commit(n)
	}
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	noTail := false
	s := task.connect(-1).openCapture(&noTail)
	acknowledged := 0
	for s.process.Alive() {
		if n := s.checkpointCount(); n > acknowledged {
			s.acknowledge(n - acknowledged)
			acknowledged = n
		}
		time.Sleep(10 * time.Millisecond)
	}
	if exit := s.Finished(); exit.Code != 0 {
		t.Fatalf("the last session ended with code %d: %s", exit.Code, watch.Last(exit.Stderr))
	}
	s.commit(len(s.checkpoints))
	if err := task.fold.Err(); err != nil {
		t.Error(err)
	}
	for _, table := range load.Tables {
		differences, _, err := replay.Compare(ctx, conn, "public", table.Name, task.fold, "public."+table.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences {
			t.Error(d)
		}
	}
	t.Logf("%d re-opened from an earlier checkpoint, %d killed with documents after the last one; %+v", earlier, uncovered, task.fold.Stats)
	if earlier < 2 || uncovered < 1 {
		t.Errorf("the test does not bite: %d re-opened from an earlier checkpoint (want 2), %d killed with documents after the last one (want 1)", earlier, uncovered)
	}
}
