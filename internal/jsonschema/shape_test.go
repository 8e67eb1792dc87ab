package jsonschema

import (
	"slices"
	"strings"
	"testing"
)

func TestAt(t *testing.T) {
	const schema = `{"type":"object","required":["id","o","n","u"],"properties":{
		"id":{"type":"integer","minimum":-9.223372036854775808e18,"maximum":1e+19},
		"excl":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9223372036854775808},
		"part":{"type":"number","exclusiveMinimum":0.5},
		"n":{"type":["string","null"],"format":"date-time","maxLength":30},
		"o":{"type":"object","required":["in","un"],"properties":{"in":{"type":"boolean"}}},
		"m":{"type":"object","required":["in"],"properties":{"in":{"type":"boolean"}}},
		"p":{"type":["object","null"],"required":["in"],"properties":{"in":{"type":"boolean"}}},
		"u":{}, "enum":{"enum":["a",null,1]}, "const":{"const":1.0},
		"arr":{"type":"array","items":{"type":"string"},"prefixItems":[{"type":"integer"}]},
		"mix":{"type":["integer","number","string"],"format":"number"},
		"never":false, "closed":{"type":"object","additionalProperties":false}, "open":{"type":"object","additionalProperties":{"type":"string"}},
		"ref":{"$ref":"#/$defs/r"}, "any":{"anyOf":[{"type":"integer"},{"type":"string","format":"integer"},{"type":"null"}]},
		"one":{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"},"x":{"type":"integer"}}},{"type":"object","required":["k"],"properties":{"k":{"const":"b"}},"additionalProperties":false}]},
		"all":{"allOf":[{"type":["integer","string","null"]},{"type":["string","null"],"maxLength":5},{"format":"uuid"}]},
		"cond":{"if":{"type":"string"},"then":{"type":"string","format":"date"},"else":{"type":"null"}},
		"loop":{"$ref":"#/properties/loop"}, "dangling":{"$ref":"#/nowhere"}, "nothing":{"allOf":[{"type":"string"},{"type":"null"}]},
		"nullable":{"type":"string","nullable":true}, "titled":{"allOf":[{"title":"T","description":"D","default":7}]}, "x/y":{"type":"null"}
	},"patternProperties":{"^f_":{"type":"number"}},"$defs":{"r":{"type":"string","contentEncoding":"base64"}}}`
	n := parsed(t, schema)
	for pointer, want := range map[string]string{
		"": "object must", "/id": "integer must -9223372036854775808..10000000000000000000", "/excl": "integer may 1..9223372036854775807", "/part": "number may 0.5..", "/n": "null,string may date-time 30",
		"/o": "object must", "/o/in": "boolean must", "/o/un": "array,boolean,null,number,object,string may", "/m/in": "boolean may", "/p/in": "boolean may", "/u": "array,boolean,null,number,object,string may",
		"/enum": "integer,null,string may", "/const": "integer may", "/arr": "array may", "/arr/0": "integer may", "/arr/1": "string may", "/arr/x": " cannot", "/mix": "number,string may number", "/never": " cannot", "/closed/x": " cannot",
		"/open/x": "string may", "/ref": "string may base64", "/any": "integer,null,string may integer", "/one/k": "string may", "/one/x": "integer may", "/all": "null,string may uuid 5", "/cond": "null,string may date",
		"/loop": "array,boolean,null,number,object,string may", "/dangling": "array,boolean,null,number,object,string may", "/nothing": " cannot", "/nullable": "null,string may", "/f_1": "number may", "/id/x": " cannot", "/x~1y": "null may",
		"/undeclared/deep": "array,boolean,null,number,object,string may",
	} {
		s, exists, err := n.At(pointer)
		got := strings.Join(s.Types.Names(), ",") + " " + []string{"may", "must", "cannot"}[exists]
		for _, part := range []string{s.Format, s.ContentEncoding} {
			if part != "" {
				got += " " + part
			}
		}
		if s.MaxLength >= 0 {
			got += " " + map[int]string{5: "5", 30: "30"}[s.MaxLength]
		}
		if s.Minimum != nil || s.Maximum != nil {
			got += " "
			if s.Minimum != nil {
				got += s.Minimum.String()
			}
			got += ".."
			if s.Maximum != nil {
				got += s.Maximum.String()
			}
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", pointer, got, err, want)
		}
	}
	if s, _, _ := n.At("/titled"); s.Title != "T" || s.Description != "D" || string(s.Default) != "7" {
		t.Errorf("titled: %+v", s)
	}
	if s, _, _ := n.At("/one/k"); len(s.Values) != 2 {
		t.Errorf("the values of both branches are %q", s.Values)
	}
	if got := n.Child("arr").Elements().Shape().Types.Names(); !slices.Equal(got, []string{"integer", "string"}) {
		t.Errorf("elements are %q", got)
	}
	if _, _, err := n.At("id"); err == nil {
		t.Error("a pointer without a slash is taken")
	}
}

// A location that every branch requires must exist; one whose branches cannot be objects have no say.
func TestAt_RequiredByBranches(t *testing.T) {
	for schema, want := range map[string]Exists{
		`{"oneOf":[{"required":["a"]},{"required":["a","b"]}],"properties":{"a":{"type":"string"}}}`:                         Must,
		`{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"string"}}}`:                             May,
		`{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}],"properties":{"a":{"type":"string"}}}`:                Must,
		`{"allOf":[{"required":["a"]},{"properties":{"a":{"type":"string"}}}]}`:                                              Must,
		`{"$ref":"#/$defs/r","$defs":{"r":{"required":["a"],"properties":{"a":{"type":"integer"}}}}}`:                        Must,
		`{"if":{"required":["z"]},"then":{"required":["a"]},"else":{"required":["a"]},"properties":{"a":{"type":"string"}}}`: Must,
		`{"if":{"required":["z"]},"then":{"required":["a"]},"properties":{"a":{"type":"string"}}}`:                           May,
		`{"required":["a"],"properties":{"a":{"type":["string","null"]}}}`:                                                   May,
		`{"anyOf":[{"properties":{"a":false}},{"additionalProperties":false}],"required":["a"]}`:                             Cannot,
		`{"anyOf":[{"properties":{"a":false}},{"properties":{"a":{"type":"string"}}}],"required":["a"]}`:                     Must,
		`{"anyOf":[{"$ref":"#"},{"required":["a"]}],"properties":{"a":{"type":"string"}}}`:                                   May,
	} {
		if _, got, err := parsed(t, schema).At("/a"); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", schema, got, err, want)
		}
	}
}

func TestPropertyNames_InOrderOfAppearance(t *testing.T) {
	n := parsed(t, `{"properties":{"b":{},"a":{}},"allOf":[{"properties":{"c":{},"a":{}}},{"$ref":"#/$defs/r"}],"oneOf":[{"properties":{"e":{}}}],"else":{"properties":{"f":{}}},"$defs":{"r":{"properties":{"d":{}},"$ref":"#"}}}`)
	if got, want := n.PropertyNames(), []string{"b", "a", "c", "d", "e", "f"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
