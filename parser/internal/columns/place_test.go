package columns

import (
	"encoding/json"
	"testing"
)

func TestText_Names(t *testing.T) {
	nested := `{"type":"object","properties":{"foo_bar":{"type":"object","properties":{"baz":{"type":"integer"}}},"foo":{"type":"object","properties":{"bar":{"type":"object","properties":{"baz":{"type":"integer"}}}}},"bike_id":{"type":"integer"}}}`
	for _, c := range []struct {
		name, header, schema string
		projections          map[string]string
		want                 string
	}{
		// The order of the look-ups.
		{"the user's projection before the schema", "bike_id", nested, map[string]string{"bike_id": "/x"}, `{"x":"1"}`},
		{"the schema before the user's folded projection", "bike_id", nested, map[string]string{"BIKE_ID": "/x"}, `{"bike_id":1}`},
		{"the user's folded projection before the folded schema", "Bike_Id", nested, map[string]string{"BIKE_ID": "/x"}, `{"x":"1"}`},
		{"the folded schema before the name", "Bike_Id", nested, nil, `{"bike_id":1}`},
		{"the name", "other", nested, nil, `{"other":"1"}`},
		// B.3
		{"a projection by another spelling", "start time", "", map[string]string{"Start Time": "/trip/start"}, `{"trip":{"start":"1"}}`},
		{"the names of a location that is nested", "foo_bar", `{"properties":{"foo":{"type":"object","properties":{"bar":{"type":"integer"}}}}}`, nil, `{"foo":{"bar":1}}`},
		{"the shallow one of two", "foo_bar", `{"properties":{"foo":{"type":"object","properties":{"bar":{"type":"integer"}}},"foo_bar":{"type":"boolean"}}}`, nil, `reading column "foo_bar": the value "1" is not a boolean`},
		// The names of a location.
		{"the pointer", "/foo_bar/baz", nested, nil, `{"foo_bar":{"baz":1}}`},
		{"the pointer without its slash", "foo_bar/baz", nested, nil, `{"foo_bar":{"baz":1}}`},
		{"with underscores", "foo_bar_baz", `{"properties":{"foo_bar":{"type":"object","properties":{"baz":{"type":"integer"}}}}}`, nil, `{"foo_bar":{"baz":1}}`},
		{"with a blank", "foo_bar baz", nested, nil, `{"foo_bar":{"baz":1}}`},
		{"with nothing", "foo_barbaz", nested, nil, `{"foo_bar":{"baz":1}}`},
		{"of the root with blanks", "foo bar", `{"properties":{"foo_bar":{"type":"integer"}}}`, nil, `{"foo_bar":1}`},
		{"not of nested ones with blanks", "foo bar baz", `{"properties":{"foo_bar":{"type":"object","properties":{"baz":{"type":"integer"}}}}}`, nil, `{"foo bar baz":"1"}`},
		{"three deep with blanks", "Foo Bar Baz", nested, nil, `{"foo":{"bar":{"baz":1}}}`},
		{"a name with a blank for one with an underscore", "Bike ID", nested, nil, `{"bike_id":1}`},
		// bug streams-files-parser 19: predecessor
		{"capitals", "BIKE ID", nested, nil, `{"bike_id":1}`},
		{"capitals and underscores", "Bike_Id", nested, nil, `{"bike_id":1}`},
		{"full width", "ｂｉｋｅ＿ｉｄ", nested, nil, `{"bike_id":1}`},
		{"blanks around and within", "  Bike \u00a0 ID\t", nested, nil, `{"bike_id":1}`},
		{"a line end within", "\"Bike\nID\"", nested, nil, `{"bike_id":1}`},
		{"composed otherwise", "e\u0301", `{"properties":{"é":{"type":"integer"}}}`, nil, `{"é":1}`},
		{"full folding", "STRASSE", `{"properties":{"straße":{"type":"integer"}}}`, nil, `{"straße":1}`},
		{"a letter that folds to capitals", "MHZ", `{"properties":{"㎒":{"type":"integer"}}}`, nil, `{"㎒":1}`},
		{"a capital I with a dot", "İ", `{"properties":{"i\u0307":{"type":"integer"}}}`, nil, `{"i` + "\u0307" + `":1}`},
		{"no Turkish", "I", `{"properties":{"i":{"type":"integer"},"ı":{"type":"boolean"}}}`, nil, `{"i":1}`},
		{"no accents are dropped", "cafe", `{"properties":{"café":{"type":"integer"}}}`, nil, `{"cafe":"1"}`},
		// bug streams-files-parser 25: predecessor
		{"a slash nests if the schema says so", "foo/bar/baz", nested, nil, `{"foo":{"bar":{"baz":1}}}`},
		{"and does not if not", "foo/bar/qux", nested, nil, `{"foo/bar/qux":"1"}`},
		{"or if the user says so", "a/b", "", map[string]string{"a/b": "/a/b"}, `{"a":{"b":"1"}}`},
		{"a slash in a name of the schema", "a/b", `{"properties":{"a/b":{"type":"integer"}}}`, nil, `{"a/b":1}`},
		{"a pointer with a tilde", "p", "", map[string]string{"p": "/a~1b/c~0d"}, `{"a/b":{"c~d":"1"}}`},
		{"a projection where no schema is", "n", nested, map[string]string{"n": "/nowhere/at/all"}, `{"nowhere":{"at":{"all":"1"}}}`},
		{"a projection to a type", "n", nested, map[string]string{"n": "/foo_bar/baz"}, `{"foo_bar":{"baz":1}}`},
		{"an empty name in a pointer", "n", "", map[string]string{"n": "/"}, `{"":"1"}`},
		// Whole documents and what is added.
		{"a projection of the document", "n", "", map[string]string{"flow_document": ""}, `{"n":"1"}`},
		{"a column of its name", "flow_document", "", map[string]string{"flow_document": ""}, `file: placing column "flow_document": the projection puts it at "", which is the whole document; give the projection another field's name, or rename the column`},
		{"and by another spelling", "Flow_Document", "", map[string]string{"flow_document": ""}, `{"Flow_Document":"1"}`},
		{"a projection that is no pointer", "n", "", map[string]string{"x": "y"}, `file: reading the projection of "x": "y" is no JSON pointer: it starts with a slash, and in names ~1 stands for a slash, ~0 for a tilde`},
		{"a tilde alone", "n", "", map[string]string{"x": "/~2"}, `file: reading the projection of "x": "/~2" is no JSON pointer: it starts with a slash, and in names ~1 stands for a slash, ~0 for a tilde`},
		// Numbers are names, unless the schema says array.
		{"numbers", "0", "", nil, `{"0":"1"}`},
		{"numbers below an object", "n", `{"properties":{"a":{"type":"object"}}}`, map[string]string{"n": "/a/0"}, `{"a":{"0":"1"}}`},
		{"numbers below what is not said", "n", "", map[string]string{"n": "/a/0"}, `{"a":{"0":"1"}}`},
		{"numbers below an array", "n", `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, map[string]string{"n": "/a/0"}, `{"a":[1]}`},
		{"the end of an array", "n", `{"properties":{"a":{"type":["array","null"],"items":{"type":"integer"}}}}`, map[string]string{"n": "/a/-"}, `{"a":[1]}`},
		{"names below an array", "n", `{"properties":{"a":{"type":"array"}}}`, map[string]string{"n": "/a/x"}, `file: placing column "n" at /a/x: element 0 of /a has no column; elements are counted from 0, in the order of the columns`},
	} {
		if got := run(t, c.header, "1", Options{Schema: schema(t, c.schema), Projections: c.projections}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestText_ColumnsAtOneLocation(t *testing.T) {
	for _, c := range []struct {
		name, header, schema string
		projections          map[string]string
		want                 string
	}{
		// bug streams-files-parser 37: Polars #28658
		{"an exact and a folded hit", "ID,id", `{"properties":{"id":{"type":"integer"}}}`, nil, "warning: column \"ID\" would be at /id, too, where column \"id\" is: it keeps its own name\n{\"ID\":\"1\",\"id\":2}"},
		{"two folded hits", "ID,Id", `{"properties":{"id":{"type":"integer"}}}`, nil, "warning: column \"Id\" would be at /id, too, where column \"ID\" is: it keeps its own name\n{\"id\":1,\"Id\":\"2\"}"},
		{"a folded projection and the schema", "A,B", `{"properties":{"x":{},"B":{"type":"integer"}}}`, map[string]string{"a": "/B"}, "warning: column \"A\" would be at /B, too, where column \"B\" is: it keeps its own name\n{\"A\":\"1\",\"B\":2}"},
		{"two projections", "a,b", "", map[string]string{"a": "/x", "b": "/x"}, `file: placing columns: "a" and "b" are both at /x; a projection of one of them to another location tells them apart`},
		{"two exact names of one location", "a_b,a b", `{"properties":{"a":{"type":"object","properties":{"b":{}}}}}`, nil, `file: placing columns: "a_b" and "a b" are both at /a/b; a projection of one of them to another location tells them apart`},
		{"a projection and a name", "a,x", "", map[string]string{"a": "/x"}, `file: placing columns: "a" and "x" are both at /x; a projection of one of them to another location tells them apart`},
		{"a folded hit and a name", "A,x", "", map[string]string{"a": "/x"}, `file: placing columns: "A" and "x" are both at /x; a projection of one of them to another location tells them apart`},
		{"one inside of another", "a,b", "", map[string]string{"b": "/a/b"}, `file: placing columns: "b" is at /a/b, inside of "a" at /a; a projection of one of them to another location parts them`},
		{"one far inside of another", "b,a", "", map[string]string{"b": "/a/x/y/b"}, `file: placing columns: "b" is at /a/x/y/b, inside of "a" at /a; a projection of one of them to another location parts them`},
		{
			"a name of two locations", "a_b_c,x", `{"properties":{"a":{"type":"object","properties":{"b_c":{"type":"integer"}}},"a_b":{"type":"object","properties":{"c":{"type":"integer"}}}}}`, nil,
			"warning: column \"a_b_c\" may be /a/b_c or /a_b/c of the schema: it is placed at /a/b_c, a projection would tell\n{\"a\":{\"b_c\":1},\"x\":\"2\"}",
		},
	} {
		if got := run(t, c.header, "1,2", Options{Schema: schema(t, c.schema), Projections: c.projections}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Columns that meet in one object need not be neighbours; each object stands where its first column does.
func TestText_Layout(t *testing.T) {
	list := `{"properties":{"l":{"type":"array","items":{"type":["integer","object"]}}}}`
	for _, c := range []struct {
		name, header, lines, schema string
		projections                 map[string]string
		want                        string
	}{
		{"objects by their first column", "x.a,y,x.b,z.a.b,x.c", "1,2,3,4,5", "", map[string]string{"x.a": "/x/a", "x.b": "/x/b", "z.a.b": "/z/a/b", "x.c": "/x/c"}, `{"x":{"a":"1","b":"3","c":"5"},"y":"2","z":{"a":{"b":"4"}}}`},
		{"an object with nothing in it", "a,b,c", "1\n1,2\n1,2,3", "", map[string]string{"b": "/o/p/b", "c": "/o/c"}, "{\"a\":\"1\"}\n{\"a\":\"1\",\"o\":{\"p\":{\"b\":\"2\"}}}\n{\"a\":\"1\",\"o\":{\"p\":{\"b\":\"2\"},\"c\":\"3\"}}"},
		{"a first object with nothing in it", "b,a", ",1\n2,1", `{"properties":{"o":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, nil, "{\"b\":\"\",\"a\":\"1\"}\n{\"b\":\"2\",\"a\":\"1\"}"},
		{"left out at the start", "o_b,a", ",1\n2,1", `{"properties":{"o":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, nil, "{\"a\":\"1\"}\n{\"o\":{\"b\":2},\"a\":\"1\"}"},
		{"elements", "a,b,c", "1,2,3\n1,,3\n,2,\n,,", list, map[string]string{"a": "/l/0", "b": "/l/1", "c": "/l/2"}, "{\"l\":[1,2,3]}\n{\"l\":[1,null,3]}\n{\"l\":[null,2]}\n{}"},
		{"elements that are objects", "a,b,c", "1,2,3\n,,3\n1,,", list, map[string]string{"a": "/l/0/x", "b": "/l/0/y", "c": "/l/1/x"}, "{\"l\":[{\"x\":\"1\",\"y\":\"2\"},{\"x\":\"3\"}]}\n{\"l\":[{\"x\":\"\",\"y\":\"\"},{\"x\":\"3\"}]}\n{\"l\":[{\"x\":\"1\",\"y\":\"\"},{\"x\":\"\"}]}"},
		{"elements that are objects, the first absent", "b,a", "1\n1,2", list, map[string]string{"a": "/l/1/x", "b": "/l/0/x"}, "{\"l\":[{\"x\":\"1\"}]}\n{\"l\":[{\"x\":\"1\"},{\"x\":\"2\"}]}"},
		{"elements that are objects, the first empty", "b,a", ",2\n1,2\n1,\n,", `{"properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, map[string]string{"a": "/l/1/x", "b": "/l/0/x"}, "{\"l\":[null,{\"x\":2}]}\n{\"l\":[{\"x\":1},{\"x\":2}]}\n{\"l\":[{\"x\":1}]}\n{}"},
		{"elements that are no neighbours", "a,x,b", "1,2,3", list, map[string]string{"a": "/l/0", "b": "/l/1"}, `{"l":[1,3],"x":"2"}`},
		{"a gap", "a", "1", list, map[string]string{"a": "/l/1"}, `file: placing column "a" at /l/1: element 0 of /l has no column; elements are counted from 0, in the order of the columns`},
		{"a name to be escaped", "a\"\\\u2028é", "1", "", nil, "{\"a\\\"\\\\\u2028é\":\"1\"}"},
		{"null where no column is", "a", "1", `{"type":"object","properties":{"a":{"type":"integer"},"n":{"type":["integer","null"]}},"required":["n"]}`, nil, `{"a":1,"n":null}`},
	} {
		if got := run(t, c.header, c.lines, Options{Schema: schema(t, c.schema), Projections: c.projections}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestText_RequiredLocations(t *testing.T) {
	for _, c := range []struct{ name, header, schema, want string }{
		{"of a document whose type is not said", "a", `{"required":["x"],"properties":{"x":{"type":"string"}}}`, `file: placing columns: the schema requires /x, and no column is there; allow it to be absent or null, or project a column to it`},
		{"all are listed", "a", `{"type":"object","required":["x","y"],"properties":{"x":{"type":"string"},"y":{"type":"integer"}}}`, `file: placing columns: the schema requires /x, /y, and no column is there; allow it to be absent or null, or project a column to it`},
		{"not what is in one of them", "a", `{"type":"object","required":["x"],"properties":{"x":{"type":"object","required":["y"],"properties":{"y":{"type":"string"}}}}}`, `file: placing columns: the schema requires /x, and no column is there; allow it to be absent or null, or project a column to it`},
		{"one inside of an object that is there", "x_z", `{"type":"object","required":["x"],"properties":{"x":{"type":"object","required":["y"],"properties":{"y":{"type":"string"},"z":{}}}}}`, `file: placing columns: the schema requires /x/y, and no column is there; allow it to be absent or null, or project a column to it`},
		{"not where the object need not be", "a", `{"type":"object","properties":{"x":{"type":"object","required":["y"],"properties":{"y":{"type":"string"}}}}}`, `{"a":"1"}`},
		{"a column around it", "x", `{"type":"object","required":["x"],"properties":{"x":{"type":["object","integer"],"required":["y"],"properties":{"y":{"type":"string"}}}}}`, `{"x":1}`},
		{"what is added is there", "a", `{"type":"object","required":["_meta"],"properties":{"_meta":{"type":"object","required":["file","offset"],"properties":{"file":{"type":"string"},"offset":{"type":"integer"}}}}}`, `{"a":"1","_meta":{"file":"f","offset":0}}`},
		{"but not what is not", "a", `{"type":"object","required":["_meta"],"properties":{"_meta":{"type":"object","required":["version"],"properties":{"version":{"type":"string"}}}}}`, `file: placing columns: the schema requires /_meta/version, and no column is there; allow it to be absent or null, or project a column to it`},
		{"null beside what is added", "a", `{"type":"object","required":["_meta"],"properties":{"_meta":{"type":"object","required":["version"],"properties":{"version":{"type":["null","string"]}}}}}`, `{"a":"1","_meta":{"version":null,"file":"f","offset":0}}`},
	} {
		o := Options{Schema: schema(t, c.schema), OffsetAt: "/_meta/offset", AddValues: map[string]json.RawMessage{"/_meta/file": json.RawMessage(`"f"`)}}
		if c.name[0] != 'w' && c.name[0] != 'b' && c.name != "null beside what is added" {
			o.AddValues, o.OffsetAt = nil, ""
		}
		if got := run(t, c.header, "1", o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
