package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	schemas "github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

// fixture is a type table as a server would have it, with numbers of its own, and what a column of a given declaration is.
type fixture struct {
	*typeTable
	oids map[string]uint32
}

func newFixture(options typeOptions) fixture {
	var rows []typeRow
	oids := make(map[string]uint32)
	add := func(r typeRow) {
		r.OID = uint32(1000 + len(rows))
		if r.Schema == "" {
			r.Schema = "public"
		}
		if r.Kind != 'd' {
			r.BaseTypmod = -1
		}
		delimiter := byte(',')
		if r.Name == "box" {
			delimiter = ';'
		}
		rows = append(rows, r)
		oids[r.Name] = r.OID
		rows = append(rows, typeRow{OID: r.OID + 1, Schema: r.Schema, Name: "_" + r.Name, Kind: 'b', Element: r.OID, Delimiter: delimiter})
		oids[r.Name+"[]"] = r.OID + 1
	}
	for _, r := range rules {
		for _, name := range strings.Fields(r.names) {
			add(typeRow{Schema: "pg_catalog", Name: name, Kind: 'b'})
		}
	}
	add(typeRow{Name: "mood", Kind: 'e'})
	add(typeRow{Name: "item", Kind: 'c'})
	add(typeRow{Name: "posint", Kind: 'd', Base: oids["int4"], BaseTypmod: -1})
	add(typeRow{Name: "smallint_posint", Kind: 'd', Base: oids["posint"], BaseTypmod: -1})
	add(typeRow{Name: "intlist", Kind: 'd', Base: oids["int4[]"], BaseTypmod: -1})
	add(typeRow{Name: "code", Kind: 'd', Base: oids["varchar"], BaseTypmod: 9})
	add(typeRow{Name: "textrange", Kind: 'r', Subtype: oids["text"]})
	for name, bound := range map[string]string{"int4": "int4", "int8": "int8", "num": "numeric", "date": "date", "ts": "timestamp", "tstz": "timestamptz"} {
		add(typeRow{Schema: "pg_catalog", Name: name + "range", Kind: 'r', Subtype: oids[bound]})
		add(typeRow{Schema: "pg_catalog", Name: name + "multirange", Kind: 'm', Subtype: oids[bound]})
	}
	return fixture{newTypeTable(rows, options), oids}
}

// named gives the column of a declaration such as varchar(3)[].
func (f fixture) named(t testing.TB, declaration string) sqlcapture.Column {
	t.Helper()
	name, brackets, isArray := strings.Cut(declaration, "[")
	name, modifier, modified := strings.Cut(strings.Trim(name, `"`), "(")
	typmod := int32(-1)
	if modified {
		var a, b int32
		n, err := fmt.Sscanf(modifier, "%d,%d)", &a, &b)
		switch {
		case n == 2:
			typmod = a<<16 | b&0x7FF + 4
		case n == 1 && (name == "varchar" || name == "bpchar"):
			typmod = a + 4
		case n == 1:
			typmod = a
		default:
			t.Fatalf("modifier of %s: %v", declaration, err)
		}
	}
	if isArray {
		name += "[" + brackets
	}
	oid, ok := f.oids[name]
	if !ok {
		t.Fatalf("the fixture has no type %s", name)
	}
	c, known := f.columnOf(attribute{Name: "c", OID: oid, Typmod: typmod})
	if !known {
		t.Fatalf("%s is not known", declaration)
	}
	return c
}

func render(t testing.TB, c sqlcapture.Column, wire string) string {
	t.Helper()
	got, err := c.AppendJSON([]byte("x"), []byte(wire))
	if err != nil {
		t.Fatalf("%s %q: %v", c.Type, wire, err)
	}
	if got[0] != 'x' {
		t.Fatalf("%s %q: what stood in dst is gone", c.Type, wire)
	}
	return string(got[1:])
}

// bug sql-cdc 71: estuary/connectors, infinite dates came out as 1 and -1.
// bug sql-cdc 72: estuary/connectors, years of five digits gave invalid RFC 3339.
// bug sql-cdc 73: estuary/connectors, a numeric NaN crashed after an upgrade of the driver.
// bug sql-cdc 74: estuary/connectors, a numeric came out as 123456e-3.
// bug sql-cdc 75: estuary/connectors, empty arrays became null.
// bug sql-cdc 76: PostgreSQL's arrays have bounds, other delimiters, a quoted word NULL and backslashes.
// bug sql-cdc 79: estuary/connectors, an empty bytea became null.
// bug sql-cdc 80: estuary/connectors, unpaired surrogates in json gave a line that was not UTF-8.
// bug sql-cdc 96: debezium DBZ-1255, the extremes of timestamp overflow nanoseconds.
func TestSamples(t *testing.T) {
	f := newFixture(typeOptions{})
	for _, s := range append(samples, goldenOnly...) {
		c := f.named(t, s.typ)
		if got := render(t, c, s.wire); got != s.json {
			t.Errorf("%s %s: got %s, want %s", s.typ, s.wire, got, s.json)
		}
		if err := fits(c.Schema, s.json); err != nil {
			t.Errorf("%s: %s does not fit the column's own schema: %v", s.typ, s.json, err)
		}
		if err := fits(c.Schema.Nullable(), "null"); err != nil {
			t.Errorf("%s: null does not fit the nullable schema: %v", s.typ, err)
		}
	}
}

// A key is packed before the row is rendered, so packing must leave the value as it is.
func TestSamples_PackingAKeyLeavesTheValue(t *testing.T) {
	f := newFixture(typeOptions{})
	packed := 0
	for _, s := range samples {
		c := f.named(t, s.typ)
		if c.AppendKey == nil {
			continue
		}
		packed++
		value := []byte(s.wire)
		if _, err := c.AppendKey(nil, value); err != nil {
			t.Errorf("%s %s: %v", s.typ, s.wire, err)
		}
		if string(value) != s.wire {
			t.Errorf("%s: packing the key made %q of %q", s.typ, value, s.wire)
		}
	}
	if packed < 50 {
		t.Errorf("only %d samples are of types that can be keys", packed)
	}
}

// fits tells whether a value is valid under a schema, with formats and encodings taken seriously.
func fits(s protocol.Schema, value string) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Flow(s)))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.AssertContent()
	if err := compiler.AddResource("column.json", doc); err != nil {
		return err
	}
	schema, err := compiler.Compile("column.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// The check itself must be able to say no.
func TestFits(t *testing.T) {
	f := newFixture(typeOptions{})
	for typ, wrong := range map[string]string{
		"bool": `"t"`, "int4": `1.5`, "numeric": `1`, "date": `"9999-12-32"`, "timestamptz": `"2024-01-15 14:30:00Z"`, "time": `"24:00:00Z"`,
		"uuid": `"a0eebc99"`, "bytea": `"?"`, "int4[]": `[1]`, "hstore": `{"a":1}`, "varchar(2)": `"abc"`, "date[]": `{"dimensions":[1],"elements":["x"]}`,
	} {
		if err := fits(f.named(t, typ).Schema, wrong); err == nil {
			t.Errorf("%s: %s passes", typ, wrong)
		}
	}
}

func TestArrayFormats(t *testing.T) {
	for _, c := range []struct{ wire, flat, nested string }{
		{`{}`, `[]`, `[]`},
		{`{1,NULL}`, `[1,null]`, `[1,null]`},
		{`{{1,2},{3,4}}`, `[1,2,3,4]`, `[[1,2],[3,4]]`},
		{`[0:0][2:3][1:2]={{{1,2},{3,4}}}`, `[1,2,3,4]`, `[[[1,2],[3,4]]]`},
	} {
		for format, want := range map[arrayFormat]string{arrayFlat: c.flat, arrayNested: c.nested} {
			column := newFixture(typeOptions{ArrayFormat: format}).named(t, "int4[]")
			got := render(t, column, c.wire)
			if got != want {
				t.Errorf("%s as %s: got %s, want %s", c.wire, format, got, want)
			}
			if err := fits(column.Schema, got); err != nil {
				t.Errorf("%s as %s: %v", c.wire, format, err)
			}
		}
	}
}

func TestTypeNames(t *testing.T) {
	f := newFixture(typeOptions{})
	for declaration, want := range map[string]string{
		"varchar(20)": "varchar(20)", "numeric(5,-2)": "numeric(5,-2)", "numeric(10,2)": "numeric(10,2)", "bpchar(10)[]": "bpchar(10)[]", "mood[]": "mood[]",
		"posint": "posint", "timestamptz(3)": "timestamptz(3)", "text": "text",
	} {
		if got := f.named(t, declaration).Type; got != want {
			t.Errorf("%s is called %s, want %s", declaration, got, want)
		}
	}
	if got := f.named(t, "code").Schema.MaxLength; got != 5 {
		t.Errorf("a domain over varchar(5) allows %d characters", got)
	}
	if c := f.named(t, "bpchar"); c.Schema.MaxLength != 0 {
		t.Errorf("a bpchar without length allows %d characters", c.Schema.MaxLength)
	}
}

// bug sql-cdc 77: estuary/connectors, arrays of enums and domains have OIDs that a built-in list cannot know.
func TestUnknownType(t *testing.T) {
	f := newFixture(typeOptions{})
	c, known := f.column("c", 999999, -1, true)
	if known || !c.NotNull || c.Name != "c" {
		t.Errorf("a type nobody told of is known=%v: %+v", known, c)
	}
	if got := render(t, c, `x"y`); got != `"x\"y"` {
		t.Errorf("it is printed as %s", got)
	}
	f.rows[7] = typeRow{OID: 7, Name: "_new", Kind: 'b', Element: 999999, Delimiter: ','}
	if _, known := f.column("c", 7, -1, false); known {
		t.Error("an array of unknown elements is known")
	}
	f.rows[8] = typeRow{OID: 8, Name: "round", Kind: 'd', Base: 8}
	if _, known := f.column("c", 8, -1, false); known {
		t.Error("a domain over itself is known")
	}
}

// What does not look as it should must never get out as something else.
func TestMalformed(t *testing.T) {
	f := newFixture(typeOptions{})
	for typ, texts := range map[string][]string{
		"bool":         {"", "true", "x"},
		"int4":         {"", "-", "1.5", "1e5", " 1", "NaN"},
		"bytea":        {"", `\`, `abc`, `\x0`, `\x0g`, `\\000`},
		"date":         {"", "08.01.1999", "1999-01-8", "1999-01-08x", "1999/01/08", "99999999-01-01"},
		"timestamp":    {"", "1999-01-08", "1999-01-08T00:00:00", "1999-01-08 00:00:00+00", "1999-01-08 00:00:00."},
		"timestamptz":  {"1999-01-08 00:00:00", "1999-01-08 00:00:00-08", "1999-01-08 00:00:00+05:30", "+00"},
		"time":         {"", "1:00:00", "01:00", "01:00:00+00"},
		"timetz":       {"", "01:00:00", "01:00:00+5", "01:00:00+05:3", "01+00"},
		"tsrange":      {"", "[", "[,", "(a,b)", `["2024-01-01 00:00:00`, "[,)x", "(,"},
		"tsmultirange": {"", "{", "{[,)", "{[,),}", "{x}", "{[,)[,)}", "{}}"},
		"hstore":       {`a=>1`, `"a"`, `"a"=>`, `"a"=>1`, `"a"=>"1" "b"=>"2"`, `"a"=>"1",`, `"a`, `"a"=>"\`, `"a"=>"1"x`},
		"int4[]":       {"", "{", "}", "{1", "1", "{1,}", "{,1}", "{1}2", "{{1},2}", "{1,{2}}", "{{1},{}}", "{{},{}}", "{{1,2},{3}}", "{1}}", `{"1`, `{"1\`, "{1 }", "[0:1]", "{{{{{{{1}}}}}}}", "{a}", `{"1"2}`},
	} {
		c := f.named(t, typ)
		for _, text := range texts {
			if got, err := c.AppendJSON(nil, []byte(text)); err == nil {
				t.Errorf("%s %q is printed as %s", typ, text, got)
			}
		}
	}
}

// bug sql-cdc 78: estuary/connectors, values taken from the driver's buffer changed when the next row came. Nothing that is returned may lie in value's memory.
func TestResultIsACopy(t *testing.T) {
	f := newFixture(typeOptions{})
	for _, s := range samples {
		value := []byte(s.wire)
		got, err := f.named(t, s.typ).AppendJSON(nil, value)
		for i := range value {
			value[i] = '!'
		}
		if err != nil || string(got) != s.json {
			t.Errorf("%s: %s after the next row was read: %v", s.typ, got, err)
		}
	}
}

// The row of a rule that no sample shows would be unproved and missing in the README.
func TestEveryRuleHasASample(t *testing.T) {
	shown := maps.Collect(func(yield func(string, bool) bool) {
		for _, s := range append(samples, goldenOnly...) {
			name, _, _ := strings.Cut(strings.Trim(s.typ, `"`), "(")
			if !yield(name, true) {
				return
			}
		}
	})
	for _, r := range rules {
		any := false
		for _, name := range strings.Fields(r.names) {
			any = any || shown[name]
		}
		if !any {
			t.Errorf("no sample of %s", r.names)
		}
	}
}

func TestStrings(t *testing.T) {
	for in, want := range map[string]string{
		"":                           `""`,
		"abcdefgh":                   `"abcdefgh"`,
		`12345"7\9`:                  `"12345\"7\\9"`,
		"\x00\x1f\x7f":               `"\u0000\u001f` + "\x7f" + `"`,
		"a\xffb":                     "\"a\uFFFDb\"",
		"grüße\xc3":                  "\"grüße\uFFFD\"",
		"\xed\xa0\x80":               "\"\uFFFD\uFFFD\uFFFD\"",
		"1234567\u2028😀<&>":          "\"1234567\u2028😀<&>\"",
		strings.Repeat("é\"\xfe", 9): `"` + strings.Repeat("é\\\"\uFFFD", 9) + `"`,
	} {
		got, _ := appendString(nil, []byte(in))
		if string(got) != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
		if !json.Valid(got) {
			t.Errorf("%q: %s is not JSON", in, got)
		}
	}
}

func TestOperatorSchema(t *testing.T) {
	f := newFixture(typeOptions{})
	extension := f.rows[f.oids["citext"]]
	extension.Schema = "extensions"
	f.rows[extension.OID] = extension
	f.rows[7] = typeRow{OID: 7, Schema: "public", Name: "email", Kind: 'd', Base: extension.OID}
	for oid, want := range map[uint32]string{
		extension.OID: "extensions", 7: "extensions", f.oids["posint"]: "pg_catalog", f.oids["mood"]: "pg_catalog", f.oids["citext[]"]: "pg_catalog",
		f.oids["text"]: "pg_catalog", 999999: "pg_catalog",
	} {
		if got := f.operatorSchema(oid); got != want {
			t.Errorf("operators of %s: got %s, want %s", f.rows[oid].Name, got, want)
		}
	}
}
