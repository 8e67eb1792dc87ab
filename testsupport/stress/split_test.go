package stress

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/wire"
)

// The whole of the key space, and its thirds, as a runner writes them.
var (
	whole  = keyRange{"00000000", "ffffffff"}
	thirds = []keyRange{{"00000000", "55555554"}, {"55555555", "aaaaaaa9"}, {"aaaaaaaa", "ffffffff"}}
)

type keyRange struct {
	Begin string `json:"begin"`
	End   string `json:"end"`
}

func TestSplit_EachTableComesFromOneProcessAndNoChangeIsLost(t *testing.T) {
	for _, s := range seeds(t, 1) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { splitAndMerge(t, s) })
	}
}

// splitCapture is a capture of thirty tables whose processes come and go.
type splitCapture struct {
	t       *testing.T
	path    string
	config  []byte
	catalog map[keyRange][]byte
	fold    *replay.Fold
	runs    int
}

// part is a runner of the extensions: it owns a range and folds one document.
type part struct {
	c        *splitCapture
	keys     keyRange
	document json.RawMessage
	streams  map[string]int // that it named in a RECORD or a STATE → how often

	w        *watched
	run      *replay.Run
	patches  []json.RawMessage // of this run, one a STATE
	running  json.RawMessage   // document and the patches so far
	position uint64            // of running
}

func splitAndMerge(t *testing.T, seed uint64) {
	t.Logf("replay with: go test ./stress -run '%s' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	cluster := servers.Cluster(t, 15)
	database := cluster.NewDatabase(t)
	var tables []string
	var folded []replay.Table
	for i := range 30 {
		tables = append(tables, fmt.Sprintf("split_%02d", i))
		folded = append(folded, replay.Table{Stream: "public." + tables[i], Key: []string{"k"}, Version: "ver"})
	}
	writers := startBumpers(t, cluster.DSN(database), seed, tables)
	slot := "split_" + database
	c := &splitCapture{
		t: t, path: binary.Build(t, "source-postgres"), catalog: map[keyRange][]byte{}, fold: replay.New(false, folded...),
		config: asJSON(t, connection(cluster, database, map[string]any{"slotName": slot, "backfill_chunk_size": 1 + rng.IntN(10)})),
	}
	base := configured(t, c.path, c.config, "split_*", nil)
	for _, keys := range append([]keyRange{whole}, thirds...) {
		c.catalog[keys] = with(t, base, map[string]any{"estuary.dev/range": keys})
	}

	parent := c.part(whole, nil)
	parent.start(true)
	active := rng.IntN(len(tables)) // the split comes in the middle of the backfill, or early, or after it
	parent.w.Await("so many active tables", func() bool { return strings.Count(string(parent.running), `"mode":"active"`) > active })
	parent.stop(syscall.SIGTERM)
	t.Logf("the whole capture ended when %d tables or more were active", active)
	writers.touchAll(t) // while no process runs

	parts := make([]*part, len(thirds))
	for _, i := range []int{2, 1, 0} { // those that copy the slot first
		parts[i] = c.part(thirds[i], parent.document)
		parts[i].start(true)
		if i > 0 {
			parts[i].awaitSlot(cluster.Query, slot+"_"+thirds[i].Begin)
		}
	}
	for _, p := range parts {
		p.w.Await("its first STATE", func() bool { return p.position > 0 })
	}
	const readers = "SELECT count(DISTINCT active_pid) FROM pg_replication_slots WHERE active AND slot_name IN ('%[1]s', '%[1]s_55555555', '%[1]s_aaaaaaaa')"
	if n := one(t, cluster, "postgres", fmt.Sprintf(readers, slot)); n != "3" {
		t.Errorf("%s slots are being read, want one for each of three processes", n)
	}
	for range 2 {
		killed := parts[rng.IntN(len(parts))]
		records := killed.run.Records() + 1 + rng.IntN(100)
		killed.w.Await("more records", func() bool { return killed.run.Records() >= records })
		killed.stop(syscall.SIGKILL)
		killed.start(true)
	}
	writers.touchAll(t)
	// The merged process reads the first one's slot, so the others have to be past what that one has confirmed.
	now := lsn(t, one(t, cluster, database, "SELECT pg_current_wal_flush_lsn()::text"))
	for _, p := range parts {
		p.w.Await("the writers' position, and the end of its backfill", func() bool {
			return p.position >= now && p.scanned()
		})
	}
	for _, i := range rng.Perm(len(parts)) {
		parts[i].stop(syscall.SIGTERM)
	}
	owners := map[string]int{}
	for i, p := range parts {
		if len(p.streams) < 6 {
			t.Errorf("the process of %s-%s had only %d tables, want 6 or more", p.keys.Begin, p.keys.End, len(p.streams))
		}
		for stream := range p.streams {
			if other, twice := owners[stream]; twice {
				t.Errorf("%s comes from process %d and from process %d", stream, other, i)
			}
			owners[stream] = i
		}
	}
	if len(owners) != len(tables) {
		t.Errorf("%d tables came from the three processes, want %d", len(owners), len(tables))
	}
	writers.touchAll(t) // while no process runs, again

	merged := c.part(whole, union(t, parts, owners))
	merged.start(false)
	merged.finish()
	if err := writers.end(); err != nil {
		t.Fatal(err)
	}
	merged.start(false)
	merged.finish()
	c.compare(cluster.DSN(database), tables)
	t.Logf("%+v; tables of each process: %d %d %d", c.fold.Stats, len(parts[0].streams), len(parts[1].streams), len(parts[2].streams))
}

// with adds members to an object.
func with(t *testing.T, object []byte, more map[string]any) []byte {
	t.Helper()
	raw, err := patched(object, asJSON(t, more))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (c *splitCapture) part(keys keyRange, document json.RawMessage) *part {
	return &part{c: c, keys: keys, document: document, streams: map[string]int{}}
}

func (p *part) start(tail bool) {
	t := p.c.t
	t.Helper()
	p.patches, p.running, p.position = nil, p.document, 0
	catalog := p.c.catalog[p.keys]
	if tail {
		catalog = with(t, catalog, map[string]any{"estuary.dev/tail": true})
	}
	command := binary.Command{Path: p.c.path, Args: []string{"read"}, Config: p.c.config, Catalog: catalog, State: p.document}
	p.w, p.run = watchRead(t, command, -1, p.take)
}

func (p *part) take(line []byte) error {
	m, err := wire.Airbyte(line)
	switch {
	case err != nil:
		return err
	case m.Record != nil:
		p.streams[m.Record.Stream.String()]++
	case m.State != nil && (!m.State.Merge || m.State.Data == nil):
		return fmt.Errorf("a STATE without a merge patch, to a runner that knows them: %.300s", line)
	case m.State != nil:
		p.streams[m.State.Stream.String()]++
		p.patches = append(p.patches, m.State.Data)
		if p.running, err = patched(p.running, m.State.Data); err != nil {
			return err
		}
		p.position = position(p.c.t, p.running)
	}
	return nil
}

// scanned tells whether every stream of this process has been read to its end; the document also holds the streams of others, as the parent left them.
func (p *part) scanned() bool {
	for key, raw := range parseState(p.c.t, p.running).Bindings {
		if p.streams[streamOf(key)] > 0 && !strings.Contains(string(raw), `"mode":"active"`) {
			return false
		}
	}
	return true
}

// streamOf turns the key of a stream's state into its name.
func streamOf(key string) string { return strings.Replace(key, "%2F", ".", 1) }

// stop ends the process by a signal. What it printed counts up to its last STATE.
func (p *part) stop(s syscall.Signal) {
	p.c.t.Helper()
	if err := p.w.process.Signal(s); err != nil {
		p.c.t.Fatal(err)
	}
	exit := p.w.Finished()
	if exit.Code != 0 && s != syscall.SIGKILL || exit.Signal == 0 && s == syscall.SIGKILL {
		p.c.t.Fatalf("a process ended with code %d after signal %s: %s", exit.Code, s, lastLogs(p.run))
	}
	p.keep(len(p.patches) - 1)
}

// finish waits for a run that catches up.
func (p *part) finish() {
	p.c.t.Helper()
	if exit := p.w.Finished(); exit.Code != 0 {
		p.c.t.Fatalf("a process that catches up ended with code %d: %s", exit.Code, lastLogs(p.run))
	}
	if n := p.run.RecordsAfterState(); n > 0 {
		p.c.t.Errorf("%d records came after the last STATE", n)
	}
	p.keep(len(p.patches) - 1)
}

func (p *part) keep(upTo int) {
	p.c.t.Helper()
	p.c.runs++
	if upTo < 0 {
		return
	}
	if err := p.c.fold.Add(p.c.runs, p.run, upTo); err != nil {
		p.c.t.Fatal(err)
	}
	p.document = p.running
}

func (p *part) awaitSlot(query func(database, sql string) ([][]string, error), slot string) {
	p.c.t.Helper()
	until(p.c.t, "slot "+slot, func() bool {
		rows, err := query("postgres", "SELECT 1 FROM pg_replication_slots WHERE active AND slot_name = '"+slot+"'")
		if err != nil {
			p.c.t.Fatal(err)
		}
		return len(rows) == 1
	})
}

// union joins the documents of the processes: each table's state from the process that owns it, with that process's position.
func union(t *testing.T, parts []*part, owners map[string]int) json.RawMessage {
	t.Helper()
	bindings := map[string]json.RawMessage{}
	for stream, owner := range owners {
		key := strings.Replace(stream, ".", "%2F", 1)
		s := parseState(t, parts[owner].document)
		raw := s.Bindings[key]
		if raw == nil {
			t.Fatalf("the state of the process that owns %s says nothing of it: %s", stream, parts[owner].document)
		}
		if !strings.Contains(string(raw), `"position"`) {
			raw = with(t, raw, map[string]any{"position": json.RawMessage(asJSON(t, s.Shared.Position))})
		}
		bindings[key] = raw
	}
	return asJSON(t, map[string]any{"bindings": bindings})
}

func (c *splitCapture) compare(dsn string, tables []string) {
	c.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := c.fold.Err(); err != nil {
		c.t.Error(err)
	}
	if c.fold.Stats.Repeats > 0 || c.fold.Stats.Rescans > 0 {
		c.t.Errorf("%d changes and %d rows came twice", c.fold.Stats.Repeats, c.fold.Stats.Rescans)
	}
	for _, table := range tables {
		differences, _, err := replay.Compare(ctx, conn, "public", table, c.fold, "public."+table)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, d := range differences {
			c.t.Error(d)
		}
	}
}
