package filesource

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// waits is a clock whose waits end when the test says so.
type waits struct {
	asked chan time.Duration
	over  chan time.Time
}

func (w *waits) after(d time.Duration) <-chan time.Time {
	w.asked <- d
	return w.over
}

// tailing starts a read that goes on until it is stopped.
func tailing(t *testing.T, c *capture) (w *waits, printed *bytes.Buffer, ended <-chan error) {
	t.Helper()
	w = &waits{asked: make(chan time.Duration), over: make(chan time.Time)}
	c.tail, c.change = true, func(s *Source) { s.after = w.after }
	s := c.source()
	bs := []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "k"}}
	printed = &bytes.Buffer{}
	out := source.NewOut(printed, source.AirbyteWire(bs), bs)
	done := make(chan error, 1)
	go func() {
		done <- s.Read(t.Context(), source.Request{Bindings: bs, Range: protocol.FullRange, Tail: true, Stop: c.stop}, out)
	}()
	return w, printed, done
}

func TestTail_SweepsUntilItIsStopped(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(2)})
	c := newCapture(t, memory)
	w, printed, ended := tailing(t, c)
	if d := <-w.asked; d != time.Minute {
		t.Errorf("after a short listing it waits %s, want the poll interval", d)
	}
	first := parseOutput(t, printed.Bytes())
	if len(first.documents) != 2 || len(first.states) == 0 || first.states[len(first.states)-1].documents != 2 {
		t.Errorf("the first sweep: %d documents, states %v", len(first.documents), first.states)
	}
	w.over <- time.Time{}
	<-w.asked
	if again := parseOutput(t, printed.Bytes()); len(again.states) != len(first.states) {
		t.Errorf("a sweep with nothing new writes a state: %s", again.states[len(again.states)-1].state)
	}
	put(memory, map[string][]byte{"b": ndjson(3)})
	w.over <- time.Time{}
	<-w.asked
	changed := parseOutput(t, printed.Bytes())
	if len(changed.documents) != 5 || changed.states[len(changed.states)-1].documents != 5 {
		t.Errorf("after the third sweep %d documents, want 5 and a state that covers them", len(changed.documents))
	}
	w.over <- time.Time{}
	<-w.asked
	close(c.stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	last := parseOutput(t, printed.Bytes())
	if len(last.states) != len(changed.states)+1 || !strings.Contains(string(last.states[len(last.states)-1].state), `"sweep":4`) {
		t.Errorf("at its end it does not tell the number of the sweep")
	}
}

func TestStop_DoesNotSayAgainWhatTheLastStateSaid(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(2)})
	c := newCapture(t, memory)
	w, printed, ended := tailing(t, c)
	<-w.asked
	before := parseOutput(t, printed.Bytes())
	close(c.stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if after := parseOutput(t, printed.Bytes()); len(before.states) == 0 || len(after.states) != len(before.states) {
		t.Errorf("%d states, and %d after the end", len(before.states), len(after.states))
	}
	// A run that finds nothing says so once all the same.
	c.state, c.tail, c.stop = before.states[len(before.states)-1].state, false, make(chan struct{})
	if again := c.read(); len(again.states) != 1 || len(again.documents) > 0 {
		t.Errorf("a run that finds nothing writes %d states and %d documents", len(again.states), len(again.documents))
	}
}

func TestTail_WaitsLongerAfterALongListing(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(1)})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.List {
			now = now.Add(20 * time.Second)
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	w := &waits{asked: make(chan time.Duration, 1), over: make(chan time.Time)}
	c.tail = true
	c.change = func(s *Source) { s.after, s.now = w.after, func() time.Time { return now } }
	go func() {
		if d := <-w.asked; d < 100*time.Second {
			t.Errorf("a listing took 20 s, and the next one is due after %s, want 100 s at least", d)
		}
		close(c.stop)
	}()
	c.read()
}

// Stopped in the middle of a file, with a reader that takes no more: the state covers what was printed.
func TestStop_InTheMiddleOfAFile(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(3), "b": ndjson(50_000)})
	c := newCapture(t, memory)
	c.change = nil
	s := c.source()
	bs := []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "k"}}
	r, w := io.Pipe()
	out := source.NewOut(w, source.AirbyteWire(bs), bs)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Read(t.Context(), source.Request{Bindings: bs, Range: protocol.FullRange, Stop: c.stop}, out)
		_ = w.Close()
	}()
	first := make([]byte, 200_000)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	close(c.stop)
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	o := parseOutput(t, append(first, rest...))
	last := o.states[len(o.states)-1]
	if last.documents != len(o.documents) || len(o.documents) >= 50_003 {
		t.Errorf("%d documents came, a state covers %d", len(o.documents), last.documents)
	}
	c.state, c.stop = last.state, make(chan struct{})
	again := c.read()
	if n := len(o.documents) + len(again.documents); n != 50_003 {
		t.Errorf("%d documents in both runs, want 50003", n)
	}
}

// bug streams-files-parser 58: estuary/connectors history: listing and reading did not end with their context
func TestRead_EndsWithItsContext(t *testing.T) {
	memory, _ := store()
	memory.Hang = true
	ctx, cancel := context.WithCancel(t.Context())
	s := newCapture(t, memory).source()
	bs := []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "k", State: json.RawMessage(`{"path":"a","version":"1","started":"2026-01-01T00:00:00Z"}`), Shared: json.RawMessage("{}")}}
	ended := make(chan error, 1)
	go func() {
		ended <- s.Read(ctx, source.Request{Bindings: bs, Range: protocol.FullRange}, source.NewOut(io.Discard, source.AirbyteWire(bs), bs))
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a read that was canceled tells of no error")
	}
}

// bug streams-files-parser 66: predecessor: with ascending keys, a partly read last file was marked complete
// bug streams-files-parser 73: Lenses S3 #946, #861: keys that do not ascend are missed by design, and only where it was asked for
func TestAscending_GoesOnInsideTheLastFile(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"2020": ndjson(2), "2021": ndjson(20)})
	c := newCapture(t, memory)
	c.reading.Advanced.AscendingKeys = true
	o := c.read()
	for _, s := range o.states {
		if !strings.Contains(string(s.state), `"at":"`) {
			continue
		}
		c.state = s.state
		if n := s.documents + len(c.read().documents); n != 22 {
			t.Errorf("killed inside 2021, %d documents in both runs, want 22", n)
		}
	}
	put(memory, map[string][]byte{"2019": ndjson(1), "2022": ndjson(3)})
	c.read().want(t, "a key before and one behind", map[string]int{"bkt/2022": 3})
}
