package parser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rowsOf makes a CSV file of good and bad rows: "3g2b" is three good ones, then two bad ones.
func rowsOf(t testing.TB, pattern string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b\n")
	for len(pattern) > 0 {
		n, i := 0, 0
		for pattern[i] >= '0' && pattern[i] <= '9' {
			n, i = n*10+int(pattern[i]-'0'), i+1
		}
		row := "1,2\n"
		if pattern[i] == 'b' {
			row = "1,2,3\n"
		}
		b.WriteString(strings.Repeat(row, n))
		pattern = pattern[i+1:]
	}
	return b.String()
}

func TestThreshold_HaltsAtTheRate(t *testing.T) {
	for _, c := range []struct {
		threshold int
		rows      string
		emitted   int
		err       string
	}{
		{10, "500g55b", 500, ""}, // 555 rows, 9.9 %
		{10, "500g56b", 0, "row 556, line 557, byte 2334: 3 columns, 2 headers; with it 56 of the last 556 rows are bad, which is 10 %, and errorThreshold is 10"},
		{10, "1000g100b", 100, "row 1100, line 1101"},
		{10, "1000g99b", 1000, ""},
		{10, "1000g99b901g99b", 1901, ""},
		{10, "1b800g99b101g", 0, "row 900, line 901"}, // the window is full, and bad enough, for one row only
		{1, "99g1b", 0, "1 of the last 100 rows are bad"},
		{1, "100g1b", 100, ""},
		{50, "1b", 0, "1 of the last 1 rows are bad, which is 100 %"},
		{99, "1b1g", 1, ""},
		{100, "5000b1g", 1, ""},
		{100, "5000b", 0, ""},
		{0, "3g1b3g", 3, "row 4, line 5, byte 16: 3 columns, 2 headers"},
		{0, "3g", 3, ""},
	} {
		config := configOf(t, fmt.Sprintf(`{"addRecordOffset":"/n","format":{"type":"csv","config":{"delimiter":",","errorThreshold":%d}}}`, c.threshold))
		got, _, stats, err := read(t, config, inputOf("a.csv", []byte(rowsOf(t, c.rows)), 65536), Cursor{})
		if len(got) != c.emitted || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d %% of %s: %d documents, %v", c.threshold, c.rows, len(got), err)
		}
		for i, doc := range got {
			if want := fmt.Sprintf(`{"a":"1","b":"2","n":%d}`, i); doc != want {
				t.Fatalf("%d %% of %s: document %d is %s", c.threshold, c.rows, i, doc)
			}
		}
		if bad := int64(strings.Count(rowsOf(t, c.rows), ",3")); err == nil && stats.Rejected != bad {
			t.Errorf("%d %% of %s: %d rows rejected of %d", c.threshold, c.rows, stats.Rejected, bad)
		}
	}
}

func TestThreshold_TellsTheLastValue(t *testing.T) {
	config := configOf(t, `{"format":{"type":"csv","config":{"errorThreshold":10}},"schema":{"type":"object","properties":{"i":{"type":"integer"}}}}`)
	_, _, _, err := read(t, config, inputOf("a.csv", []byte("i\n1\nx\n"), 65536), Cursor{})
	want := `a.csv: row 2, line 3, byte 4: column "i": value "x" is not an integer; with it 1 of the last 2 rows are bad, which is 50 %, and errorThreshold is 10`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Rows that are held back take at most 16 MiB; the oldest go first then.
func TestThreshold_HoldsSixteenMiB(t *testing.T) {
	w := newWindow(50)
	doc := make([]byte, 5<<20)
	for i := range 3 {
		if err := w.add(doc, cursor{Row: int64(i)}); err != nil || w.free != 0 {
			t.Fatalf("after %d MiB %d may go, %v", (i+1)*5, w.free, err)
		}
	}
	for i := range 5 {
		if err := w.add(doc, cursor{Row: int64(3 + i)}); err != nil || w.free != 1 {
			t.Fatalf("after 20 MiB %d may go, %v", w.free, err)
		}
		out, at := w.release(nil)
		if len(out) != len(doc) || at.Row != int64(i) || w.held() != 3 || cap(w.buf) > 64<<20 {
			t.Fatalf("got %d bytes of row %d, %d are held in %d bytes", len(out), at.Row, w.held(), cap(w.buf))
		}
	}
	if err := w.bad(&Error{}); err != nil {
		t.Error(err)
	}
}

// An error of the file lets out what is held back, one of the source does not: it may pass.
func TestThreshold_EndsWithAnError(t *testing.T) {
	c := configOf(t, `{"csv":{"errorThreshold":10}}`)
	whole := pack(t, "gzip", []byte("a,b\n1,2\n3,4\n"))
	got, _, _, err := read(t, c, inputOf("a.csv", whole[:len(whole)-3], 7), Cursor{})
	if len(got) != 2 || err == nil {
		t.Errorf("cut file: got %q, %v", got, err)
	}
	in := inputOf("a.csv", whole[:len(whole)-3], 7)
	in.Size += 3
	got, _, _, err = read(t, c, in, Cursor{})
	if e, ok := errors.AsType[*Error](err); len(got) != 0 || !ok || e.Kind != KindIO {
		t.Errorf("cut body: got %q, %v", got, err)
	}
}

// The first 100 rows of a file are told one by one, the others by their number; all of them go to OnReject, with what stands in the file.
func TestReject_TellsTheFirstHundredAndASum(t *testing.T) {
	c := configOf(t, `{"csv":{"errorThreshold":100}}`)
	var warnings, raws []string
	c.OnWarning = func(w string) { warnings = append(warnings, w) }
	c.OnReject = func(_ *Error, raw []byte) { raws = append(raws, string(raw)) }
	long := "1,2," + strings.Repeat("x", 5000)
	in := "a,b\n" + strings.Repeat("1,2,3\n", 250) + long + "\n1,2\n"
	got, _, stats, err := read(t, c, inputOf("k.csv", []byte(in), 65536), Cursor{})
	if err != nil || len(got) != 1 || stats.Rejected != 251 || stats.Warnings != 101 || len(warnings) != 101 || len(raws) != 251 {
		t.Fatalf("got %d documents, %d warnings, %d raws, %+v, %v", len(got), len(warnings), len(raws), stats, err)
	}
	if warnings[0] != "skipped: k.csv: row 1, line 2, byte 4: 3 columns, 2 headers" || warnings[100] != "skipped: k.csv: 151 more rows" {
		t.Errorf("got %q and %q", warnings[0], warnings[100])
	}
	if raws[0] != "1,2,3" || raws[250] != long[:4096] {
		t.Errorf("got %q and %d bytes", raws[0], len(raws[250]))
	}
}

// Rows in are documents and rejected rows, whatever is between them.
//
// bug streams-files-parser 38: Polars #10585 and #14235, what follows a malformed row is cut off silently
func TestReject_RowsInAreDocumentsAndRejects(t *testing.T) {
	for seed := range 50 {
		var pattern strings.Builder
		for i := range 20 {
			fmt.Fprintf(&pattern, "%dg%db", (seed*7+i*13)%90, (seed*3+i)%4)
		}
		text := rowsOf(t, pattern.String())
		rows := strings.Count(text, "\n") - 1
		for _, threshold := range []int{60, 100} {
			c := configOf(t, fmt.Sprintf(`{"csv":{"delimiter":",","errorThreshold":%d}}`, threshold))
			got, _, stats, err := read(t, c, inputOf("a.csv", []byte(text), 100), Cursor{})
			if err != nil || len(got)+int(stats.Rejected) != rows || slices.ContainsFunc(got, func(d string) bool { return d != `{"a":"1","b":"2"}` }) {
				t.Errorf("seed %d: %d rows, %d documents, %+v, %v", seed, rows, len(got), stats, err)
			}
		}
	}
}
