package parquet

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	optional = format.Optional
	repeated = format.Repeated
	must     = format.Required
)

func listOf(e format.SchemaElement) format.SchemaElement { return logical(e, new(format.ListType)) }
func mapOf(e format.SchemaElement) format.SchemaElement  { return logical(e, new(format.MapType)) }

// Forms of lists and maps that today's writers do not write: LogicalTypes.md, "Lists" and "Maps", each with its own rule.
func TestSchema_FormsOfListsAndMaps(t *testing.T) {
	// A null, an empty list, 1 and 2: levels of a column with one optional group around what repeats.
	three := []level{{0, 0}, {0, 1}, {0, 2}, {1, 2}}
	tests := []struct {
		name   string
		schema []format.SchemaElement
		levels []level
		maxDef int
		want   []string
	}{
		{
			"two levels: the repeated field is the element",
			[]format.SchemaElement{listOf(groupOf("l", 1, optional)), leafOf("element", format.Int32, repeated)},
			three, 2,
			[]string{`{"l":null}`, `{"l":[]}`, `{"l":[1,2]}`},
		},
		{
			"a repeated group named array is the element",
			[]format.SchemaElement{converted(groupOf("l", 1, optional), deprecated.List), groupOf("array", 1, repeated), leafOf("x", format.Int32, must)},
			three, 2,
			[]string{`{"l":null}`, `{"l":[]}`, `{"l":[{"x":1},{"x":2}]}`},
		},
		{
			"a repeated group named after the list and _tuple is the element",
			[]format.SchemaElement{listOf(groupOf("l", 1, optional)), groupOf("l_tuple", 1, repeated), leafOf("x", format.Int32, must)},
			three, 2,
			[]string{`{"l":null}`, `{"l":[]}`, `{"l":[{"x":1},{"x":2}]}`},
		},
		{
			"another repeated group of one field is around the element",
			[]format.SchemaElement{listOf(groupOf("l", 1, optional)), groupOf("bag", 1, repeated), leafOf("array_element", format.Int32, optional)},
			[]level{{0, 0}, {0, 1}, {0, 3}, {1, 2}, {1, 3}},
			3,
			[]string{`{"l":null}`, `{"l":[]}`, `{"l":[1,null,2]}`},
		},
		{
			"a repeated group of a field that repeats is the element",
			[]format.SchemaElement{listOf(groupOf("l", 1, must)), groupOf("list", 1, repeated), leafOf("x", format.Int32, repeated)},
			[]level{{0, 0}, {0, 1}, {0, 2}, {2, 2}, {1, 1}},
			2,
			[]string{`{"l":[]}`, `{"l":[{"x":[]}]}`, `{"l":[{"x":[1,2]},{"x":[]}]}`},
		},
		{
			"what repeats without an annotation is a list",
			[]format.SchemaElement{leafOf("l", format.Int32, repeated)},
			[]level{{0, 0}, {0, 1}, {1, 1}},
			1,
			[]string{`{"l":[]}`, `{"l":[1,2]}`},
		},
		{
			"and so is a group",
			[]format.SchemaElement{groupOf("l", 1, repeated), leafOf("x", format.Int32, optional)},
			[]level{{0, 0}, {0, 2}, {1, 1}, {1, 2}},
			2,
			[]string{`{"l":[]}`, `{"l":[{"x":1},{"x":null},{"x":2}]}`},
		},
		{
			"a map of keys alone is a set",
			[]format.SchemaElement{mapOf(groupOf("m", 1, optional)), groupOf("key_value", 1, repeated), leafOf("key", format.Int32, must)},
			three, 2,
			[]string{`{"m":null}`, `{"m":[]}`, `{"m":[{"key":1,"value":null},{"key":2,"value":null}]}`},
		},
		{
			"a map may be annotated as its pairs should be",
			[]format.SchemaElement{converted(groupOf("m", 1, optional), deprecated.MapKeyValue), groupOf("map", 1, repeated), leafOf("key", format.Int32, must)},
			three, 2,
			[]string{`{"m":null}`, `{"m":[]}`, `{"m":[{"key":1,"value":null},{"key":2,"value":null}]}`},
		},
		{
			"pairs may be annotated, too",
			[]format.SchemaElement{
				converted(groupOf("m", 1, optional), deprecated.Map), converted(groupOf("map", 1, repeated), deprecated.MapKeyValue), leafOf("key", format.Int32, must),
			},
			three, 2,
			[]string{`{"m":null}`, `{"m":[]}`, `{"m":[{"key":1,"value":null},{"key":2,"value":null}]}`},
		},
	}
	for _, test := range tests {
		maxRep := 0
		for _, e := range test.schema {
			if e.RepetitionType.V == repeated {
				maxRep++
			}
		}
		for _, page := range []craftedPage{
			pageV1(test.levels, maxRep, test.maxDef, format.Plain, int32s(1, 2)), pageV2(test.levels, maxRep, test.maxDef, format.Plain, int32s(1, 2)),
		} {
			c := craft{
				schema: slices.Clone(test.schema), rows: int64(len(test.want)),
				chunks: []craftedChunk{{values: int64(len(test.levels)), pages: []craftedPage{page}}},
			}
			got, err := rowsOf(t, c.build(t))
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s (%s): got %q, %v, want %q", test.name, page.header.Type, got, err, test.want)
			}
		}
	}
}

// A row of a page of version 1 may go on in the next page.
func TestRows_GoOnOverPages(t *testing.T) {
	schema := []format.SchemaElement{leafOf("l", format.Int32, repeated)}
	c := craft{schema: schema, rows: 3, chunks: []craftedChunk{{values: 6, pages: []craftedPage{
		pageV1([]level{{0, 1}}, 1, 1, format.Plain, int32s(1)),
		pageV1([]level{{1, 1}, {1, 1}}, 1, 1, format.Plain, int32s(2, 3)),
		pageV1(nil, 1, 1, format.Plain, nil),
		pageV1([]level{{1, 1}, {0, 0}, {0, 1}}, 1, 1, format.Plain, int32s(4, 5)),
	}}}}
	want := []string{`{"l":[1,2,3,4]}`, `{"l":[]}`, `{"l":[5]}`}
	got, err := rowsOf(t, c.build(t))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	data := c.build(t)
	for row := range want {
		if got, err := readAll(open(t, data), 0, int64(row)); err != nil || !slices.Equal(got, want[row:]) {
			t.Errorf("from row %d: got %q, %v, want %q", row, got, err, want[row:])
		}
	}
}

func TestSchema_Refused(t *testing.T) {
	fixed := func(width int32) format.SchemaElement {
		return sizedAs(leafOf("c", format.FixedLenByteArray, must), width)
	}
	deep := []format.SchemaElement{}
	for range maxDepth {
		deep = append(deep, groupOf("g", 1, must))
	}
	for _, test := range []struct {
		schema []format.SchemaElement
		kind   Kind
		want   string
	}{
		{[]format.SchemaElement{logical(groupOf("v", 2, optional), new(format.VariantType)), leafOf("metadata", format.ByteArray, must), leafOf("value", format.ByteArray, must)}, Unsupported, "column v is a VARIANT"},
		{[]format.SchemaElement{logical(leafOf("g", format.ByteArray, must), new(format.GeometryType))}, Unsupported, "column g is a GEOMETRY"},
		{[]format.SchemaElement{logical(leafOf("g", format.ByteArray, must), new(format.GeographyType))}, Unsupported, "column g is a GEOGRAPHY"},
		{[]format.SchemaElement{leafOf("a", format.Int32, must), leafOf("b", format.Int32, must), leafOf("a", format.Int64, must)}, Corrupt, `two fields named "a", at positions 1 and 3`},
		{[]format.SchemaElement{groupOf("g", 2, must), leafOf("x", format.Int32, must), leafOf("x", format.Int32, must)}, Corrupt, `column g has two fields named "x"`},
		{[]format.SchemaElement{leafOf("\xff", format.Int32, must)}, Corrupt, "is not UTF-8"},
		{[]format.SchemaElement{fixed(0)}, Corrupt, "column c has values of 0 bytes"},
		{[]format.SchemaElement{fixed(-1)}, Corrupt, "column c has values of -1 bytes"},
		{[]format.SchemaElement{leafOf("c", 99, must)}, Corrupt, "unknown type 99"},
		{[]format.SchemaElement{logical(fixed(8), new(format.UUIDType))}, Corrupt, "column c is a UUID of FIXED_LEN_BYTE_ARRAY"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int64, must), new(format.DateType))}, Corrupt, "column c is a DATE of INT64"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int32, must), new(format.StringType))}, Corrupt, "column c is a STRING of INT32"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int32, must), &format.DecimalType{Scale: 10, Precision: 9})}, Corrupt, "DECIMAL(9,10)"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int32, must), &format.DecimalType{Scale: -1, Precision: 9})}, Corrupt, "DECIMAL(9,-1)"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int32, must), &format.IntType{BitWidth: 7})}, Corrupt, "an integer of 7 bits"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int64, must), &format.TimestampType{})}, Corrupt, "a time without a unit"},
		{[]format.SchemaElement{logical(leafOf("c", format.Int32, must), new(format.ListType))}, Corrupt, "a LIST without fields"},
		{[]format.SchemaElement{listOf(groupOf("l", 1, must)), leafOf("x", format.Int32, must)}, Corrupt, "column l is a LIST without the one repeated field"},
		{[]format.SchemaElement{mapOf(groupOf("m", 1, must)), groupOf("kv", 3, repeated), leafOf("a", 1, must), leafOf("b", 1, must), leafOf("c", 1, must)}, Corrupt, "a MAP of 3 fields"},
		{[]format.SchemaElement{groupOf("l", 1, repeated), groupOf("g", 0, must)}, Unsupported, "column l repeats groups without fields"},
		{append(deep, leafOf("x", format.Int32, must)), Corrupt, "nests deeper than 255"},
	} {
		c := craft{schema: test.schema, edit: func(m *format.FileMetaData) { m.RowGroups = nil }}
		data := c.build(t)
		_, err := rowsOf(t, data)
		fault, ok := err.(*Error) //nolint:errorlint // Open promises this type
		if !ok || fault.Kind != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want an error of kind %d: %s", err, test.kind, test.want)
		}
	}
}

func TestFile_JSONSchema(t *testing.T) {
	decimal := logical(leafOf("price", format.Int32, optional), &format.DecimalType{Precision: 9, Scale: 2})
	f := open(t, (&craft{edit: func(m *format.FileMetaData) { m.RowGroups = nil }, schema: []format.SchemaElement{
		leafOf("n", format.Int64, must), leafOf("flag", format.Boolean, optional), leafOf("v", format.Double, optional), decimal,
		logical(leafOf("s", format.ByteArray, must), new(format.StringType)), leafOf("b", format.ByteArray, optional),
		logical(leafOf("day", format.Int32, must), new(format.DateType)), leafOf("old", format.Int96, must),
		logical(leafOf("at", format.Int64, must), &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}),
		logical(leafOf("local", format.Int64, must), &format.TimestampType{Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}),
		logical(leafOf("doc", format.ByteArray, optional), new(format.JsonType)), logical(leafOf("none", format.Int32, optional), new(format.NullType)),
		logical(sizedAs(leafOf("id", format.FixedLenByteArray, must), 16), new(format.UUIDType)),
		converted(sizedAs(leafOf("span", format.FixedLenByteArray, must), 12), deprecated.Interval),
		listOf(groupOf("l", 1, optional)), groupOf("list", 1, repeated), leafOf("element", format.Int32, optional),
		groupOf("g", 1, optional), leafOf("x", format.Int32, must), groupOf("void", 0, must),
		mapOf(groupOf("m", 1, must)), groupOf("kv", 2, repeated), converted(leafOf("key", format.ByteArray, must), deprecated.UTF8), leafOf("value", format.Int32, optional),
		mapOf(groupOf("p", 1, must)), groupOf("kv", 1, repeated), leafOf("key", format.Int32, must),
	}}).build(t))
	const want = `{"type":"object","required":["n","flag","v","price","s","b","day","old","at","local","doc","none","id","span","l","g","void","m","p"],"properties":{` +
		`"n":{"type":"integer"},"flag":{"type":["boolean","null"]},"v":{"type":["number","string","null"]},"price":{"type":["string","null"],"format":"number"},` +
		`"s":{"type":"string"},"b":{"type":["string","null"],"contentEncoding":"base64"},"day":{"type":"string","format":"date"},"old":{"type":"string","format":"date-time"},` +
		`"at":{"type":"string","format":"date-time"},"local":{"type":"string"},"doc":{},"none":{"type":"null"},"id":{"type":"string","format":"uuid"},` +
		`"span":{"type":"string"},"l":{"type":["array","null"],"items":{"type":["integer","null"]}},` +
		`"g":{"type":["object","null"],"required":["x"],"properties":{"x":{"type":"integer"}}},"void":{"type":"object"},` +
		`"m":{"type":"object","additionalProperties":{"type":["integer","null"]}},` +
		`"p":{"type":"array","items":{"type":"object","required":["key","value"],"properties":{"key":{"type":"integer"},"value":{"type":"null"}}}}}}`
	if got := string(f.JSONSchema()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every row of the files that others wrote is valid by the schema of its file, its formats, too; without a field none is.
func TestFile_JSONSchemaHoldsForRows(t *testing.T) {
	value := func(text []byte) any {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%.300s: %v", text, err)
		}
		return v
	}
	for _, f := range files(t) {
		opened := open(t, f.data)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("schema.json", value(opened.JSONSchema())); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("schema.json")
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		rows, err := readAll(opened, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			document := value([]byte(row))
			if err := schema.Validate(document); err != nil {
				t.Fatalf("%s: %v: %s", f.name, err, row)
			}
			delete(document.(map[string]any), opened.Fields()[0])
			if schema.Validate(document) == nil {
				t.Fatalf("%s: a row without %s is valid", f.name, opened.Fields()[0])
			}
		}
	}
}
