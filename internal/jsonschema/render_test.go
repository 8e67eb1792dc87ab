package jsonschema

import (
	"bytes"
	"encoding/json"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/estuary/connectors/protocol"
)

// orders has every feature once.
func orders() protocol.Schema {
	text := protocol.Schema{Types: []string{"string"}}
	return protocol.Schema{
		Types: []string{"object"}, Title: "orders", Reduce: "merge", Deletes: true,
		Properties: []protocol.Property{
			{Name: "id", Schema: protocol.Schema{Types: []string{"integer"}, Description: `the "key" <of> it`}, Required: true},
			{Name: "at", Schema: protocol.Schema{Types: []string{"string"}, Format: "date-time"}.Nullable()},
			{Name: "size", Schema: protocol.Schema{Types: []string{"string"}, Enum: []string{"s", "m"}, MaxLength: 8}.Nullable()},
			{Name: "blob", Schema: protocol.Schema{Types: []string{"string"}, ContentEncoding: "base64", ContentMediaType: "image/png"}},
			{Name: "tags", Schema: protocol.Schema{Types: []string{"array"}, Items: &text}},
			{Name: "any", Schema: protocol.Schema{}},
			{Name: "map", Schema: protocol.Schema{Types: []string{"object"}, Additional: &text}},
			{Name: "_meta", Schema: protocol.Schema{Types: []string{"object"}, Properties: []protocol.Property{
				{Name: "op", Schema: protocol.Schema{Types: []string{"string"}, Enum: []string{"c", "u", "d"}}, Required: true},
			}}, Required: true},
		},
	}
}

const (
	head = `"type":"object","title":"orders",`
	base = `"properties":{"id":{"type":"integer","description":"the \"key\" <of> it"},"at":{"type":["string","null"],"format":"date-time"},` +
		`"size":{"type":["string","null"],"maxLength":8,"enum":["s","m",null]},"blob":{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"},` +
		`"tags":{"type":"array","items":{"type":"string"}},"any":{},`
	meta       = `"_meta":{"type":"object","properties":{"op":{"type":"string","enum":["c","u","d"]}},"required":["op"]`
	additional = `"map":{"type":"object","additionalProperties":{"type":"string"}},`
)

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{
			"airbyte", string(Airbyte(orders())),
			`{"$schema":"http://json-schema.org/draft-07/schema#",` + head + base + `"map":{"type":"object"},` + meta + `}},"required":["id","_meta"],"reduce":{"strategy":"merge"}}`,
		},
		{
			"flow", string(Flow(orders())),
			`{` + head + base + additional + meta + `}},"required":["id","_meta"],"x-infer-schema":true,` +
				`"if":{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"const":"d"}}}}},` +
				`"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`,
		},
		{
			"closed", string(FlowClosed(orders())),
			`{` + head + base + additional + meta + `,"additionalProperties":false}},"required":["id","_meta"],"additionalProperties":false,"reduce":{"strategy":"merge"}}`,
		},
		{"anything", string(Flow(protocol.Schema{})), `{"x-infer-schema":true}`},
		{"complete", string(Flow(protocol.Schema{Types: []string{"object"}, Complete: true, Reduce: "merge"})), `{"type":"object","reduce":{"strategy":"merge"}}`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, c.got, c.want)
		}
	}
}

// The renderings must be schemas, and tell a deletion and a nullable enum as they are meant.
func TestRender_Validates(t *testing.T) {
	for name, raw := range map[string][]byte{"airbyte": Airbyte(orders()), "flow": Flow(orders()), "closed": FlowClosed(orders())} {
		s := compile(t, raw)
		for doc, valid := range map[string]bool{
			`{"id":1,"_meta":{"op":"c"},"size":null,"any":[{}],"map":{"x":"y"}}`: true,
			`{"id":1,"_meta":{"op":"d"}}`:                                        true,
			`{"id":1,"_meta":{"op":"c"},"size":"xl"}`:                            false,
			`{"id":1}`: false,
			`{"id":1,"_meta":{"op":"c"},"undeclared":1}`: name != "closed",
			`{"id":1,"_meta":{"op":"c","undeclared":1}}`: name != "closed",
		} {
			value, err := validator.UnmarshalJSON(bytes.NewReader([]byte(doc)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(value); (err == nil) != valid {
				t.Errorf("%s: %s validates: %v, want valid = %v", name, doc, err, valid)
			}
		}
	}
}

// The protocol's test kits refuse these keywords in a discovered schema.
func TestAirbyte_HasNoForbiddenKeywords(t *testing.T) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				switch name {
				case "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
					t.Errorf("the schema holds %s", name)
				case "additionalProperties":
					if member != true {
						t.Errorf("additionalProperties is %v, want true or nothing", member)
					}
				}
				walk(member)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	var schema any
	if err := json.Unmarshal(Airbyte(orders()), &schema); err != nil {
		t.Fatal(err)
	}
	walk(schema)
}

func compile(t *testing.T, raw []byte) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
