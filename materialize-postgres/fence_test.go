package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// tryCommit stores one document and commits; it tells whether the session was fenced off.
func (r *run) tryCommit(checkpoint, doc string) (fenced bool) {
	r.s.t.Helper()
	if err := r.store(put{0, doc}); err != nil {
		r.s.t.Fatal(err)
	}
	_, err := r.tr.Commit(r.s.t.Context(), []byte(checkpoint))
	if f, ok := errors.AsType[*materialize.FencedError](err); ok {
		if f.Host != host() || time.Since(f.Since) > time.Hour {
			r.s.t.Errorf("the newer session is said to be of %s, host %s", f.Since, f.Host)
		}
		return true
	}
	if err != nil {
		r.s.t.Fatal(err)
	}
	return false
}

func stored(r *run) string { return string(r.opened.Checkpoint.JSON) }

// The cases of a fence: whose checkpoint is taken on, and who is fenced off.
func TestFence_Ranges(t *testing.T) {
	whole := protocol.FullRange
	lower, upper := protocol.Range{End: 0x7fffffff}, protocol.Range{Begin: 0x80000000, End: 0xffffffff}
	middle := protocol.Range{Begin: 0x40000000, End: 0xbfffffff}
	for _, c := range []struct {
		name          string
		first, second protocol.Range
		fenced        bool
		inherits      bool
	}{
		{"the same range", whole, whole, true, true},
		{"a child inside its parent", whole, lower, true, true},
		{"the upper child", whole, upper, true, true},
		{"a straddling neighbour is fenced off, not taken on", lower, middle, true, false},
		{"a parent that returns fences its child off", lower, whole, true, false},
		{"a neighbour", lower, upper, false, false},
	} {
		s := newSite(t, 15)
		b := bind("t", 1, "id integer!", "flow_document")
		s.apply(nil, b)
		first := s.openRange(c.first, b)
		first.commit(`{"of":"first"}`, `{"id":1}`)
		second := s.openRange(c.second, b)
		want := ""
		if c.inherits {
			want = `{"of":"first"}`
		}
		equal(t, c.name+": checkpoint", stored(second), want)
		equal(t, c.name+": fenced", first.tryCommit(`{"of":"first","n":2}`, `{"id":2}`), c.fenced)
		equal(t, c.name+": the newer one", second.tryCommit(`{"of":"second"}`, `{"id":3}`), false)
	}
}

func TestFence_NarrowestCoveringRange(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	half, quarter := protocol.Range{End: 0x7fffffff}, protocol.Range{End: 0x3fffffff}
	s.open(b).commit(`{"n":1}`, `{"id":1}`)
	s.openRange(half, b).commit(`{"n":2}`, `{"id":2}`)
	equal(t, "the quarter's", stored(s.openRange(quarter, b)), `{"n":2}`)
	equal(t, "the other half's", stored(s.openRange(protocol.Range{Begin: 0x80000000, End: 0xffffffff}, b)), `{"n":1}`)
}

func TestFence_OtherTasksAreLeftAlone(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	first := s.open(b)
	s.task = "acme/other"
	other := s.open(b)
	equal(t, "checkpoint", other.opened.Checkpoint.Owner, materialize.Zero)
	equal(t, "fenced", first.tryCommit(`{}`, `{"id":1}`), false)
	equal(t, "fenced", other.tryCommit(`{}`, `{"id":2}`), false)
}

// Two zombies in a row: each newer session fences all older ones off, and nothing of theirs is there.
func TestFence_Zombies(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	a := s.open(b)
	a.commit(`{"n":1}`, `{"id":1}`)
	// The first is stopped between its last row and the commit.
	if err := a.store(put{0, `{"id":100}`}); err != nil {
		t.Fatal(err)
	}
	second := s.open(b)
	if err := second.store(put{0, `{"id":200}`}); err != nil {
		t.Fatal(err)
	}
	third := s.open(b)
	third.commit(`{"n":2}`, `{"id":3}`)
	for _, zombie := range []*run{second, a} {
		if _, err := zombie.tr.Commit(t.Context(), []byte(`{"n":9}`)); !errors.As(err, new(*materialize.FencedError)) {
			t.Errorf("a zombie's commit: %v", err)
		}
	}
	equal(t, "rows", s.query(`SELECT id FROM lake.t ORDER BY id`), "1\n3")
	equal(t, "checkpoint", stored(s.open(b)), `{"n":2}`)
}

// Sessions that are opened at the same time get fences of their own.
func TestFence_ConcurrentOpens(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	var wait sync.WaitGroup
	runs := make([]*run, 8)
	for i := range runs {
		wait.Go(func() {
			tr, opened, err := s.sink().Open(t.Context(), materialize.OpenRequest{Task: s.task, Bindings: []materialize.Binding{b}, Range: protocol.FullRange})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = tr.Close() })
			runs[i] = &run{s: s, bs: []materialize.Binding{b}, tr: tr.(*transactor), opened: opened}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	alive := 0
	for i, r := range runs {
		if !r.tryCommit(`{}`, `{"id":`+string(rune('1'+i))+`}`) {
			alive++
		}
	}
	equal(t, "sessions that may commit", alive, 1)
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "1")
}

// The checkpoint comes back byte for byte, whatever is in it.
func TestFence_CheckpointIsBytes(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	for _, checkpoint := range []string{`{}`, `{ "b":1, "a":1e400,"a":"\u0000 \ud800 '\\" }`, `{"big":"` + strings.Repeat("x", 1<<20) + `"}`} {
		s.open(b).commit(checkpoint)
		if got := stored(s.open(b)); got != checkpoint {
			t.Errorf("got %.100s, want %.100s", got, checkpoint)
		}
	}
}

// bug materializations 85: estuary/connectors history: a checkpoint written as a literal filled pg_stat_statements
func TestFence_StatementsHoldNoValues(t *testing.T) {
	s := newSite(t, 15)
	s.task = `acme/o'brien "x" \`
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	if err := r.tr.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := `{"secret":"'; DROP TABLE lake.t; --"}`
	if err := r.tr.checkpoints.Store(t.Context(), r.tr.claims[0], &text); err != nil {
		t.Fatal(err)
	}
	statement := s.query(fmt.Sprintf(`SELECT query FROM pg_stat_activity WHERE pid = %d`, r.tr.session.conn.PID()))
	if !strings.Contains(statement, "UPDATE") || !strings.Contains(statement, "fence = $4") || strings.Contains(statement, "secret") || strings.Contains(statement, "brien") {
		t.Errorf("the statement is %s", statement)
	}
	r.commit(text, `{"id":1}`)
	equal(t, "checkpoint", stored(s.open(b)), text)
}

// A raised backfill counter empties the table, and what a session of before still writes never comes.
func TestFence_BackfillFencesOff(t *testing.T) {
	s := newSite(t, 15)
	b, other := bind("t", 1, "id integer!", "flow_document"), bind("other", 1, "id integer!", "flow_document")
	s.apply(nil, b, other)
	zombie := s.open(b, other)
	zombie.commit(`{"n":1}`, `{"id":1}`)
	s.task = "acme/other"
	bystander := s.open(other)
	s.task = "acme/mat"
	again := b
	again.Backfill, again.StateKey = 1, "t.v2"
	s.apply([]materialize.Binding{b, other}, again, other)
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "0")
	equal(t, "the session of before is fenced", zombie.tryCommit(`{"n":2}`, `{"id":2}`), true)
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "0")
	equal(t, "a session without the table is fenced", bystander.tryCommit(`{}`, `{"id":2}`), false)
	equal(t, "checkpoint", stored(s.open(again, other)), `{"n":1}`)
}

// Under `write` each table has a fence and a checkpoint of its own.
func TestFence_PerTable(t *testing.T) {
	s := newSite(t, 15)
	s.task = ""
	a, b := bind("a", 1, "id integer!", "flow_document"), bind("b.c", 1, "id integer!", "flow_document")
	s.apply(nil, a, b)
	both := s.open(a, b)
	equal(t, "checkpoint", both.opened.Checkpoint.Owner, materialize.Zero)
	both.commitAll(`{"a.v1":{"state":1}}`, put{0, `{"id":1}`}, put{1, `{"id":1}`})
	both.commitAll(`{"a.v1":{"state":2},"b.c.v1":[3]}`)
	equal(t, "owners", s.query(`SELECT materialization FROM lake.flow_checkpoints_v1 ORDER BY 1`), "write/lake.a\nwrite/lake.b%2Ec")

	onlyB := s.open(b)
	equal(t, "checkpoint", stored(onlyB), `{"b.c.v1":[3]}`)
	// Pipes into different tables never meet …
	both.commitAll(`{"a.v1":{"state":4}}`, put{0, `{"id":2}`})
	onlyB.commit(`{"b.c.v1":[4]}`, `{"id":2}`)
	// … but into one table they do, with rows and with a checkpoint alone.
	if err := both.store(put{1, `{"id":3}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := both.tr.Commit(t.Context(), []byte(`{"a.v1":{"state":5}}`)); !errors.As(err, new(*materialize.FencedError)) {
		t.Errorf("rows of a table that somebody else has taken: %v", err)
	}
	if _, err := both.tr.Commit(t.Context(), []byte(`{"b.c.v1":[5]}`)); !errors.As(err, new(*materialize.FencedError)) {
		t.Errorf("the checkpoint of a table that somebody else has taken: %v", err)
	}
	equal(t, "rows", s.query(`SELECT count(*) FROM lake."b.c"`), "2")

	// `state` reads them and fences off, so that what it prints stays true.
	paths := [][]string{a.ResourcePath, {"lake", "nowhere"}, b.ResourcePath}
	got, err := s.sink().ReadCheckpoints(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "checkpoints", []string{string(got[0]), string(got[1]), string(got[2])}, []string{`{"state":4}`, "", `[4]`})
	if onlyB.store(put{0, `{"id":9}`}) != nil {
		t.Error("a row is refused too early")
	}
	if _, err := onlyB.tr.Commit(t.Context(), []byte(`{"b.c.v1":[9]}`)); !errors.As(err, new(*materialize.FencedError)) {
		t.Errorf("after state was read: %v", err)
	}
}

// An empty database is found out before anything is written.
func TestOpen_OfAnEmptyDatabase(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	r := s.open(b)
	equal(t, "owner", r.opened.Checkpoint.Owner, materialize.Zero)
	equal(t, "schemas", s.query(`SELECT count(*) FROM pg_namespace WHERE nspname = 'lake'`), "0")
	for _, err := range []error{r.store(put{0, `{"id":1}`}), func() error { _, err := r.tryLoad(t.Context(), put{0, `{"id":1}`}); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "table lake.t does not exist") {
			t.Errorf("got %v", err)
		}
	}
	got, err := s.sink().ReadCheckpoints(t.Context(), [][]string{b.ResourcePath})
	if err != nil || len(got) != 1 || got[0] != nil {
		t.Errorf("checkpoints: %q, %v", got, err)
	}
}
