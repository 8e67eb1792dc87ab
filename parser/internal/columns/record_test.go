package columns

import (
	"errors"
	"strings"
	"testing"
)

func TestRecord_FieldsStayOrAreProjected(t *testing.T) {
	meta := values("/_meta/file", `"b/k"`)
	for _, c := range []struct {
		name, fields, values string // values are JSON or "-" for absent, in order of the fields, separated by blanks
		projections          map[string]string
		want                 string
	}{
		{"as they are", "a b c", `1 "x" [true]`, nil, `{"a":1,"b":"x","c":[true],"_meta":{"file":"b/k","offset":3}}`},
		{"names that are one when folded", "a A", `1 2`, nil, `{"a":1,"A":2,"_meta":{"file":"b/k","offset":3}}`},
		{"absent ones", "a b c", `- 2 -`, nil, `{"b":2,"_meta":{"file":"b/k","offset":3}}`},
		{"by the user's projections, exact then folded", "Start_Time end", `1 2`, map[string]string{"start_time": "/trip/start", "end": "/trip/end"}, `{"trip":{"start":1,"end":2},"_meta":{"file":"b/k","offset":3}}`},
		{"not by names that a schema would have", "trip_start", `1`, nil, `{"trip_start":1,"_meta":{"file":"b/k","offset":3}}`},
		{"the projection of another", "a b", `1 2`, map[string]string{"x": "/b"}, `{"a":1,"b":2,"_meta":{"file":"b/k","offset":3}}`},
		{"an object that is absent", "a b", `- 2`, map[string]string{"a": "/o/a"}, `{"b":2,"_meta":{"file":"b/k","offset":3}}`},
		{"a name with a slash", "a/b", `1`, nil, `{"a/b":1,"_meta":{"file":"b/k","offset":3}}`},
		{"a name to be escaped", `a"b`, `1`, nil, `{"a\"b":1,"_meta":{"file":"b/k","offset":3}}`},
		{"an object where values are added", "_meta a", `{"x":1,"file":2,"offset":{}} 1`, nil, `{"a":1,"_meta":{"x":1,"file":"b/k","offset":3}}`},
		// bug streams-files-parser 24: predecessor
		{"no object where values are added", "_meta a", `7 1`, nil, `{"a":1,"_meta":{"file":"b/k","offset":3}}`},
		{"none at all", "_meta a", `- 1`, nil, `{"a":1,"_meta":{"file":"b/k","offset":3}}`},
		{"two at one location", "a b", `1 2`, map[string]string{"a": "/b"}, `file: placing columns: "a" and "b" are both at /b; a projection of one of them to another location tells them apart`},
		{"no fields", "", ``, nil, `{"_meta":{"file":"b/k","offset":3}}`},
	} {
		list := strings.Fields(c.values)
		p, warnings, err := ForRecord(strings.Fields(c.fields), Options{AddValues: meta, OffsetAt: "/_meta/offset", Projections: c.projections})
		got := ""
		switch {
		case err != nil:
			got = "file: " + err.Error()
		case warnings != nil:
			t.Errorf("%s: %q", c.name, warnings)
			continue
		default:
			doc, err := p.Append([]byte("x"), 3, func(dst []byte, i int) ([]byte, bool, error) {
				if list[i] == "-" {
					return append(dst, `{"rubbish":1}`...), false, nil
				}
				return append(dst, list[i]...), true, nil
			})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			got = strings.TrimPrefix(string(doc), "x")
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestRecord_ErrorsLeaveNothing(t *testing.T) {
	broken := errors.New("broken")
	p, _, err := ForRecord([]string{"a", "b", "_meta"}, Options{OffsetAt: "/_meta/n"})
	if err != nil {
		t.Fatal(err)
	}
	for bad := range 3 {
		doc, failed := p.Append([]byte("x"), 0, func(dst []byte, i int) ([]byte, bool, error) {
			if i == bad {
				return nil, false, broken
			}
			return append(dst, '1'), true, nil
		})
		if !errors.Is(failed, broken) || string(doc) != "x" {
			t.Errorf("field %d: %q, %v", bad, doc, failed)
		}
	}
	doc, err := p.Append(nil, 5, func(dst []byte, _ int) ([]byte, bool, error) { return append(dst, "{}"...), true, nil })
	if err != nil || string(doc) != `{"a":{},"b":{},"_meta":{"n":5}}` {
		t.Errorf("%s, %v", doc, err)
	}
}
