package columns

import (
	"encoding/json"
	"testing"
)

func values(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

func TestText_AddedValues(t *testing.T) {
	meta := values("/_meta/version", `"v1"`, "/_meta/file", `"b/k"`)
	for _, c := range []struct {
		name, header, lines, schema string
		values                      map[string]json.RawMessage
		offsetAt                    string
		projections                 map[string]string
		want                        string
	}{
		{"by location, the number last", "a", "1\n2", "", meta, "/_meta/offset", nil, "{\"a\":\"1\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\",\"offset\":0}}\n{\"a\":\"2\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\",\"offset\":1}}"},
		{"the number alone", "a", "1", "", nil, "/_meta/offset", nil, `{"a":"1","_meta":{"offset":0}}`},
		{"the number at the root", "a", "1", "", nil, "/n", nil, `{"a":"1","n":0}`},
		{"values alone", "a", "1", "", meta, "", nil, `{"a":"1","_meta":{"file":"b/k","version":"v1"}}`},
		{"values of all kinds on one line", "a", "1", "", values("/x/y", "{ \"a\" : [1,\n2] }", "/x/z", "null", "/w", "1.10", "/a~1b/c", "true"), "", nil, `{"a":"1","a/b":{"c":true},"w":1.10,"x":{"y":{"a":[1,2]},"z":null}}`},
		{"behind all columns", "_meta_x,a", "1,2", `{"properties":{"_meta":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, meta, "/_meta/offset", nil, `{"a":"2","_meta":{"x":1,"file":"b/k","version":"v1","offset":0}}`},
		{"a column in the object that has no value", "a,_meta_x", "1", `{"properties":{"_meta":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, meta, "", nil, `{"a":"1","_meta":{"file":"b/k","version":"v1"}}`},
		// bug streams-files-parser 24: predecessor
		{"a column over them that is text", "_meta,a", "7,1", "", meta, "", nil, `{"a":"1","_meta":{"file":"b/k","version":"v1"}}`},
		{"that is an object", "_meta,a", "\"{\"\"x\"\": [1, 2],\"\"file\"\":0,\"\"\\u0066ile\"\":1}\",1\n7,1\n,1", `{"properties":{"_meta":{"type":"object"}}}`, meta, "", nil, "{\"a\":\"1\",\"_meta\":{\"x\":[1,2],\"file\":\"b/k\",\"version\":\"v1\"}}\n{\"a\":\"1\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}\n{\"a\":\"1\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}"},
		{"that is an object or an array", "_meta", "[1]\n{}", `{"properties":{"_meta":{"type":["object","array"]}},"required":["_meta"]}`, meta, "", nil, "{\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}\n{\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}"},
		{"that is missing and required", "a,_meta", "1", `{"properties":{"_meta":{"type":"object"}},"required":["_meta"]}`, meta, "", nil, `{"a":"1","_meta":{"file":"b/k","version":"v1"}}`},
		{"a column at one of them", "_meta/file,a", "7,1", `{"properties":{"_meta":{"type":"object","properties":{"file":{"type":"string"}}}}}`, meta, "", nil, "warning: column \"_meta/file\" is left out: at /_meta/file stands what is added to each document\n{\"a\":\"1\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}"},
		{"one over and one at them", "_meta,_meta/file,a", "7,8,1", `{"properties":{"_meta":{"properties":{"file":{}}}}}`, meta, "", nil, "warning: column \"_meta/file\" is left out: at /_meta/file stands what is added to each document\n{\"a\":\"1\",\"_meta\":{\"file\":\"b/k\",\"version\":\"v1\"}}"},
		{"a required location in one of them", "a", "1", `{"type":"object","properties":{"o":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"required":["o"]}`, values("/o", `{"x":1}`), "", nil, `{"a":"1","o":{"x":1}}`},
		{"a column at the number", "n,a", "7,1", "", nil, "/n", nil, "warning: column \"n\" is left out: at /n stands what is added to each document\n{\"a\":\"1\",\"n\":0}"},
		{"a column at the number, where the schema allows nothing", "n,a", "7,1", `{"properties":{"n":false}}`, nil, "/n", nil, "warning: column \"n\" is left out: at /n stands what is added to each document\n{\"a\":\"1\",\"n\":0}"},
		{"a projection there that no column has", "a", "1", "", meta, "", map[string]string{"_meta/file": "/_meta/file", "_meta": "/_meta"}, `{"a":"1","_meta":{"file":"b/k","version":"v1"}}`},
		{"one that a column has", "file", "1", "", meta, "", map[string]string{"file": "/_meta/file"}, `file: placing column "file": the projection puts it at "/_meta/file", where stands what is added to each document; give the projection another field's name, or rename the column`},
		{"one beside them that a column has", "x", "1", "", meta, "", map[string]string{"x": "/_meta/x"}, `file: placing column "x": the projection puts it at "/_meta/x", where stands what is added to each document; give the projection another field's name, or rename the column`},
		{"a name in another spelling", "_META", "1", "", meta, "", nil, `{"_META":"1","_meta":{"file":"b/k","version":"v1"}}`},
		{"no JSON", "a", "1", "", values("/x", "{"), "", nil, `file: adding a value at "/x": it is not JSON: {`},
		{"no location", "a", "1", "", values("", "1"), "", nil, `file: adding a value at "": the location must be a JSON pointer to a member, as /_meta/file`},
		{"no pointer", "a", "1", "", nil, "x", nil, `file: adding a value at "x": the location must be a JSON pointer to a member, as /_meta/file`},
		{"one in another", "a", "1", "", values("/x", "1", "/x/y", "2"), "", nil, `file: adding a value at "/x/y": another value is added at that location, inside of it or around it`},
		{"the number around a value", "a", "1", "", values("/x/y", "2"), "/x", nil, `file: adding a value at "/x": another value is added at that location, inside of it or around it`},
		{"the number at a value", "a", "1", "", values("/x", "2"), "/x", nil, `file: adding a value at "/x": another value is added at that location, inside of it or around it`},
	} {
		o := Options{Schema: schema(t, c.schema), AddValues: c.values, OffsetAt: c.offsetAt, Projections: c.projections}
		got := run(t, c.header, c.lines, o)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
