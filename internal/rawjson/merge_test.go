package rawjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// The examples of RFC 7396, appendix A, whose target and patch are objects, and what order and spelling become.
func TestMergePatch(t *testing.T) {
	for _, c := range []struct{ doc, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":1}`, `{"a":{"b":null,"c":2}}`, `{"a":{"c":2}}`},
		{`{"n":1.50,"z":"\u0061","m":{"x":1,"y":2}}`, `{"m":{"y":3,"w":4},"k":12345678901234567890}`, `{"n":1.50,"z":"\u0061","m":{"x":1,"y":3,"w":4},"k":12345678901234567890}`},
		{`{"\u0061":1,"b":2}`, `{"a":3,"a":null}`, `{"b":2}`},
		{` { "a" : 1 , "b" : [ 1 ] } `, ` { "c" : { } } `, `{"a":1,"b":[ 1 ],"c":{}}`},
	} {
		got, err := MergePatch(nil, []byte(c.doc), []byte(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("%s with %s: %s, %v; want %s", c.doc, c.patch, got, err, c.want)
		}
	}
	for _, c := range [][2]string{{`[]`, `{}`}, {`{}`, `null`}, {`{"a":`, `{}`}, {`{}`, `{"a":1`}, {`{"a":{}}`, `{"a":{]}`}} {
		if got, err := MergePatch(nil, []byte(c[0]), []byte(c[1])); err == nil {
			t.Errorf("%s with %s: %s", c[0], c[1], got)
		}
	}
}

// Many members cost no more than the reading of them.
func TestMergePatch_ManyMembers(t *testing.T) {
	const n = 50_000
	var doc, patch strings.Builder
	for i := range n {
		fmt.Fprintf(&doc, `,"%06d":"v"`, i)
		fmt.Fprintf(&patch, `,"%06d":null,"x%06d":1`, i, i)
	}
	began := time.Now()
	got, err := MergePatch(nil, []byte("{"+doc.String()[1:]+"}"), []byte("{"+patch.String()[1:]+"}"))
	if err != nil || strings.Count(string(got), ":") != n || strings.Contains(string(got), `"v"`) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if took := time.Since(began); took > 2*time.Second { // comparing each with each takes ten times that
		t.Errorf("%d members took %s", n, took)
	}
}

func FuzzMergePatch_AgreesWithJSONPatch(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":[1]},"d":"e"}`, `{"a":{"b":null,"x":{"y":null}},"d":{"z":1}}`)
	f.Add(`{"\u0061":1}`, `{"a":{"b":{}}}`)
	f.Fuzz(func(t *testing.T, doc, patch string) {
		var d, p map[string]any
		if json.Unmarshal([]byte(doc), &d) != nil || json.Unmarshal([]byte(patch), &p) != nil || d == nil || p == nil {
			return
		}
		got, err := MergePatch(nil, []byte(doc), []byte(patch))
		if err != nil {
			return // deeper than is taken
		}
		plain := func(v any) []byte {
			raw, marshalErr := json.Marshal(v)
			if marshalErr != nil {
				t.Fatal(marshalErr)
			}
			return raw
		}
		want, err := jsonpatch.MergePatch(plain(d), plain(p)) // of members with one name the last counts
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s with %s: %s: %v", doc, patch, got, err)
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s with %s: %s, want %s", doc, patch, got, want)
		}
	})
}
