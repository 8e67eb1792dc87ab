package rows

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// entry is an entry as tests compare it; an error is one value that begins with !, the end by one with !!.
type entry struct {
	names, values []string
	byte, line    int64
}

func scanLog(t testing.TB, text string, n int, o Options) []entry {
	t.Helper()
	w := NewW3C(&pieces{text, n}, o)
	w.buf = make([]byte, padding+n)
	var all []entry
	for bound := 0; ; {
		row, err := w.Next()
		var bad *RowError
		var e entry
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &bad):
			e = entry{w.Fields(), []string{"!" + bad.Reason}, bad.Byte, bad.Line}
			if !strings.HasPrefix(text[bad.Byte:], string(bad.Raw)) {
				t.Fatalf("%q: a row %q is said to begin at byte %d", text, bad.Raw, bad.Byte)
			}
		case err != nil:
			return append(all, entry{values: []string{"!!" + err.Error()}})
		default:
			e = entry{names: w.Fields(), byte: row.Byte, line: row.Line}
			for _, f := range row.Fields {
				e.values = append(e.values, string(w.Dialect().AppendField(nil, row.Text, f)))
			}
			if !strings.HasPrefix(text[row.Byte:], string(row.Text)) {
				t.Fatalf("%q: a row %q is said to begin at byte %d", text, row.Text, row.Byte)
			}
		}
		if line := int64(1 + strings.Count(text[:e.byte], "\n")); line != e.line {
			t.Fatalf("%q: the entry at byte %d is on line %d, not %d", text, e.byte, line, e.line)
		}
		if len(all) > 0 && bound == w.Bound() && !reflect.DeepEqual(all[len(all)-1].names, e.names) {
			t.Fatalf("%q: other names, but Bound stays %d", text, bound)
		}
		bound = w.Bound()
		all = append(all, e)
	}
}

// readLog renders entries as name=value, in reads of 1, 7 and 65536 bytes.
func readLog(t testing.TB, text string, o Options) [][]string {
	t.Helper()
	whole := scanLog(t, text, 65536, o)
	for _, n := range []int{1, 7} {
		if got := scanLog(t, text, n, o); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q in reads of %d bytes: got %+v, in one %+v", text, n, got, whole)
		}
	}
	var all [][]string
	for _, e := range whole {
		var row []string
		for i, v := range e.values {
			if strings.HasPrefix(v, "!") {
				row = append(row, v)
			} else {
				row = append(row, e.names[i]+"="+v)
			}
		}
		all = append(all, row)
	}
	return all
}

func TestW3C(t *testing.T) {
	const iis = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2022-04-01 10:00:00\r\n"
	for _, c := range []struct {
		name, text string
		want       [][]string
	}{
		{"empty", "", nil},
		{"directives only", "#Version: 1.0\n#Fields: date time\n", nil},
		// bug streams-files-parser 26: predecessor, logs separated by blanks failed, and a #Fields that comes again shifted the columns
		{
			"#Fields comes again", "#Version: 1.0\n#Fields: date time cs-uri sc(X)\n2022-04-01 10:00:00 /x -\n#Fields: date cs-uri\n2022-04-01 /y",
			[][]string{{"date=2022-04-01", "time=10:00:00", "cs-uri=/x", "sc(X)=-"}, {"date=2022-04-01", "cs-uri=/y"}},
		},
		{
			"IIS starts again", iis + "#Fields: date s-ip cs(User-Agent)\r\n2022-04-01 ::1 Mozilla/5.0+(X11)\r\n" + iis + "#Fields: s-ip date\r\n127.0.0.1 2022-04-02\r\n",
			[][]string{{"date=2022-04-01", "s-ip=::1", "cs(User-Agent)=Mozilla/5.0+(X11)"}, {"s-ip=127.0.0.1", "date=2022-04-02"}},
		},
		{
			"CloudFront: blanks between names, TABs between values", "#Version: 1.0\n#Fields: date x-edge-location cs(User-Agent)\n2022-04-01\tFRA2\tMozilla/5.0%2520(X11)\n2022-04-01\t\tA B\n",
			[][]string{{"date=2022-04-01", "x-edge-location=FRA2", "cs(User-Agent)=Mozilla/5.0%2520(X11)"}, {"date=2022-04-01", "x-edge-location=", "cs(User-Agent)=A B"}},
		},
		{"TABs between names", "#Fields:\tdate\ttime\n2022-04-01\t10:00:00 +1\n", [][]string{{"date=2022-04-01", "time=10:00:00 +1"}}},
		{"runs of blanks", "#Fields:  a   b \n  1    2  \n3\t4\n5 \t6\t \n", [][]string{{"a=1", "b=2"}, {"a=3", "b=4"}, {"a=5", "b=6"}}},
		{"TABs between names decide", "#Fields:\ta\tb\n1 2\n3\t4\n", [][]string{{"!1 fields where #Fields names 2"}, {"a=3", "b=4"}}},
		{"the first entry decides, not the second", "#Fields: a b\n1 2\n3 \"4\t5\"\n", [][]string{{"a=1", "b=2"}, {"a=3", "b=4\t5"}}},
		{"a TAB in quotes decides nothing", "#Fields: a b\n\"1\t1\" 2\n", [][]string{{"a=1\t1", "b=2"}}},
		{"TABs for the whole file", "#Fields:\ta\tb\n1 1\t2\n#Fields: a b\n1 1\t2\n", [][]string{{"a=1 1", "b=2"}, {"a=1 1", "b=2"}}},
		{"strings", "#Fields: a b c\n\"x \"\"y\"\" z\" \"\" \"-\"\n", [][]string{{`a=x "y" z`, "b=", "c=-"}}},
		{"text behind the closing quote", "#Fields: a b\n\"x\"y z\n", [][]string{{"a=xy", "b=z"}}},
		{"quote inside", "#Fields: a b\n5\"x y\"\n", [][]string{{`a=5"x`, `b=y"`}}},
		{
			"unclosed quote", "#Fields: a b\n1 \"2\n3 4\n\"", [][]string{
				{"!unterminated quoted field opened at line 2: no closing quote before the end of the line"},
				{"a=3", "b=4"},
				{"!unterminated quoted field opened at line 4: no closing quote before the end of the line"},
			},
		},
		{"wrong numbers of fields", "#Fields: a b\n1\n1 2 3\n1 2\n", [][]string{{"!1 fields where #Fields names 2"}, {"!3 fields where #Fields names 2"}, {"a=1", "b=2"}}},
		{"TAB at the end of an entry", "#Fields:\ta\tb\n1\t2\t\n", [][]string{{"!3 fields where #Fields names 2"}}},
		{"blank lines", "\n#Fields: a b\n\n \t\n1 2\n\r\n3 4\r\n", [][]string{{"a=1", "b=2"}, {"a=3", "b=4"}}},
		{"case and blanks of directives", "#FIELDS : a b\n1 2\n#fields:b a\n3 4\n", [][]string{{"a=1", "b=2"}, {"b=3", "a=4"}}},
		{"directives that begin alike", "#Fields: a b\n#Fieldsets: c\n#Field: c\n#\n1 2\n", [][]string{{"a=1", "b=2"}}},
		{"Ctrl-Z", "#Fields: a b\n1 2\n\x1a", [][]string{{"a=1", "b=2"}}},
		{"a CR inside", "#Fields: a b\n1\r 2\r\n", [][]string{{"a=1\r", "b=2"}}},
		{"entry before #Fields", "#Version: 1.0\n1 2\n#Fields: a b\n", [][]string{{"!!reading line 2, byte 14: an entry stands before the first #Fields, which has to name its columns"}}},
		{"no names", "#Fields:\n1 2\n", [][]string{{"!!reading line 1, byte 0: #Fields names no column"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readLog(t, c.text, Options{}); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
			}
			if strings.Contains(c.text, "\r") {
				return
			}
			crlf := readLog(t, strings.ReplaceAll(c.text, "\n", "\r\n"), Options{})
			if !strings.HasPrefix(c.name, "entry before") && !reflect.DeepEqual(crlf, c.want) {
				t.Errorf("with CRLF: got %q, want %q", crlf, c.want)
			}
		})
	}
}

// bug streams-files-parser 26: predecessor, #Fields was looked for in the first 8 KiB
func TestW3C_FieldsFarBehind(t *testing.T) {
	text := "#Version: 1.0\n" + strings.Repeat("#Remark: nothing\n", 10_000) + "#Fields: a b\n1 2\n"
	if got, want := readLog(t, text, Options{}), [][]string{{"a=1", "b=2"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestW3C_Limits(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"#Fields: a\n12345678901\n", Options{MaxRow: 11}, "a=12345678901"},
		{"#Fields: a\n12345678901\r\n", Options{MaxRow: 11}, "a=12345678901"},
		{"#Fields: a\n12345678901", Options{MaxRow: 11}, "a=12345678901"},
		{"#Fields: a\n123456789012\n", Options{MaxRow: 11}, "!!cutting the row at line 2, byte 11: it is longer than 11 bytes"},
		{"#Fields: a\n123456789012", Options{MaxRow: 11}, "!!cutting the row at line 2, byte 11: it is longer than 11 bytes"},
		{"#Fields: a\n" + strings.Repeat("x", 50), Options{MaxRow: 11}, "!!cutting the row at line 2, byte 11: it is longer than 11 bytes"},
		{"#Fields: a b\n1 2\n", Options{MaxColumns: 2}, "a=1 b=2"},
		{"#Fields: a b\n1 2\n", Options{MaxColumns: 1}, "!!reading line 1, byte 0: #Fields names 2 columns, more than 1"},
	} {
		got := readLog(t, c.text, c.o)
		for n := range 64 {
			if again, whole := scanLog(t, c.text, n+1, c.o), scanLog(t, c.text, 65536, c.o); !reflect.DeepEqual(again, whole) {
				t.Errorf("%q in reads of %d bytes: got %+v, in one %+v", c.text, n+1, again, whole)
			}
		}
		if len(got) != 1 || strings.Join(got[0], " ") != c.want {
			t.Errorf("%q: got %q, want %s", c.text, got, c.want)
		}
	}
	w := NewW3C(&endless{text: strings.Repeat("x", 4096)}, Options{MaxRow: 1 << 20})
	if _, err := w.Next(); err == nil || err.Error() != "cutting the row at line 1, byte 0: it is longer than 1048576 bytes" {
		t.Errorf("a line for ever: got %v", err)
	}
	wide := "#Fields:" + strings.Repeat(" x", 1000) + "\n" + strings.Repeat("1 ", 1000) + "\n"
	if got := readLog(t, wide, Options{}); len(got) != 1 || len(got[0]) != 1000 {
		t.Errorf("1000 columns: got %q", got)
	}
}

func TestW3C_ResumesAtEveryEntry(t *testing.T) {
	resumeEverywhere(t, "#Version: 1.0\n#Fields: a b\n1\t2\n3 3\t4\n#Fields: c\n5\nx\ty\n6\n")
	resumeEverywhere(t, "#Fields: a b\n1 2\n3\t4\n3 4\t5\n#Fields: c b\n5\t6\n7 8\n9\n")
	if _, err := ResumeW3C(strings.NewReader(""), []byte("#Version: 1.0\n"), W3CPosition{Byte: 30, Fields: 3}, Options{}); err == nil || err.Error() != "resuming a log at byte 30: no #Fields at byte 3" {
		t.Errorf("got %v", err)
	}
}

func resumeEverywhere(t *testing.T, text string) {
	all := scanLog(t, text, 65536, Options{})
	w := NewW3C(strings.NewReader(text), Options{})
	for done := 1; ; done++ {
		_, err := w.Next()
		if err == io.EOF {
			break
		}
		at := w.Position()
		r, err := ResumeW3C(strings.NewReader(text[at.Byte:]), []byte(text[at.Fields:]), at, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := done; ; i++ {
			row, err := r.Next()
			var bad *RowError
			if err == io.EOF {
				if i != len(all) {
					t.Errorf("after %d entries: %d more, want %d", done, i-done, len(all)-done)
				}
				break
			}
			if errors.As(err, &bad) {
				row = &Row{Byte: bad.Byte, Line: bad.Line}
			} else if err != nil {
				t.Fatal(err)
			}
			if i >= len(all) || (bad == nil) != !strings.HasPrefix(all[i].values[0], "!") || row.Byte != all[i].byte || row.Line != all[i].line || !reflect.DeepEqual(r.Fields(), all[i].names) {
				t.Fatalf("after %d entries: got %+v %q, want one of %+v", done, row, r.Fields(), all)
			}
		}
	}
}

func TestW3C_ReportsReaderErrors(t *testing.T) {
	broken := errors.New("the connection broke")
	w := NewW3C(io.MultiReader(strings.NewReader("#Fields: a\n1\n2"), iotest.ErrReader(broken)), Options{})
	if row, err := w.Next(); err != nil || string(row.Text) != "1" {
		t.Errorf("the entry before comes first: got %v", err)
	}
	for range 2 {
		if _, err := w.Next(); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}
