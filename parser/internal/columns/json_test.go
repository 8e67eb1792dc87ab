package columns

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

func TestJSON_Documents(t *testing.T) {
	meta := Options{AddValues: values("/_meta/file", `"b/k"`, "/_meta/version", `"v"`), OffsetAt: "/_meta/offset"}
	deep := Options{AddValues: values("/a/b/c", `1`, "/a/d", `2`), OffsetAt: "/n"}
	project := func(o Options, pairs ...string) Options {
		o.Projections = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			o.Projections[pairs[i]] = pairs[i+1]
		}
		return o
	}
	for _, c := range []struct {
		name, raw string
		o         Options
		want      string
	}{
		// B.7: digits stay.
		{"nothing is added", `{"n":12345678901234567890123}`, Options{}, `{"n":12345678901234567890123}`},
		{"spliced", `{"n":12345678901234567890123, "m" : 1.10 }`, meta, `{"n":12345678901234567890123, "m" : 1.10,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"empty", `{}`, meta, `{"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"empty but for blanks", `{ }`, meta, `{"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"pretty", "{\n  \"a\": [\n    1,\r\n    \"x y\"\n  ]\n}", meta, `{"a": [1,"x y"],"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"pretty and empty", "{\n}", Options{}, `{}`},
		{"lines of old", "{\r  \"a\": 1\r}", meta, `{"a": 1,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"members twice", `{"a":1,"a":2}`, meta, `{"a":1,"a":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		// bug streams-files-parser 24: predecessor
		{"a _meta that is no object", `{"_meta":7}`, meta, `{"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one that is an array", `{"_meta":[1],"a":1}`, meta, `{"a":1,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one that is null", `{"a":1,"_meta":null,"b":2}`, meta, `{"a":1,"b":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one that is an object", `{"_meta":{"x":{"file":1},"file":2},"a":1}`, meta, `{"a":1,"_meta":{"x":{"file":1},"file":"b/k","version":"v","offset":4}}`},
		{"two of them: the last one", `{"_meta":{"x":1},"_meta":{"y":2}}`, meta, `{"_meta":{"y":2,"file":"b/k","version":"v","offset":4}}`},
		{"two of them: the last one, no object", `{"_meta":{"x":1},"_meta":0}`, meta, `{"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one in other words", `{"\u005fmeta":{"x":1},"_\u006deta":{"y":1}}`, meta, `{"_meta":{"y":1,"file":"b/k","version":"v","offset":4}}`},
		{"one further in", `{"a":{"_meta":1}}`, meta, `{"a":{"_meta":1},"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one in a text", `{"a":"\"_meta\":1"}`, meta, `{"a":"\"_meta\":1","_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"one that nothing is added to", `{"_meta":7}`, Options{}, `{"_meta":7}`},
		{"added further in", `{"a":{"x":0,"b":{"c":0,"y":0,"c":1}},"n":"x"}`, deep, `{"a":{"x":0,"b":{"y":0,"c":1},"d":2},"n":4}`},
		{"added further in, over a value", `{"a":{"b":[]}}`, deep, `{"a":{"b":{"c":1},"d":2},"n":4}`},
		{"a name that may be spelled in many ways", `{"a\/b":1,"c":2}`, Options{OffsetAt: "/a~1b"}, `{"c":2,"a/b":4}`},
		{"a name that is not ASCII", `{"e":1,"\ud83d\ude00":2}`, Options{OffsetAt: "/😀"}, `{"e":1,"😀":4}`},
		// Projections.
		{"a projection", `{"start":1,"b":2}`, project(meta, "start", "/trip/start"), `{"trip":{"start":1},"b":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"by another spelling", `{"Start Time":1,"b":2}`, project(meta, "start  time", "/trip/start"), `{"trip":{"start":1},"b":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"without a hit", `{"a" : 1}`, project(meta, "start", "/trip/start"), `{"a" : 1,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"to its own place", `{"a" : 1, "b":2}`, project(meta, "a", "/a", "b", "/b"), `{"a" : 1, "b":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"to its own place, in capitals", `{"A" : 1, "b":2}`, project(meta, "a", "/a", "b", "/b"), `{"a":1,"b":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"in capitals, but the place is taken", `{"A":1, "a":2}`, project(meta, "a", "/a"), `{"A":1, "a":2,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"not of what is further in", `{"x":{"start":1}}`, project(meta, "start", "/trip/start"), `{"x":{"start":1},"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"with a _meta", `{"_meta":{"x":1},"start":1}`, project(meta, "start", "/trip/start"), `{"trip":{"start":1},"_meta":{"x":1,"file":"b/k","version":"v","offset":4}}`},
		{"a member twice: the last one", `{"start":1,"start":2,"b":3,"b":4}`, project(meta, "start", "/trip/start"), `{"trip":{"start":2},"b":4,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"a name with an escape", `{"st\u0061rt":1}`, project(Options{}, "start", "/trip/start"), `{"trip":{"start":1}}`},
		{"into a member", `{"start":1,"trip":2}`, project(Options{}, "start", "/trip/start"), `error: reading a row: placing columns: "start" is at /trip/start, inside of "trip" at /trip; a projection of one of them to another location parts them`},
		{"onto a member", `{"start":1,"trip":2}`, project(Options{}, "start", "/trip"), `error: reading a row: placing columns: "start" and "trip" are both at /trip; a projection of one of them to another location tells them apart`},
		{"of the document", `{"a":1}`, project(Options{}, "flow_document", ""), `{"a":1}`},
		{"of the document, and a member is named so", `{"flow_document":1}`, project(Options{}, "flow_document", ""), `error: reading a row: placing column "flow_document": the projection puts it at "", which is the whole document; give the projection another field's name, or rename the column`},
		{"of what is added", `{"a":1}`, project(meta, "_meta/file", "/_meta/file"), `{"a":1,"_meta":{"file":"b/k","version":"v","offset":4}}`},
		{"no object", `[1]`, meta, `error: reading a row: the value [1] is not a JSON object`},
	} {
		p, err := ForJSON(c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for range 2 { // the second time the shape is known
			dst, err := p.Append([]byte("before "), valueOf([]byte(c.raw)), 4)
			got := strings.TrimPrefix(string(dst), "before ")
			switch {
			case err != nil && got != "":
				t.Errorf("%s: error %v, and %q", c.name, err, got)
			case err != nil:
				got = "error: " + err.Error()
			case !json.Valid([]byte(got)):
				t.Errorf("%s: %s is no JSON", c.name, got)
			}
			if got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
	}
	for _, o := range []Options{{OffsetAt: "x"}, {AddValues: values("/x", "x")}, {Projections: map[string]string{"a": "b"}}} {
		if _, err := ForJSON(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestJSON_Warnings(t *testing.T) {
	p, err := ForJSON(Options{Projections: map[string]string{"a": "/a"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, doc := range []string{`{"a":1,"A":2}`, `{"b":1}`, `{"A":1,"a":2,"b":3}`} {
			if _, err := p.Append(nil, valueOf([]byte(doc)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := p.Warnings(); len(got) != 1 || got[0] != `column "A" would be at /a, too, where column "a" is: it keeps its own name` {
		t.Errorf("%q", got)
	}
	if p, err = ForJSON(Options{}); err != nil || p.Warnings() != nil {
		t.Errorf("%v", err)
	}
}

func TestJSON_TooManyMembersToProject(t *testing.T) {
	doc := []byte("{" + strings.Repeat(`"":0,`, maxMembers) + `"":0}`)
	p, err := ForJSON(Options{Projections: map[string]string{"a": "/o/a"}})
	if err != nil {
		t.Fatal(err)
	}
	if dst, err := p.Append(nil, valueOf(doc), 0); err == nil || len(dst) > 0 || err.Error() != "reading a row: an object of more than 100000 members cannot be projected" {
		t.Errorf("%d bytes, %v", len(dst), err)
	}
	if dst, err := p.Append(nil, valueOf([]byte(`{"a":1}`)), 0); err != nil || string(dst) != `{"o":{"a":1}}` {
		t.Errorf("%s, %v", dst, err)
	}
}

// Objects of many shapes in any order; the plans of all do not stay in memory.
func TestJSON_Shapes(t *testing.T) {
	p, err := ForJSON(Options{Projections: map[string]string{"a": "/o/a"}, OffsetAt: "/n"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxShapes {
		for _, name := range []string{"x" + jsonNumber(i), "x0"} {
			got, err := p.Append(nil, valueOf([]byte(`{"a":1,"`+name+`":2}`)), int64(i))
			if want := `{"o":{"a":1},"` + name + `":2,"n":` + jsonNumber(i) + `}`; err != nil || string(got) != want {
				t.Fatalf("%s, %v, not %s", got, err, want)
			}
		}
	}
	if len(p.shapes.known) > maxShapes {
		t.Errorf("%d shapes are remembered", len(p.shapes.known))
	}
	for i := range 64 { // with long names
		name := strings.Repeat("x", 1<<16) + jsonNumber(i)
		if _, err := p.Append(nil, valueOf([]byte(`{"`+name+`":2}`)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.shapes.known) > 20 {
		t.Errorf("%d long shapes are remembered", len(p.shapes.known))
	}
}

// valueOf is what a jsontext.Scanner says of an object.
func valueOf(raw []byte) *jsontext.Value {
	return &jsontext.Value{Raw: raw, Lines: bytes.ContainsAny(raw, "\n\r"), Unicode: bytes.Contains(raw, []byte(`\u`))}
}

// What is added is looked for again unless the object's names are those of one that has none of it, whatever the objects between were.
func TestJSON_WhatIsAddedIsFoundAmongObjectsAlike(t *testing.T) {
	o := Options{OffsetAt: "/n", Projections: map[string]string{"moved": "/to/moved"}}
	for _, lines := range [][2]string{
		{`{"a":1,"n":1}|{"a":1}|{"a":1,"n":1}`, `{"a":1,"n":0}|{"a":1,"n":1}|{"a":1,"n":2}`},
		{`{"n":1,"a":1}|{"a":1}|{"n":1,"a":1}|{"n":1,"a":1}`, `{"a":1,"n":0}|{"a":1,"n":1}|{"a":1,"n":2}|{"a":1,"n":3}`},
		{`{"a":{"n":1}}|{"a":1,"n":1}|{"a":{"n":1}}`, `{"a":{"n":1},"n":0}|{"a":1,"n":1}|{"a":{"n":1},"n":2}`},
		{`{"b":1}|{"x":1,"moved":{"n":1}}|{"x":{"moved":1},"n":1}`, `{"b":1,"n":0}|{"x":1,"to":{"moved":{"n":1}},"n":1}|{"x":{"moved":1},"n":2}`},
		{`{"a":1}|{"a":1}|{"a":"n"}|{"\u006e":1}|{"n":1}`, `{"a":1,"n":0}|{"a":1,"n":1}|{"a":"n","n":2}|{"n":3}|{"n":4}`},
	} {
		p, err := ForJSON(o)
		if err != nil {
			t.Fatal(err)
		}
		s := jsontext.NewScanner(strings.NewReader(strings.ReplaceAll(lines[0], "|", "\n")), jsontext.Options{}, jsontext.Position{})
		var got []string
		for v, err := s.Next(); !errors.Is(err, io.EOF); v, err = s.Next() {
			if err != nil {
				t.Fatal(err)
			}
			doc, err := p.Append(nil, &v, int64(len(got)))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(doc))
		}
		if all := strings.Join(got, "|"); all != lines[1] {
			t.Errorf("%s:\n got %s\nwant %s", lines[0], all, lines[1])
		}
	}
}
