package main

import (
	"bytes"
	"fmt"
	"strings"
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

// Many small objects are in flight at a time: with some milliseconds for each request they come far faster than one after the other.
func TestRead_ManySmallObjects(t *testing.T) {
	const n, latency = 600, 5 * time.Millisecond
	mem := memblob.New("bucket")
	mem.Versions = memblob.MD5
	for i := range n {
		mem.Put(memblob.Entry{Key: fmt.Sprintf("%05d.json", i), Data: fmt.Appendf(nil, `{"n":%d,"text":%q}`+"\n", i, strings.Repeat("x", 1000))})
	}
	s3 := s3test.Start(mem)
	defer s3.Close()
	s3.Latency = latency
	began := time.Now()
	lines := read(t, fmt.Sprintf(`{"bucket":"bucket","advanced":{"endpoint":%q}}`, s3.Endpoint()))
	took := time.Since(began)
	if records := strings.Count(strings.Join(lines, "\n"), `"RECORD"`); records != n {
		t.Errorf("%d records, want %d", records, n)
	}
	t.Logf("%d objects in %s, one after the other they take %s", n, took.Round(time.Millisecond), n*latency)
	if took > n*latency/2 {
		t.Errorf("it took %s, want a half of %s at most", took, n*latency)
	}
}
