package jsonschema

import (
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, schema string) *Node {
	t.Helper()
	n, err := Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestParse_RefusesWhatIsNoSchema(t *testing.T) {
	for _, schema := range []string{"", "{", "[]", "1", `"x"`, "null", "{} {}"} {
		if _, err := Parse([]byte(schema)); err == nil {
			t.Errorf("%q is taken", schema)
		}
	}
	if !parsed(t, "false").False || parsed(t, " true ").False {
		t.Error("the schemas true and false are mixed up")
	}
}

func TestParse_ResolvesReferences(t *testing.T) {
	n := parsed(t, `{
		"$id": "http://x/root.json",
		"$defs": {
			"a/b~c%": {"title": "by pointer"},
			"n": {"$anchor": "named", "title": "by anchor"},
			"old": {"$id": "#old", "title": "by old anchor"},
			"w": {"$id": "flow://write-schema", "title": "by id", "$defs": {"inner": {"title": "inner"}, "again": {"$ref": "#/$defs/inner"}}},
			"rel": {"$id": "other.json", "title": "by relative id"},
			"cycle": {"properties": {"next": {"$ref": "#/$defs/cycle"}}, "title": "cycle"},
			"const": {"const": {"$id": "flow://not-me"}}
		},
		"properties": {
			"1": {"$ref": "#/$defs/a~1b~0c%25"}, "2": {"$ref": "#named"}, "3": {"$ref": "#old"}, "4": {"$ref": "flow://write-schema"}, "5": {"$ref": "flow://write-schema#/$defs/again"},
			"6": {"$ref": "other.json"}, "7": {"$ref": "http://x/other.json"}, "8": {"$ref": "#/$defs/cycle"}, "9": {"$ref": "#"}
		}}`)
	for i, want := range []string{"by pointer", "by anchor", "by old anchor", "by id", "inner", "by relative id", "by relative id", "cycle"} {
		r := n.Properties[i].Ref
		if r == nil {
			t.Errorf("%s leads nowhere", n.Properties[i].Name)
			continue
		}
		if r.Ref != nil {
			r = r.Ref
		}
		if r.Title != want {
			t.Errorf("%s: got %q, want %q", n.Properties[i].Name, r.Title, want)
		}
	}
	cycle := n.Properties[7].Ref
	if cycle.Property("next").Ref != cycle || n.Properties[8].Ref != n {
		t.Error("a cycle does not close")
	}
	for _, ref := range []string{"#/none", "#none", "flow://not-me", "http://elsewhere/x.json", "%zz"} {
		if n := parsed(t, `{"properties":{"a":{"$ref":"`+ref+`"}},"$defs":{"c":{"const":{"$id":"flow://not-me"}}}}`); n.Properties[0].Dangling != ref {
			t.Errorf("%s leads to %v", ref, n.Properties[0].Ref)
		}
	}
}

func TestParse_KeepsOrderLocationsAndSurvivesNonsense(t *testing.T) {
	n := parsed(t, `{"properties":{"z":{},"a/b":{"allOf":[{},{"title":"deep"}]},"m":{"type":["string","null"]},"e":{"type":"object","nullable":true}},
		"required":true,"enum":7,"items":[{"title":"first"}],"additionalItems":{"title":"rest"},"maxLength":"x","type":"timestamp","minimum":5,"exclusiveMinimum":true,"allOf":{},"not":3}`)
	var names []string
	for _, p := range n.Properties {
		names = append(names, p.Name)
	}
	if want := []string{"z", "a/b", "m", "e"}; !slices.Equal(names, want) {
		t.Errorf("properties are %q, want %q", names, want)
	}
	if got := n.Property("a/b").AllOf[1].Location; got != "/properties/a~1b/allOf/1" {
		t.Errorf("the location is %s", got)
	}
	if n.Property("m").Types != String|Null || n.Property("e").Types != Object|Null || n.Types != 0 || n.Values != nil || n.MaxLength != -1 {
		t.Errorf("types or nonsense are read wrong: %+v", n)
	}
	if n.Prefix[0].Title != "first" || n.Items.Title != "rest" || n.Minimum != nil || n.ExclusiveMinimum.String() != "5" {
		t.Errorf("older drafts are read wrong: %+v", n)
	}
}

func TestCheck_NamesAMisspeltType(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":["object","null"],"properties":{"type":{"type":"string"}}}`: "",
		`{"properties":{"a/b":{"items":{"type":"integr"}}}}`:                 `the type at /properties/a~1b/items of a JSON schema is "integr", which is none of array, boolean`,
		`{"properties":{"n":{"type":["fractional","null"]}}}`:                "",
		`{"type":["string","nul"]}`:                                          `the type at the schema's root of a JSON schema is "nul"`,
		`{"anyOf":[{"type":"string"},{"type":5}]}`:                           `the type at /anyOf/1 of a JSON schema is 5`,
		`{`: "reading a JSON schema",
	} {
		if err := Check([]byte(schema)); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		schema   string
		yes, no  []string
		property string
	}{
		{schema: `{"type":["integer","null"],"minimum":1,"exclusiveMaximum":10}`, yes: []string{"1", "1.0", "9", "null"}, no: []string{"0", "10", "1.5", `"1"`, "1e1"}},
		{schema: `{"const":{"a":[1]}}`, yes: []string{`{"a":[1.0]}`, `{"\u0061" : [ 1 ]}`}, no: []string{`{"a":[2]}`, `{}`, "1"}},
		{schema: `{"enum":["a",null]}`, yes: []string{`"a"`, "null", `"\u0061"`}, no: []string{`"b"`}},
		{schema: `{"minLength":2,"maxLength":3,"pattern":"^ü"}`, yes: []string{`"üü"`, `"\u00fcxy"`, "1"}, no: []string{`"ü"`, `"üxyz"`, `"xy"`}},
		{
			schema: `{"required":["a","b"],"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"integer"},"maxProperties":3}`,
			yes:    []string{`{"a":"","b":1}`, `{"b":1,"a":"","xx":null}`, `[]`}, no: []string{`{"a":""}`, `{"a":"","a":""}`, `{"a":1,"b":1}`, `{"a":"","b":1,"xx":1}`, `{"a":"","b":"x"}`, `{"a":"","b":1,"c":1,"d":1}`},
		},
		{schema: `{"propertyNames":{"maxLength":1}}`, yes: []string{`{"a":1}`}, no: []string{`{"ab":1}`}},
		{schema: `{"prefixItems":[{"type":"string"}],"items":{"type":"integer"},"minItems":1,"maxItems":2}`, yes: []string{`["a"]`, `["a",1]`}, no: []string{`[]`, `[1]`, `["a","b"]`, `["a",1,2]`}},
		{schema: `{"contains":{"const":1}}`, yes: []string{`[2,1]`}, no: []string{`[2]`, `[]`}},
		{schema: `{"not":{"type":"string"}}`, yes: []string{"1"}, no: []string{`"a"`}},
		{schema: `{"anyOf":[{"type":"string"},{"const":1}]}`, yes: []string{`"a"`, "1"}, no: []string{"2"}},
		{schema: `{"oneOf":[{"type":"integer"},{"minimum":5}]}`, yes: []string{"1", "5.5"}, no: []string{"6", "1.5"}},
		{schema: `{"if":{"type":"string"},"then":{"const":"a"},"else":{"const":1}}`, yes: []string{`"a"`, "1"}, no: []string{`"b"`, "2"}},
		{schema: `{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"l":{"$ref":"#"},"n":{"type":"integer"}}}}}`, yes: []string{`{"l":{"l":{"n":1}}}`}, no: []string{`{"l":{"l":{"n":"x"}}}`}},
		{schema: `{"$ref":"#"}`, no: []string{"1"}}, // it never ends: nothing is valid
		{schema: `false`, no: []string{"1", "null"}},
		{schema: `{"required":["` + manyNames(`","`) + `"]}`, yes: []string{`{"` + manyNames(`":1,"`) + `":1}`}, no: []string{`{"` + strings.Replace(manyNames(`":1,"`), "n69", "x", 1) + `":1}`}},
	} {
		n := parsed(t, c.schema)
		if err := n.Assessable(); err != nil {
			t.Errorf("%.50s: %v", c.schema, err)
		}
		for _, v := range c.yes {
			if !n.Accepts([]byte(v)) {
				t.Errorf("%.80s refuses %s", c.schema, v)
			}
		}
		for _, v := range c.no {
			if n.Accepts([]byte(v)) {
				t.Errorf("%.80s accepts %s", c.schema, v)
			}
		}
	}
}

func manyNames(between string) string {
	names := make([]string, 70)
	for i := range names {
		names[i] = "n" + string(rune('0'+i/10)) + string(rune('0'+i%10))
	}
	return strings.Join(names, between)
}

func TestAssessable_NamesWhatItDoesNotKnow(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{"multipleOf":3}}}`:   "/properties/a: multipleOf is not understood here",
		`{"not":{"pattern":"(?<name>x)(?=y)"}}`:   "/not: pattern is not understood here",
		`{"items":{"$ref":"#/nowhere"}}`:          `/items: the reference "#/nowhere" leads nowhere in the schema`,
		`{"unevaluatedProperties":false}`:         "the schema's root: unevaluatedProperties is not understood here",
		`{"anyOf":[{"$ref":"#"}],"title":"fine"}`: "",
	} {
		err := parsed(t, schema).Assessable()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}
