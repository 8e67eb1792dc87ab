package stress

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/standby"
	"github.com/estuary/connectors/testsupport/watch"
	"github.com/estuary/connectors/testsupport/wire"
)

const (
	// endsWithin is how soon a read has to be gone after SIGTERM, whatever its reader does: runners kill after five seconds or more.
	endsWithin = 5 * time.Second
	mebibyte   = 1 << 20
)

// A reader that goes on: the read ends at a checkpoint.
func TestSIGTERM_LiveReader(t *testing.T) {
	cluster := servers.Cluster(t, 15)
	for _, s := range seeds(t, 3) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(s, 1)) //nolint:gosec // repeatable on purpose
			database := cluster.NewDatabase(t)
			var tables []string
			for i := range 6 {
				tables = append(tables, fmt.Sprintf("t%d", i))
			}
			writers := startBumpers(t, cluster.DSN(database), s, tables)
			w, run := startTail(t, cluster, database, map[string]any{"backfill_chunk_size": 1 + rng.IntN(20)}, -1)
			records := rng.IntN(600)
			w.Await("so many records", func() bool { return run.Records() >= records })
			clock := watch.StartClock()
			signal(t, w, syscall.SIGTERM)
			exit := w.Finished()
			if took := clock.Took(); exit.Code != 0 || exit.Signal != 0 || took >= endsWithin {
				t.Errorf("it ended with code %d, signal %d, after %s: %s", exit.Code, exit.Signal, took, lastLogs(run))
			}
			if n := run.RecordsAfterState(); n > 0 || len(w.process.Partial()) > 0 {
				t.Errorf("%d records and the partial line %.100q came after the last STATE", n, w.process.Partial())
			}
			statuses := lastStatuses(run)
			for _, table := range tables {
				if status := statuses["public."+table]; status != "COMPLETE" && status != "INCOMPLETE" {
					t.Errorf("the last status of %s is %q", table, status)
				}
			}
			if err := writers.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// startTail starts a tailing read of all tables, whose reader stops after so many bytes; negative: it never does.
func startTail(t *testing.T, cluster *pgtest.Cluster, database string, advanced map[string]any, stopAt int64) (*watched, *replay.Run) {
	t.Helper()
	advanced["slotName"] = "signal_" + database
	command := binary.Command{
		Path: binary.Build(t, "source-postgres"), Args: []string{"read", "--streams", "*", "--tail"}, Config: asJSON(t, connection(cluster, database, advanced)),
		Env: []string{"LOG_LEVEL=debug"},
	}
	return watchRead(t, command, stopAt, nil)
}

func signal(t *testing.T, w *watched, s syscall.Signal) {
	t.Helper()
	if !w.process.Alive() {
		t.Fatalf("the process has ended before the signal: %s", watch.Last(w.process.Stderr()))
	}
	if err := w.process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// lastStatuses are the last STREAM_STATUS of each stream.
func lastStatuses(run *replay.Run) map[string]string {
	statuses := map[string]string{}
	for _, m := range run.Others {
		if m.Trace != nil && m.Trace.Type == "STREAM_STATUS" {
			statuses[m.Trace.Stream.String()] = m.Trace.Status
		}
	}
	return statuses
}

// bigTable has about 200 bytes a row.
const bigTable = "CREATE TABLE big (k int PRIMARY KEY, word text); INSERT INTO big SELECT n, repeat('x', 150) FROM generate_series(1, %d) n"

// stoppedIn brings a read to a situation in which its reader has stopped after 1 MiB.
var stoppedIn = []struct {
	name  string
	start func(t *testing.T) *watched
}{
	{"backfill", func(t *testing.T) *watched {
		cluster := servers.Cluster(t, 15)
		database := cluster.NewDatabase(t)
		exec(t, cluster, database, fmt.Sprintf(bigTable, 40000))
		w, _ := startTail(t, cluster, database, map[string]any{}, mebibyte)
		w.Await("1 MiB", func() bool { return w.Held() })
		fills(t, w)
		return w
	}},
	{"transaction", func(t *testing.T) *watched {
		cluster := servers.Cluster(t, 15)
		database := cluster.NewDatabase(t)
		exec(t, cluster, database, fmt.Sprintf(bigTable, 10))
		w, run := startTail(t, cluster, database, map[string]any{}, mebibyte)
		w.Await("the end of the backfill", func() bool { return isActive(run) })
		exec(t, cluster, database, "INSERT INTO big SELECT n, repeat('x', 150) FROM generate_series(11, 60000) n")
		w.Await("1 MiB", func() bool { return w.Held() })
		fills(t, w)
		return w
	}},
	{"idle", func(t *testing.T) *watched {
		cluster := servers.Cluster(t, 15)
		database := cluster.NewDatabase(t)
		exec(t, cluster, database, fmt.Sprintf(bigTable, 6000))
		w, run := startTail(t, cluster, database, map[string]any{"backfill_chunk_size": 500}, -1)
		w.Await("the end of the backfill after more than 1 MiB", func() bool { return isActive(run) })
		w.Locked(func() { w.stopAt = w.process.Taken() })
		exec(t, cluster, database, "UPDATE big SET word = 'y' WHERE k = 1") // what lets the reader notice that it has stopped
		w.Await("the reader to have stopped", func() bool { return w.Held() })
		atLeastAMebibyte(t, w)
		return w
	}},
	{"hung commit", func(t *testing.T) *watched {
		cluster := pgtest.Start(t, pgtest.Options{}) // a setting of the whole cluster
		database := cluster.NewDatabase(t)
		exec(t, cluster, database, fmt.Sprintf(bigTable, 6000))
		w, run := startTail(t, cluster, database, map[string]any{"backfill_chunk_size": 500}, -1)
		w.Await("the end of the backfill after more than 1 MiB", func() bool { return isActive(run) })
		if err := standby.Block(cluster); err != nil {
			t.Fatal(err)
		}
		hung := make(chan error, 1)
		go func() { hung <- cluster.Exec(database, "UPDATE big SET word = 'y' WHERE k = 1") }()
		t.Cleanup(func() {
			if err := standby.Release(cluster); err != nil {
				t.Error(err)
			}
			if err := <-hung; err != nil {
				t.Error(err)
			}
		})
		w.Await("a transaction that is not visible as a STATE is due", func() bool { return logged(run, "not visible yet", "due=true") })
		w.Locked(func() { w.stopAt = 0 })
		atLeastAMebibyte(t, w)
		return w
	}},
}

// fills waits until the process hangs in a write: a pipe that takes no more for a while is full. Before that it may still end as if it had a reader.
func fills(t *testing.T, w *watched) {
	t.Helper()
	const enough = 32 << 10 // half a pipe; the last write may not fit into what is left
	last, same := -1, 0
	for deadline := time.Now().Add(patience); same < 5; time.Sleep(20 * time.Millisecond) {
		n, err := w.process.Waiting()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("waiting for the pipe to be full: %d bytes are in it, %v", n, err)
		}
		if same++; n != last || n < enough {
			last, same = n, 0
		}
	}
}

func atLeastAMebibyte(t *testing.T, w *watched) {
	t.Helper()
	if n := w.process.Taken(); n < mebibyte {
		t.Errorf("only %d bytes were read before the reader stopped", n)
	}
}

func isActive(run *replay.Run) bool {
	return run.States() > 0 && strings.Contains(string(run.State(run.States()-1).Body), `"mode":"active"`)
}

func logged(run *replay.Run, texts ...string) bool {
	for i := len(run.Others) - 1; i >= 0; i-- {
		if m := run.Others[i]; m.Log != nil && containsAll(m.Log, texts) {
			return true
		}
	}
	return false
}

func containsAll(l *wire.Log, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(l.Message, text) {
			return false
		}
	}
	return true
}

func TestSIGTERM_StoppedReader(t *testing.T) {
	for _, situation := range stoppedIn {
		t.Run(situation.name, func(t *testing.T) {
			w := situation.start(t)
			clock := watch.StartClock()
			signal(t, w, syscall.SIGTERM)
			exit, err := w.process.Wait(patience)
			if err != nil {
				t.Fatal(err)
			}
			if took := clock.Took(); exit.Code != 0 || exit.Signal != 0 || took >= endsWithin {
				t.Errorf("it ended with code %d, signal %d, after %s: %s", exit.Code, exit.Signal, took, watch.Last(exit.Stderr))
			} else {
				t.Logf("gone after %s", took.Round(time.Millisecond))
			}
		})
	}
}

// A second signal ends the read at once.
func TestSIGTERM_Twice(t *testing.T) {
	for _, situation := range stoppedIn[:2] {
		t.Run(situation.name, func(t *testing.T) {
			w := situation.start(t)
			signal(t, w, syscall.SIGTERM)
			time.Sleep(400 * time.Millisecond) // signals that arrive together are one request
			clock := watch.StartClock()
			signal(t, w, syscall.SIGINT)
			exit, err := w.process.Wait(patience)
			if err != nil {
				t.Fatal(err)
			}
			if took := clock.Took(); exit.Code != 0 || exit.Signal != 0 || took >= 2*time.Second {
				t.Errorf("it ended with code %d, signal %d, %s after the second signal: %s", exit.Code, exit.Signal, took, watch.Last(exit.Stderr))
			}
		})
	}
}

// While a commit hangs, a reader that goes on gets no RECORD that a STATE does not cover: the read ends without a checkpoint.
func TestSIGTERM_LiveReaderDuringAHungCommit(t *testing.T) {
	cluster := pgtest.Start(t, pgtest.Options{})
	database := cluster.NewDatabase(t)
	exec(t, cluster, database, fmt.Sprintf(bigTable, 100))
	w, run := startTail(t, cluster, database, map[string]any{}, -1)
	w.Await("the end of the backfill", func() bool { return isActive(run) })
	if err := standby.Block(cluster); err != nil {
		t.Fatal(err)
	}
	hung := make(chan error, 1)
	go func() { hung <- cluster.Exec(database, "UPDATE big SET word = 'y' WHERE k = 1") }()
	w.Await("a transaction that is not visible as a STATE is due", func() bool { return logged(run, "not visible yet", "due=true") })
	clock := watch.StartClock()
	signal(t, w, syscall.SIGTERM)
	exit := w.Finished()
	if took := clock.Took(); exit.Code != 0 || exit.Signal != 0 || took >= endsWithin {
		t.Errorf("it ended with code %d, signal %d, after %s", exit.Code, exit.Signal, took)
	}
	if n := run.RecordsAfterState(); n > 0 {
		t.Errorf("%d records came after the last STATE", n)
	}
	if status := lastStatuses(run)["public.big"]; status != "INCOMPLETE" {
		t.Errorf("the last status is %q", status)
	}
	if err := standby.Release(cluster); err != nil {
		t.Fatal(err)
	}
	if err := <-hung; err != nil {
		t.Error(err)
	}
}
