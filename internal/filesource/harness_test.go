package filesource

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// capture runs sources over one bucket, and keeps the state as a plain runner does.
type capture struct {
	t        testing.TB
	bucket   blob.Bucket
	place    Place
	reading  Reading
	rng      protocol.Range
	bindings []protocol.Binding // nil: the stream that there is
	change   func(*Source)
	state    json.RawMessage
	tail     bool
	stop     chan struct{}
}

// quick makes states frequent, so that many lie inside files.
func quick(s *Source) {
	s.limits.batchBytes, s.limits.patchBytes, s.limits.stateShare, s.limits.patchEvery = 300, 1, 0, 0
	s.limits.unitFiles = 3
}

func newCapture(t testing.TB, bucket blob.Bucket) *capture {
	c := &capture{t: t, bucket: bucket, place: Place{Bucket: "bkt"}, rng: protocol.FullRange, change: quick, stop: make(chan struct{})}
	c.reading.Advanced = Advanced{Lookback: 72 * time.Hour, PollInterval: time.Minute, OnFileError: "fail"}
	return c
}

// document is a record as far as the tests look at it.
type document struct {
	Meta struct {
		File    string `json:"file"`
		Version string `json:"version"`
		Offset  int64  `json:"offset"`
	} `json:"_meta"`
	raw string
}

// id names a document of a version.
func (d *document) id() string {
	return fmt.Sprintf("%s %s %d", d.Meta.File, d.Meta.Version, d.Meta.Offset)
}

// output is what a run printed.
type output struct {
	documents []document
	states    []cut
}

// cut is a state, and how many documents came before it.
type cut struct {
	documents int
	state     json.RawMessage
}

func (c *capture) source() *Source {
	c.t.Helper()
	settings, err := NewSettings(c.place, c.reading)
	if err != nil {
		c.t.Fatal(err)
	}
	s := New(settings, func(context.Context, int) (blob.Bucket, error) { return c.bucket, nil })
	if c.change != nil {
		c.change(s)
	}
	return s
}

// run reads from c.state and leaves it alone.
func (c *capture) run() (*output, error) {
	c.t.Helper()
	s := c.source()
	bs := c.bindings
	if bs == nil {
		bs = []protocol.Binding{{Stream: protocol.Stream{Name: s.settings.StreamName()}, StateKey: "k"}}
	}
	if bs[0].State = c.state; c.state != nil {
		bs[0].Shared = json.RawMessage("{}")
	}
	var printed bytes.Buffer
	out := source.NewOut(&printed, source.AirbyteWire(bs), bs)
	err := s.Read(c.t.Context(), source.Request{Bindings: bs, Range: c.rng, Tail: c.tail, Stop: c.stop}, out)
	return parseOutput(c.t, printed.Bytes()), err
}

// read is run, from which the state is kept.
func (c *capture) read() *output {
	c.t.Helper()
	o, err := c.run()
	if err != nil {
		c.t.Fatal(err)
	}
	if len(o.states) > 0 {
		c.state = o.states[len(o.states)-1].state
	}
	return o
}

func parseOutput(t testing.TB, printed []byte) *output {
	t.Helper()
	o := &output{}
	for line := range bytes.Lines(printed) {
		var m struct {
			Type   string
			Record struct{ Data json.RawMessage }
			State  struct {
				Stream struct {
					State json.RawMessage `json:"stream_state"`
				}
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("reading %.100q: %v", line, err)
		}
		switch m.Type {
		case "RECORD":
			d := document{raw: string(m.Record.Data)}
			if err := json.Unmarshal(m.Record.Data, &d); err != nil {
				t.Fatal(err)
			}
			o.documents = append(o.documents, d)
		case "STATE":
			o.states = append(o.states, cut{len(o.documents), m.State.Stream.State})
		}
	}
	return o
}

// ids lists documents.
func ids(documents []document) []string {
	var list []string
	for _, d := range documents {
		list = append(list, d.id())
	}
	return list
}

// files counts documents by file.
func (o *output) files() map[string]int {
	n := map[string]int{}
	for _, d := range o.documents {
		n[d.Meta.File]++
	}
	return n
}

// want compares documents by file.
func (o *output) want(t *testing.T, what string, want map[string]int) {
	t.Helper()
	if got := o.files(); !maps.Equal(got, want) {
		t.Errorf("%s: documents by file %v, want %v", what, got, want)
	}
}

// twice returns what is in a list more than once, and what is not in it.
func twice(list, want []string) (double, lacking []string) {
	count := map[string]int{}
	for _, id := range list {
		if count[id]++; count[id] == 2 {
			double = append(double, id)
		}
	}
	for _, id := range want {
		if count[id] == 0 {
			lacking = append(lacking, id)
		}
	}
	return double, lacking
}

func exactlyOnce(t *testing.T, what string, got, want []string) bool {
	t.Helper()
	double, lacking := twice(got, want)
	if len(got) != len(want) || len(double) > 0 || len(lacking) > 0 {
		t.Errorf("%s: %d documents, want %d; twice: %.300v; lacking: %.300v", what, len(got), len(want), double, lacking)
		return false
	}
	return true
}

// ndjson is n rows of JSON.
func ndjson(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"n":%d,"text":"row %d of some length"}`+"\n", i, i)
	}
	return []byte(b.String())
}

func csv(n int) []byte {
	b := bytes.NewBufferString("n,text\n")
	for i := range n {
		fmt.Fprintf(b, "%d,\"row %d,\nof some length\"\n", i, i)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// few is how much of something is tried: all of it, or a part of it under the race detector, for which the same goroutines meet in every part.
func few(n int) int {
	if raced {
		return max(1, n/4)
	}
	return n
}

// store is a bucket in memory whose clock stands still.
func store() (*memblob.Bucket, *time.Time) {
	b := memblob.New("bkt")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.Now = func() time.Time { return now }
	return b, &now
}

func put(b *memblob.Bucket, files map[string][]byte) {
	for _, key := range slices.Sorted(maps.Keys(files)) {
		b.Put(memblob.Entry{Key: key, Data: files[key]})
	}
}
