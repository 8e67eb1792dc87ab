package rows

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// pieces gives its text in reads of n bytes at most, and the end with the last of them where n is even: readers do either.
type pieces struct {
	text string
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.n)], p.text)
	p.text = p.text[n:]
	if p.text == "" && (n == 0 || p.n%2 == 0) {
		return n, io.EOF
	}
	return n, nil
}

// record is a row as tests compare it: values, or one string that begins with ! for a row that was skipped, !! for the end by an error.
type record struct {
	values []string
	flags  []uint8
	byte   int64
	line   int64
}

// scan cuts text, and checks what holds for any text: where rows and lines begin, and that no byte but line ends is between two rows.
func scan(t testing.TB, text string, n int, d Dialect, o Options) []record {
	t.Helper()
	s := NewScanner(&pieces{text, n}, d, o, 0, 1)
	s.buf = make([]byte, padding+n) // small, so that rows are cut anew at every length
	var got []record
	counted, line := 0, int64(1)
	for done := 0; ; {
		row, err := s.Next()
		var bad *RowError
		var r record
		var raw string
		switch {
		case err == io.EOF:
			if o.SkipLines == 0 && d.Comment == "" && !strings.HasPrefix(strings.ToLower(text), "sep=") {
				checkGap(t, strings.TrimSuffix(text[done:], "\x1a"), d)
			}
			return got
		case errors.As(err, &bad):
			r, raw = record{values: []string{"!" + bad.Reason}, byte: bad.Byte, line: bad.Line}, string(bad.Raw)
		case err != nil:
			return append(got, record{values: []string{"!!" + err.Error()}})
		default:
			r, raw = record{byte: row.Byte, line: row.Line}, string(row.Text)
			for _, f := range row.Fields {
				r.values = append(r.values, string(d.AppendField(nil, row.Text, f)))
				r.flags = append(r.flags, f.Flags)
			}
		}
		if !strings.HasPrefix(text[r.byte:], raw) {
			t.Fatalf("%q: a row %q is said to begin at byte %d", text, raw, r.byte)
		}
		line += countLines([]byte(text[counted:r.byte]), d.End)
		if counted = int(r.byte); line != r.line {
			t.Fatalf("%q: the row at byte %d is on line %d, not %d", text, r.byte, line, r.line)
		}
		if o.SkipLines == 0 && d.Comment == "" && (done > 0 || r.byte == 0) {
			checkGap(t, text[done:r.byte], d)
		}
		done = int(r.byte) + len(raw)
		if at, _ := s.Position(); at < int64(done) {
			t.Fatalf("%q: the position behind the row at byte %d is %d", text, r.byte, at)
		}
		got = append(got, r)
	}
}

func checkGap(t testing.TB, gap string, d Dialect) {
	t.Helper()
	ends := map[End]string{LineEnd: "\r\n", AnyEnd: "\r\n"}[d.End]
	if ends == "" {
		ends = string(rune(d.End))
	}
	if strings.Trim(gap, ends) != "" {
		t.Fatalf("the bytes %q are in no row", gap)
	}
}

// scanAll cuts text in reads of 1, 7 and 65536 bytes, which has to give the same rows.
func scanAll(t testing.TB, text string, d Dialect, o Options) []record {
	t.Helper()
	whole := scan(t, text, 65536, d, o)
	for _, n := range []int{1, 7} {
		if got := scan(t, text, n, d, o); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q in reads of %d bytes: got %q, in one %q", text, n, values(got), values(whole))
		}
	}
	for _, o.Text = range []int{1, len(text), 2 * len(text)} {
		if got := scan(t, text, 7, d, o); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q said to have %d bytes: got %q, otherwise %q", text, o.Text, values(got), values(whole))
		}
	}
	return whole
}

func values(records []record) [][]string {
	var all [][]string
	for _, r := range records {
		all = append(all, r.values)
	}
	return all
}

// read detects and cuts.
func read(t testing.TB, text string, g Given, o Options) [][]string {
	t.Helper()
	g.SkipLines = o.SkipLines
	d, err := Detect([]byte(text), true, g)
	if err != nil {
		t.Fatalf("detecting the dialect of %q: %v", text, err)
	}
	return values(scanAll(t, text, d, o))
}
