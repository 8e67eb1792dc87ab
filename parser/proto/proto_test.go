package proto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

func everything(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/everything.proto")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parsed(t testing.TB, text, message string) *Message {
	t.Helper()
	m, err := Parse([]byte(text), message)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wire puts fields together: number, then a value whose Go type says how.
func wire(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
		case uint32:
			b = protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), v)
		case uint64:
			b = protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
		case group:
			b = protowire.AppendGroup(protowire.AppendTag(b, number, protowire.StartGroupType), number, v)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return b
}

type group []byte

const (
	three = "syntax = \"proto3\";\n"
	two   = "syntax = \"proto2\";\n"
)

// validate holds a document against the schema of its message, formats included.
func validate(t *testing.T, m *Message, document string) error {
	t.Helper()
	value := func(text string) any {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", value(string(m.JSONSchema()))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value(document))
}

// Every kind of value as §4.6 of the reference says.
func TestDecoder_Values(t *testing.T) {
	all := func(kinds string) string {
		return three + "message M { " + kinds + " } enum E { option allow_alias = true; ZERO = 0; ONE = 1; UN = 1; NEG = -1; } message N { int32 x = 1; string y = 2; }"
	}
	imports := "import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/duration.proto\"; import \"google/protobuf/struct.proto\";" +
		"import \"google/protobuf/wrappers.proto\"; import \"google/protobuf/field_mask.proto\"; import \"google/protobuf/any.proto\"; import \"google/protobuf/empty.proto\";"
	known := func(kind string) string { return three + imports + "message M { google.protobuf." + kind + " v = 1; }" }
	for _, test := range []struct {
		name, proto string
		message     []byte
		want        string
	}{
		{"int32", all("int32 v = 1;"), wire(1, -1), `{"v":-1}`},
		{"int32 of more bits", all("int32 v = 1;"), wire(1, 1<<32|5), `{"v":5}`},
		{"int64", all("int64 v = 1;"), wire(1, math.MinInt64), `{"v":"-9223372036854775808"}`},
		{"uint32", all("uint32 v = 1;"), wire(1, math.MaxUint32), `{"v":4294967295}`},
		{"uint64", all("uint64 v = 1;"), wire(1, -1), `{"v":"18446744073709551615"}`},
		{"sint32", all("sint32 v = 1;"), wire(1, 3), `{"v":-2}`},
		{"sint64", all("sint64 v = 1;"), wire(1, -1), `{"v":"-9223372036854775808"}`},
		{"fixed32", all("fixed32 v = 1;"), wire(1, uint32(math.MaxUint32)), `{"v":4294967295}`},
		{"fixed64", all("fixed64 v = 1;"), wire(1, uint64(math.MaxUint64)), `{"v":"18446744073709551615"}`},
		{"sfixed32", all("sfixed32 v = 1;"), wire(1, uint32(math.MaxUint32)), `{"v":-1}`},
		{"sfixed64", all("sfixed64 v = 1;"), wire(1, uint64(math.MaxUint64)), `{"v":"-1"}`},
		{"float", all("float v = 1;"), wire(1, math.Float32bits(1.1)), `{"v":1.1}`},
		{"float, not a number", all("float v = 1;"), wire(1, uint32(0x7fc00000)), `{"v":"NaN"}`},
		{"double", all("double v = 1;"), wire(1, math.Float64bits(0.1)), `{"v":0.1}`},
		{"double, infinite", all("double v = 1;"), wire(1, math.Float64bits(math.Inf(-1))), `{"v":"-Infinity"}`},
		{"bool", all("bool v = 1;"), wire(1, 1), `{"v":true}`},
		{"bool of more bits", all("bool v = 1;"), wire(1, 1<<40), `{"v":true}`},
		{"string", all("string v = 1;"), wire(1, "é\"\n"), `{"v":"é\"\n"}`},
		{"bytes", all("bytes v = 1;"), wire(1, []byte{0xff, 0xfe}), `{"v":"//4="}`},
		{"enum", all("E v = 1;"), wire(1, 1), `{"v":"ONE"}`},
		{"enum, negative", all("E v = 1;"), wire(1, -1), `{"v":"NEG"}`},
		{"enum, unknown number", all("E v = 1;"), wire(1, 99), `{"v":99}`},
		{"message", all("N v = 1;"), wire(1, wire(1, 5)), `{"v":{"x":5,"y":""}}`},
		{"names as declared", all("int32 snake_case = 1; int32 camelCase = 2 [json_name = \"other\"]; int32 UPPER = 3;"), nil, `{"snake_case":0,"camelCase":0,"UPPER":0}`},
		{"defaults", all("int32 a = 1; int64 b = 2; double c = 3; bool d = 4; string e = 5; bytes f = 6; E g = 7; repeated int32 h = 8; map<string, int32> i = 9; N j = 10;"), nil, `{"a":0,"b":"0","c":0,"d":false,"e":"","f":"","g":"ZERO","h":[],"i":{}}`},
		{"optional, not set", all("optional int32 v = 1; optional N n = 2;"), nil, `{}`},
		{"optional, set to the default", all("optional int32 v = 1; optional string s = 2;"), wire(1, 0, 2, ""), `{"v":0,"s":""}`},
		{"oneof, none", all("oneof o { int32 a = 1; string b = 2; }"), nil, `{}`},
		{"oneof, the last counts", all("oneof o { int32 a = 1; string b = 2; }"), wire(1, 5, 2, "x"), `{"b":"x"}`},
		{"oneof, set again begins anew", all("oneof o { N a = 1; string b = 2; }"), wire(1, wire(1, 5), 2, "x", 1, wire(2, "y")), `{"a":{"x":0,"y":"y"}}`},
		{"repeated, packed", all("repeated int32 v = 1;"), wire(1, []byte{1, 2, 0x96, 1}), `{"v":[1,2,150]}`},
		{"repeated, packed and not, mixed", all("repeated sint32 v = 1; int32 w = 2;"), wire(1, []byte{1, 2}, 2, 9, 1, 4, 1, []byte{}), `{"v":[-1,1,2],"w":9}`},
		{"repeated, packed fixed", all("repeated float v = 1;"), wire(1, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}), `{"v":[1,2]}`},
		{"repeated strings", all("repeated string v = 1;"), wire(1, "a", 1, "", 1, "b"), `{"v":["a","","b"]}`},
		{"repeated messages", all("repeated N v = 1;"), wire(1, wire(1, 1), 1, []byte{}), `{"v":[{"x":1,"y":""},{"x":0,"y":""}]}`},
		{"map of strings", all("map<string, int32> v = 1;"), wire(1, wire(1, "b", 2, 2), 1, wire(1, "a", 2, 1)), `{"v":{"a":1,"b":2}}`},
		{"map, the last counts", all("map<string, int32> v = 1;"), wire(1, wire(1, "a", 2, 1), 1, wire(2, 7, 1, "a")), `{"v":{"a":7}}`},
		{"map, parts missing", all("map<int64, N> v = 1; map<string, string> w = 2;"), wire(1, []byte{}, 2, wire(2, "x"), 2, wire(1, "k")), `{"v":{"0":{"x":0,"y":""}},"w":{"":"x","k":""}}`},
		{"map of booleans", all("map<bool, E> v = 1;"), wire(1, wire(1, 1, 2, 1), 1, wire(1, 0)), `{"v":{"false":"ZERO","true":"ONE"}}`},
		{"the last value counts", all("int32 v = 1;"), wire(1, 5, 1, 6), `{"v":6}`},
		{"messages are merged", all("N v = 1;"), wire(1, wire(1, 5), 1, wire(2, "y"), 1, wire(1, 6)), `{"v":{"x":6,"y":"y"}}`},
		{"unknown fields", all("int32 v = 1;"), wire(9, 5, 10, "x", 11, uint32(1), 12, uint64(1), 13, group(wire(1, 1)), 1, 7, 536870911, 1), `{"v":7}`},
		{"known numbers in other wire types", all("int32 v = 1; string s = 2; N n = 3;"), wire(1, "x", 2, 5, 3, 7), `{"v":0,"s":""}`},
		{"large numbers", all("int32 v = 536870911; int32 w = 1025; int32 x = 1024;"), wire(536870911, 1, 1025, 2, 1024, 3), `{"v":1,"w":2,"x":3}`},
		{"timestamp", known("Timestamp"), wire(1, wire(1, 1607483647, 2, 500000000)), `{"v":"2020-12-09T03:14:07.500Z"}`},
		{"timestamp of microseconds", known("Timestamp"), wire(1, wire(1, -1, 2, 1000)), `{"v":"1969-12-31T23:59:59.000001Z"}`},
		{"timestamp, empty", known("Timestamp"), wire(1, []byte{}), `{"v":"1970-01-01T00:00:00Z"}`},
		{"timestamp of nanoseconds", known("Timestamp"), wire(1, wire(2, 1)), `{"v":"1970-01-01T00:00:00.000000001Z"}`},
		{"duration", known("Duration"), wire(1, wire(1, 3, 2, 10000000)), `{"v":"3.010s"}`},
		{"duration, negative", known("Duration"), wire(1, wire(2, -1)), `{"v":"-0.000000001s"}`},
		{
			"struct", known("Struct"),
			wire(1, wire(1, wire(1, "k", 2, wire(2, math.Float64bits(1.5))), 1, wire(1, "l", 2, wire(6, wire(1, wire(1, 0), 1, wire(3, "x"), 1, wire(4, 1)))))),
			`{"v":{"k":1.5,"l":[null,"x",true]}}`,
		},
		{"value, nothing set", known("Value"), wire(1, []byte{}), `{"v":null}`},
		{"list", known("ListValue"), wire(1, wire(1, wire(5, []byte{}))), `{"v":[{}]}`},
		{"wrappers", known("Int64Value"), wire(1, wire(1, 5)), `{"v":"5"}`},
		{"wrapper of the default", known("StringValue"), wire(1, []byte{}), `{"v":""}`},
		{"field mask", known("FieldMask"), wire(1, wire(1, "foo_bar.baz", 1, "x_y_z")), `{"v":"fooBar.baz,xYZ"}`},
		{"empty", known("Empty"), wire(1, []byte{}), `{"v":{}}`},
		{"any", known("Any"), wire(1, wire(1, "type.googleapis.com/a.B", 2, []byte{8, 1})), `{"v":{"@type":"type.googleapis.com/a.B","value":"CAE="}}`},
		{"any, empty", known("Any"), wire(1, []byte{}), `{"v":{}}`},
		{"null value", three + imports + "message M { google.protobuf.NullValue v = 1; }", nil, `{"v":null}`},
		{"proto2", two + "message M { optional int32 a = 1 [default = 7]; required string b = 2; repeated int32 c = 3; optional group D = 4 { optional int32 e = 5; } }", wire(2, "x", 3, 1, 3, []byte{2, 3}, 4, group(wire(5, 9))), `{"b":"x","c":[1,2,3],"d":{"e":9}}`},
		{"editions", "edition = \"2023\"; message M { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT]; M c = 3 [features.message_encoding = DELIMITED]; }", wire(3, group(wire(1, 5))), `{"b":0,"c":{"a":5,"b":0}}`},
	} {
		m := parsed(t, test.proto, "M")
		d := m.NewDecoder(Limits{})
		if err := d.Decode(test.message); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if err := validate(t, m, test.want); err != nil {
			t.Errorf("%s: the message's schema does not hold: %v", test.name, err)
		}
		got, err := d.Append([]byte("x"))
		if err != nil || string(got) != "x"+test.want {
			t.Errorf("%s: got %s, %v, want x%s", test.name, got, err, test.want)
		}
	}
}

// bug streams-files-parser 117: predecessor: names of Protobuf fields came in camel case, and then no more, so that keys were renamed. They stay as they are declared.
func TestMessage_NamesAsDeclared(t *testing.T) {
	m := parsed(t, three+"message M { int32 order_id = 1; int32 lineItems = 2; }", "")
	if got := strings.Join(m.Fields(), " "); got != "order_id lineItems" {
		t.Errorf("got %s", got)
	}
}

// bug streams-files-parser 118: predecessor: imports of well-known types were not resolved. All that the compiler brings are.
func TestParse_KnowsWellKnownTypes(t *testing.T) {
	for _, name := range []string{"any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "type", "wrappers"} {
		if _, err := Parse([]byte(three+"import \"google/protobuf/"+name+".proto\"; message M { int32 a = 1; }"), "M"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	for _, test := range []struct{ text, message, want string }{
		{"message", "M", "compiling the .proto text: schema.proto:1:8"},
		{three + "message M { Unknown u = 1; }", "M", "unknown type Unknown"},
		{three + "import \"other.proto\"; message M {}", "M", "other.proto"},
		{three + "enum E { A = 0; }", "", "the .proto text declares none"},
		{three + "message A {} message B {}", "", "name one of A, B"},
		{three + "package p; message A { message C {} } message B { message C {} }", "C", "it may be several; name one of p.A, p.A.C, p.B, p.B.C"},
		{three + "package p; message A {}", "Z", "choosing message \"Z\": there are only p.A"},
	} {
		_, err := Parse([]byte(test.text), test.message)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
	for _, message := range []string{"p.A.C", ".p.A.C", "C"} {
		if m, err := Parse([]byte(three+"package p; message A { message C { int32 c = 1; } }"), message); err != nil || m.plan.name != "p.A.C" {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestDecoder_AppendField(t *testing.T) {
	d := parsed(t, three+"message M { string a = 1; optional int32 b = 2; repeated int32 c = 3; M d = 4; }", "M").NewDecoder(Limits{})
	if err := d.Decode(wire(4, wire(1, "in"), 1, "out", 4, wire(2, 0))); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{3, 1, 0, 2, 3} {
		want := []string{`"out"`, "", "[]", `{"a":"in","b":0,"c":[]}`}[i]
		got, ok, err := d.AppendField(nil, i)
		if err != nil || ok != (want != "") || string(got) != want {
			t.Errorf("field %d: got %s, %v, %v", i, got, ok, err)
		}
	}
	// A field that fails leaves the others as they are.
	if err := d.Decode(wire(4, wire(4, wire(1, "\xff")), 1, "fine")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, _, err := d.AppendField(nil, 3); err == nil || err.Error() != "decoding field d.d.a: its text is not UTF-8" {
			t.Errorf("got %v", err)
		}
		if got, _, err := d.AppendField(nil, 0); err != nil || string(got) != `"fine"` {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

func TestDecoder_Refuses(t *testing.T) {
	const text = three + "import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/duration.proto\"; import \"google/protobuf/struct.proto\"; import \"google/protobuf/any.proto\";" +
		"message M { int32 v = 1; M m = 2; repeated int32 r = 3; string s = 4; map<string, M> k = 5; google.protobuf.Timestamp t = 6; google.protobuf.Duration d = 7; google.protobuf.Value x = 8; google.protobuf.Any a = 9; repeated M n = 10; }"
	deep := []byte{}
	for range 101 {
		deep = wire(2, deep)
	}
	for _, test := range []struct {
		name    string
		message []byte
		want    string
	}{
		{"a cut tag", []byte{0x80}, "its bytes are no message"},
		{"a cut number", []byte{0x08, 0x80}, "its bytes are no message: field 1"},
		{"a length beyond the end", []byte{0x22, 0x05, 'x'}, "its bytes are no message: field 4"},
		{"field 0", []byte{0x00, 0x01}, "its bytes are no message"},
		{"a group that does not end", []byte{0x7b}, "its bytes are no message: field 15"},
		{"a group that does not begin", []byte{0x7c}, "the end of group 15, which did not begin"},
		{"wire type 6", []byte{0x0e}, "its bytes are no message"},
		{"a number of eleven bytes", append([]byte{0x08}, bytes.Repeat([]byte{0xff}, 11)...), "its bytes are no message: field 1"},
		{"inside", wire(2, []byte{0x80}), "decoding field m: its bytes are no message"},
		{"packed numbers", wire(3, []byte{1, 0x80}), "decoding field r: its packed numbers end early"},
		{"text", wire(4, "\xff"), "decoding field s: its text is not UTF-8"},
		{"the key of a map", wire(5, wire(1, "\xff")), "decoding field k: its text is not UTF-8"},
		{"101 levels", deep, "messages nest deeper than 100"},
		{"year 10000", wire(6, wire(1, 253402300800)), "decoding field t: a time of 253402300800 seconds"},
		{"negative nanoseconds", wire(6, wire(2, -1)), "decoding field t: a time of 0 seconds and -1 nanoseconds"},
		{"signs that differ", wire(7, wire(1, 1, 2, -1)), "decoding field d: 1 seconds and -1 nanoseconds are no duration"},
		{"NaN in a value", wire(8, wire(2, math.Float64bits(math.NaN()))), "decoding field x: NaN is no number of JSON"},
		{"the type of an any", wire(9, wire(1, "\xff")), "decoding field a: its text is not UTF-8"},
		{"many values", bytes.Repeat(wire(10, []byte{}), 5000), "it has more than 4096 values"},
	} {
		d := parsed(t, text, "M").NewDecoder(Limits{Fields: 4096})
		err := d.Decode(test.message)
		if err == nil {
			_, err = d.Append(nil)
		}
		var fault *MessageError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	required := parsed(t, two+"message M { required int32 a = 1; optional M m = 2; }", "M").NewDecoder(Limits{})
	if err := required.Decode(nil); err == nil || !strings.Contains(err.Error(), "its required field a is missing") {
		t.Errorf("got %v", err)
	}
}

// Defaults make much of little; the document's limit holds inside of it.
func TestDecoder_BoundsItsDocument(t *testing.T) {
	var fields strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, "int64 a_field_with_a_long_name_%d = %d; ", i, i+2)
	}
	d := parsed(t, three+"message M { repeated M m = 1; "+fields.String()+"}", "M").NewDecoder(Limits{Document: 1 << 20})
	if err := d.Decode(bytes.Repeat(wire(1, []byte{}), 1<<16)); err != nil {
		t.Fatal(err)
	}
	_, err := d.Append(nil)
	if err == nil || !strings.Contains(err.Error(), "the document takes more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
	// Parts of one message, each level twice: 2^20 bytes become 2^20 on every level.
	merging := wire(2, strings.Repeat("x", 1<<16))
	for range 40 {
		merging = wire(1, merging, 1, []byte{})
	}
	d = parsed(t, three+"message M { M m = 1; string s = 2; }", "M").NewDecoder(Limits{Message: 1 << 18})
	if err := d.Decode(merging); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Append(nil); err == nil || !strings.Contains(err.Error(), "parts of messages take more than 262144 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestMessage_JSONSchema(t *testing.T) {
	m := parsed(t, three+"import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/struct.proto\"; enum E { Z = 0; }"+
		"message M { int32 a = 1; int64 b = 2; float c = 3; bool d = 4; string e = 5; bytes f = 6; E g = 7; N h = 8; repeated int64 i = 9; map<int32, N> j = 10;"+
		"optional int32 k = 11; oneof o { string l = 12; } google.protobuf.Timestamp m = 13; google.protobuf.Value n = 14; google.protobuf.NullValue p = 15; } message N { N again = 1; } message X {}", "M")
	const n = `{"type":"object","properties":{"again":{"type":"object"}}}`
	const want = `{"type":"object","required":["a","b","c","d","e","f","g","i","j","p"],"properties":{"a":{"type":"integer"},"b":{"type":"string","format":"integer"},` +
		`"c":{"type":["number","string"]},"d":{"type":"boolean"},"e":{"type":"string"},"f":{"type":"string","contentEncoding":"base64"},"g":{"type":["string","integer"]},` +
		`"h":` + n + `,"i":{"type":"array","items":{"type":"string","format":"integer"}},"j":{"type":"object","additionalProperties":` + n + `},"k":{"type":"integer"},` +
		`"l":{"type":"string"},"m":{"type":"string","format":"date-time"},"n":{},"p":{"type":"null"}}}`
	if got := string(m.JSONSchema()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Messages that hold each other twice would double with every level.
	var text strings.Builder
	text.WriteString(three)
	for i := range 40 {
		fmt.Fprintf(&text, "message M%d { M%d a = 1; M%d b = 2; } ", i, i+1, i+1)
	}
	text.WriteString("message M40 { int32 x = 1; }")
	schema := parsed(t, text.String(), "M0").JSONSchema()
	if !json.Valid(schema) || len(schema) > 2*schemaSize {
		t.Errorf("a schema of %d bytes, valid %v", len(schema), json.Valid(schema))
	}
}

func TestReader_Delimited(t *testing.T) {
	var stream []byte
	messages := []string{"a", "", strings.Repeat("b", 300_000), "c"}
	starts := []int64{}
	for _, m := range messages {
		starts = append(starts, int64(len(stream)))
		stream = protowire.AppendBytes(stream, []byte(m))
	}
	for name, source := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "half": iotest.HalfReader} {
		r := NewReader(source(bytes.NewReader(stream)), Delimited, 0, 0)
		for i, want := range messages {
			if r.Position() != starts[i] {
				t.Errorf("%s: message %d begins at %d, want %d", name, i, r.Position(), starts[i])
			}
			got, err := r.Next()
			if err != nil || string(got) != want {
				t.Fatalf("%s: message %d is %d bytes, %v", name, i, len(got), err)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: behind the last: %v", name, err)
		}
	}
	r := NewReader(bytes.NewReader(stream[starts[2]:]), Delimited, 0, starts[2])
	if got, err := r.Next(); err != nil || len(got) != 300_000 || r.Position() != starts[3] {
		t.Errorf("from byte %d: %d bytes, %v, then at %d", starts[2], len(got), err, r.Position())
	}
}

func TestReader_Single(t *testing.T) {
	r := NewReader(strings.NewReader("message"), Single, 0, 0)
	if got, err := r.Next(); err != nil || string(got) != "message" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || r.Position() != 7 {
		t.Errorf("got %v at %d", err, r.Position())
	}
	if _, err := NewReader(strings.NewReader(""), Single, 0, 0).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: got %v", err)
	}
	if got, err := NewReader(strings.NewReader("1234"), Single, 4, 0).Next(); err != nil || string(got) != "1234" {
		t.Errorf("as long as allowed: got %q, %v", got, err)
	}
}

func TestReader_Refuses(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name    string
		in      io.Reader
		framing Framing
		limit   bool
		want    string
	}{
		{"a cut length", strings.NewReader("\x80"), Delimited, false, "reading the message at byte 10: the stream ends in the middle of it, behind its length"},
		{"a cut message", strings.NewReader("\x05abc"), Delimited, false, "behind 3 of its 5 bytes: unexpected EOF"},
		{"a length of 2^63", strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), Delimited, true, "its 9223372036854775807 bytes exceed 1048576"},
		{"a length of 70 bits", strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), Delimited, false, "its length has more than 64 bits"},
		{"a large message", io.LimitReader(zeros{}, 1<<20+1), Single, true, "it has more than 1048576 bytes"},
		{"an error", iotest.ErrReader(broken), Single, false, "reading: broken"},
		{"an error behind the length", io.MultiReader(strings.NewReader("\x05a"), iotest.ErrReader(broken)), Delimited, false, "reading: broken"},
	} {
		_, err := NewReader(test.in, test.framing, 1<<20, 10).Next()
		var fault *FramingError
		if !errors.As(err, &fault) || fault.Limit != test.limit || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	// Announced, but not there: no room is made for it.
	if n := testing.AllocsPerRun(1, func() {
		r := NewReader(strings.NewReader("\xff\xff\xff\x1f"), Delimited, 0, 0)
		if _, err := r.Next(); err == nil || cap(r.message) > 1<<20 {
			t.Errorf("%d bytes of room, %v", cap(r.message), err)
		}
	}); n > 100 {
		t.Errorf("%v allocations", n)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// Another implementation as oracle: dynamicpb and protojson.
type oracle struct {
	decoder  *Decoder
	kind     protoreflect.MessageDescriptor
	compared int
}

func newOracle(t testing.TB) *oracle {
	text := everything(t)
	file, err := compile(string(text))
	if err != nil {
		t.Fatal(err)
	}
	kind, err := find(file, "Everything")
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{decoder: newMessage(kind).NewDecoder(Limits{}), kind: kind}
}

// check compares; false: this side refuses the message.
func (o *oracle) check(t *testing.T, data []byte) bool {
	if err := o.decoder.Decode(data); err != nil {
		return false
	}
	got, err := o.decoder.Append(nil)
	if err != nil {
		return false
	}
	m := dynamicpb.NewMessage(o.kind)
	if err := proto.Unmarshal(data, m); err != nil {
		return true // it looks into values that others replace; here only those that count are read
	}
	want, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return true // values that nothing is set in, masks that do not come back
	}
	if !json.Valid(got) || !reflect.DeepEqual(generic(t, got), generic(t, want)) {
		t.Fatalf("%x is\n%s\nwant\n%s", data, got, want)
	}
	o.compared++
	return true
}

func generic(t *testing.T, text []byte) any {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestDecoder_AgreesWithProtojson(t *testing.T) {
	o := newOracle(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		m := dynamicpb.NewMessage(o.kind)
		populate(random, m, 3)
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if !o.check(t, data) {
			t.Fatalf("message %d is refused: %x", i, data)
		}
	}
	if o.compared < 2900 {
		t.Errorf("compared %d of 3000", o.compared)
	}
}

// populate sets some fields.
func populate(random *rand.Rand, m protoreflect.Message, depth int) {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		fields := m.Descriptor().Fields()
		m.Set(fields.Get(0), protoreflect.ValueOfInt64(random.Int64N(300_000_000_000)-60_000_000_000))
		m.Set(fields.Get(1), protoreflect.ValueOfInt32(random.Int32N(1000)*[]int32{0, 1, 1000, 1000000}[random.IntN(4)]))
		return
	case "google.protobuf.Duration":
		fields := m.Descriptor().Fields()
		sign := random.Int64N(2)*2 - 1
		m.Set(fields.Get(0), protoreflect.ValueOfInt64(sign*random.Int64N(1000)))
		m.Set(fields.Get(1), protoreflect.ValueOfInt32(int32(sign)*random.Int32N(1_000_000_000)))
		return
	case "google.protobuf.FieldMask":
		m.Mutable(m.Descriptor().Fields().Get(0)).List().Append(protoreflect.ValueOfString("foo_bar.baz"))
		return
	case "google.protobuf.Value":
		fields := m.Descriptor().Fields()
		f := fields.Get(random.IntN(4))
		if f.Kind() == protoreflect.DoubleKind {
			m.Set(f, protoreflect.ValueOfFloat64(random.NormFloat64()))
		} else {
			m.Set(f, scalar(random, f))
		}
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if random.IntN(3) > 0 || f.Message() != nil && depth == 0 {
			continue
		}
		switch {
		case f.IsMap():
			for range random.IntN(4) {
				key := scalar(random, f.MapKey()).MapKey()
				if f.MapValue().Message() == nil {
					m.Mutable(f).Map().Set(key, scalar(random, f.MapValue()))
				} else {
					populate(random, m.Mutable(f).Map().Mutable(key).Message(), depth-1)
				}
			}
		case f.IsList():
			for range random.IntN(4) {
				if f.Message() == nil {
					m.Mutable(f).List().Append(scalar(random, f))
				} else {
					populate(random, m.Mutable(f).List().AppendMutable().Message(), depth-1)
				}
			}
		case f.Message() != nil:
			populate(random, m.Mutable(f).Message(), depth-1)
		default:
			m.Set(f, scalar(random, f))
		}
	}
}

func scalar(random *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	n := random.Uint64() >> random.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 == 1)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.Float32frombits(uint32(n)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.Float64frombits(n))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(strings.Repeat("é\"x", int(n%4)))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Repeat([]byte{byte(n)}, int(n%5)))
	case protoreflect.EnumKind:
		if f.Enum().FullName() == "google.protobuf.NullValue" {
			return protoreflect.ValueOfEnum(0)
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(n % 9)))
	default:
		panic(f.Kind())
	}
}

func FuzzDecoder(f *testing.F) {
	o := newOracle(f)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 12 {
		m := dynamicpb.NewMessage(o.kind)
		populate(random, m, i%3)
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Add(wire(17, wire(1, "x"), 17, wire(2, 5), 41, wire(1, "a", 2, 1), 41, wire(1, "a"), 51, 1, 52, "x", 51, 0))
	f.Add(wire(31, []byte{1, 2, 3}, 31, 4, 9, "wrong", 64, []byte{}, 66, wire(1, "a_b")))
	f.Fuzz(func(t *testing.T, data []byte) { o.check(t, data) })
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x01a\x00\x03abc"), true)
	f.Add([]byte("\xff\xff\xff\xff\x7f"), true)
	f.Add([]byte("message"), false)
	f.Fuzz(func(t *testing.T, data []byte, delimited bool) {
		framing := Single
		if delimited {
			framing = Delimited
		}
		r := NewReader(bytes.NewReader(data), framing, 1<<20, 0)
		var put []byte
		for {
			at := r.Position()
			message, err := r.Next()
			if err != nil {
				var fault *FramingError
				if !errors.Is(err, io.EOF) && !errors.As(err, &fault) {
					t.Fatal(err)
				}
				return
			}
			if r.Position() <= at || r.Position() > int64(len(data)) {
				t.Fatalf("from %d to %d of %d", at, r.Position(), len(data))
			}
			if put = append(put, message...); len(put) > len(data) {
				t.Fatalf("%d bytes of messages in %d", len(put), len(data))
			}
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	o := newOracle(b)
	random := rand.New(rand.NewPCG(5, 6))
	m := dynamicpb.NewMessage(o.kind)
	populate(random, m, 2)
	data, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		if err := o.decoder.Decode(data); err != nil {
			b.Fatal(err)
		}
		if dst, err = o.decoder.Append(dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
