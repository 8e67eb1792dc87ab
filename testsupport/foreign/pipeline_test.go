package foreign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/pipeline"
)

// copying is a pipeline from the source into a database.
type copying struct {
	*source
	conn   *pgx.Conn
	runner string // program
	file   pipeline.File
	path   string // of the file
}

func newCopying(t *testing.T, entries []map[string]any, streams ...held) *copying {
	t.Helper()
	c := servers.Cluster(t, pgtest.DefaultVersion)
	database := c.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), c.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	p := &copying{source: newSource(t, streams...), conn: conn, runner: binary.Build(t, "pipeline"), path: filepath.Join(t.TempDir(), "foreign.yaml")}
	p.file = pipeline.File{Sink: pipeline.Side{Connector: binary.Build(t, "materialize-postgres"), Config: pipeline.Materialize(c, "", database)}, Streams: entries}
	return p
}

func (p *copying) start() *binary.Process {
	p.t.Helper()
	p.file.Source = pipeline.Side{Connector: p.source.program, Config: p.config()}
	if err := p.file.Write(p.path); err != nil {
		p.t.Fatal(err)
	}
	run, err := binary.Start(binary.Command{Path: p.runner, Args: []string{"run", "--once", p.path}})
	if err != nil {
		p.t.Fatal(err)
	}
	return run
}

// once runs the pipeline until the source has ended.
func (p *copying) once() binary.Exit {
	p.t.Helper()
	run := p.start()
	exit, err := run.Wait(patience)
	if err != nil || exit.Code != 0 {
		p.t.Fatalf("%v, the pipeline ended with %d: %s", err, exit.Code, exit.Stderr)
	}
	return exit
}

func TestPipeline_AppendAndAppendDedup(t *testing.T) {
	// orders go by their key, events have none, notes are to be added to although they have one.
	entries := []map[string]any{{"stream": "shop.*"}, {"stream": "notes", "delta_updates": true}}
	p := newCopying(t, entries, orders(1, 40), events(25), notes("first", 5))
	p.more["token"] = "not-to-be-seen-anywhere"
	if exit := p.once(); strings.Contains(exit.Stderr, "not-to-be-seen") {
		t.Errorf("the source's secret is in the log: %s", exit.Stderr)
	}
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	same(t, p.conn, "shop.events", p.streams[1], p.streams[1].Records)
	first := p.streams[2]
	same(t, p.conn, "public.notes", first, first.Records)

	p.hold(orders(1, 60), events(30), notes("second", 7))
	p.once()
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	same(t, p.conn, "shop.events", p.streams[1], p.streams[1].Records)
	same(t, p.conn, "public.notes", first, append(first.Records, p.streams[2].Records...))
}

// Source, sink and runner are killed in turn while the source reads, each after something was committed since. The table without a key shows what comes twice.
func TestPipeline_KilledAndResumed(t *testing.T) {
	p := newCopying(t, []map[string]any{{"stream": "*"}}, events(250), orders(1, 100))
	p.more["state_every"], p.more["pause"] = 5, 0.15
	committed := 0
	for round, victims := range [][]string{{"source", "sink", "runner"}, {"sink", "source", "runner"}, {"source", "sink"}} {
		run := p.start()
		for _, victim := range victims {
			committed = p.awaitMore(run, committed)
			pid := run.PID()
			if victim != "runner" {
				pid = p.child(run, victim)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			t.Logf("round %d: killed the %s after %d rows", round, victim, committed)
		}
		exit, err := run.Wait(patience)
		if err != nil || exit.Signal == 0 && exit.Code != 0 {
			t.Fatalf("%v, the pipeline ended with %d: %s", err, exit.Code, exit.Stderr)
		}
	}
	p.more["pause"] = 0
	p.once()
	same(t, p.conn, "shop.events", p.streams[0], p.streams[0].Records)
	same(t, p.conn, "shop.orders", p.streams[1], newest(p.streams[1]))
}

// awaitMore waits until more rows are committed than before, and returns how many.
func (p *copying) awaitMore(run *binary.Process, before int) int {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var n int
		// There is no such table at first.
		err := p.conn.QueryRow(p.t.Context(), "SELECT count(*) + (SELECT coalesce(sum(version), 0) FROM shop.orders) FROM shop.events").Scan(&n)
		if err == nil && n > before {
			return n
		}
		if !run.Alive() {
			exit, _ := run.Wait(patience)
			p.t.Fatalf("the pipeline ended with %d after %d rows, too early for another kill: %s", exit.Code, n, exit.Stderr)
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("nothing was committed for %s (%v)", patience, err)
		}
	}
}

// child returns the process of a side of the pipeline, which may be starting.
func (p *copying) child(run *binary.Process, side string) int {
	p.t.Helper()
	program := map[string]string{"source": "source.py", "sink": "materialize-postgres"}[side]
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", run.PID())) // only a bad pattern is an error
		for _, list := range lists {
			text, _ := os.ReadFile(list) // a thread may be gone
			for _, child := range strings.Fields(string(text)) {
				args, _ := os.ReadFile("/proc/" + child + "/cmdline")
				if strings.Contains(string(args), program+"\x00") {
					if pid, err := strconv.Atoi(child); err == nil {
						return pid
					}
				}
			}
		}
	}
	p.t.Fatalf("the pipeline has no %s", side)
	return 0
}
