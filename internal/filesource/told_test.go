package filesource

import (
	"bytes"
	"io"
	"strings"
	"testing"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// logged is what the log says meanwhile.
func logged(t *testing.T, do func()) string {
	t.Helper()
	var said bytes.Buffer
	before := log.StandardLogger().Out
	log.SetOutput(&said)
	defer log.SetOutput(before)
	do()
	return said.String()
}

func TestSettings_TellEveryProblemAtOnce(t *testing.T) {
	r := Reading{Advanced: Advanced{MinimumModified: "yesterday", Exclude: []string{"(", "["}, Endpoint: "localhost:9000"}}
	r.Parser.Projections, r.Parser.AddRecordOffset = map[string]string{"a": "/b"}, "n"
	_, err := NewSettings(Place{Bucket: "b/c", MatchKeys: "("}, r)
	if problems := protocol.Problems(err); len(problems) != 9 {
		t.Errorf("of nine problems %d are told: %v", len(problems), err)
	}
}

func TestSettings_EndpointsAreURLs(t *testing.T) {
	for endpoint, good := range map[string]bool{
		"": true, "http://localhost:9000": true, "https://s3.example.com/": true, "file:///data": true,
		"localhost:9000": false, "s3.example.com": false, "/data": false, "file://data": false, "s3://b": false, "http:///x": false,
	} {
		_, err := NewSettings(Place{Bucket: "b"}, Reading{Advanced: Advanced{Endpoint: endpoint}})
		if (err == nil) != good || !good && !strings.Contains(err.Error(), "advanced.endpoint") {
			t.Errorf("endpoint %q: %v", endpoint, err)
		}
	}
}

// A bucket without anything to read is seldom what somebody means.
func TestCheck_WarnsWhereThereIsNothingToRead(t *testing.T) {
	for name, c := range map[string]struct {
		prefix, match, says string
		empty               bool
	}{
		"all is well":     {},
		"an empty bucket": {empty: true, says: "the bucket is empty"},
		"another prefix":  {prefix: "q/", says: "no object's key begins with the prefix"},
		"nothing matches": {match: "json$", says: "all 1 objects are empty, archived, or left out by matchKeys"},
	} {
		memory, _ := store()
		if !c.empty {
			put(memory, map[string][]byte{"p/a.csv": csv(1)})
		}
		run := newCapture(t, memory)
		run.place.Prefix, run.place.MatchKeys = c.prefix, c.match
		said := logged(t, func() {
			if err := run.source().Check(t.Context(), "", nil); err != nil {
				t.Error(err)
			}
		})
		if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: the log says %q", name, said)
		}
	}
}

func TestRead_TellsTheCureOfABadFile(t *testing.T) {
	for name, c := range map[string]struct{ file, text, cure string }{
		"an unknown format": {"a.xyz", "a,b", "protobuf: or leave the file out with advanced.exclude"},
		"a bad row":         {"a.csv", "a,b\n1,2\n1,2,3\n", "a.csv: row 2, line 3, byte 8: 3 columns, 2 headers: correct the file, raise errorThreshold"},
		"a bad file":        {"a.parquet", "PAR2", "replace the file, adapt the parser's options, or leave it out with advanced.exclude"},
	} {
		memory, _ := store()
		put(memory, map[string][]byte{c.file: []byte(c.text)})
		bs := []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "k"}}
		said := logged(t, func() {
			out := source.NewOut(io.Discard, source.AirbyteWire(bs), bs)
			_ = newCapture(t, memory).source().Read(t.Context(), source.Request{Bindings: bs, Range: protocol.FullRange}, out) // whatever it returns, the log tells why
		})
		if !strings.Contains(said, c.cure) {
			t.Errorf("%s: the log says %s", name, said)
		}
	}
}

func TestRead_TellsWhatASweepHasRead(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a.csv": csv(2), "b.csv": csv(3)})
	c := newCapture(t, memory)
	said := logged(t, func() { c.read() })
	if !strings.Contains(said, "documents=5 files=2") {
		t.Errorf("the log says %q", said)
	}
	if said = logged(t, func() { c.read() }); said != "" {
		t.Errorf("where nothing is new the log says %q", said)
	}
}
