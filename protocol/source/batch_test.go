package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func twoBindings() []protocol.Binding {
	return []protocol.Binding{
		{Stream: protocol.Stream{Name: "orders", Namespace: "public"}, StateKey: "public%2Forders"},
		{Stream: protocol.Stream{Name: "items"}, StateKey: "items"},
	}
}

func TestBatch_BeginWithoutEndLeavesNothing(t *testing.T) {
	var got bytes.Buffer
	out := NewOut(&got, FlowWire(twoBindings()), twoBindings())
	b := out.NewBatch()
	b.End(append(b.Begin(0), `{"id":1}`...))
	_ = append(b.Begin(1), `{"id":"half of a docu`...)
	b.End(append(b.Begin(0), `{"id":2}`...))
	_ = append(b.Begin(0), strings.Repeat("x", 2*batchBytes)...) // one that made the buffer grow
	if b.Records() != 2 {
		t.Errorf("Records() = %d, want 2", b.Records())
	}
	length := b.Len()
	if _, err := out.Emit(b); err != nil {
		t.Fatal(err)
	}
	want := `{"captured":{"binding":0,"doc":{"id":1}}}` + "\n" + `{"captured":{"binding":0,"doc":{"id":2}}}` + "\n"
	if got.String() != want || length != len(want) {
		t.Errorf("got %q of length %d, want %q", got.String(), length, want)
	}
}

func TestBatch_GrowsAndLetsGoOfLargeBuffers(t *testing.T) {
	var got bytes.Buffer
	out := NewOut(&got, FlowWire(twoBindings()), twoBindings())
	b := out.NewBatch()
	doc := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 3 {
		b.End(append(b.Begin(0), doc...))
	}
	if _, err := out.Emit(b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got.String(), doc+"}}\n"); n != 3 {
		t.Errorf("%d whole records came out, want 3", n)
	}
	if cap(b.buf) > batchKeepBytes {
		t.Errorf("the pool keeps a buffer of %d bytes, want at most %d", cap(b.buf), batchKeepBytes)
	}
	if b.Records() != 0 || b.Len() != 0 {
		t.Errorf("the batch goes back to the pool with %d records", b.Records())
	}
}

func TestBatch_CopiesPatches(t *testing.T) {
	var got bytes.Buffer
	out := NewOut(&got, FlowWire(twoBindings()), twoBindings())
	b := out.NewBatch()
	patch := []byte(`{"n":1}`)
	b.Patch(0, patch)
	copy(patch, `{"n":2}`)
	if _, err := out.Emit(b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.String(), `{"n":1}`) {
		t.Errorf("the patch changed after Patch returned: %s", got.String())
	}
}

func TestEmit_MarksRiseAndOnlyCheckpointsHaveOne(t *testing.T) {
	out := NewOut(io.Discard, FlowWire(twoBindings()), twoBindings())
	for i, want := range []Mark{1, 0, 2, 3} {
		b := out.NewBatch()
		b.End(append(b.Begin(0), `{}`...))
		if want != 0 {
			b.Patch(0, []byte(`{"a":1}`))
		}
		if got, err := out.Emit(b); err != nil || got != want {
			t.Errorf("Emit no. %d returned mark %d, %v, want %d", i, got, err, want)
		}
	}
}

// Goroutines that share an Out must not mix their lines, and records must come right before the state that covers them.
func TestEmit_IsOnePieceWhenConcurrent(t *testing.T) {
	const workers, rounds = 8, 200
	var got bytes.Buffer
	bs := make([]protocol.Binding, workers)
	for i := range bs {
		bs[i] = protocol.Binding{Stream: protocol.Stream{Name: fmt.Sprint("s", i)}, StateKey: fmt.Sprint("s", i)}
	}
	out := NewOut(&got, FlowWire(bs), bs)
	marks := make(chan Mark, workers*rounds)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for n := range rounds {
				b := out.NewBatch()
				for range 3 {
					b.End(fmt.Appendf(b.Begin(i), `{"n":%d}`, n))
				}
				b.Patch(i, fmt.Appendf(nil, `{"n":%d}`, n))
				mark, err := out.Emit(b)
				if err != nil {
					t.Error(err)
				}
				marks <- mark
			}
		})
	}
	wg.Wait()
	close(marks)
	seen := map[Mark]bool{}
	for m := range marks {
		if seen[m] || m == 0 || m > workers*rounds {
			t.Fatalf("mark %d is zero, too large or given twice", m)
		}
		seen[m] = true
	}
	lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
	if len(lines) != workers*rounds*4 {
		t.Fatalf("%d lines, want %d", len(lines), workers*rounds*4)
	}
	for i := 0; i < len(lines); i += 4 {
		var r struct {
			Captured struct {
				Binding int
				Doc     struct{ N int }
			}
		}
		if err := json.Unmarshal([]byte(lines[i]), &r); err != nil {
			t.Fatal(err)
		}
		state := fmt.Sprintf(`{"s%d":{"n":%d}}`, r.Captured.Binding, r.Captured.Doc.N)
		if lines[i+1] != lines[i] || lines[i+2] != lines[i] || !strings.Contains(lines[i+3], state) {
			t.Fatalf("lines %d to %d are no whole batch: %q", i, i+3, lines[i:i+4])
		}
	}
}

func TestEmit_AllocatesNothingPerRecord(t *testing.T) {
	for name, wire := range map[string]Wire{"airbyte": AirbyteWire(twoBindings()), "flow": FlowWire(twoBindings())} {
		out := NewOut(io.Discard, wire, twoBindings())
		b := out.NewBatch()
		doc := []byte(`{"id":1,"name":"a thing"}`)
		const records = 1000
		fill := func() {
			for range records {
				b.End(append(b.Begin(0), doc...))
			}
			b.reset()
		}
		fill()
		if got := testing.AllocsPerRun(10, fill); got > 0 {
			t.Errorf("%s: %d records cost %v allocations, want none", name, records, got)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	doc := []byte(`{"id":123456,"customer":42,"name":"a thing of some length","note":"and another text","at":"2024-08-24T10:11:12.123456Z","_meta":{"op":"c"}}`)
	for name, wire := range map[string]Wire{"airbyte": AirbyteWire(twoBindings()), "flow": FlowWire(twoBindings())} {
		b.Run(name, func(b *testing.B) {
			out := NewOut(io.Discard, wire, twoBindings())
			batch := out.NewBatch()
			b.ReportAllocs()
			for b.Loop() {
				batch.End(append(batch.Begin(0), doc...))
				if batch.Len() > batchBytes-1024 {
					if _, err := out.Emit(batch); err != nil {
						b.Fatal(err)
					}
					batch = out.NewBatch()
				}
			}
		})
	}
	b.Run("copy of the document alone", func(b *testing.B) {
		buf := make([]byte, 0, batchBytes)
		for b.Loop() {
			if buf = append(buf, doc...); len(buf) > batchBytes-1024 {
				buf = buf[:0]
			}
		}
	})
}
