package foreign

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
)

var servers = pgtest.Shared{}

func TestMain(m *testing.M) { servers.Run(m) }

// held is a stream of the source; see source.py.
type held struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Key       [][]string        `json:"key,omitempty"`
	Cursor    string            `json:"cursor,omitempty"`
	Statuses  bool              `json:"statuses"`
	PassedOn  bool              `json:"passed_on"`
	Schema    json.RawMessage   `json:"json_schema"`
	Records   []json.RawMessage `json:"records"`
}

// orders have a key, and several versions of most rows; versions are their cursor.
func orders(first, last int) held {
	h := held{
		Name: "orders", Namespace: "shop", Key: [][]string{{"id"}, {"region"}}, Cursor: "version", Statuses: true,
		Schema: json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
			"id":{"type":"integer"},"region":{"type":["null","string"]},"version":{"type":"integer"},"total":{"type":["null","number"]},"paid":{"type":["null","boolean"]},
			"placed":{"type":["null","string"],"format":"date-time","airbyte_type":"timestamp_with_timezone"},"note":{"type":["null","string"]},
			"lines":{"type":["null","array"],"items":{"type":"object"}},"address":{"type":["null","object"],"properties":{"city":{"type":"string"}}}}}`),
	}
	for v := first; v <= last; v++ {
		address, note, total := `{"city":"Zürich","lat":47.25}`, `"line one\nline \"two\" \u00e9 🚲"`, fmt.Sprintf("%d.25", v)
		switch v % 4 {
		case 1:
			address, note = "null", "null"
		case 2:
			total = fmt.Sprintf("%d.0", v)
		}
		extra := ""
		if v%3 == 0 {
			extra = `,"undeclared":{"kept":["in","the","document"]}`
		}
		h.Records = append(h.Records, json.RawMessage(fmt.Sprintf(
			`{"id":%d,"region":"r%d","version":%d,"total":%s,"paid":%t,"placed":"2026-03-01T12:00:%02d.5Z","note":%s,"lines":[{"sku":"a","n":%d},{}],"address":%s%s}`,
			v%11, v%2, v, total, v%2 == 0, v%60, note, v, address, extra)))
	}
	return h
}

// events have no key. They are told as PyAirbyte passes them on.
func events(last int) held {
	h := held{
		Name: "events", Namespace: "shop", Cursor: "n", Statuses: true, PassedOn: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"kind":{"type":"string"},"rate":{"type":["null","number"]}}}`),
	}
	for n := 1; n <= last; n++ {
		h.Records = append(h.Records, json.RawMessage(fmt.Sprintf(`{"n":%d,"kind":"k%d","rate":%d.5}`, n, n%3, n)))
	}
	return h
}

// notes have a key but neither namespace nor cursor, and nobody tells when they are complete.
func notes(word string, last int) held {
	h := held{
		Name: "notes", Key: [][]string{{"name"}},
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"text":{"type":["null","string"]}}}`),
	}
	for n := 1; n <= last; n++ {
		h.Records = append(h.Records, json.RawMessage(fmt.Sprintf(`{"name":"n%d","text":"%s %d"}`, n, word, n)))
	}
	return h
}

// source is the program with its configuration.
type source struct {
	t       *testing.T
	program string
	holds   string // file
	streams []held
	// more is added to the configuration.
	more map[string]any
}

func newSource(t *testing.T, streams ...held) *source {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("the source needs Python 3: apt-get install python3")
	}
	program, err := filepath.Abs("source.py")
	if err != nil {
		t.Fatal(err)
	}
	s := &source{t: t, program: program, holds: filepath.Join(t.TempDir(), "holds.json"), more: map[string]any{}}
	s.hold(streams...)
	return s
}

// hold replaces what the source has.
func (s *source) hold(streams ...held) {
	s.t.Helper()
	s.streams = streams
	if err := os.WriteFile(s.holds, encode(s.t, map[string]any{"streams": streams}), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *source) config() map[string]any {
	config := map[string]any{"holds": s.holds}
	for name, value := range s.more {
		config[name] = value
	}
	return config
}

// catalog configures all streams; modes are the destination's by stream, append for the others. Optional keys are there, and null.
func (s *source) catalog(modes map[string]string) []byte {
	s.t.Helper()
	var list []map[string]any
	for _, h := range s.streams {
		mode, sync := "append", "full_refresh"
		if modes[h.Name] != "" {
			mode = modes[h.Name]
		}
		if h.Cursor != "" {
			sync = "incremental"
		}
		stream := map[string]any{"name": h.Name, "namespace": nil, "json_schema": h.Schema, "supported_sync_modes": []string{sync}, "source_defined_primary_key": h.Key, "is_resumable": nil}
		if h.Namespace != "" {
			stream["namespace"] = h.Namespace
		}
		list = append(list, map[string]any{
			"stream": stream, "sync_mode": sync, "destination_sync_mode": mode, "primary_key": nil, "cursor_field": nil, "generation_id": nil, "minimum_generation_id": nil, "sync_id": nil,
		})
	}
	return encode(s.t, map[string]any{"streams": list})
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
