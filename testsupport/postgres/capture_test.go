package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/watch"
	"github.com/estuary/connectors/testsupport/wire"
)

// capture is a destination's life: runs that follow each other, each from the last STATE of the one before.
type capture struct {
	t        *testing.T
	db       *database
	config   map[string]any
	advanced map[string]any
	streams  string // --streams, unless there is a catalog
	catalog  []byte
	fold     *replay.Fold
	state    []byte
	runs     int
}

// capture describes a capture of the tables, by the superuser.
func (d *database) capture(tables ...replay.Table) *capture {
	streams := make([]string, len(tables))
	for i, t := range tables {
		streams[i] = t.Stream
	}
	advanced := map[string]any{"slotName": d.slot}
	return &capture{
		t: d.t, db: d, advanced: advanced, streams: strings.Join(streams, ","), fold: replay.New(false, tables...),
		config: map[string]any{"address": d.cluster.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": d.name, "advanced": advanced},
	}
}

// table is a stream of schema public with its key.
func table(name string, key ...string) replay.Table {
	return replay.Table{Stream: "public." + name, Key: key}
}

// as lets another role capture.
func (c *capture) as(role string) *capture {
	c.config["user"], c.config["password"] = role, "secret"
	return c
}

// discover fixes the streams as they are now, so that a run names tables that are gone by then.
func (c *capture) discover() *capture {
	c.t.Helper()
	p, err := binary.Start(binary.Command{Path: binary.Build(c.t, "source-postgres"), Args: []string{"discover", "--configured", "--streams", c.streams}, Config: c.rawConfig()})
	if err != nil {
		c.t.Fatal(err)
	}
	lines, err := p.Drain()
	if err != nil {
		c.t.Fatal(err)
	}
	if exit, err := p.Wait(patience); err != nil || exit.Code != 0 || len(lines) == 0 {
		c.t.Fatalf("discover ended with code %d and %d lines: %v %s", exit.Code, len(lines), err, exit.Stderr)
	}
	c.catalog = lines[len(lines)-1]
	return c
}

func (c *capture) rawConfig() []byte {
	c.t.Helper()
	raw, err := json.Marshal(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	return raw
}

// record is a document that a run printed.
type record struct {
	stream   string
	doc      map[string]json.RawMessage
	op       string
	snapshot bool
	loc      []uint64
	row      int64
}

// text is a column as a string; "": it is absent.
func (r record) text(column string) string { return replay.Text(r.doc[column]) }

// run is a running process and what it printed so far.
type run struct {
	*watch.Lines
	c       *capture
	process *binary.Process

	out     *replay.Run
	records []record
	covered int // how many of them came before the last STATE
	hold    int // stop reading once there are so many records; negative: never
}

// start starts a run that ends when it has caught up.
func (c *capture) start() *run { c.t.Helper(); return c.startWith(-1, nil) }

// tail starts a run that goes on until it is stopped.
func (c *capture) tail() *run { c.t.Helper(); return c.startWith(-1, []string{"--tail"}) }

// held starts a run whose reader stops after so many records, until release: the pipe is full, and the backfill cannot go on.
func (c *capture) held(records int, flags ...string) *run {
	c.t.Helper()
	return c.startWith(records, flags)
}

func (c *capture) startWith(hold int, flags []string) *run {
	c.t.Helper()
	command := binary.Command{Path: binary.Build(c.t, "source-postgres"), Args: []string{"read"}, Config: c.rawConfig(), State: c.state, Catalog: c.catalog}
	if c.catalog == nil {
		command.Args = append(command.Args, "--streams", c.streams)
	}
	command.Args = append(command.Args, flags...)
	r := &run{c: c, out: &replay.Run{}, hold: hold}
	r.Lines, r.process = watch.Start(c.t, command, r.take, func(*binary.Process) bool { return r.hold >= 0 && len(r.records) >= r.hold })
	return r
}

func (r *run) take(line []byte) error {
	m, err := r.out.Line(line)
	if err == nil && m.State != nil {
		r.covered = len(r.records)
	}
	if err != nil || m.Record == nil {
		return err
	}
	rec := record{stream: m.Record.Stream.String()}
	if rec.doc, err = wire.Object(m.Record.Data); err != nil {
		return err
	}
	var meta struct {
		Op     string `json:"op"`
		Source struct {
			Snapshot bool    `json:"snapshot"`
			Loc      []int64 `json:"loc"`
			Row      int64   `json:"row"`
		} `json:"source"`
	}
	if err := json.Unmarshal(rec.doc["_meta"], &meta); err != nil {
		return err
	}
	rec.op, rec.snapshot, rec.row = meta.Op, meta.Source.Snapshot, meta.Source.Row
	for _, n := range meta.Source.Loc {
		rec.loc = append(rec.loc, uint64(n)) //nolint:gosec // -1 stands for "before everything"
	}
	r.records = append(r.records, rec)
	return nil
}

// release lets a held run go on.
func (r *run) release() { r.Release(func() { r.hold = -1 }) }

// await waits until what was printed fulfils the condition. It fails the test when the process ends first.
func (r *run) await(what string, ok func() bool) {
	r.c.t.Helper()
	if !r.Reaches(ok) {
		r.c.t.Fatalf("the run has not come to %s; it printed %d records, and says:\n%s", what, r.count(func(record) bool { return true }), r.said())
	}
}

// awaitRecord waits for a record that fits.
func (r *run) awaitRecord(what string, fits func(record) bool) {
	r.c.t.Helper()
	r.await(what, func() bool { return countOf(r.records, fits) > 0 })
}

// awaitRow waits for a document of a stream whose column has this value.
func (r *run) awaitRow(stream, column, value string) {
	r.c.t.Helper()
	r.awaitRecord(stream+" with "+column+" = "+value, func(rec record) bool { return rec.stream == stream && rec.text(column) == value })
}

// awaitCovered waits for a STATE behind such a document: what the log says of the table up to there has been acted on.
func (r *run) awaitCovered(stream, column, value string) {
	r.c.t.Helper()
	r.await("a STATE behind "+stream+" with "+column+" = "+value, func() bool {
		return countOf(r.records[:r.covered], func(rec record) bool { return rec.stream == stream && rec.text(column) == value }) > 0
	})
}

// awaitLog waits for a log line that contains every one of the texts.
func (r *run) awaitLog(texts ...string) {
	r.c.t.Helper()
	r.await("a log line with "+strings.Join(texts, ", "), func() bool { return r.logged(texts...) })
}

// logged is for conditions, which hold the lock.
func (r *run) logged(texts ...string) bool {
	for _, m := range r.out.Others {
		if m.Log != nil && containsAll(m.Log.Level+" "+m.Log.Message, texts) {
			return true
		}
	}
	return false
}

func containsAll(s string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(s, text) {
			return false
		}
	}
	return true
}

// awaitActive waits until the backfill of a stream is complete and a STATE covers it.
func (r *run) awaitActive(streams ...string) {
	r.c.t.Helper()
	for _, stream := range streams {
		r.await("the end of the backfill of "+stream, func() bool { return r.stateHas(stream, `"mode":"active"`) })
	}
}

// stateHas tells whether the last STATE of a stream contains a text; for conditions.
func (r *run) stateHas(stream, text string) bool {
	for n := r.out.States() - 1; n >= 0; n-- {
		if s := r.out.State(n); s.Stream.String() == stream {
			return strings.Contains(string(s.Body), text)
		}
	}
	return false
}

func countOf(records []record, fits func(record) bool) int {
	n := 0
	for _, rec := range records {
		if fits(rec) {
			n++
		}
	}
	return n
}

// count counts the records that fit.
func (r *run) count(fits func(record) bool) (n int) {
	r.Locked(func() { n = countOf(r.records, fits) })
	return n
}

// said are the log lines and errors, for messages of failed tests.
func (r *run) said() string {
	r.Lock()
	defer r.Unlock()
	var b strings.Builder
	for _, m := range r.out.Others {
		switch {
		case m.Log != nil:
			b.WriteString(m.Log.Level + " " + m.Log.Message + "\n")
		case m.Trace != nil && m.Trace.Message != "":
			b.WriteString("TRACE " + m.Trace.FailureType + " " + m.Trace.Stream.String() + " " + m.Trace.Message + "\n")
		}
	}
	return b.String()
}

// errors are the TRACE messages of type ERROR.
func (r *run) errors() []*wire.Trace {
	r.Lock()
	defer r.Unlock()
	var list []*wire.Trace
	for _, m := range r.out.Others {
		if m.Trace != nil && m.Trace.Type == "ERROR" {
			list = append(list, m.Trace)
		}
	}
	return list
}

// status is the last status of a stream.
func (r *run) status(stream string) string {
	r.Lock()
	defer r.Unlock()
	status := ""
	for _, m := range r.out.Others {
		if m.Trace != nil && m.Trace.Type == "STREAM_STATUS" && m.Trace.Stream.String() == stream {
			status = m.Trace.Status
		}
	}
	return status
}

// end waits for the process's end and takes what it printed: all of it when whole, else up to its last STATE.
func (r *run) end(whole bool) binary.Exit {
	c := r.c
	c.t.Helper()
	if !r.Reaches(r.Ended) {
		c.t.Fatalf("the run does not end; it says:\n%s", r.said())
	}
	exit, err := r.process.Wait(patience)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		c.t.Fatalf("%v; the run says:\n%s", err, r.said())
	}
	if strings.Contains(exit.Stderr, "goroutine ") {
		c.t.Fatalf("the run panicked:\n%s", exit.Stderr)
	}
	n := c.runs
	c.runs++
	last := r.out.States() - 1
	switch {
	case whole:
		err = c.fold.Add(n, r.out, replay.Whole)
	case last >= 0:
		err = c.fold.Add(n, r.out, last)
	default:
		err = c.fold.Discard(n, r.out)
	}
	if err == nil && last >= 0 {
		c.state, err = r.out.StateFile(c.state, last)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return exit
}

// succeeds waits for a good end, after which no record is left without a STATE.
func (r *run) succeeds() *run {
	r.c.t.Helper()
	if exit := r.end(true); exit.Code != 0 || exit.Signal != 0 {
		r.c.t.Fatalf("the run ended with code %d (%s); it says:\n%s%s", exit.Code, exit.Signal, r.said(), exit.Stderr)
	}
	if n := r.out.RecordsAfterState(); n > 0 {
		r.c.t.Fatalf("%d records came after the last STATE", n)
	}
	return r
}

// fails waits for an end with code 1 that is told in sentences, each with the given texts, and counts what a STATE covers.
func (r *run) fails(texts ...string) *run {
	r.c.t.Helper()
	if exit := r.end(false); exit.Code != 1 {
		r.c.t.Fatalf("the run ended with code %d (%s), want 1; it says:\n%s%s", exit.Code, exit.Signal, r.said(), exit.Stderr)
	}
	list := r.errors()
	if len(list) == 0 {
		r.c.t.Fatalf("a run failed without a TRACE ERROR; it says:\n%s", r.said())
	}
	for _, e := range list {
		if !containsAll(e.FailureType+" "+e.Message, texts) || strings.Contains(e.Message, "\n") {
			r.c.t.Fatalf("the run says %s %q, want one sentence with %q", e.FailureType, e.Message, texts)
		}
	}
	return r
}

// stop ends a tailing run as its runner does.
func (r *run) stop() *run {
	r.c.t.Helper()
	if err := r.process.Signal(syscall.SIGTERM); err != nil {
		r.c.t.Fatal(err)
	}
	return r.succeeds()
}

// kill ends a run without warning.
func (r *run) kill() *run {
	r.c.t.Helper()
	if err := r.process.Kill(); err != nil {
		r.c.t.Fatal(err)
	}
	r.release()
	r.end(false)
	return r
}

// catchUp runs to the end.
func (c *capture) catchUp() *run { c.t.Helper(); return c.start().succeeds() }

// equal compares the folded output with tables of schema public, column by column.
func (c *capture) equal(tables ...replay.Table) {
	c.t.Helper()
	for _, t := range tables {
		c.same("public", strings.TrimPrefix(t.Stream, "public."), t.Stream)
	}
}

// same compares the folded output of a stream with its table.
func (c *capture) same(schema, name, stream string) {
	c.t.Helper()
	if err := c.fold.Err(); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn := c.db.connect()
	defer func() { _ = conn.Close(ctx) }() // it is of no use any more
	differences, _, err := replay.Compare(ctx, conn, schema, name, c.fold, stream)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range differences {
		c.t.Error(d)
	}
}

// set returns the capture with a setting of the group advanced.
func (c *capture) set(settings map[string]any) *capture {
	maps.Copy(c.advanced, settings)
	return c
}
