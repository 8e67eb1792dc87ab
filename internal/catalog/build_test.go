package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

func build(t *testing.T, key []string, schema string, projections map[string]string) protocol.Collection {
	t.Helper()
	c, err := Build("shop/orders", key, []byte(schema), projections)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fields(c *protocol.Collection) (list []string) {
	for _, p := range c.Projections {
		text := p.Field + "=" + p.Pointer
		if p.Key {
			text += " key"
		}
		if p.Explicit {
			text += " explicit"
		}
		list = append(list, text)
	}
	return list
}

func TestBuild_OneProjectionPerPropertyKeyLocationAndTheRoot(t *testing.T) {
	const schema = `{"type":"object","required":["id"],"properties":{"z":{"type":"string"},"id":{"type":"integer"},"a/b":{"type":"string"},"in":{"type":"object","properties":{"k":{"type":"string"}}},
		"_meta":{"type":"object","required":["op"],"properties":{"op":{"enum":["c","u","d"]}}}}}`
	c := build(t, []string{"/id", "/in/k"}, schema, map[string]string{"Start Time": "/in/begin/timestamp", "z": "/z", "second": "/id", "whole": ""})
	want := []string{
		"id=/id key", "in/k=/in/k key", "z=/z explicit", "a/b=/a~1b", "in=/in", "_meta=/_meta", "_meta/op=/_meta/op", "flow_document=", "Start Time=/in/begin/timestamp explicit",
		"second=/id key explicit", "whole= explicit",
	}
	if got := fields(&c); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if c.Name != "shop/orders" || string(c.Schema) != schema || !slices.Equal(c.Key, []string{"/id", "/in/k"}) {
		t.Errorf("the collection is %+v", c)
	}
	if root := c.Field(Document); root.Exists != protocol.Must || !slices.Equal(root.Types, []string{"object"}) {
		t.Errorf("the root is %+v", root)
	}
	// An operation that nobody declares is no field: it would be an empty column in each table of a foreign source.
	c = build(t, nil, `{"properties":{"a":{},"_meta":{"type":"object"}}}`, nil)
	if got, want := fields(&c), []string{"a=/a", "_meta=/_meta", "flow_document="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBuild_Inference(t *testing.T) {
	c := build(t, []string{"/id"}, `{"type":"object","required":["id","s","nullable"],"properties":{
		"id":{"type":"integer","minimum":-9.223372036854775808e+18,"maximum":1e19},
		"s":{"type":"string","format":"date-time","maxLength":30,"title":"When","description":"in UTC","default":"2020"},
		"nullable":{"type":["null","string"],"contentEncoding":"base64"},
		"arr":{"type":"array","items":{"type":["string","null"]}}, "list":{"type":"array"}, "any":{}, "none":false,
		"ref":{"$ref":"#/$defs/r"}, "either":{"oneOf":[{"type":"integer"},{"type":"string","format":"number"}]}, "both":{"allOf":[{"type":["integer","string"]},{"type":"string"}]},
		"lost":{"$ref":"#/none"}},"$defs":{"r":{"type":"boolean"}}}`, nil)
	for field, want := range map[string]string{
		"id": "[integer] must -9223372036854775808..10000000000000000000", "s": "[string] must date-time 30", "nullable": "[null string] may base64", "arr": "[array] may of [null string]", "list": "[array] may",
		"any": "[array boolean null number object string] may", "none": "[] cannot", "ref": "[boolean] may", "either": "[integer string] may number", "both": "[string] may",
		"lost": "[array boolean null number object string] may",
	} {
		p := c.Field(field)
		got := fmt.Sprint(p.Types) + " " + []string{"may", "must", "cannot"}[p.Exists]
		for _, part := range []string{p.Format, p.ContentEncoding} {
			if part != "" {
				got += " " + part
			}
		}
		if p.MaxLength > 0 {
			got += fmt.Sprint(" ", p.MaxLength)
		}
		if p.Minimum != "" || p.Maximum != "" {
			got += " " + p.Minimum + ".." + p.Maximum
		}
		if p.ItemTypes != nil {
			got += fmt.Sprint(" of ", p.ItemTypes)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
	if p := c.Field("s"); p.Title != "When" || p.Description != "in UTC" || string(p.Default) != `"2020"` || p.Nullable() || !c.Field("nullable").Nullable() || !c.Field("any").Nullable() {
		t.Errorf("s is %+v", p)
	}
}

// bug materializations 27: a key that may be null or absent looks like one, so that a destination can see it
func TestBuild_NullableKeys(t *testing.T) {
	c := build(t, []string{"/a", "/b", "/c"}, `{"required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":["integer","null"]},"c":{"type":"integer"}}}`, nil)
	for field, want := range map[string]bool{"a": false, "b": true, "c": true} {
		if p := c.Field(field); p.Nullable() != want || !p.Key {
			t.Errorf("%s: nullable %v, key %v", field, p.Nullable(), p.Key)
		}
	}
}

// bug materializations 38: several types are all named, none is lost
// bug materializations 45: integers and numbers are told apart
func TestBuild_SeveralTypesAndNumbers(t *testing.T) {
	c := build(t, nil, `{"properties":{"i":{"type":"integer"},"n":{"type":"number"},"both":{"type":["integer","number"]},"mixed":{"type":["string","integer","object","null"]},
		"union":{"anyOf":[{"type":"integer"},{"type":"number"}]},"whole":{"const":2.0}}}`, nil)
	for field, want := range map[string]string{"i": "[integer]", "n": "[number]", "both": "[number]", "mixed": "[integer null object string]", "union": "[number]", "whole": "[integer]"} {
		if got := fmt.Sprint(c.Field(field).Types); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

// bug materializations 57: airbyte #45666, a property that has the name of a field of ours is renamed, always in the same way, and says so
func TestBuild_PropertiesWithNamesOfOurFields(t *testing.T) {
	for range 3 {
		c := build(t, []string{"/flow_document"}, `{"properties":{"flow_document":{"type":"string","description":"theirs"},"FLOW_DOCUMENT":{},"_meta/op":{},"":{"type":"null"},"flow_document_":{},"_":{},
			"_meta":{"properties":{"op":{"type":"string"}}}}}`, nil)
		want := []string{
			"flow_document_=/flow_document key", "FLOW_DOCUMENT_=/FLOW_DOCUMENT", "_meta/op_=/_meta~1op", "_=/", "flow_document__=/flow_document_", "__=/_", "_meta=/_meta", "_meta/op=/_meta/op", "flow_document=",
		}
		if got := fields(&c); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
		if got := c.Projections[0].Description; !strings.HasPrefix(got, `The property "flow_document". Its field has another name`) || !strings.HasSuffix(got, "theirs") {
			t.Errorf("the description is %q", got)
		}
	}
}

func TestBuild_RefusesWithASentence(t *testing.T) {
	const schema = `{"properties":{"a":{},"b":{}}}`
	for _, c := range []struct {
		key         []string
		schema      string
		projections map[string]string
		want        string
	}{
		{schema: `{`, want: "the schema of x cannot be read"},
		{schema: `[]`, want: "the schema of x cannot be read"},
		{schema: `{"type":"string"}`, want: "the schema of x does not allow objects"},
		{schema: `false`, want: "the schema of x does not allow objects"},
		{schema: schema, key: []string{"id"}, want: `the key of x is not understood: the JSON pointer "id" must start with a slash: /id`},
		{schema: schema, key: []string{""}, want: "the key of x is the whole document"},
		{schema: schema, key: []string{"/a", "/b", "/a"}, want: "the key of x has /a twice"},
		{schema: schema, projections: map[string]string{"f": "a"}, want: `the projection "f" of x is not understood`},
		{schema: schema, projections: map[string]string{"": "/a"}, want: "a projection of x to /a has an empty name"},
		{schema: schema, projections: map[string]string{"straße": "/a", "STRASSE": "/b"}, want: `the projections "STRASSE" and "straße" of x differ in case only`},
		{schema: schema, projections: map[string]string{"a": "/b"}, want: `the projection "a" of x leads to /b, but this is the name of the field at /a`},
		{schema: schema, projections: map[string]string{"flow_document": "/b"}, want: `the projection "flow_document" of x leads to /b, but this is the name of the field at the whole document`},
	} {
		_, err := Build("x", c.key, []byte(c.schema), c.projections)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.schema, err, c.want)
		}
		if p, ok := errors.AsType[*protocol.Problem](err); !ok || p.Kind != protocol.Config {
			t.Errorf("%v is no problem of the configuration", err)
		}
	}
}

// A schema as a capture announces it, joined with one that has a column more, makes the old projections and one more.
func TestJoin_AddsAColumn(t *testing.T) {
	before := `{"type":"object","properties":{"id":{"type":"integer"},"a":{"type":"integer","maximum":32767}},"required":["id","a"],"additionalProperties":false,"reduce":{"strategy":"merge"}}`
	after := `{"type":"object","properties":{"id":{"type":"integer"},"a":{"type":"integer","maximum":2147483647},"new":{"type":["null","string"],"format":"uuid"}},"required":["id","a"],"additionalProperties":false}`
	joined, err := Join([]byte(before), []byte(after))
	if err != nil || rawjson.Valid(joined) != nil {
		t.Fatal(err)
	}
	c := build(t, []string{"/id"}, string(joined), nil)
	if got, want := fields(&c), []string{"id=/id key", "a=/a", "new=/new", "flow_document="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.Field("a").Maximum != "2147483647" || c.Field("a").Nullable() || c.Field("new").Format != "uuid" || !strings.Contains(string(joined), `"reduce":{"strategy":"merge"}`) {
		t.Errorf("joined: %s", joined)
	}
}
