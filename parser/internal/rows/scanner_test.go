package rows

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

var usual = Dialect{Delimiter: ",", Quote: '"', End: LineEnd}

func TestScanner_Flags(t *testing.T) {
	for text, want := range map[string][]uint8{
		`a,"",c`:            {0, Quoted, 0},
		`a,,c`:              {0, 0, 0},
		`"x""y","z"`:        {Quoted | Escaped, Quoted},
		`"abc"def,"abc"`:    {Quoted | Escaped | Lenient, Quoted},
		`5" x,"-",-`:        {0, Quoted, 0},
		"\"a\nb\",\"\"\"\"": {Quoted, Quoted | Escaped},
	} {
		for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', Escape: '\\', End: AnyEnd}} {
			if got := scanAll(t, text, d, Options{}); len(got) != 1 || !reflect.DeepEqual(got[0].flags, want) {
				t.Errorf("%q with %v: got %+v, want %v", text, d, got, want)
			}
		}
	}
	escaped := scanAll(t, `x\,y,z`, Dialect{Delimiter: ",", Escape: '\\', End: LineEnd}, Options{})
	if want := []uint8{Escaped, 0}; !reflect.DeepEqual(escaped[0].flags, want) {
		t.Errorf("escape: got %v, want %v", escaped[0].flags, want)
	}
}

func TestScanner_CountsLenientFields(t *testing.T) {
	s := NewScanner(strings.NewReader("\"a\"b,c,\"d\" \n\"a\",5\" x\n"), usual, Options{}, 0, 1)
	for _, want := range []int{2, 0} {
		if row, err := s.Next(); err != nil || row.Lenient != want {
			t.Errorf("got %+v, %v, want %d", row, err, want)
		}
	}
}

// The text of a field that is not Escaped is its value: nothing was copied for it.
func TestRow_RawIsTheValue(t *testing.T) {
	s := NewScanner(strings.NewReader("\"a\r\nb\", c \r\n"), usual, Options{}, 0, 1)
	row, err := s.Next()
	if err != nil || string(row.Raw(row.Fields[0])) != "a\r\nb" || string(row.Raw(row.Fields[1])) != " c " || string(row.Text) != "\"a\r\nb\", c " {
		t.Errorf("got %+v, %v", row, err)
	}
}

func TestRowError_TellsPlaceAndText(t *testing.T) {
	for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', End: AnyEnd}} {
		s := NewScanner(strings.NewReader("a,b\r\n\"1\r\n1\",\"x\r\n2,y\r\n"), d, Options{}, 0, 1)
		_, _ = s.Next()
		_, err := s.Next()
		var bad *RowError
		if !errors.As(err, &bad) || string(bad.Raw) != "\"1\r\n1\",\"x" || bad.Byte != 5 || bad.Line != 2 {
			t.Fatalf("%v: got %+v", d, bad)
		}
		if want := "cutting the row at line 2, byte 5: unterminated quoted field opened at line 3: no closing quote before the end of the file"; err.Error() != want {
			t.Errorf("%v: got %v, want %s", d, err, want)
		}
		if at, line := s.Position(); at != 16 || line != 4 {
			t.Errorf("%v: goes on at byte %d, line %d", d, at, line)
		}
	}
}

// bug streams-files-parser 33: DuckDB #16760, #13723, a line end in a quoted header and lines to skip
func TestScanner_SkipsPhysicalLines(t *testing.T) {
	for _, c := range []struct {
		text string
		skip int
		want [][]string
	}{
		{"x\n\ny\n\"a\nb\",c\n1,2\n", 3, [][]string{{"a\nb", "c"}, {"1", "2"}}},
		{"\"x\ny\",z\na,b\n", 2, [][]string{{"a", "b"}}},
		{"x\r\ny\r\na,b\r\n", 2, [][]string{{"a", "b"}}},
		{"x\ry\ra,b\r", 2, [][]string{{"a", "b"}}},
		{"x\n\"unclosed\na,b\n", 2, [][]string{{"a", "b"}}},
		{"x\nsep=;\na;b\n", 1, [][]string{{"a", "b"}}},
		{"x\na,b", 1, [][]string{{"a", "b"}}},
		{"x\ny\n", 2, nil},
		{"x", 1, nil},
		{"x\n", 5, nil},
		{strings.Repeat("x", 100_000) + "\na,b\n", 1, [][]string{{"a", "b"}}},
	} {
		if got := read(t, c.text, Given{}, Options{SkipLines: c.skip}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%.40q without %d lines: got %q, want %q", c.text, c.skip, got, c.want)
		}
	}
}

// A file that is cut between CR and LF by a read is one line end, before the first row, too.
func TestScanner_SkipsCRLFAsOne(t *testing.T) {
	d := Dialect{Delimiter: ",", Quote: '"', End: AnyEnd, Comment: "#"}
	got := scanAll(t, "x\r\ny\r#c\r\n#d\r\ra,b\r\n1,2", d, Options{SkipLines: 2})
	if want := [][]string{{"a", "b"}, {"1", "2"}}; !reflect.DeepEqual(values(got), want) || got[0].line != 6 || got[1].line != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestScanner_ResumesAtEveryRow(t *testing.T) {
	text := "x\nsep=,\na,b\r\n1,\"2\n2\"\n\n3,\"unclosed\n4,5\n# c\n6,\"7\"x\n8,9"
	for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', End: AnyEnd, Escape: '\\', Comment: "#"}} {
		s := NewScanner(&pieces{text, 3}, d, Options{SkipLines: 1}, 0, 1)
		all := scan(t, text, 3, d, Options{SkipLines: 1})
		for done := 0; ; done++ {
			at, line := s.Position()
			var rest []record
			for r := NewScanner(strings.NewReader(text[at:]), d, Options{SkipLines: 1}, at, line); at > 0; {
				row, err := r.Next()
				var bad *RowError
				if errors.As(err, &bad) {
					rest = append(rest, record{byte: bad.Byte, line: bad.Line})
					continue
				}
				if err != nil {
					break
				}
				rest = append(rest, record{byte: row.Byte, line: row.Line})
			}
			for i, r := range rest {
				if want := all[done+i]; r.byte != want.byte || r.line != want.line {
					t.Errorf("resumed at byte %d: row %d is at byte %d, line %d, want %d, %d", at, i, r.byte, r.line, want.byte, want.line)
				}
			}
			if at > 0 && len(rest) != len(all)-done {
				t.Errorf("resumed at byte %d: %d rows, want %d", at, len(rest), len(all)-done)
			}
			var bad *RowError
			if _, err := s.Next(); err != nil && !errors.As(err, &bad) {
				break
			}
		}
	}
}

func TestScanner_ReportsReaderErrors(t *testing.T) {
	broken := errors.New("the connection broke")
	for _, rest := range []string{"", "3,4", "3,\"4\n", "3,\"4\"", "3,4\r"} {
		s := NewScanner(io.MultiReader(strings.NewReader("1,2\n"+rest), iotest.ErrReader(broken)), usual, Options{}, 0, 1)
		if row, err := s.Next(); err != nil || string(row.Text) != "1,2" {
			t.Errorf("%q: the row before comes first: got %v", rest, err)
		}
		for range 2 {
			if _, err := s.Next(); !errors.Is(err, broken) {
				t.Errorf("%q: got %v", rest, err)
			}
		}
	}
	wrapped := fmt.Errorf("decompressing: %w", io.EOF)
	s := NewScanner(iotest.ErrReader(wrapped), usual, Options{}, 0, 1)
	if _, err := s.Next(); err == io.EOF || !errors.Is(err, wrapped) {
		t.Errorf("an error that wraps io.EOF is none: got %v", err)
	}
	s = NewScanner(stuck{}, usual, Options{}, 0, 1)
	if _, err := s.Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader without progress: got %v", err)
	}
	s = NewScanner(strings.NewReader("a"), Dialect{Quote: '"', End: LineEnd}, Options{}, 0, 1)
	if _, err := s.Next(); err == nil || err.Error() != "reading the dialect: the delimiter is empty" {
		t.Errorf("no dialect: got %v", err)
	}
}

// hesitant gives nothing in every second read.
type hesitant struct {
	io.Reader
	turn int
}

func (h *hesitant) Read(b []byte) (int, error) {
	if h.turn++; h.turn%2 == 1 {
		return 0, nil
	}
	return h.Reader.Read(b[:1])
}

func TestScanner_WaitsForHesitantReaders(t *testing.T) {
	s := NewScanner(&hesitant{Reader: strings.NewReader(strings.Repeat("x", 10*emptyReads) + "\n")}, usual, Options{}, 0, 1)
	if row, err := s.Next(); err != nil || len(row.Text) != 10*emptyReads {
		t.Errorf("got %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// bug streams-files-parser 44: Airbyte, dialects stood in a table of the process, and parallel streams took each other's
func TestScanner_SharesNothing(t *testing.T) {
	var wait sync.WaitGroup
	for _, d := range someDialects {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(9, 9))
			for range 200 {
				text := soup(random)
				if got, want := values(scan(t, text, 5, d, Options{})), oracle(text, d); !reflect.DeepEqual(got, want) {
					t.Errorf("%q with %v: got %q, want %q", text, d, got, want)
				}
			}
		})
	}
	wait.Wait()
}

// bug streams-files-parser 35: DuckDB #18577, copies with LF and with CRLF gave other results
func TestScanner_LFAndCRLFAreEqual(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	rows := 0
	for range 1200 {
		text := strings.ReplaceAll(soup(random), "\r", "")
		crlf := strings.ReplaceAll(text, "\n", "\r\n")
		for _, g := range []Given{{}, {Escape: `\`}, {End: "\r\n"}, {Delimiter: "||"}, {Quote: option("auto")}, {End: "\r\n", Escape: `\`, Delimiter: ";"}} {
			want, got := read(t, text, g, Options{}), read(t, crlf, g, Options{})
			for _, row := range got {
				for i, v := range row {
					row[i] = strings.ReplaceAll(v, "\r\n", "\n") // those in values stay as they are
				}
			}
			rows += len(want)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q with %+v: got %q, with CRLF %q", text, g, want, got)
			}
		}
	}
	if rows < 5_000 {
		t.Errorf("%d rows are no test", rows)
	}
}

// bug streams-files-parser 38: Polars #10585, #14235, rows in are rows out and rows rejected
func TestScanner_LosesNoRow(t *testing.T) {
	random := rand.New(rand.NewPCG(38, 0))
	lines := []string{"1,2", "x,\"y\"", "5\" z,w", "a,\"b\"c", "s,\"quote is not closed", "", "\"\"", "long,long,long,long", " "}
	for range 2000 {
		var text strings.Builder
		in, open := 0, 0
		for range random.IntN(12) {
			line := lines[random.IntN(len(lines))]
			if strings.Contains(line, "not closed") {
				open++
			} else if open > 0 && strings.HasPrefix(line, `5"`) {
				continue // nobody can tell that this quote closes nothing
			}
			text.WriteString(line + "\n")
			if line != "" {
				in++
			}
		}
		if got := scanAll(t, text.String(), usual, Options{}); len(got) != in {
			t.Fatalf("%q: %d rows, got %q", text.String(), in, values(got))
		}
	}
}
