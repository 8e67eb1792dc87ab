package filesource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
)

// bug streams-files-parser 56: estuary/connectors history: overlapping streams of prefixes gave each record several times
func TestDiscover_Samples(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{
		"p/a.csv":  []byte("Bike ID,start\n1,2020-01-01\n"),
		"p/b.json": []byte(`{"n":1,"deep":{"x":[1,2.5]},"s":"a","gone":null,"_meta":{"mine":1}}` + "\n" + `{"n":1.5,"deep":{"x":[],"y":true},"s":2}`),
		"p/c.json": []byte(`{"broken":`), "q/d.csv": csv(1),
	})
	c := newCapture(t, memory)
	c.place.Prefix = "p/"
	for sample, want := range map[bool]string{
		true: `"Bike ID":{"type":["string","null"]},"start":{"type":["string","null"]},"n":{"type":["number","null"]},` +
			`"deep":{"type":["object","null"],"properties":{"x":{"type":["array","null"],"items":{"type":["number","null"]}},"y":{"type":["boolean","null"]}}},` +
			`"s":{"type":["string","integer","null"]},"gone":{}},"required":["_meta"]}`,
		false: `"required":["file","version","offset"]}},"required":["_meta"]}`,
	} {
		c.reading.Advanced.Sample = sample
		streams, err := c.source().Discover(t.Context())
		if err != nil || len(streams) != 1 {
			t.Fatal(streams, err)
		}
		got := string(jsonschema.Airbyte(streams[0].Schema))
		if !strings.HasSuffix(got, want) {
			t.Errorf("the schema is %s, want it to end with %s", got, want)
		}
		if s := streams[0]; s.Name != "bkt/p" || string(s.Resource) != `{"stream":"bkt/p"}` || fmt.Sprint(s.Key) != "[/_meta/file /_meta/offset]" {
			t.Errorf("the stream is %+v", s)
		}
	}
}

func TestDiscover_ReadsLittle(t *testing.T) {
	memory, _ := store()
	big := ndjson(100_000)
	for i := range 2000 {
		memory.Put(memblob.Entry{Key: fmt.Sprintf("%04d", i), Data: big})
	}
	c := newCapture(t, memory)
	c.reading.Advanced.Sample = true
	if _, err := c.source().Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := memory.Calls(memblob.Open); n > 2*sampleFiles {
		t.Errorf("%d objects were opened, want %d at most", n, 2*sampleFiles)
	}
}

// bug streams-files-parser 45: Airbyte #29110: the configured encoding was not passed on when the schema was inferred
func TestDiscover_ByTheConfigurationOfReads(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a.txt": []byte("w\xb1s/n\n1/2\n")}) // neither the encoding nor the delimiter would be guessed
	c := newCapture(t, memory)
	c.reading.Advanced.Sample = true
	if err := json.Unmarshal([]byte(`{"format":{"type":"csv","config":{"delimiter":"/","encoding":"iso-8859-2"}}}`), &c.reading.Parser); err != nil {
		t.Fatal(err)
	}
	streams, err := c.source().Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(jsonschema.Airbyte(streams[0].Schema)); !strings.Contains(got, `"wąs":{"type":["string","null"]},"n":`) {
		t.Errorf("the schema is %s", got)
	}
}

// bug streams-files-parser 4: estuary/connectors history: the projections of the catalog never reached the parser
func TestRead_SchemaAndProjectionsOfTheCatalog(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a.csv": []byte("Bike ID,start time\n12,x\n")})
	c := newCapture(t, memory)
	c.bindings = []protocol.Binding{{
		Stream: protocol.Stream{Name: "bkt"}, StateKey: "k", Schema: json.RawMessage(`{"type":"object","properties":{"bike_id":{"type":"integer"}}}`),
		Projections: map[string]string{"Start Time": "/trip/start", "bike_id": "/bike_id", "flow_document": ""},
	}}
	if got, want := c.read().documents[0].raw, `{"bike_id":12,"trip":{"start":"x"},"_meta":{"file":"bkt/a.csv","version":"1","offset":0}}`; got != want {
		t.Errorf("the document is %s, want %s", got, want)
	}
}
