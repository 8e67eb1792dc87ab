package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// wholeLine fails unless out is one line of JSON in UTF-8.
func wholeLine(t *testing.T, typ string, in, out []byte) {
	t.Helper()
	if !json.Valid(out) || !utf8.Valid(out) || bytes.IndexByte(out, '\n') >= 0 {
		t.Fatalf("%s %q is printed as %q", typ, in, out)
	}
}

// Whatever comes, a parser ends with an error or with JSON, and packs a key that can be unpacked.
func FuzzEveryType(f *testing.F) {
	formats := []fixture{newFixture(typeOptions{}), newFixture(typeOptions{ArrayFormat: arrayFlat}), newFixture(typeOptions{ArrayFormat: arrayNested})}
	// Types that pass the server's text on without looking at it.
	trusted := []string{"float4", "float8", "numeric", "bit", "varbit", "uuid", "inet", "json", "jsonb"}
	var names []string
	for name := range formats[0].oids {
		if !slices.Contains(trusted, strings.TrimSuffix(name, "[]")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, s := range samples {
		f.Add([]byte(s.wire))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, fixture := range formats {
			for _, name := range names {
				c, _ := fixture.column("c", fixture.oids[name], -1, false)
				if out, err := c.AppendJSON(nil, slices.Clone(in)); err == nil {
					wholeLine(t, name, in, out)
				}
				if c.AppendKey == nil {
					continue
				}
				if key, err := c.AppendKey(nil, slices.Clone(in)); err == nil {
					if list, err := rowkey.Literals(key); err != nil || len(list) != 1 {
						t.Fatalf("%s %q is packed as %x, unpacked as %+v, %v", name, in, key, list, err)
					}
				}
			}
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, s := range samples {
		if strings.HasPrefix(s.typ, "json") {
			f.Add([]byte(s.wire))
		}
	}
	f.Add([]byte(`{"\\": "\"", "é\ud800\udc00": [ "\ud800", "\udc00\ud800x", true ]}`))
	f.Add([]byte("[\"\xff\xc3\", \"ok\u00e9\"]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := appendDocument([]byte("x"), slices.Clone(in))
		if err != nil || out[0] != 'x' {
			t.Fatalf("%q: %q, %v", in, out, err)
		}
		out = out[1:]
		if !json.Valid(in) {
			return
		}
		wholeLine(t, "json", in, out)
		var want, got any
		if json.Unmarshal(in, &want) != nil || json.Unmarshal(out, &got) != nil {
			return // a number beyond float64
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q means %s, printed as %s", in, a, b)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, in) == nil && !bytes.Contains(in, []byte(`\u`)) && utf8.Valid(in) && !bytes.Equal(compact.Bytes(), out) {
			t.Fatalf("%q is printed as %s, want %s", in, out, compact.Bytes())
		}
	})
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "abcdefgh", "12345678\n", "grüße\xff", "\u2028😀\x00", "\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, _ := appendString(nil, []byte(in))
		wholeLine(t, "text", []byte(in), out)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		want := string([]rune(in)) // each invalid byte as U+FFFD
		if back != want {
			t.Fatalf("%q is read back as %q", in, back)
		}
	})
}
