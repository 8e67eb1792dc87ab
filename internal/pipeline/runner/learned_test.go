package runner

import (
	"encoding/json"
	"testing"
)

func TestWider(t *testing.T) {
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{`{"type":["integer","boolean"]}`, `{"type":"integer"}`, true},
		{`{"type":["integer","null","string"],"format":"number"}`, `{"type":["string","null"],"format":"number"}`, true},
		{`{}`, `{"type":"integer"}`, true},
		{`{"description":"jsonb"}`, `{}`, false},
		{`{"type":["integer","null"]}`, `{"type":"integer"}`, false}, // null is the column's own matter
		{`{"type":"integer"}`, `{"type":"string"}`, false},           // a start can widen the column
		{`{"type":"integer"}`, `{"type":["integer","string"]}`, false},
		{`{"type":["number","string"],"format":"number"}`, `{"type":"string","format":"number"}`, false},
		{`{"type":7}`, `{"type":"string"}`, false},
	} {
		if got := wider(json.RawMessage(c.was), json.RawMessage(c.now)); got != c.want {
			t.Errorf("%s beside %s: %v", c.was, c.now, got)
		}
	}
}

func TestOutgrown(t *testing.T) {
	schema := func(property string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"},"n":` + property + `}}`)
	}
	const float, numeric = `{"type":["number","string","null"],"format":"number"}`, `{"type":["string","null"],"format":"number"}`
	for _, c := range []struct {
		was, now string
		want     bool
	}{{float, numeric, true}, {`{"type":"number"}`, numeric, true}, {numeric, numeric, false}, {`{"type":"integer"}`, numeric, false}, {float, float, false}, {numeric, float, false}} {
		if name, found := outgrown(schema(c.was), schema(c.now)); found != c.want || found && name != "n" {
			t.Errorf("%s becomes %s: %q, %v", c.was, c.now, name, found)
		}
	}
}

func TestAppliedSchema(t *testing.T) {
	applied := json.RawMessage(`{"bindings":[{"collection":{"name":"public.a","writeSchema":{"a":1}}},{"backfill":2,"collection":{"name":"public.b","writeSchema":{"b":1}}}]}`)
	for _, c := range []struct {
		stream   string
		backfill uint32
		want     string
	}{{"public.a", 0, `{"a":1}`}, {"public.a", 1, ""}, {"public.b", 2, `{"b":1}`}, {"public.c", 0, ""}} {
		if got := appliedSchema(applied, c.stream, c.backfill); string(got) != c.want {
			t.Errorf("%s, %d: %s", c.stream, c.backfill, got)
		}
	}
	if appliedSchema(nil, "public.a", 0) != nil {
		t.Error("nothing was applied, and there is a schema")
	}
}
