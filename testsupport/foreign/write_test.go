package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
)

// patience bounds every wait; it only has to be longer than a slow machine takes.
const patience = 90 * time.Second

// pipe is the source with `materialize-postgres write` behind it.
type pipe struct {
	*source
	conn    *pgx.Conn
	sink    string // program
	config2 []byte // of the sink
	flags   []string
	modes   map[string]string
}

func newPipe(t *testing.T, modes map[string]string, streams ...held) *pipe {
	t.Helper()
	c := servers.Cluster(t, pgtest.DefaultVersion)
	database := c.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), c.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return &pipe{
		source: newSource(t, streams...), conn: conn, sink: binary.Build(t, "materialize-postgres"), modes: modes,
		config2: encode(t, map[string]any{"address": c.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": database}),
	}
}

// ended is how a run of the pipe went.
type ended struct {
	source, sink binary.Exit
	records      int // lines that the sink was sent
	states       []string
	said         string // the other lines of the sink that are errors
}

// script says what happens to a run: after so many lines, and after an echoed STATE if await is set, a side is killed. No side: the run is left alone.
type script struct {
	lines int
	await bool
	side  string
}

// run lets the source read from a state, and passes its lines to the sink.
func (p *pipe) run(state []byte, s script) ended {
	p.t.Helper()
	catalog := p.catalog(p.modes)
	from, err := binary.Start(binary.Command{Path: p.program, Args: []string{"read"}, Config: encode(p.t, p.source.config()), Catalog: catalog, State: state})
	if err != nil {
		p.t.Fatal(err)
	}
	to, err := binary.Start(binary.Command{Path: p.sink, Args: append([]string{"write"}, p.flags...), Config: p.config2, Catalog: catalog, Stdin: true})
	if err != nil {
		p.t.Fatal(err)
	}
	var e ended
	echoed, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		for line, readErr := to.Next(); readErr == nil; line, readErr = to.Next() {
			if bytes.Contains(line, []byte(`"ERROR"`)) {
				e.said += string(line) + "\n"
			}
			if bytes.Contains(line, []byte(`"STATE"`)) {
				e.states = append(e.states, string(line))
				select {
				case echoed <- struct{}{}:
				default:
				}
			}
		}
	}()
	for n := 1; ; n++ {
		line, readErr := from.Next()
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			p.t.Fatal(readErr)
		}
		if to.Send(line) != nil {
			break // it was killed, or has given up: its exit tells
		}
		if bytes.Contains(line, []byte(`"type": "RECORD"`)) {
			e.records++
		}
		if s.side == "" || n != s.lines {
			continue
		}
		if s.await {
			select {
			case <-echoed:
			case <-time.After(patience):
				p.t.Error("no STATE was echoed")
			}
		}
		victim := from
		if s.side == "sink" {
			victim = to
		}
		if err = victim.Kill(); err != nil {
			p.t.Fatal(err)
		}
		if s.side == "source" {
			break // what it has written since is as good as not there
		}
	}
	_ = to.CloseInput()
	<-done
	if e.sink, err = to.Wait(patience); err != nil {
		p.t.Fatal(err)
	}
	_ = from.Kill() // it may wait for somebody who reads
	if e.source, err = from.Wait(patience); err != nil {
		p.t.Fatal(err)
	}
	_, _ = from.Drain()
	for _, side := range []*binary.Process{from, to} {
		_ = side.Close()
	}
	return e
}

// through runs the pipe once, to its end.
func (p *pipe) through(state []byte) ended {
	p.t.Helper()
	e := p.run(state, script{})
	if e.sink.Code != 0 {
		p.t.Fatalf("the sink ended with %d: %s", e.sink.Code, e.said)
	}
	return e
}

// state asks the sink what it remembers.
func (p *pipe) state() []byte {
	p.t.Helper()
	s, err := binary.Start(binary.Command{Path: p.sink, Args: []string{"state"}, Config: p.config2, Catalog: p.catalog(p.modes)})
	if err != nil {
		p.t.Fatal(err)
	}
	lines, err := s.Drain()
	if err != nil {
		p.t.Fatal(err)
	}
	if exit, err := s.Wait(patience); err != nil || exit.Code != 0 {
		p.t.Fatalf("state: %v, exit %d: %s", err, exit.Code, exit.Stderr)
	}
	return bytes.Join(lines, []byte("\n"))
}

func TestWrite_Append(t *testing.T) {
	p := newPipe(t, nil, orders(1, 40), events(25), notes("first", 5))
	e := p.through(nil)
	for _, h := range p.streams {
		same(t, p.conn, tableOf(h), h, h.Records)
	}
	for _, state := range e.states {
		checkEcho(t, state)
	}
	if len(e.states) != 40/3+1+25/3+1+1 {
		t.Errorf("%d STATEs were echoed", len(e.states))
	}
	// What a state covers is not read again, but a stream without a cursor is.
	e = p.through(p.state())
	if e.records != 5 {
		t.Errorf("%d records the second time, want those of notes", e.records)
	}
	h := p.streams[2]
	same(t, p.conn, tableOf(h), h, append(h.Records, h.Records...))
}

func TestWrite_AppendDedup(t *testing.T) {
	p := newPipe(t, map[string]string{"orders": "append_dedup", "notes": "append_dedup"}, orders(1, 40), events(25), notes("first", 5))
	p.through(nil)
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	p.hold(orders(1, 60), events(30), notes("second", 7))
	if e := p.through(p.state()); e.records != 20+5+7 {
		t.Errorf("%d records the second time", e.records)
	}
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	same(t, p.conn, "shop.events", p.streams[1], p.streams[1].Records)
	same(t, p.conn, "public.notes", p.streams[2], newest(p.streams[2]))
	// Read again from the start, nothing changes but the table without a key.
	p.through(nil)
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	same(t, p.conn, "shop.events", p.streams[1], append(p.streams[1].Records, p.streams[1].Records...))
}

func TestWrite_Overwrite(t *testing.T) {
	modes := map[string]string{"orders": "overwrite", "events": "overwrite", "notes": "overwrite"}
	p := newPipe(t, modes, orders(1, 40), events(25), notes("first", 5))
	// Nobody says that notes are complete, so they are not replaced; the other two are.
	e := p.run(nil, script{})
	if e.sink.Code != 1 || !strings.Contains(e.said, "notes") {
		t.Errorf("without COMPLETE the sink ended with %d: %s", e.sink.Code, e.said)
	}
	p.flags = []string{"--complete-on-eof"}
	p.through(nil)
	for _, h := range p.streams {
		same(t, p.conn, tableOf(h), h, overwritten(h))
	}
	p.hold(orders(41, 50), events(3), notes("second", 2))
	// A source that dies in the middle replaces nothing.
	p.flags = nil
	if e := p.run(nil, script{lines: 9, side: "source"}); e.sink.Code != 1 {
		t.Errorf("the source was killed, and the sink ended with %d: %s", e.sink.Code, e.said)
	}
	for _, h := range []held{orders(1, 40), events(25), notes("first", 5)} {
		same(t, p.conn, tableOf(h), h, overwritten(h))
	}
	p.flags = []string{"--complete-on-eof"}
	p.through(nil)
	for _, h := range p.streams {
		same(t, p.conn, tableOf(h), h, overwritten(h))
	}
}

// overwritten is what a table that is replaced holds: one row for each key, where there is one.
func overwritten(h held) []json.RawMessage {
	if len(h.Key) == 0 {
		return h.Records
	}
	return newest(h)
}

// Each run starts from the state that the sink remembers, and either side is killed, half of the times right after a commit in the middle.
func TestWrite_KilledAndResumed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := newPipe(t, map[string]string{"orders": "append_dedup"}, orders(1, 200), events(150))
	resumed := 0
	for round := range 8 {
		s := script{lines: 20 + random.IntN(40), side: []string{"source", "sink"}[round%2], await: round%4 < 2}
		state := p.state()
		if bytes.Contains(state, []byte("after")) {
			resumed++
		}
		e := p.run(state, s)
		t.Logf("round %d: %+v, %d records, %d STATEs, sink %d", round, s, e.records, len(e.states), e.sink.Code)
	}
	if resumed < 4 {
		t.Errorf("only %d rounds began in the middle", resumed)
	}
	p.through(p.state())
	same(t, p.conn, "shop.orders", p.streams[0], newest(p.streams[0]))
	same(t, p.conn, "shop.events", p.streams[1], p.streams[1].Records)
	if e := p.through(p.state()); e.records != 0 {
		t.Errorf("%d records are left after the end", e.records)
	}
}

// A changed value, a row too much and a missing one are found.
func TestSame_FindsDifferences(t *testing.T) {
	p := newPipe(t, nil, events(6))
	p.through(nil)
	h := p.streams[0]
	for what, sql := range map[string]string{
		"a changed value": "UPDATE shop.events SET rate = 9 WHERE n = 3", "a row too much": "INSERT INTO shop.events SELECT * FROM shop.events WHERE n = 1",
		"a missing row": "DELETE FROM shop.events WHERE n = 2", "a changed document": `UPDATE shop.events SET flow_document = '{"n":3}' WHERE n = 3`,
	} {
		tx, err := p.conn.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), sql)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := differences(t, p.conn, "shop.events", h, h.Records); diff == "" {
			t.Errorf("%s was not found", what)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	same(t, p.conn, "shop.events", h, h.Records)
}

func tableOf(h held) string {
	if h.Namespace == "" {
		return "public." + h.Name
	}
	return h.Namespace + "." + h.Name
}

// checkEcho looks at a STATE that came back: as it was, with the number of records added.
func checkEcho(t *testing.T, line string) {
	t.Helper()
	var m struct {
		State struct {
			Source      struct{ RecordCount *float64 } `json:"sourceStats"`
			Destination struct{ RecordCount *float64 } `json:"destinationStats"`
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if got, want := m.State.Destination.RecordCount, m.State.Source.RecordCount; got == nil || want == nil || *got != *want {
		t.Errorf("a STATE of %v records came back with %v: %s", want, got, line)
	}
}
