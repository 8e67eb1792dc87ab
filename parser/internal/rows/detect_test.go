package rows

import (
	"reflect"
	"strings"
	"testing"
)

func detect(t *testing.T, sample string, atEOF bool, g Given) Dialect {
	t.Helper()
	d, err := Detect([]byte(sample), atEOF, g)
	if err != nil {
		t.Fatalf("%q: %v", sample, err)
	}
	return d
}

func TestDetect_Delimiter(t *testing.T) {
	many := strings.Repeat("1;2;3\n", 30)
	for _, c := range []struct {
		name, sample string
		given        Given
		want         string
	}{
		{"comma", "a,b\n1,2\n", Given{}, ","},
		{"semicolon, decimal commas", "a;b\n1,5;2\n3,5;4\n", Given{}, ";"},
		{"TAB", "a\tb\n1,5\t2\n", Given{}, "\t"},
		{"bar", "a|b\n1,5|2;3\n", Given{}, "|"},
		{"nothing", "", Given{}, ","},
		{"one column", "a\n1\n2\n", Given{}, ","},
		{"one column of texts with commas", "text\nx, y\nz\n", Given{}, ";"},
		{"one column, given", "x, y\nz\n", Given{Columns: 1}, ";"},
		{"header only", "a;b;c", Given{}, ";"},
		{"a tie is a comma's", "a,b;c\n1,2;3\n", Given{}, ","},
		{"a tie is not a comma's that cuts through quotes", "a;b\n\"1,2\";\"3,4\"\n", Given{}, ";"},
		{"header is shorter than the other delimiter's", "a;b;c\n1;2;3,4\n", Given{}, ";"},
		{"short rows", "a;b;c\n1;2\n3\n1;2;3\n", Given{}, ";"},
		{"the most rows of two fields", "a;b,c\n1;2\n3;4\n5,6\n", Given{}, ";"},
		{"as many of them", "a,b;c\n1,2;3\n4\n", Given{}, ","},
		{"the most of equal rows, where each has longer ones", "a,b;c\n" + strings.Repeat("1,2;3\n", 30) + "1,2;3;4\n1,2,3\n1,2;3;4\n", Given{}, ","},
		{"surplus fields that are empty", "a;b\n1;2;;\n3;4\n", Given{}, ";"},
		// bug streams-files-parser 22: flow PR #1359, the score chose a delimiter that makes rows longer than the header
		{"longer rows", "name,note\nx,a;b;c\ny,d;e;f\nz;u,g\n", Given{}, ","},
		{"longer rows, no delimiter left", "a;b\n1;2;3\n4;5;6\n7;8;9\n", Given{}, ","},
		{"one long row in many", "a;b;c\n" + many + "1;2;3;4\n", Given{}, ";"},
		{"one long row in few", "a;b;c\n1;2;3\n1;2;3;4\n", Given{}, ","},
		{"names given", "1;2;3,5\n4;5\n", Given{Columns: 3}, ";"},
		{"names given, none fits", "1\n2,3,4,5", Given{Columns: 3}, ","},
		{"lines skipped", "some, text, here\nmore, of it\na;b\n1,5;2\n", Given{SkipLines: 2}, ";"},
		{"more lines skipped than there are", "a;b\n", Given{SkipLines: 2}, ","},
		{"comments", "# x, y\na;b\n# z, u, v\n1,5;2\n", Given{Comment: "#"}, ";"},
		{"sep=", "sep=|\na,b\n1,2\n", Given{}, "|"},
		{"sep= behind skipped lines", "x\nsep=|\na,b\n1,2\n", Given{SkipLines: 1}, "|"},
		{"given", "a,b\n1,2\n", Given{Delimiter: ";"}, ";"},
		{"auto", "a;b\n1;2\n", Given{Delimiter: "auto"}, ";"},
		{"the quote is no delimiter", "|a|;|b|\n|1|;|2|\n", Given{Quote: option("|")}, ";"},
		{"the comma is the quote", "a;b\n,1;x,;2\n", Given{Quote: option(",")}, ";"},
		{"the comma is the escape", "a\n1\n", Given{Escape: ","}, ";"},
		{"the comma ends rows", "a,1,2,", Given{End: ","}, ";"},
		{"CR", "a;b\r1,5;2\r", Given{}, ";"},
		// bug streams-files-parser 31: DuckDB #16167, NUL was chosen
		{"NUL is nothing", "a\x00b\n1\x002\n", Given{}, ","},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := detect(t, c.sample, true, c.given); d.Delimiter != c.want {
				t.Errorf("%q: got %v, want %q", c.sample, d, c.want)
			}
		})
	}
}

func TestDetect_Quote(t *testing.T) {
	auto := Given{Quote: option("auto")}
	for _, c := range []struct {
		name, sample string
		given        Given
		want         byte
	}{
		{"absent", "a,b\n'x,y',z\n", Given{}, '"'},
		{"none", "a,b\n\"x,y\",z\n", Given{Quote: option("")}, 0},
		{"auto, single", "a,b\n'x,y',z\n", auto, '\''},
		{"auto, double", "a,b\n\"x,y\",z\n", auto, '"'},
		{"auto, neither", "a,b\nx,z\n", auto, '"'},
		{"auto, apostrophes", "a,b\n'tis,z\ndon't,'twas\n", auto, '"'},
		{"auto, an apostrophe among quotes", "a,b\n'x',y\n'tis,z\n", auto, '"'},
		{"auto, text behind a quote", "a,b\n'x',y\n'o'clock,z\n", auto, '"'},
		{"auto, both", "a,b\n\"x,1\",'y'\n", auto, '"'},
		{"auto, single ones in double ones", "a,b\n\"'x'\",z\n", auto, '"'},
		{"auto, double ones inside", "a;b\n'6\" x';'z'\n", auto, '\''},
		{"auto, NUL", "a,b\n\x00x,y\x00,z\n", auto, '"'},
		{"given", "a,b\n\"x\",z\n", Given{Quote: option("'")}, '\''},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := detect(t, c.sample, true, c.given); d.Quote != c.want {
				t.Errorf("%q: got %v, want %q", c.sample, d, c.want)
			}
		})
	}
}

// bug streams-files-parser 21: predecessor, quoting was off for the whole file if the first 2 KiB had no quote
func TestDetect_QuotesBehindTheSample(t *testing.T) {
	for _, size := range []int{3 << 10, SampleSize + 100} {
		text := "a,b\n" + strings.Repeat("1,2\n", size/4) + "\"x,y\",z\n"
		got := read(t, text, Given{}, Options{})
		if last := got[len(got)-1]; !reflect.DeepEqual(last, []string{"x,y", "z"}) {
			t.Errorf("after %d bytes: got %q", size, last)
		}
	}
}

// bug streams-files-parser 30: DuckDB #25827, header and rows vanished when the dialect changes late
func TestDetect_DialectChangesBehindTheSample(t *testing.T) {
	n := SampleSize / 4
	text := "a,b\n" + strings.Repeat("1,2\n", n) + strings.Repeat("3;4\n", n)
	got := read(t, text, Given{}, Options{})
	if len(got) != 1+2*n || !reflect.DeepEqual(got[0], []string{"a", "b"}) || !reflect.DeepEqual(got[n], []string{"1", "2"}) || !reflect.DeepEqual(got[2*n], []string{"3;4"}) {
		t.Errorf("%d rows of %d", len(got), 1+2*n)
	}
}

func TestDetect_SampleEndsInside(t *testing.T) {
	for _, c := range []struct {
		name, sample string
		given        Given
		delimiter    string
		end          End
	}{
		{"a row", "a;b\n1;2\n3,", Given{}, ";", LineEnd},
		{"a quoted field", "a;b\n1;2\n3;\"4,5,6\n,,,\n", Given{}, ";", LineEnd},
		{"the header", "a;b;c", Given{}, ";", LineEnd},
		{"a first row under names that are given", "1;2;3", Given{Columns: 3}, ";", LineEnd},
		{"a CRLF", "a;b\r", Given{}, ";", LineEnd},
		{"a CRLF, the second", "a;b\r1;2\r", Given{}, ";", '\r'},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := detect(t, c.sample, false, c.given); d.Delimiter != c.delimiter || d.End != c.end {
				t.Errorf("%q: got %v", c.sample, d)
			}
		})
	}
	long := "a;b\n" + strings.Repeat("1;2\n", SampleSize/4)
	if d := detect(t, long+strings.Repeat("1,2,3\n", SampleSize), true, Given{}); d.Delimiter != ";" {
		t.Errorf("what is behind the sample counts: %v", d)
	}
}

func TestDetect_RefusesConfigurations(t *testing.T) {
	for _, c := range []struct {
		given Given
		want  string
	}{
		{Given{Delimiter: "\n"}, `reading the dialect: the delimiter "\n" holds a line end`},
		{Given{Delimiter: "\x1e", End: "\x1e"}, `reading the dialect: the delimiter "\x1e" holds a line end`},
		{Given{Delimiter: `"`}, `reading the dialect: the delimiter "\"" holds the quote '"'`},
		{Given{Delimiter: `\`, Escape: `\`}, `reading the dialect: the delimiter "\\" holds the escape '\\'`},
		{Given{Delimiter: "\x00"}, `reading the dialect: the delimiter "\x00" is not text`},
		{Given{Delimiter: "\xff"}, `reading the dialect: the delimiter "\xff" is not text`},
		{Given{Quote: option("\n")}, `reading the dialect: the quote '\n' is a line end or no ASCII character`},
		{Given{Quote: option("\x00")}, `reading the quote "\x00": it is not one ASCII character`},
		{Given{Quote: option(`""`)}, `reading the quote "\"\"": it is not one ASCII character`},
		{Given{Quote: option("»")}, `reading the quote "»": it is not one ASCII character`},
		{Given{Escape: "\r"}, `reading the dialect: the escape '\r' is a line end or no ASCII character`},
		{Given{Escape: "\x00"}, `reading the escape "\x00": it is not one ASCII character`},
		{Given{End: "ab"}, `reading the line ending "ab": it is neither "\r\n", auto nor one ASCII character`},
		{Given{End: "\x00"}, `reading the line ending "\x00": it is neither "\r\n", auto nor one ASCII character`},
		{Given{Comment: "#\n"}, `reading the dialect: the comment prefix "#\n" holds a line end`},
	} {
		if _, err := Detect([]byte("a,b\n"), true, c.given); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.given, err, c.want)
		}
	}
}

func TestDialect_String(t *testing.T) {
	for _, c := range []struct {
		d    Dialect
		want string
	}{
		{Dialect{Delimiter: ",", Quote: '"', End: LineEnd}, `delimiter ",", rows end with LF or CRLF, quote "`},
		{Dialect{Delimiter: "\t", Escape: '\\', End: AnyEnd, Comment: "#"}, `delimiter "\t", rows end with LF, CRLF or CR, no quote, escape \, comment "#"`},
		{Dialect{Delimiter: ";", Quote: '\'', End: '\r'}, `delimiter ";", rows end with "\r", quote '`},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
