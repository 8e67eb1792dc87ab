package avro

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestJSONSchema_OfTypes(t *testing.T) {
	for _, test := range []struct{ typ, want string }{
		{`"null"`, `{"type":"null"}`},
		{`"boolean"`, `{"type":"boolean"}`},
		{`"int"`, `{"type":"integer"}`},
		{`"long"`, `{"type":"integer"}`},
		{`"float"`, `{"type":["number","string"]}`},
		{`"double"`, `{"type":["number","string"]}`},
		{`"bytes"`, `{"type":"string","contentEncoding":"base64"}`},
		{`"string"`, `{"type":"string"}`},
		{`{"type":"fixed","name":"F","size":2}`, `{"type":"string","contentEncoding":"base64"}`},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, `{"type":"string","enum":["A","B"]}`},
		{`{"type":"array","items":"int"}`, `{"type":"array","items":{"type":"integer"}}`},
		{`{"type":"map","values":["null","int"]}`, `{"type":"object","additionalProperties":{"type":["null","integer"]}}`},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, `{"type":"string","format":"number"}`},
		{`{"type":"string","logicalType":"uuid"}`, `{"type":"string","format":"uuid"}`},
		{`{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}`, `{"type":"string","format":"uuid"}`},
		{`{"type":"fixed","name":"F","size":12,"logicalType":"duration"}`, `{"type":"string"}`},
		{`{"type":"int","logicalType":"date"}`, `{"type":"string","format":"date"}`},
		{`{"type":"int","logicalType":"time-millis"}`, `{"type":"string"}`},
		{`{"type":"long","logicalType":"timestamp-micros"}`, `{"type":"string","format":"date-time"}`},
		{`{"type":"long","logicalType":"local-timestamp-micros"}`, `{"type":"string"}`},
		{`["null","string"]`, `{"type":["null","string"]}`},
		{`["int","null"]`, `{"type":["integer","null"]}`},
		{`["int","string","boolean"]`, `{"type":["integer","string","boolean"]}`},
		{`["int","long"]`, `{"anyOf":[{"type":"integer"},{"type":"integer"}]}`},
		{`["string","bytes"]`, `{"anyOf":[{"type":"string"},{"type":"string","contentEncoding":"base64"}]}`},
		{`["null",{"type":"enum","name":"E","symbols":["A"]}]`, `{"type":["null","string"],"enum":["A",null]}`},
		{`[{"type":"enum","name":"E","symbols":["A"]},"null"]`, `{"type":["string","null"],"enum":["A",null]}`},
		{
			`["null",{"type":"enum","name":"E","symbols":["A"]},"int"]`,
			`{"anyOf":[{"type":"null"},{"type":"string","enum":["A"]},{"type":"integer"}]}`,
		},
		{`[{"type":"enum","name":"E","symbols":["A"]},"int"]`, `{"anyOf":[{"type":"string","enum":["A"]},{"type":"integer"}]}`},
		{`["int",{"type":"enum","name":"E","symbols":["A"]}]`, `{"anyOf":[{"type":"integer"},{"type":"string","enum":["A"]}]}`},
		{`["null",{"type":"array","items":"int"},{"type":"int","logicalType":"date"}]`, `{"type":["null","array","string"],"items":{"type":"integer"},"format":"date"}`},
		{
			`{"type":"record","name":"I","doc":"inner","fields":[{"name":"a","type":"int","doc":"an \"a\""},{"name":"b","type":["null",{"type":"record","name":"E","fields":[]}]}]}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"an \"a\""},"b":{"type":["null","object"],"properties":{}}},"required":["a","b"],"description":"inner"}`,
		},
	} {
		want := `{"type":"object","properties":{"v":` + test.want + `},"required":["v"]}`
		for _, cut := range []bool{false, true} {
			if got := one(t, test.typ).JSONSchema(cut); string(got) != want {
				t.Errorf("%s: %s, want %s", test.typ, got, want)
			}
		}
	}
}

func TestJSONSchema_Recursion(t *testing.T) {
	for _, test := range []struct{ schema, whole, cut string }{
		{
			`{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}`,
			`{"type":"object","properties":{"next":{"anyOf":[{"type":"null"},{"$ref":"#"}]}},"required":["next"]}`,
			`{"type":"object","properties":{"next":{"anyOf":[{"type":"null"},{}]}},"required":["next"]}`,
		},
		{
			`{"type":"record","name":"R","fields":[{"name":"n","type":{"type":"record","name":"a/b.N","fields":[{"name":"all","type":{"type":"array","items":"N"}}]}},{"name":"m","type":"a/b.N"}]}`,
			`{"type":"object","properties":{"n":{"$ref":"#/$defs/a~1b.N"},"m":{"$ref":"#/$defs/a~1b.N"}},"required":["n","m"],` +
				`"$defs":{"a/b.N":{"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#/$defs/a~1b.N"}}},"required":["all"]}}}`,
			`{"type":"object","properties":{"n":{"type":"object","properties":{"all":{"type":"array","items":{}}},"required":["all"]},` +
				`"m":{"type":"object","properties":{"all":{"type":"array","items":{}}},"required":["all"]}},"required":["n","m"]}`,
		},
	} {
		s, err := Parse([]byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.JSONSchema(false)); got != test.whole {
			t.Errorf("%s", got)
		}
		if got := string(s.JSONSchema(true)); got != test.cut {
			t.Errorf("cut: %s", got)
		}
		compile(t, s.JSONSchema(false))
		compile(t, s.JSONSchema(true))
	}
}

// A schema of a few lines whose types are used twice each would fill a disk.
func TestJSONSchema_IsBounded(t *testing.T) {
	schema := `"int"`
	for i := range 40 {
		name := "R" + strings.Repeat("x", i)
		again := `"int"`
		if i > 0 {
			again = `"` + name[:len(name)-1] + `"`
		}
		schema = `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":` + schema + `},{"name":"b","type":` + again + `}]}`
	}
	s, err := Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	text := s.JSONSchema(true)
	if len(text) > 16<<20 || !json.Valid(text) || !bytes.HasSuffix(text, []byte(`"b":{}},"required":["a","b"]}`)) {
		t.Errorf("%d bytes, the last: %s", len(text), text[max(len(text)-100, 0):])
	}
}

func compile(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("%.300s: %v", schema, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", text); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%.300s: %v", schema, err)
	}
	return compiled
}

// Every document of the files is valid by the JSON schema that their Avro schema gives, its formats, too.
func TestJSONSchema_HoldsForDocuments(t *testing.T) {
	for _, name := range []string{"plain-deflate", "logical-deflate"} {
		f, err := NewFile(bytes.NewReader(readFile(t, name+".avro")), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []bool{false, true} {
			schema := compile(t, f.Schema().JSONSchema(cut))
			for line := range bytes.Lines(readFile(t, name+".ndjson")) {
				document, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(document); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				without := map[string]any{}
				if err := json.Unmarshal(line, &without); err != nil {
					t.Fatal(err)
				}
				delete(without, f.Schema().Fields()[3])
				if schema.Validate(without) == nil {
					t.Errorf("%s: a document without a field is valid", name)
				}
			}
		}
	}
}
