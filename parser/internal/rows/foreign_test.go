package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// foreign is a case of another project; testdata/README.md tells where it comes from.
type foreign struct {
	Suite, Name, Input string
	Config             struct {
		Header                   bool
		Delimiter, QuoteChar     string
		EscapeChar, Newline      string
		Comments                 any
		Preview, SkipFirstNLines int
		SkipEmptyLines, FastMode any // ours are always on, or have no counterpart
		DynamicTyping            any
	}
	Names []string // of the objects that are expected, if the case has a header
	Rows  [][]any
}

func foreignCases(t *testing.T, file string) []foreign {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []foreign
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var c foreign
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		all = append(all, c)
	}
	return all
}

// run is what we make of the case: rows, without the header if it has one.
func (c *foreign) run(t *testing.T) [][]string {
	t.Helper()
	g := Given{Delimiter: c.Config.Delimiter, Escape: c.Config.EscapeChar, End: c.Config.Newline}
	if c.Config.QuoteChar != "" {
		g.Quote = &c.Config.QuoteChar
	}
	switch comments := c.Config.Comments.(type) {
	case string:
		g.Comment = comments
	case bool:
		g.Comment = "#"
	}
	text := strings.TrimPrefix(c.Input, "\ufeff") // is stripped before text comes here
	o := Options{SkipLines: max(0, c.Config.SkipFirstNLines)}
	g.SkipLines = o.SkipLines
	d, err := Detect([]byte(text), true, g)
	if err != nil {
		return [][]string{{"!!" + err.Error()}}
	}
	got := values(scanAll(t, text, d, o))
	if c.Config.Header && len(got) > 0 && c.Suite != "core" { // core's rows have the header in them
		if len(c.Rows) > 0 && !reflect.DeepEqual(got[0][:len(c.Names)], c.Names) { // a short row is an object with the first names only
			t.Errorf("%q: the header is %q, want %q", c.Input, got[0], c.Names)
		}
		got = got[1:]
	}
	if n := c.Config.Preview; n > 0 && n < len(got) {
		got = got[:n]
	}
	return got
}

// equal: v is text in JSON, so a number or null is not what we read.
func (c *foreign) equal(got [][]string) bool {
	want := make([][]any, len(got))
	for i, row := range got {
		for _, v := range row {
			want[i] = append(want[i], v)
		}
	}
	return reflect.DeepEqual(want, c.Rows) || len(got)+len(c.Rows) == 0
}

func TestForeign_CSVSpectrum(t *testing.T) {
	all := foreignCases(t, "csv-spectrum.jsonl")
	for _, c := range all {
		if c.Name == "location_coordinates" && c.Rows[0][0] == "1234567890" {
			c.Rows[0][0] = "2095257564" // what its CSV says
		}
		if got := c.run(t); !c.equal(got) {
			t.Errorf("%s: got %q, want %v", c.Name, got, c.Rows)
		}
	}
	if len(all) != 12 {
		t.Errorf("%d cases of 12", len(all))
	}
}

// otherwise are the rules of ours that decide against papaparse, each with its cases and what we make of them.
var otherwise = []struct {
	rule  string
	cases map[string][][]string
}{
	{"an unclosed quote is an error that costs one line, not the rest of the file", map[string][][]string{
		"core/Quoted field has no closing quote": {{"!unterminated quoted field opened at line 1: no closing quote before the end of the file"}, {"d", "e", "f"}},
	}},
	{"a quote that is not doubled closes the field; text behind it belongs to the field", map[string][][]string{
		"core/Quoted field has invalid trailing quote after delimiter with a valid closer":                {{"a,b", `c"`}, {"d", "e", "f"}},
		"core/Quoted field has invalid trailing quote after delimiter":                                    {{"a", "b,c"}, {"d", "e", "f"}},
		"core/Quoted field has invalid trailing quote before delimiter":                                   {{"a", "bc", "d"}, {"e", "f", "g"}},
		"core/Quoted field has invalid trailing quote after new line":                                     {{"a", "b,c\nde", "f", "g"}},
		"parse/Quoted fields with spaces between closing quote and next delimiter":                        {{"A", "B ", "C", "D"}, {"E", "F", "G  ", "H"}},
		"parse/Quoted fields with spaces between closing quote and next new line":                         {{"A", "B", "C", "D "}, {"E", "F", "G", "H  "}, {"Q", "W", "E", "R"}},
		"parse/Quoted fields with spaces after closing quote":                                             {{"A", "B ", "C", "D "}, {"E", "F", "G  ", "H  "}, {"Q", "W", "E ", "R"}},
		"parse/Quoted fields with spaces between closing quote and next delimiter and contains delimiter": {{"A", ",B ", "C", "D"}, {"E", "F", "G", "H"}},
		"parse/Quoted fields with spaces between closing quote and newline and contains newline":          {{"a", "b", "c\n "}, {"d", "e", "f"}},
	}},
	{"blank lines are skipped, for one column, too", map[string][][]string{
		"core/Input with only a commented line and blank line after":       nil,
		"core/One column input with empty fields":                          {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}},
		"core/Fast mode with blank line at end":                            {{"a", "b", "c"}},
		"parse/Mixed slash n and slash r should choose first as precident": {{"a", "b", "c"}, {"d", "e", "f\rg", "h", "i"}},
		"parse/Blank line at beginning":                                    {{"a", "b", "c"}, {"d", "e", "f"}},
		"parse/Blank line in middle":                                       {{"a", "b", "c"}, {"d", "e", "f"}},
		"parse/Blank lines at end":                                         {{"a", "b", "c"}, {"d", "e", "f"}},
		"parse/Empty lines":                                                {{"a", "b", "c"}, {"d", "e", "f"}},
	}},
	{"lines of blanks, and of delimiters, are rows", map[string][][]string{
		"parse/Parsing with skipEmptyLines set to 'greedy'":                                       {{"a", "b"}, {"", ""}, {"c", "d"}, {" ", " "}, {"", " "}, {"\t", "\t"}, {"", "", "", "", ""}},
		"parse/Parsing with skipEmptyLines set to 'greedy' with quotes and delimiters as content": {{"a", "b"}, {"", ""}, {"c", "d"}, {" , ", ","}, {`" "`, `""`}},
	}},
	{"names that are there twice are not renamed but refused, by who reads names", map[string][][]string{
		"core/Simple duplicated header names":              {{"A", "A", "A", "A"}, {"1", "2", "3", "4"}},
		"core/Duplicated header names existing column":     {{"c", "c", "c", "c_1"}, {"1", "2", "3", "4"}},
		"core/Duplicate header names with __proto__ field": {{"__proto__", "__proto__", "__proto__"}, {"1", "2", "3"}},
	}},
	{"a delimiter that cannot be one is an error of the configuration", map[string][][]string{
		"parse/Bad delimiter (\\n)": {{`!!reading the dialect: the delimiter "\n" holds a line end`}},
	}},
	{"no type is inferred from the data: everything is text until a schema says otherwise", map[string][][]string{
		"parse/Dynamic typing converts numeric literals and maintains precision": {
			{"1", "2.2", "1e3"}, {"-4", "-4.5", "-4e-5"}, {"-", "5a", "5-2"}, {"16142028098527942586", "9007199254740991", "-9007199254740992"},
		},
		"parse/Dynamic typing converts boolean literals":            {{"true", "false", "T", "F", "TRUE", "FALSE", "True", "False"}},
		"parse/Dynamic typing applies to specific columns":          {{"1", "2.2", "1e3"}, {"-4", "-4.5", "-4e-5"}},
		"parse/Dynamic typing applies to specific columns by index": {{"1", "2.2", "1e3"}, {"-4", "-4.5", "-4e-5"}, {"-", "5a", "5-2"}},
		"parse/Dynamic typing can be applied to `__parsed_extra`":   {{"1", "2.2", "1e3", "5.5"}, {"-4", "-4.5", "-4e-5"}},
		"parse/Dynamic typing converts empty values into NULL":      {{"1", "2.2", "1e3"}, {"", "NULL", ""}, {"-", "5a", "null"}},
	}},
	{"of delimiters that fit every row the comma wins", map[string][][]string{
		"parse/Pipe delimiter is guessed correctly when mixed with comas": {{"one|two", "two|three"}, {"four|five", "five|six"}},
	}},
	{"an escape takes the next byte as it is, whatever it is", map[string][][]string{
		"parse/Custom escape character not used for escaping": {{"a", "b", "cd"}},
	}},
}

func TestForeign_PapaParse(t *testing.T) {
	ours := map[string][][]string{}
	for _, rule := range otherwise {
		for name, rows := range rule.cases {
			ours[name] = rows
		}
	}
	all := foreignCases(t, "papaparse.jsonl")
	listed := 0
	for _, c := range all {
		got := c.run(t)
		want, differs := ours[c.Suite+"/"+c.Name]
		switch {
		case !differs && !c.equal(got):
			t.Errorf("%s/%s\n%q\n got %q\nwant %q", c.Suite, c.Name, c.Input, got, c.Rows)
		case differs && c.equal(got):
			t.Errorf("%s/%s is listed as different, and is equal", c.Suite, c.Name)
		case differs && !reflect.DeepEqual(got, want):
			t.Errorf("%s/%s\n%q\n got %q\nwant %q (listed)", c.Suite, c.Name, c.Input, got, want)
		case differs:
			listed++
		}
	}
	if listed != len(ours) || len(all) != 152 || listed*4 > len(all) {
		t.Errorf("%d of %d cases differ, %d are listed; at most one in four may", listed, len(all), len(ours))
	}
}
