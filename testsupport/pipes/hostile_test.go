package pipes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/pipeline"
)

// hostile are documents as some source may send them. All of them can be stored.
func hostile() []string {
	return []string{
		`{"id":1,"name":"a\u0000b","lone":"\ud800"}`,
		`{"id":2,"deep":` + strings.Repeat(`[{"d":`, 50) + "1" + strings.Repeat("}]", 50) + `}`,
		`{"id":3` + columns("v") + `}`,
		`{"id":4,"":"empty name"}`,
		`{"id":5,"name":"` + strings.Repeat("x", 16<<20) + `"}`,
	}
}

// refused are documents that no column can hold, and what is said of each besides the stream.
var refused = map[string]struct {
	doc  string
	want []string
}{
	"beyond 64 bits": {`{"id":99999999999999999999}`, []string{`field "id"`, "99999999999999999999"}},
	"no such day":    {`{"id":7,"day":"2024-02-30"}`, []string{`field "day"`, "2024-02-30"}},
	"no day at all":  {`{"id":7,"day":"yesterday` + strings.Repeat("y", 1<<20) + `"}`, []string{`field "day"`, "yesterdayyy"}},
	"no UUID":        {`{"id":7,"tag":"x` + strings.Repeat("z", 1<<20) + `"}`, []string{`field "tag"`, "xzz"}},
	"no key":         {`{"name":"nobody"}`, []string{"id"}},
	// No field of it is at fault: each leaves the row, and what is left of a thousand of them is too much.
	"a row too large": {`{"id":8` + columns(strings.Repeat("x", 3000)) + `}`, []string{"whose key is 8", "row is too big"}},
}

// columns are a thousand members of a document.
func columns(value string) string {
	var wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&wide, `,"c%d":%q`, i, value)
	}
	return wide.String()
}

func hostileWriter(t *testing.T, config []byte, table string) *writer {
	t.Helper()
	properties := map[string]any{
		"id": map[string]any{"type": "integer"}, "name": map[string]any{"type": "string"}, "": map[string]any{"type": "string"}, "deep": map[string]any{"type": "array"},
		"day": map[string]any{"type": "string", "format": "date"}, "tag": map[string]any{"type": "string", "format": "uuid"},
	}
	for i := range 1000 {
		properties[fmt.Sprintf("c%d", i)] = map[string]any{"type": "string"}
	}
	catalog := encode(t, map[string]any{"streams": []any{map[string]any{
		"stream": map[string]any{
			"name": table, "namespace": "public", "json_schema": map[string]any{"type": "object", "properties": properties}, "supported_sync_modes": []string{"incremental"},
		},
		"sync_mode": "incremental", "destination_sync_mode": "append_dedup", "primary_key": [][]string{{"id"}},
	}}})
	return startWriter(t, config, catalog, table)
}

func (w *writer) record(doc string) {
	w.t.Helper()
	if err := w.process.Send(fmt.Appendf(nil, `{"type":"RECORD","record":{"stream":%q,"namespace":"public","data":%s,"emitted_at":1}}`, w.table, doc)); err != nil {
		w.t.Fatal(err)
	}
}

// Documents that a column could trip over are stored right, each as it is and in its columns.
func TestPipes_HostileDocumentsAreStored(t *testing.T) {
	c := servers.Cluster(t, pgtest.DefaultVersion)
	database := c.NewDatabase(t)
	w := hostileWriter(t, encode(t, pipeline.Materialize(c, "", database)), "t")
	for _, doc := range hostile() {
		w.record(doc)
	}
	if exit := w.complete(); exit.Code != 0 {
		t.Fatalf("code %d: %.2000s", exit.Code, exit.Stderr)
	}
	rows, err := c.Query(database, `SELECT id::text, concat_ws(' ', left(name, 3), length(name), "_", c999, length(deep::text)), flow_document::text FROM t ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ab 2", "401", "v", "empty name", "xxx 16777216"}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, doc := range hostile() {
		if rows[i][1] != want[i] || rows[i][2] != doc {
			t.Errorf("document %s has the columns %q, want %q; stored as it is: %v", rows[i][0], rows[i][1], want[i], rows[i][2] == doc)
		}
	}
}

// One that cannot be stored ends the writer with a sentence. What was stored before is there, and the next one goes on after it.
func TestPipes_RefusedDocumentsTakeNothingWithThem(t *testing.T) {
	c := servers.Cluster(t, pgtest.DefaultVersion)
	for what, x := range refused {
		t.Run(what, func(t *testing.T) {
			database := c.NewDatabase(t)
			config := encode(t, pipeline.Materialize(c, "", database))
			w := hostileWriter(t, config, "t")
			w.send(1)
			if ok, said := w.echoed(1); !ok {
				t.Fatalf("the writer ended: %.2000s%.2000s", said, w.process.Stderr())
			}
			w.record(x.doc)
			w.send(2)
			ok, said := w.echoed(2)
			exit, err := w.process.Wait(patience)
			if err != nil {
				t.Fatal(err)
			}
			message := lastError(t, said)
			if ok || exit.Code != 1 || message == "" || len(message) > 1000 || len(said) > 10_000 || strings.Contains(message, "\n") || !strings.Contains(message, "public.t") {
				t.Errorf("code %d, the STATE after it echoed: %v; it said %.2000s", exit.Code, ok, said)
			}
			for _, part := range x.want {
				if !strings.Contains(message, part) {
					t.Errorf("the sentence lacks %s: %s", part, message)
				}
			}
			if rows, err := c.Query(database, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t"); err != nil || rows[0][0] != "1" {
				t.Errorf("the table has %v, %v", rows, err)
			}
			// The source sends again what no STATE covers, without the document.
			w = hostileWriter(t, config, "t")
			w.send(2)
			if exit := w.complete(); exit.Code != 0 {
				t.Errorf("the next one ended with code %d: %.2000s", exit.Code, exit.Stderr)
			}
			if rows, err := c.Query(database, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t"); err != nil || rows[0][0] != "1 2" {
				t.Errorf("in the end the table has %v, %v", rows, err)
			}
		})
	}
}

// lastError is the sentence of the last TRACE ERROR.
func lastError(t *testing.T, said string) (message string) {
	t.Helper()
	for line := range bytes.Lines([]byte(said)) {
		var m struct {
			Trace struct {
				Error struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"trace"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Errorf("%v: %.300s", err, line)
		}
		if m.Trace.Error.Message != "" {
			message = m.Trace.Error.Message
		}
	}
	return message
}
