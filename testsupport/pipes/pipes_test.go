package pipes

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/compare"
	"github.com/estuary/connectors/testsupport/load"
	"github.com/estuary/connectors/testsupport/pipeline"
	"github.com/estuary/connectors/testsupport/replay"
)

var (
	servers pgtest.Shared
	seed    = flag.Uint64("seed", 0, "run this seed only")
)

func TestMain(m *testing.M) { servers.Run(m) }

// patience bounds every wait; it only has to be longer than a slow machine takes.
const patience = 90 * time.Second

// rounds is how many times a pipe is started: few, or with STRESS_SEEDS all twenty, as many times as there are seeds.
func rounds(t *testing.T, few int) (perSeed int, seeds []uint64) {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("STRESS_SEEDS"))
	if err != nil || n < 1 {
		n = 1
	} else {
		few = 20
	}
	if *seed != 0 {
		return few, []uint64{*seed}
	}
	for i := range n {
		seeds = append(seeds, uint64(time.Now().UnixNano())+uint64(i)*7919)
	}
	return few, seeds
}

// shell is a pipe between two databases.
type shell struct {
	t               *testing.T
	cluster         *pgtest.Cluster
	source, sink    string // programs
	left, right     *pgx.Conn
	database        string
	config, config2 []byte
	catalog         []byte
	rng             *rand.Rand
	bites           bites
	calm            *shell        // a pipe that nobody disturbs, from the same database into another one
	span            time.Duration // how long a round lasts that nobody disturbs
}

// bites counts what makes the test worth its time.
type bites struct {
	sources, sinks int // killed while they lived
	dropped        int // rounds in which records after the last STATE were dropped
	tails          int
}

func (b bites) kills() int { return b.sources + b.sinks }

// modes by table; the key is the source's own.
func newShell(t *testing.T, seed uint64, modes map[string]string) *shell {
	t.Helper()
	c := servers.Cluster(t, pgtest.DefaultVersion)
	s := &shell{t: t, cluster: c, source: binary.Build(t, "source-postgres"), sink: binary.Build(t, "materialize-postgres"), rng: rand.New(rand.NewPCG(seed, 1)), span: time.Second} //nolint:gosec // repeatable on purpose
	s.database = c.NewDatabase(t)
	lake := c.NewDatabase(t)
	s.left, s.right = connect(t, c.DSN(s.database)), connect(t, c.DSN(lake))
	s.config = encode(t, pipeline.Capture(c, s.database, map[string]any{"slotName": "slot_" + s.database, "backfill_chunk_size": 1 + s.rng.IntN(40)}))
	s.config2 = encode(t, pipeline.Materialize(c, "", lake))
	if err := load.Create(context.Background(), s.left, "public"); err != nil {
		t.Fatal(err)
	}
	s.run(`CREATE TABLE bulk (k int NOT NULL, ver bigint NOT NULL, word text); ALTER TABLE bulk REPLICA IDENTITY FULL;
		WITH rows AS (INSERT INTO bulk SELECT n, 1, repeat('x', 200) FROM generate_series(1, 3000) n RETURNING k) INSERT INTO ledger (tbl, key, ver, op) SELECT 'bulk', k, 1, 'c' FROM rows`)
	s.catalog = s.configured(modes)
	calm, other := *s, c.NewDatabase(t)
	calm.right = connect(t, c.DSN(other))
	calm.config = encode(t, pipeline.Capture(c, s.database, map[string]any{"slotName": "calm_" + s.database, "publicationName": "calm"}))
	calm.config2 = encode(t, pipeline.Materialize(c, "", other))
	s.calm = &calm
	return s
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// configured is what discover prints, with modes for the destination.
func (s *shell) configured(modes map[string]string) []byte {
	s.t.Helper()
	var streams []string
	for table := range modes {
		streams = append(streams, "public."+table)
	}
	out := s.output(binary.Command{Path: s.source, Args: []string{"discover", "--configured", "--streams", strings.Join(streams, ",")}, Config: s.config})
	var catalog map[string]any
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte(`{"streams"`)) {
			if err := json.Unmarshal(line, &catalog); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	list, _ := catalog["streams"].([]any)
	if len(list) != len(modes) {
		s.t.Fatalf("discover offers %d of %d streams: %s", len(list), len(modes), out)
	}
	for _, entry := range list {
		stream := entry.(map[string]any)
		name := stream["stream"].(map[string]any)["name"].(string)
		stream["destination_sync_mode"] = modes[name]
	}
	return encode(s.t, catalog)
}

// output runs a command to its end, which must be a good one.
func (s *shell) output(c binary.Command) []byte {
	s.t.Helper()
	p, err := binary.Start(c)
	if err != nil {
		s.t.Fatal(err)
	}
	lines, err := p.Drain()
	if err != nil {
		s.t.Fatal(err)
	}
	exit, err := p.Wait(patience)
	if err != nil || exit.Code != 0 {
		s.t.Fatalf("%s ended with code %d, %v: %s%s", strings.Join(c.Args, " "), exit.Code, err, bytes.Join(lines, []byte("\n")), exit.Stderr)
	}
	return bytes.Join(lines, []byte("\n"))
}

// stored asks the destination where to go on.
func (s *shell) stored() []byte {
	s.t.Helper()
	out := s.output(binary.Command{Path: s.sink, Args: []string{"state"}, Config: s.config2, Catalog: s.catalog})
	// Logs may come before it.
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	state := lines[len(lines)-1]
	var list []json.RawMessage
	if err := json.Unmarshal(state, &list); err != nil {
		s.t.Fatalf("state printed no list: %v: %s", err, out)
	}
	return state
}

// Who is killed.
const (
	nobody = iota
	theSource
	theSink
)

// victim takes turns, more or less.
func (s *shell) victim(round int) int { return theSource + (round+s.rng.IntN(3)/2)%2 }

// moment is when to kill: at any time of a round.
func (s *shell) moment() time.Duration {
	return time.Duration(s.rng.Int64N(int64(s.span)))
}

func (s *shell) run(sql string) {
	s.t.Helper()
	if _, err := s.left.Exec(context.Background(), sql); err != nil {
		s.t.Fatal(err)
	}
}

// burst is one transaction of many changes: a source that is killed among them has said nothing since its last STATE.
const burst = `WITH rows AS (UPDATE bulk SET ver = ver + 1 RETURNING k, ver) INSERT INTO ledger (tbl, key, ver, op) SELECT 'bulk', k, ver, 'u' FROM rows`

// round runs the pipe once from a state, and kills a side after a while. It returns what the sink has printed.
func (s *shell) round(state []byte, tail bool, who int, after time.Duration) *replay.Run {
	s.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	catalog := s.catalog
	if tail {
		catalog = append([]byte(`{"estuary.dev/tail":true,`), catalog[1:]...)
		s.bites.tails++
	}
	from, err := binary.Start(binary.Command{Path: s.source, Args: []string{"read"}, Config: s.config, Catalog: catalog, State: state, Output: write})
	if err != nil {
		s.t.Fatal(err)
	}
	to, err := binary.Start(binary.Command{Path: s.sink, Args: []string{"write"}, Config: s.config2, Catalog: s.catalog, Input: read})
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = read.Close(), write.Close() // the processes have their own
	if who != nobody {
		victim, count := from, &s.bites.sources
		if who == theSink {
			victim, count = to, &s.bites.sinks
		}
		// With a sink that stands still the pipe is full, and the source ends in the middle of something.
		frozen := who == theSource && s.rng.IntN(3) > 0
		timer := time.AfterFunc(after, func() {
			if frozen {
				_ = to.Signal(syscall.SIGSTOP)
				time.Sleep(300 * time.Millisecond)
			}
			if victim.Alive() {
				*count++ // read after both have ended
			}
			_ = victim.Kill()
			_ = to.Signal(syscall.SIGCONT)
		})
		defer timer.Stop()
	}
	lines, err := to.Drain()
	if err != nil {
		s.t.Fatal(err)
	}
	sink, err := to.Wait(patience)
	if err != nil {
		s.t.Fatal(err)
	}
	source, err := from.Wait(patience)
	if err != nil {
		s.t.Fatal(err)
	}
	run := &replay.Run{}
	if !tail && source.Signal == 0 && sink.Signal == 0 {
		s.span = max(source.Wall, 100*time.Millisecond)
	}
	said := ""
	for _, line := range lines {
		m, err := run.Line(line)
		if err != nil {
			s.t.Fatalf("%v: %.300s", err, line)
		}
		if m.Trace != nil && m.Trace.Message != "" {
			said += m.Trace.Message + "\n"
		}
	}
	said += sink.Stderr
	switch {
	case source.Signal == 0 && sink.Signal == 0 && (source.Code != 0 || sink.Code != 0):
		s.t.Fatalf("in a round that nobody disturbed the source ended with code %d: %s\nthe sink with %d: %s", source.Code, source.Stderr, sink.Code, said)
	case source.Signal != 0 && sink.Signal == 0 && sink.Code == 1: // it says what it dropped
		s.bites.dropped++
		if !strings.Contains(said, "public.") {
			s.t.Errorf("after the source's end the sink names no stream: %s", said)
		}
	case source.Signal != 0 && sink.Signal == 0 && sink.Code != 0:
		s.t.Fatalf("after the source's end the sink ended with code %d: %s", sink.Code, said)
	}
	return run
}

// fill puts rows into the tables of a load that does not run yet, and lets the calm pipe read them.
func (s *shell) fill(seed uint64, tables ...string) *load.Load {
	s.t.Helper()
	l, err := load.New(context.Background(), load.Options{DSN: s.cluster.DSN(s.database), Seed: seed, Writers: 2, Keys: 100, Pause: 15 * time.Millisecond, Tables: tables})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Stop() })
	if err := l.Fill(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	s.calm.goOn()
	return l
}

// goOn runs a round that nobody disturbs.
func (s *shell) goOn() {
	s.t.Helper()
	s.round(s.stored(), false, nobody, 0)
}

// check lets the calm pipe read the changes, and holds the tables against the source's and against those of the calm pipe.
func (s *shell) check(tables ...string) {
	s.t.Helper()
	ctx := context.Background()
	s.calm.goOn()
	for _, table := range tables {
		name := compare.Name{Schema: "public", Table: table}
		var r compare.Result
		var err error
		except := []string{"_meta", "flow_document"} // when and where from
		if table == "by_none" || table == "bulk" {
			r, err = compare.Changes(ctx, s.left, s.right, compare.List{Source: name, Sink: name, Key: []string{"k"}, Version: "ver", Ledger: compare.Name{Schema: "public", Table: "ledger"}})
		} else {
			except = append(except, "_meta/op") // a key may have come by the backfill here and by the log there
			r, err = compare.Table(ctx, s.left, name, s.right, name, []string{"k"})
		}
		if err != nil {
			s.t.Fatal(err)
		}
		same, err := compare.Same(ctx, s.right, name, s.calm.right, name, except...)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, d := range append(r.Differences, same.Differences...) {
			s.t.Error(d)
		}
	}
}

// Every round starts from what the destination holds: exactly once, whoever was killed.
func TestPipes_GoOnFromTheDestinationsState(t *testing.T) {
	n, list := rounds(t, 4)
	for _, sd := range list {
		t.Run(fmt.Sprintf("seed %d", sd), func(t *testing.T) {
			t.Logf("replay with: go test ./pipes -run '%s' -seed %d", t.Name(), sd)
			s := newShell(t, sd, map[string]string{"by_int": "append_dedup", "by_none": "append", "bulk": "append"})
			l := s.fill(sd, "by_int", "by_none")
			// Nothing changes amid the backfill, so that both runs have the same list to tell of the tables that only grow.
			for i := 0; s.bites.kills() < n/4 && i < 4*n; i++ {
				s.round(s.stored(), false, s.victim(i), s.moment())
			}
			s.goOn()
			l.Run()
			// Some end before they are killed, and some sources right after a STATE.
			for i := 0; (s.bites.kills() < n || s.bites.dropped == 0) && i < 10*n; i++ {
				s.run(burst)
				s.round(s.stored(), s.rng.IntN(2) == 0, s.victim(i), s.moment())
				if err := l.Err(); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Stop(); err != nil {
				t.Fatal(err)
			}
			s.goOn()
			s.check("by_int", "by_none", "bulk")
			t.Logf("%+v; %+v", s.bites, l.Stats())
			if s.bites.kills() < n || s.bites.dropped == 0 {
				t.Errorf("the test does not bite: %+v", s.bites)
			}
		})
	}
}

// Every round starts from the STATEs that were echoed, which may be older than what is committed: a keyed table does not show it.
func TestPipes_GoOnFromTheEchoedStates(t *testing.T) {
	n, list := rounds(t, 4)
	for _, sd := range list {
		t.Run(fmt.Sprintf("seed %d", sd), func(t *testing.T) {
			t.Logf("replay with: go test ./pipes -run '%s' -seed %d", t.Name(), sd)
			s := newShell(t, sd, map[string]string{"by_int": "append_dedup", "by_c": "append_dedup"})
			l := s.fill(sd, "by_int", "by_c")
			l.Run()
			state := []byte("[]")
			goOn := func(who int) {
				out := s.round(state, false, who, s.moment())
				var err error
				if state, err = out.StateFile(state, out.States()-1); err != nil {
					t.Fatal(err)
				}
			}
			for i := 0; s.bites.kills() < n && i < 10*n; i++ {
				goOn(s.victim(i))
			}
			if err := l.Stop(); err != nil {
				t.Fatal(err)
			}
			goOn(nobody)
			s.check("by_int", "by_c")
			t.Logf("%+v; %+v", s.bites, l.Stats())
			if s.bites.kills() < n {
				t.Errorf("the test does not bite: %+v", s.bites)
			}
		})
	}
}
