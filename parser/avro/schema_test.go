package avro

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The fingerprints that the specification's test data (schema-tests.txt) gives to primitive types.
func TestFingerprint_OfPrimitives(t *testing.T) {
	for name, want := range map[string]int64{
		"null": 7195948357588979594, "boolean": -6970731678124411036, "int": 8247732601305521295, "long": -3434872931120570953, "float": 5583340709985441680,
		"double": -8181574048448539266, "string": -8142146995180207161, "bytes": 5746618253357095269,
	} {
		k, ok := primitive(name)
		if got := int64(fingerprint(canonical(&node{kind: k}))); !ok || got != want {
			t.Errorf("the fingerprint of %s is %d, not %d", name, got, want)
		}
	}
}

// By fastavro.schema.fingerprint(fastavro.schema.to_parsing_canonical_form(schema), "CRC-64-AVRO"), which gives the bytes in little-endian order.
func TestFingerprint_OfRecords(t *testing.T) {
	for name, want := range map[string]uint64{"plain-null.avro": 0xfa37cc2f3b38f9cd, "logical-null.avro": 0x1378888ae14ec8ca} {
		f, err := NewFile(bytes.NewReader(readFile(t, name)), Limits{})
		if err != nil || f.Schema().Fingerprint() != want {
			t.Errorf("%s: %016x, %v", name, f.Schema().Fingerprint(), err)
		}
	}
}

// Names, namespaces, aliases and attributes, by what is left of them in the canonical form.
func TestParse_ResolvesNames(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"no namespace": {
			`{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`,
			`{"name":"R","type":"record","fields":[{"name":"a","type":"int"}]}`,
		},
		"attributes": {
			`{"doc":"d","aliases":["Q"],"type":"record","name":"R","fields":[{"name":"a","doc":"x","order":"ignore","default":"no int","type":{"type":"int","logicalType":"date"}}],"x":1}`,
			`{"name":"R","type":"record","fields":[{"name":"a","type":"int"}]}`,
		},
		"error": {`{"type":"error","name":"R","fields":[]}`, `{"name":"R","type":"record","fields":[]}`},
		"namespace": {
			`{"type":"record","name":"R","namespace":"a.b","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":"2"}},{"name":"g","type":"F"},{"name":"h","type":"a.b.F"}]}`,
			`{"name":"a.b.R","type":"record","fields":[{"name":"f","type":{"name":"a.b.F","type":"fixed","size":2}},{"name":"g","type":"a.b.F"},{"name":"h","type":"a.b.F"}]}`,
		},
		"a name with dots has its own": {
			`{"type":"record","name":"x.R","namespace":"a.b","fields":[{"name":"f","type":{"type":"enum","name":"E","symbols":["S"]}}]}`,
			`{"name":"x.R","type":"record","fields":[{"name":"f","type":{"name":"x.E","type":"enum","symbols":["S"]}}]}`,
		},
		"an inner namespace ends with its type": {
			`{"type":"record","name":"R","namespace":"a","fields":[{"name":"f","type":{"type":"record","name":"I","namespace":"b","fields":[{"name":"s","type":{"type":"fixed","name":"F","size":1}}]}},` +
				`{"name":"g","type":{"type":"fixed","name":"F","size":2}},{"name":"h","type":["F","b.F"]}]}`,
			`{"name":"a.R","type":"record","fields":[{"name":"f","type":{"name":"b.I","type":"record","fields":[{"name":"s","type":{"name":"b.F","type":"fixed","size":1}}]}},` +
				`{"name":"g","type":{"name":"a.F","type":"fixed","size":2}},{"name":"h","type":["a.F","b.F"]}]}`,
		},
		"the empty namespace": {
			`{"type":"record","name":"R","namespace":"a","fields":[{"name":"f","type":{"type":"fixed","name":"F","namespace":"","size":1}},{"name":"g","type":"F"}]}`,
			`{"name":"a.R","type":"record","fields":[{"name":"f","type":{"name":"F","type":"fixed","size":1}},{"name":"g","type":"F"}]}`,
		},
		"an alias": {
			`{"type":"record","name":"R","namespace":"a","fields":[{"name":"f","type":{"type":"fixed","name":"F","aliases":["Old","x.Older"],"size":1}},{"name":"g","type":"Old"},{"name":"h","type":"x.Older"}]}`,
			`{"name":"a.R","type":"record","fields":[{"name":"f","type":{"name":"a.F","type":"fixed","size":1}},{"name":"g","type":"a.F"},{"name":"h","type":"a.F"}]}`,
		},
		"recursion": {
			`{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]},{"name":"all","type":{"type":"map","values":{"type":"array","items":"R"}}}]}`,
			`{"name":"R","type":"record","fields":[{"name":"next","type":["null","R"]},{"name":"all","type":{"type":"map","values":{"type":"array","items":"R"}}}]}`,
		},
		"a type in a type": {
			`{"type":{"type":"record","name":"R","fields":[{"name":"a","type":{"type":{"type":"string"}}},{"name":"b","type":{"type":["null","int"]}}]}}`,
			`{"name":"R","type":"record","fields":[{"name":"a","type":"string"},{"name":"b","type":["null","int"]}]}`,
		},
	} {
		s, err := Parse([]byte(test.schema))
		if err != nil || string(s.text) != test.want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	const field = `{"type":"record","name":"R","fields":[{"name":"a","type":`
	for schema, want := range map[string]string{
		``:          "EOF",
		`{`:         "EOF",
		`nul`:       "EOF",
		`"int"`:     "the outermost type is an int, but each document must be a record",
		`["null"]`:  "the outermost type is a union, but each document must be a record",
		`[]`:        "a union has no branches",
		`12`:        "a type is neither a name, nor an object, nor an array: 12",
		`{}`:        `a type has no "type": {}`,
		`"R"`:       `the type "R" is not defined`,
		`"int" "x"`: "something follows it at byte",
		`{"type":"enum","name":"E","symbols":["A"]}`:               "the outermost type is the enum E, but",
		`{"type":"array","items":"int"}`:                           "the outermost type is an array, but",
		`{"type":"map","values":"int"}`:                            "the outermost type is a map, but",
		`{"type":"fixed","name":"F","size":1}`:                     "the outermost type is the fixed F, but",
		`{"type":"record","fields":[]}`:                            "a type record has no name",
		`{"type":"record","name":"int","fields":[]}`:               `the type "int" is defined twice`,
		`{"type":"record","name":"R"}`:                             `the record R has no "fields"`,
		`{"type":"record","name":"R","fields":[1]}`:                "field 1 of the record R has no name",
		`{"type":"record","name":"R","fields":[{"name":"a"}]}`:     `the field "a" of the record R has no type`,
		field + `"int"},{"name":"a","type":"int"}]}`:               `the record R has two fields "a"`,
		field + `"S"}]}`:                                           `the field "a" of the record R: the type "S" is not defined`,
		field + `["null",["int"]]}]}`:                              "a union stands directly inside a union",
		field + `{"type":"array"}}]}`:                              `a type array has no "items"`,
		field + `{"type":"map"}}]}`:                                `a type map has no "values"`,
		field + `{"type":"fixed","name":"F"}}]}`:                   "the fixed F has no size",
		field + `{"type":"fixed","name":"F","size":-1}}]}`:         "the fixed F has no size",
		field + `{"type":"fixed","name":"F","size":3000000000}}]}`: "the fixed F has no size",
		field + `{"type":"enum","name":"E","symbols":[]}}]}`:       `the enum E has no "symbols"`,
		field + `{"type":"enum","name":"E"}}]}`:                    `the enum E has no "symbols"`,
		field + `{"type":"enum","name":"E","symbols":[1]}}]}`:      "a symbol of the enum E is no string: 1",
		field + `{"type":"enum","name":"E","symbols":["A"]}},{"name":"b","type":{"type":"fixed","name":"E","size":1}}]}`: `the type "E" is defined twice`,
		field + strings.Repeat(`{"type":"array","items":`, 300) + `"int"` + strings.Repeat("}", 300) + `}]}`:             "more than 256 types stand inside each other",
	} {
		if _, err := Parse([]byte(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v, want %s", schema, err, want)
		}
	}
}

// Records of records of nothing: sixty lines of schema would make 2^60 members of a datum that takes no bytes.
func TestParse_BoundsWhatHasNoContent(t *testing.T) {
	schema := `"null"`
	for i := range 60 {
		name := "R" + strings.Repeat("x", i)
		schema = `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":` + schema + `},{"name":"b","type":` +
			map[bool]string{true: `"null"`, false: `"R` + strings.Repeat("x", max(i-1, 0)) + `"`}[i == 0] + `}]}`
	}
	if _, err := Parse([]byte(schema)); err == nil || !strings.Contains(err.Error(), "has no content, but would take more than 65536 bytes of JSON") {
		t.Error(err)
	}
}

func TestSchema_Fields(t *testing.T) {
	s, err := Parse([]byte(`{"type":"record","name":"R","namespace":"n","fields":[{"name":"b","type":"int"},{"name":"a b","type":"int"}]}`))
	if err != nil || !slices.Equal(s.Fields(), []string{"b", "a b"}) || s.Name() != "n.R" {
		t.Errorf("%v, %v", s, err)
	}
}
