package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		c := copy(b[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

func TestScanner_RowLimit(t *testing.T) {
	const limit = 16
	long := "!!cutting the row at line 2, byte 4: it is longer than 16 bytes"
	for _, c := range []struct {
		name, text string
		want       [][]string
	}{
		{"as long as allowed", "a,b\n12345678,1234567\n1,2\n", [][]string{{"a", "b"}, {"12345678", "1234567"}, {"1", "2"}}},
		{"as long as allowed, CRLF", "a,b\n12345678,1234567\r\n1,2\n", [][]string{{"a", "b"}, {"12345678", "1234567"}, {"1", "2"}}},
		{"as long as allowed, quoted", "a,b\n12345678,\"12345\"\r\n1,2\n", [][]string{{"a", "b"}, {"12345678", "12345"}, {"1", "2"}}},
		{"as long as allowed, at the end", "a,b\n12345678,1234567", [][]string{{"a", "b"}, {"12345678", "1234567"}}},
		{"one more", "a,b\n12345678,12345678\n1,2\n", [][]string{{"a", "b"}, {long}}},
		{"one more, CRLF", "a,b\n12345678,12345678\r\n1,2\n", [][]string{{"a", "b"}, {long}}},
		{"one more, at the end", "a,b\n12345678,12345678", [][]string{{"a", "b"}, {long}}},
		{"one more, quoted", "a,b\n12345678,\"123456\"\n1,2\n", [][]string{{"a", "b"}, {long}}},
		{"much more", "a,b\n12345678," + strings.Repeat("x", 100) + "\n1,2\n", [][]string{{"a", "b"}, {long}}},
		{
			"unclosed, resynchronised within the limit", "a,b\n1,\"2\n3,4\n5,6\n" + strings.Repeat("7,8\n", 20),
			append([][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: no closing quote within the row limit of 16 bytes"}, {"3", "4"}, {"5", "6"}}, repeat(20, "7", "8")...),
		},
		{
			"closed behind the limit", "a,b\n1,\"2\n" + strings.Repeat("7,8\n", 20) + "\"\n",
			append(append([][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: no closing quote within the row limit of 16 bytes"}}, repeat(20, "7", "8")...), []string{"!unterminated quoted field opened at line 23: no closing quote before the end of the file"}),
		},
		{
			"a field opens within the limit", "a,b\n1,\"2\n12345678,\"3\"\n5,6\n",
			[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: a field of line 3 opens with a quote before a closing one"}, {"12345678", "3"}, {"5", "6"}},
		},
		{
			"a field opens at the limit", "a,b\n1,\"2\n1234567890,\"3\"\n5,6\n",
			[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: a field of line 3 opens with a quote before a closing one"}, {"1234567890", "3"}, {"5", "6"}},
		},
		{"a field opens across the limit", "a,b\n1,\"2\n12345678901,\"3\"\n5,6\n", [][]string{{"a", "b"}, {long}}}, // the quote may close the row, which is too long then
		{
			"a field opens behind the limit", "a,b\n1,\"2\n123456789012,\"3\"\n5,6\n",
			[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: no closing quote within the row limit of 16 bytes"}, {"123456789012", "3"}, {"5", "6"}},
		},
		{"unclosed, a CRLF across the limit", "a,b\n1,\"" + strings.Repeat("x", 14) + "\r\n7,8\n", [][]string{{"a", "b"}, {long + ", in a quoted field"}}},
		{"unclosed, no line end within the limit", "a,b\n1,\"" + strings.Repeat("x", 100) + "\n7,8\n", [][]string{{"a", "b"}, {long + ", in a quoted field"}}},
	} {
		for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', End: AnyEnd}, {Delimiter: ",", Quote: '"', Escape: '\\', End: LineEnd}} {
			whole := scanAll(t, c.text, d, Options{MaxRow: limit})
			for n := range 40 {
				if again := scan(t, c.text, n+1, d, Options{MaxRow: limit}); !reflect.DeepEqual(again, whole) {
					t.Errorf("%s, %v, in reads of %d bytes: got %q, in one %q", c.name, d, n+1, values(again), values(whole))
				}
			}
			got := values(whole)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %v:\n got %q\nwant %q", c.name, d, got, c.want)
			}
		}
	}
}

func repeat(n int, values ...string) [][]string {
	var all [][]string
	for range n {
		all = append(all, values)
	}
	return all
}

// bug streams-files-parser 43: Airbyte, fields of more than 128 KiB failed
func TestScanner_BigFields(t *testing.T) {
	big := strings.Repeat("x\n", 1<<20)
	text := "a,b\n1,\"" + big + "\"\n2," + strings.Repeat("y", 3<<20) + "\n3,4\n"
	for _, d := range someDialects[:2] {
		got := scan(t, text, 4096, d, Options{})
		if len(got) != 4 || got[1].values[1] != big || len(got[2].values[1]) != 3<<20 || got[3].line != 1<<20+4 {
			t.Errorf("%d rows with %v", len(got), d)
		}
	}
}

func TestScanner_ColumnLimit(t *testing.T) {
	for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', End: AnyEnd}} {
		wide := strings.Repeat(",", 99_999) + "\n1,2\n"
		if got := scan(t, wide, 65536, d, Options{}); len(got) != 2 || len(got[0].values) != 100_000 {
			t.Errorf("100,000 columns: %d rows", len(got))
		}
		got := scan(t, "a\n,"+wide, 65536, d, Options{})
		if len(got) != 2 || got[1].values[0] != "!!cutting the row at line 2, byte 2: it has more than 100000 fields" {
			t.Errorf("100,001 columns: %d rows", len(got))
		}
		for columns, want := range map[int]string{1: "!!cutting the row at line 1, byte 0: it has more than 1 fields", 2: "a", 3: "a"} {
			if got := scanAll(t, "a,\"b\"\n", d, Options{MaxColumns: columns}); got[0].values[0] != want {
				t.Errorf("%d columns allowed: got %q", columns, got[0].values)
			}
		}
	}
}

// A row with too many fields is told as soon as it is seen: neither memory nor waiting for as much as a row may have is needed for it.
func TestScanner_ColumnLimitReadsNoFurther(t *testing.T) {
	for _, d := range []Dialect{usual, {Delimiter: ",", Quote: '"', End: AnyEnd}} {
		read := &counting{r: &endless{text: ","}}
		s := NewScanner(read, d, Options{MaxColumns: 1000}, 0, 1)
		if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "more than 1000 fields") || read.n > usualBuffer {
			t.Errorf("%v after %d bytes", err, read.n)
		}
	}
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += n
	return n, err
}

// Whatever comes, memory stays near the row limit.
func TestScanner_MemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	for _, c := range []struct{ name, text, want string }{
		{"a field for ever", "x", "it is longer than 1048576 bytes"},
		{"a quoted field for ever", "\"", ""},
		{"a quoted field of text", "\"x", ""},
		{"lines in quotes", "\"x\n\" \n", ""},
		{"fields for ever", ",", "it has more than 100000 fields"},
		{"blank lines", "\n", ""},
		{"comments", "#x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s := NewScanner(io.LimitReader(&endless{text: strings.Repeat(c.text, 4096)}, 16<<20), Dialect{Delimiter: ",", Quote: '"', End: LineEnd, Comment: "#"}, Options{MaxRow: limit}, 0, 1)
			var last error
			for last == nil || errors.As(last, new(*RowError)) {
				_, last = s.Next()
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*limit {
				t.Errorf("%d bytes were allocated under a limit of %d", used, limit)
			}
			var l *LimitError
			if c.want != "" && (!errors.As(last, &l) || l.Reason != c.want) {
				t.Errorf("got %v", last)
			}
		})
	}
}

func TestOptions_Defaults(t *testing.T) {
	s := NewScanner(&endless{text: strings.Repeat("x", 1<<16)}, usual, Options{}, 0, 1)
	if _, err := s.Next(); err == nil || err.Error() != "cutting the row at line 1, byte 0: it is longer than 67108864 bytes" {
		t.Errorf("got %v", err)
	}
	if len(s.buf) > 68<<20 {
		t.Errorf("the buffer has %d bytes", len(s.buf))
	}
}

func TestScanner_AllocatesNothingPerRow(t *testing.T) {
	s := NewScanner(&endless{text: "1,\"2\"\"3\",4\n\"5\n5\",6\"\n"}, usual, Options{}, 0, 1)
	w := NewW3C(io.MultiReader(strings.NewReader("#Fields: a b\n"), &endless{text: "1 \"2 3\"\n"}), Options{})
	var dst []byte
	next := func() {
		row, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range row.Fields {
			dst = s.dialect.AppendField(dst[:0], row.Text, f)
		}
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range 100_000 {
		next() // until the buffers have their size
	}
	if n := testing.AllocsPerRun(1000, next); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

// A stray quote in front of very many lines is searched for once, not once for each line.
func TestScanner_UnclosedQuotesCostLinearTime(t *testing.T) {
	const lines = 200_000
	var text bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&text, "%d,\"\"\"\"x\"\"\n", i)
	}
	s := NewScanner(io.MultiReader(strings.NewReader("0,\"\"\"\n"), &text), usual, Options{}, 0, 1)
	rows, rejected := 0, 0
	for {
		_, err := s.Next()
		if err == io.EOF {
			break
		}
		var bad *RowError
		switch {
		case err == nil:
			rows++
		case errors.As(err, &bad):
			rejected++
		default:
			t.Fatal(err)
		}
	}
	if rows != lines || rejected != 1 {
		t.Errorf("%d rows and %d rejected, want %d and 1", rows, rejected, lines)
	}
}
