package source

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compareGolden compares with a file in testdata, or writes it.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (rewrite with -update):\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

// clock is a time that a test moves on.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.UnixMilli(1724500000123)} }

func (c *clock) read() time.Time { return c.now }

// script drives an Out through everything that a read can say.
type script struct {
	t     *testing.T
	out   *Out
	clock *clock
}

func (s script) emit(fill func(b *Batch)) {
	s.t.Helper()
	b := s.out.NewBatch()
	fill(b)
	if _, err := s.out.Emit(b); err != nil {
		s.t.Fatal(err)
	}
}

func (s script) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// play is the same read for every wire: two streams with records, one without, one that fails.
func (s script) play() {
	s.check(s.out.start())
	s.check(s.out.Schema(0, protocol.Schema{Types: []string{"object"}, Properties: []protocol.Property{
		{Name: "id", Schema: protocol.Schema{Types: []string{"integer"}}, Required: true},
	}}))
	s.check(s.out.Progress(0, Progress{RowsExpected: 10}))
	s.check(s.out.Progress(0, Progress{RowsExpected: 11})) // too soon after the other
	s.emit(func(b *Batch) {                                // records of two streams, a patch of one
		b.End(append(b.Begin(0), `{"id":1}`...))
		b.End(append(b.Begin(1), `{"sku":"<a&b>"}`...))
		b.Patch(0, []byte("{\"scanned\":\n{\"a\":1,\"b\":2}}")) // on two lines: it may not break one
		b.PatchShared([]byte(`{"position":"0/16B"}`))
	})
	s.emit(func(b *Batch) { b.End(append(b.Begin(0), `{"id":2}`...)) }) // records alone
	s.emit(func(b *Batch) {                                             // several patches of one stream, which no single one replaces
		b.Patch(0, []byte(`{"scanned":null}`))
		b.Patch(0, []byte(`{"scanned":{"b":3}}`))
	})
	s.check(s.out.Fail(3, &protocol.Problem{Kind: protocol.Config, Summary: "table gone is gone", Fix: "leave it out"}))
	s.emit(func(b *Batch) { b.PatchShared([]byte(`{"position":"0/16C"}`)) }) // the position alone
	s.check(s.out.Reset(1, "TRUNCATE at 0/16C"))
	s.clock.now = s.clock.now.Add(61 * time.Second)
	s.emit(func(b *Batch) { b.PatchShared([]byte(`{"position":"0/16D"}`)) }) // a minute later
	s.clock.now = s.clock.now.Add(silence)
	if w, ok := s.out.wire.(heartbeater); ok {
		s.out.beat(w)
	}
	s.emit(func(b *Batch) { b.End(append(b.Begin(1), `{"sku":"c"}`...)) }) // covered by the end only
}

func scriptBindings() []protocol.Binding {
	bs := append(twoBindings(),
		protocol.Binding{Stream: protocol.Stream{Name: "empty", Namespace: "public"}, StateKey: "public%2Fempty"},
		protocol.Binding{Stream: protocol.Stream{Name: "gone", Namespace: "public"}, StateKey: "public%2Fgone"},
	)
	bs[1].State, bs[1].Shared = []byte(`{"done":true}`), []byte(`{"position":"0/100"}`)
	return bs
}

func TestWires_Golden(t *testing.T) {
	for name, wire := range map[string]func([]protocol.Binding) Wire{
		"plain": AirbyteWire, "extended": ExtendedWire,
		"flow": func(bs []protocol.Binding) Wire {
			return resettingWire{FlowWire(bs).(*flowWire)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := &lineChecker{t: t}
			clock := newClock()
			out := NewOut(got, wire(scriptBindings()), scriptBindings())
			out.now = clock.read
			script{t, out, clock}.play()
			if failed := out.finish(nil, true); failed != 1 {
				t.Errorf("finish counts %d failed streams, want 1", failed)
			}
			compareGolden(t, name+".jsonl", got.String())
		})
	}
}

// A read that ends with an error, or was stopped, claims nothing that it did not cover.
func TestWires_GoldenOfAnError(t *testing.T) {
	for name, wire := range map[string]Wire{"plain": AirbyteWire(twoBindings()), "extended": ExtendedWire(twoBindings()), "flow": FlowWire(twoBindings())} {
		t.Run(name, func(t *testing.T) {
			got := &lineChecker{t: t}
			out := NewOut(got, wire, twoBindings())
			out.now = newClock().read
			s := script{t, out, nil}
			s.check(out.start())
			s.emit(func(b *Batch) {
				b.End(append(b.Begin(0), `{"id":1}`...))
				b.Patch(0, []byte(`{"n":1}`))
			})
			s.emit(func(b *Batch) { b.End(append(b.Begin(0), `{"id":2}`...)) })
			out.finish(&protocol.Problem{Kind: protocol.Transient, Summary: "the server went away", Err: os.ErrDeadlineExceeded}, true)
			compareGolden(t, name+"_error.jsonl", got.String())
		})
	}
}
