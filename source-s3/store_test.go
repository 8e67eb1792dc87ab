package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3test"
	"github.com/estuary/connectors/protocol"
	configs "github.com/estuary/connectors/protocol/config"
	"github.com/estuary/connectors/protocol/source"
)

// read runs the connector over a service and returns the lines that it printed.
func read(t *testing.T, text string) (lines []string) {
	t.Helper()
	c, err := configs.Decode[config]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSource(c)
	if err != nil {
		t.Fatal(err)
	}
	bs := []protocol.Binding{{Stream: protocol.Stream{Name: "bucket"}, StateKey: "k"}}
	var printed bytes.Buffer
	out := source.NewOut(&printed, source.AirbyteWire(bs), bs)
	if err := s.Read(t.Context(), source.Request{Bindings: bs, Range: protocol.FullRange}, out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(printed.String()), "\n")
}

// bug streams-files-parser 127: predecessor: an endpoint without a region failed, and was addressed by a host per bucket
func TestRead_FromAService(t *testing.T) {
	mem := memblob.New("bucket")
	mem.Versions, mem.PageSize = memblob.MD5, 2
	for i := range 5 {
		mem.Put(memblob.Entry{Key: fmt.Sprintf("a+b %d/é.csv", i), Data: fmt.Appendf(nil, "n\n%d\n", i), ContentType: "text/csv"})
	}
	s3 := s3test.Start(mem)
	defer s3.Close()
	// Of an address the SDK knows that it has no host for each bucket.
	lines := read(t, fmt.Sprintf(`{"bucket":"bucket","endpoint":%q}`, strings.Replace(s3.Endpoint(), "127.0.0.1", "localhost", 1)))
	records := 0
	for _, line := range lines {
		if strings.Contains(line, `"RECORD"`) {
			if want := fmt.Sprintf(`"data":{"n":"%d","_meta":{"file":"bucket/a+b %d/é.csv"`, records, records); !strings.Contains(line, want) {
				t.Errorf("record %d is %s, want %s", records, line, want)
			}
			records++
		}
	}
	if records != 5 || !strings.Contains(lines[len(lines)-1], `"STATE"`) {
		t.Errorf("%d records, want 5 and a state: %s", records, lines)
	}
}

// Many small objects are in flight at a time, so that the time of one request matters little: none is answered before there are many.
func TestRead_ManySmallObjects(t *testing.T) {
	const n, together = 600, 48
	mem := memblob.New("bucket")
	mem.Versions = memblob.MD5
	for i := range n {
		mem.Put(memblob.Entry{Key: fmt.Sprintf("%05d.json", i), Data: fmt.Appendf(nil, `{"n":%d,"text":%q}`+"\n", i, strings.Repeat("x", 1000))})
	}
	s3 := s3test.Start(mem)
	defer s3.Close()
	many := make(chan struct{})
	var asked atomic.Int32
	s3.Script = func(r s3test.Request) s3test.Answer {
		if r.Op != s3test.Get {
			return s3test.Answer{}
		}
		if asked.Add(1) == together {
			close(many)
		}
		select {
		case <-many:
		case <-time.After(time.Minute):
			t.Errorf("only %d objects are asked for at a time, want %d", asked.Load(), together)
		}
		return s3test.Answer{}
	}
	lines := read(t, fmt.Sprintf(`{"bucket":"bucket","advanced":{"endpoint":%q}}`, s3.Endpoint()))
	if records := strings.Count(strings.Join(lines, "\n"), `"RECORD"`); records != n {
		t.Errorf("%d records, want %d", records, n)
	}
}
