package columns

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/rows"
)

var dialect = rows.Dialect{Delimiter: ",", Quote: '"', End: rows.LineEnd}

// row cuts a line of text at its commas; fields in double quotes are quoted, and a quote in them is doubled.
func row(line string) *rows.Row {
	r := &rows.Row{Text: []byte(line)}
	for i := 0; ; {
		f := rows.Field{Start: int32(i)}
		if i < len(line) && line[i] == '"' {
			f.Flags, f.Start = rows.Quoted, int32(i+1)
			for i++; i < len(line) && (line[i] != '"' || i+1 < len(line) && line[i+1] == '"'); i++ {
				if line[i] == '"' {
					f.Flags |= rows.Escaped
					i++
				}
			}
			f.End = int32(i)
			i++
		} else {
			for i < len(line) && line[i] != ',' {
				i++
			}
			f.End = int32(i)
		}
		r.Fields = append(r.Fields, f)
		if i >= len(line) {
			return r
		}
		i++
	}
}

func schema(t testing.TB, text string) *jsonschema.Node {
	t.Helper()
	if text == "" {
		return nil
	}
	n, err := jsonschema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run plans a header and appends rows, each line one, and returns documents and errors, line by line, behind the warnings.
func run(t testing.TB, header, lines string, o Options) string {
	t.Helper()
	r := row(header)
	names := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		names[i] = string(dialect.AppendField(nil, r.Text, f))
	}
	return runNames(t, names, lines, o)
}

func runNames(t testing.TB, names []string, lines string, o Options) string {
	t.Helper()
	p, warnings, err := ForText(names, o)
	if err != nil {
		return "file: " + err.Error()
	}
	var out []string
	for _, w := range warnings {
		out = append(out, "warning: "+w)
	}
	if lines == "" {
		return strings.Join(out, "\n")
	}
	n := int64(0)
	for _, line := range strings.Split(lines, "\n") {
		dst, err := p.Append([]byte("before "), row(line), &dialect, n)
		// The same with rows in front of others, as in a scanner's buffer, where words can be read beyond the end.
		r := row(line)
		r.Text = append(r.Text, "\"\\ other rows, \x00\xff"...)[:len(r.Text)]
		again, errAgain := p.Append([]byte("before "), r, &dialect, n)
		if string(again) != string(dst) || fmt.Sprint(errAgain) != fmt.Sprint(err) {
			t.Errorf("%s: alone %s, %v; in front of others %s, %v", line, dst, err, again, errAgain)
		}
		if err != nil {
			var f *FieldError
			if !errors.As(err, &f) || string(dst) != "before " {
				t.Errorf("%s: error %v, and dst %q", line, err, dst)
			}
			out = append(out, err.Error())
			continue
		}
		n++
		doc := strings.TrimPrefix(string(dst), "before ")
		if !json.Valid([]byte(doc)) {
			t.Errorf("%s: %s is no JSON", line, doc)
		}
		out = append(out, doc)
	}
	return strings.Join(out, "\n")
}

// B.1
func TestText_DocumentsOfBikes(t *testing.T) {
	o := Options{
		OffsetAt: "/_meta/offset", AddValues: map[string]json.RawMessage{"/_meta/file": json.RawMessage(`"b/k.csv"`)},
		Schema: schema(t, `{"type":"object","properties":{"bike_id":{"type":"integer"},"name":{"type":["string","null"]},"ok":{"type":"boolean"},"tags":{"type":"array"}},"required":["bike_id"]}`),
	}
	for _, c := range []struct{ header, lines, want string }{
		{
			"Bike ID,Name,OK,tags,Extra Col", "12,\"a \"\"b\"\"\\c\",true,\"[1,\"\"x\"\"]\",z\n13,NULL,false,[],",
			`{"bike_id":12,"name":"a \"b\"\\c","ok":true,"tags":[1,"x"],"Extra Col":"z","_meta":{"file":"b/k.csv","offset":0}}` + "\n" +
				`{"bike_id":13,"name":null,"ok":false,"tags":[],"Extra Col":"","_meta":{"file":"b/k.csv","offset":1}}`,
		},
		{"Bike ID", "x", `reading column "Bike ID": the value "x" is not an integer`},
		{"Name", "foo", `file: placing columns: the schema requires /bike_id, and no column is there; allow it to be absent or null, or project a column to it`},
	} {
		if got := run(t, c.header, c.lines, o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.header, got, c.want)
		}
	}
	// A line end in a quoted field is a character like others.
	if got := run(t, "Name", `x`, Options{}); got != `{"Name":"x"}` {
		t.Error(got)
	}
	p, _, err := ForText([]string{"Bike ID", "Name"}, o)
	if err != nil {
		t.Fatal(err)
	}
	two := &rows.Row{Text: []byte("12,\"a\nc\""), Fields: []rows.Field{{Start: 0, End: 2}, {Start: 4, End: 7, Flags: rows.Quoted}}}
	if got, err := p.Append(nil, two, &dialect, 7); string(got) != `{"bike_id":12,"name":"a\nc","_meta":{"file":"b/k.csv","offset":7}}` {
		t.Errorf("%s, %v", got, err)
	}
}

// B.2
// bug streams-files-parser 18: predecessor
func TestText_ShortAndLongRows(t *testing.T) {
	abc := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":["string","null"]},"d":{"type":"integer"}}`
	for _, c := range []struct {
		name, header, lines, schema string
		missingNull                 bool
		want                        string
	}{
		{"optional", "a,b,c", "1\n2,3\n4,5,6", abc + "}", false, "{\"a\":\"1\"}\n{\"a\":\"2\",\"b\":\"3\"}\n{\"a\":\"4\",\"b\":\"5\",\"c\":\"6\"}"},
		{
			"required", "a,b,c", "1\n2,3", abc + `,"required":["a","b"]}`, false,
			"reading column \"b\": the row has no value, 1 columns for 3 headers, and the schema requires one\n{\"a\":\"2\",\"b\":\"3\"}",
		},
		{"required, null allowed", "a,c", "1", abc + `,"required":["c"]}`, false, `{"a":"1","c":null}`},
		{"required by what may be anything", "a,x", "1", `{"type":"object","required":["x"]}`, false, `{"a":"1","x":null}`},
		{"null for all that allow it", "a,b,c,d", "1", abc + "}", true, `{"a":"1","c":null}`},
		{"null for all without a schema", "a,b,c", "1", "", true, `{"a":"1","b":null,"c":null}`},
		{"long", "a,b,c", "1\n2,3,4,5", "", false, "{\"a\":\"1\"}\nreading a row: 4 columns, 3 headers"},
		{"long by empty fields", "a,b,c", "1,2,3,,\n1,2,3,\"\"", "", false, "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}\n{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}"},
		{"long by an empty field and another", "a,b", "1,2,,x", "", false, "reading a row: 4 columns, 2 headers"},
		{"required in an optional object", "a,x_y,x_z", "1\n1,2", `{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string"},"z":{"type":"string"}},"required":["z"]}}}`, false, "{\"a\":\"1\"}\n{\"a\":\"1\",\"x\":{\"y\":\"2\"}}"},
		{
			"required on the whole way", "a,x_y", "1", `{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string"}},"required":["y"]}},"required":["x"]}`, false,
			"reading column \"x_y\": the row has no value, 1 columns for 2 headers, and the schema requires one",
		},
		{"a required object stands there empty", "a,x_y", "1", `{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string"}}}},"required":["x"]}`, false, `{"a":"1","x":{}}`},
		{"blanks are a value", "a,b", "  ", "", false, `{"a":"  "}`},
	} {
		o := Options{MissingNull: c.missingNull, Schema: schema(t, c.schema)}
		if got := run(t, c.header, c.lines, o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	p, _, err := ForText([]string{"a"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"1", "1,", "1,,", "1,2"} {
		_, _ = p.Append(nil, row(line), &dialect, 0)
	}
	if p.Surplus() != 2 {
		t.Errorf("%d rows were longer by empty fields, not 2", p.Surplus())
	}
}

func TestText_EmptyAndDoubleNames(t *testing.T) {
	for _, c := range []struct {
		name, header, lines, want string
	}{
		{"an empty first name", ",a", "1,2", `{"column_1":"1","a":"2"}`},
		{"an empty name between", "a,,c", "1,,3\n1,2,3", "{\"a\":\"1\",\"column_2\":\"\",\"c\":\"3\"}\n{\"a\":\"1\",\"column_2\":\"2\",\"c\":\"3\"}"},
		{"empty names at the end over nothing", "a,b,,", "1,2,,\n1,2\n1,2,,x", "{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"1\",\"b\":\"2\",\"column_4\":\"x\"}"},
		{"blanks are a name", "a, ", "1,2", `{"a":"1"," ":"2"}`},
		{"blanks around a name", " id ", "1", `{" id ":"1"}`},
		{"a quote and a line end in a name", "\"a\"\"\nb\"", "1", `{"a\"\nb":"1"}`},
		// bug streams-files-parser 37: Polars #3201
		{"one name twice", "id,name,id", "1,2,3", `file: reading the header: columns 1 and 3 are both named "id"; rename one in the file, or list all names in the option headers`},
		{"column_n is taken", "a,,column_2", "1,2,3", `file: reading the header: column 3 is named "column_2", and so is column 2, which has no name of its own; name it in the file, or list all names in the option headers`},
		{"column_n is taken before", "column_2,,c", "1,2,3", `file: reading the header: column 1 is named "column_2", and so is column 2, which has no name of its own; name it in the file, or list all names in the option headers`},
		// bug streams-files-parser 25: predecessor
		{"a slash in a name", "a/b,c~d", "1,2", `{"a/b":"1","c~d":"2"}`},
		{"numbers as names", "0,-", "1,2", `{"0":"1","-":"2"}`},
		{"no name at all", "", "x\n", `{"column_1":"x"}` + "\n{}"},
	} {
		if got := run(t, c.header, c.lines, Options{}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What the tokenizer hands over is the value, however the file quotes and escapes.
func TestText_FieldsOfAllDialects(t *testing.T) {
	const plain = "a long text without anything, "
	for _, c := range []struct {
		name          string
		quote, escape byte
		file          string
		want          string // the value of v
	}{
		{"not quoted", '"', 0, plain, plain},
		{"quoted", '"', 0, `"` + plain + `"`, plain},
		{"doubled quotes", '"', 0, `"` + plain + `""x"" """"` + `"`, plain + `"x" ""`},
		{"doubled quotes and line ends", '"', 0, "\"a\r\n\"\"b\"\"\tc\"", "a\r\n\"b\"\tc"},
		{"doubled quotes and more than ASCII", '"', 0, `"é""é""` + "\U0001f600" + `"`, `é"é"` + "\U0001f600"},
		{"doubled quotes and backslashes", '"', 0, `"a\""b\\"`, `a\"b\\`},
		{"nothing but quotes", '"', 0, `""""`, `"`},
		{"text behind the quote", '"', 0, `"a""b"c"d""e`, `a"bc"d""e`},
		{"escaped quotes", '"', '\\', `"a\"b\\c""d"`, `a"b\c"d`},
		{"escapes without quotes", '"', '\\', `a\;b\"c`, `a;b"c`},
		{"another escape", '"', '^', `"a long text, ^x ""and"" ^^ more"`, `a long text, x "and" ^ more`},
		{"other quotes", '\'', 0, `'it''s "so"'`, `it's "so"`},
		{"no quotes", 0, 0, `"a""b"`, `"a""b"`},
	} {
		d := rows.Dialect{Delimiter: ";", Quote: c.quote, Escape: c.escape, End: rows.LineEnd}
		for _, types := range []string{`"string"`, `"string","null"`, `"string","integer"`} {
			p, _, err := ForText([]string{"v", "end"}, Options{Schema: schema(t, `{"type":"object","properties":{"v":{"type":[`+types+`]}}}`)})
			if err != nil {
				t.Fatal(err)
			}
			s := rows.NewScanner(strings.NewReader(c.file+";x\nnext;row\n"+strings.Repeat("more;\n", 10)), d, rows.Options{}, 0, 1)
			r, err := s.Next()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			doc, err := p.Append(nil, r, &d, 0)
			var got struct{ V, End string }
			if err != nil || json.Unmarshal(doc, &got) != nil || got.V != c.want || got.End != "x" {
				t.Errorf("%s as %s: %s, %v; not %q", c.name, types, doc, err, c.want)
			}
		}
	}
}

func TestText_ManyColumns(t *testing.T) {
	names := make([]string, 100_000)
	r := &rows.Row{}
	for i := range names {
		names[i] = "Column " + strings.Repeat("x", i%3) + string(rune('a'+i%26)) + jsonNumber(i)
		r.Text = append(r.Text, 'v', ',')
		r.Fields = append(r.Fields, rows.Field{Start: int32(2 * i), End: int32(2*i + 1)})
	}
	p, _, err := ForText(names, Options{Schema: schema(t, `{"type":"object","properties":{"a":{},"b":{}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := p.Append(nil, r, &dialect, 0)
	if err != nil || strings.Count(string(doc), `":"v"`) != len(names) || !json.Valid(doc) {
		t.Errorf("%d bytes, %v", len(doc), err)
	}
}

func jsonNumber(i int) string {
	b, _ := json.Marshal(i)
	return string(b)
}
