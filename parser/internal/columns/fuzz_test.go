package columns

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/rows"
)

// Whatever a field says: its document is one line of valid JSON with a value of an allowed type, and it does not matter what stands behind it in the buffer.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "NULL", "12", "-0", "12.0", "1e5", "1e999999", "12345678901234567890123", "1.5e-3", "true", "FALSE", " [1, 2] ", `{"a":"\ud800"}`, `say ""hi""`, "caf\xe9", "a\x00b", "1.234,5", "2022-04-01 10:00:00", "-"} {
		for _, types := range []uint8{4, 12, 17, 127} {
			f.Add([]byte(seed), types, uint8(len(seed)))
		}
	}
	for _, seed := range []string{`a""b`, `a"`, `a"b""c`, `""""`, "é\"\"\n"} {
		f.Add([]byte(seed), uint8(jsonschema.String), uint8(32))
	}
	f.Fuzz(func(t *testing.T, text []byte, types, options uint8) {
		allowed := jsonschema.Types(types) & jsonschema.AnyTypes
		if allowed&jsonschema.Fraction != 0 {
			allowed |= jsonschema.Integer
		}
		if allowed == 0 {
			return
		}
		o := Options{QuotedEmptyIsString: options&1 != 0, DecimalComma: options&2 != 0}
		if options&4 != 0 {
			o.Thousands = map[bool]string{true: ".", false: ","}[o.DecimalComma]
		}
		if options&8 != 0 {
			o.NoValue = "-"
		}
		if options&16 != 0 {
			o.DefaultOffset = "Z"
		}
		p, _, err := ForText([]string{"v"}, o)
		if err != nil {
			t.Fatal(err)
		}
		o, _ = o.withDefaults()
		c := newColumn(header{field: "v"}, jsonschema.Shape{Types: allowed, Format: "date-time"}, true, false, &o)
		p.columns[0] = c
		for i := range p.program {
			if p.program[i].kind == field {
				p.program[i].prepare(c)
			}
		}
		var first string
		for _, behind := range []string{"", `"0123456789",\` + "\xff\x00more"} {
			one := &rows.Row{Text: append(bytes.Clone(text), behind...)[:len(text)], Fields: []rows.Field{{End: int32(len(text))}}}
			if options&32 != 0 {
				one.Fields[0].Flags = rows.Quoted
				if bytes.IndexByte(text, '"') >= 0 {
					one.Fields[0].Flags |= rows.Escaped
				}
			}
			doc, err := p.Append(nil, one, &dialect, 0)
			if err != nil {
				doc = append(doc, err.Error()...)
			}
			if behind == "" {
				first = string(doc)
			} else if string(doc) != first {
				t.Errorf("%q: alone %s, in front of others %s", text, first, doc)
			}
			if err == nil {
				checkDocument(t, dialect.AppendField(nil, one.Text, one.Fields[0]), doc, allowed, c)
			}
		}
	})
}

func checkDocument(t *testing.T, text, doc []byte, allowed jsonschema.Types, c *column) {
	t.Helper()
	if string(doc) == "{}" {
		return
	}
	var value struct{ V json.RawMessage }
	d := json.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&value); err != nil || bytes.ContainsAny(doc, "\n\r") {
		t.Fatalf("%q: %s is no JSON on one line: %v", text, doc, err)
	}
	of := jsonschema.TypeOf(value.V)
	if of&allowed == 0 && (of != jsonschema.Integer || allowed&jsonschema.Number == 0) {
		t.Errorf("%q: %s is not of %v", text, doc, allowed.Names())
	}
	// A number is the number that the text spells.
	if of&jsonschema.Number != 0 && !c.decimalComma && c.thousands == "" && len(text) < 100 && smallExponent(text) {
		want, ok := new(big.Rat).SetString(strings.TrimSpace(string(text)))
		got, _ := new(big.Rat).SetString(string(value.V))
		if !ok || got == nil || want.Cmp(got) != 0 {
			t.Errorf("%q: %s is another number", text, doc)
		}
	}
}

// smallExponent tells whether a number can be written out.
func smallExponent(text []byte) bool {
	n, ok := cutNumber(trim(text))
	return ok && n.exponent < 1000 && n.exponent > -1000
}

// Whatever names a header has: it is planned or refused, and the documents are valid JSON.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"a,b,c", ",,", "a,A,a_b,A B", "/a/b,a/b", "Bike ID", "l/0,l/1", "_meta,_meta/file", "~,~0,/~1"} {
		f.Add(seed, "/a/b", uint8(3))
	}
	s, err := jsonschema.Parse([]byte(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":["string","null"]}}},"a_b":{},"l":{"type":"array"},"_meta":{"type":"object"}}}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header, projection string, shape uint8) {
		names := strings.Split(header, ",")
		o := Options{Projections: map[string]string{names[0]: projection, "a": "/l/0", "": "", "x": "/_meta/x"}, OffsetAt: "/_meta/n", AddValues: map[string]json.RawMessage{"/_meta/file": json.RawMessage(`"f"`)}}
		if shape&1 != 0 {
			o.Schema = s
		}
		p, _, err := ForText(names, o)
		if err != nil {
			return
		}
		line := strings.Repeat("x,", int(shape>>1)%(len(names)+1)) + "y"
		doc, err := p.Append(nil, row(line), &dialect, 1)
		if err == nil && (!json.Valid(doc) || !bytes.HasSuffix(doc, []byte(`"file":"f","n":1}}`))) {
			t.Errorf("%q: %s", names, doc)
		}
	})
}

// Whatever object is spliced: the document is valid JSON, and its _meta ends with what is added.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{ }`, `{"a":1}`, `{"_meta":7}`, `{"_meta":{"n":1,"x":[{}]},"\u005fmeta":{}}`, "{\n\"a\" : {\"_meta\":1}\n}", `{"start":1,"Start":2,"trip":3}`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, projected bool) {
		v, err := jsontext.NewScanner(bytes.NewReader(text), jsontext.Options{}, jsontext.Position{}).Next()
		if err != nil {
			return
		}
		o := Options{OffsetAt: "/_meta/n"}
		if projected {
			o.Projections = map[string]string{"start": "/trip/start", "a": "/a"}
		}
		p, err := ForJSON(o)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := p.Append(nil, &v, 7)
		if err != nil {
			return
		}
		var out, meta map[string]json.RawMessage
		if json.Unmarshal(doc, &out) != nil || json.Unmarshal(out["_meta"], &meta) != nil || string(meta["n"]) != "7" || !bytes.HasSuffix(doc, []byte(`"n":7}}`)) || bytes.ContainsAny(doc, "\n\r") {
			t.Errorf("%s became %s", v.Raw, doc)
		}
	})
}
