package pgwire

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestSplitRow(t *testing.T) {
	for _, tc := range []struct {
		name, row string
		want      []string // NULL for a NULL
	}{
		{"plain", "1\tx", []string{"1", "x"}},
		{"empty value is not NULL", "", []string{""}}, // bug sql-cdc 79: empty bytea became null
		{"empty values", "\t\t", []string{"", "", ""}},
		{"null", `\N`, []string{"NULL"}},
		{"null first and last", "\\N\ta\t\\N", []string{"NULL", "a", "NULL"}},
		{"the word NULL", "NULL.\tN", []string{"NULL.", "N"}},
		{"an escaped N", `\\N`, []string{`\N`}},
		{"N behind an escape", `\NN`, []string{"NN"}},
		{"letters", `\b\f\n\r\t\v\\`, []string{"\b\f\n\r\t\v\\"}},
		{"between text", `a\tb\nc`, []string{"a\tb\nc"}},
		{"at both ends", `\tabc\t`, []string{"\tabc\t"}},
		{"escape in the second only", "abc\td\\ne\tf", []string{"abc", "d\ne", "f"}},
		{"doubled twice", `\\\\x`, []string{`\\x`}},
		{"octal", `\101\7\1234\18`, []string{"A\aS4\x018"}},
		{"hexadecimal", `\x41\x4\x414\xg\x`, []string{"A\x04A4xgx"}},
		{"any other character", `\q\.`, []string{"q."}},
		{"lone backslash at the end", `a\`, []string{`a\`}},
		{"bytea", `\\xdeadbeef`, []string{`\xdeadbeef`}},
		{"json", `{"a": "\\"x\\\\n\\""}`, []string{`{"a": "\"x\\n\""}`}},
		{"array", `{NULL,"a\\\\b",\\N}`, []string{`{NULL,"a\\b",\N}`}},
		{"unicode", "ü\t€\\n𝄞", []string{"ü", "€\n𝄞"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fields, err := splitRow(nil, []byte(tc.row), len(tc.want))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fields {
				if f == nil {
					got = append(got, "NULL")
				} else {
					got = append(got, string(f))
				}
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSplitRow_NoColumns(t *testing.T) {
	if got, err := splitRow(nil, nil, 0); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := splitRow(nil, []byte("x"), 0); err == nil {
		t.Error("a value of no column was taken")
	}
}

func TestSplitRow_ValuesDoNotOverlap(t *testing.T) {
	row := []byte("ab\tc\\nd\tef")
	fields, err := splitRow(nil, row, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range fields {
		fields[i] = append(fields[i], "!!!"...)
	}
	if got := string(bytes.Join(fields, []byte("|"))); got != "ab!!!|c\nd!!!|ef!!!" {
		t.Errorf("appending to a value changed another: %q", got)
	}
}

// escapeText writes a value as a server does (CopyAttributeOutText).
func escapeText(v []byte) string {
	if v == nil {
		return `\N`
	}
	return strings.NewReplacer("\\", `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`).Replace(string(v))
}

func FuzzSplitRow(f *testing.F) {
	f.Add([]byte("a\\tb\x00\xffc"), []byte("\\"), true)
	f.Add([]byte("\n"), []byte(""), false)
	f.Fuzz(func(t *testing.T, a, b []byte, null bool) {
		// Any bytes: no panic, and never more values than tabs + 1.
		if got, err := splitRow(nil, bytes.Clone(a), bytes.Count(a, []byte{'\t'})+1); err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
		// What a server writes comes back.
		want := [][]byte{a, b, nil, a}
		if !null {
			want[2] = b
		}
		var row []string
		for i := range want {
			if want[i] == nil && !(null && i == 2) {
				want[i] = []byte{}
			}
			row = append(row, escapeText(want[i]))
		}
		got, err := splitRow(nil, []byte(strings.Join(row, "\t")), 4)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	})
}

// benchmarkRow has the shape that the project's speed figures are about: 13 columns.
func benchmarkRow(i int, note string) string {
	return fmt.Sprintf("%d\t%d\tcustomer %d\tsome text of a middling length, as people write it\t%d.45\t2026-01-02 03:04:05.678901+00\t2026-02-03 04:05:06+00\t"+
		"{red,green,\"light blue\"}\t{\"a\": 1, \"tags\": [\"x\", \"y\"], \"ok\": true}\tt\t%d.25\t0f9c8b7a-1234-4cde-8f01-0123456789ab\t%s\n", i, i%1000, i, i*7, i, note)
}

// endless serves the same bytes over and over, in reads of at most size bytes, as a socket does.
type endless struct {
	scripted
	first, loop []byte
	at, size    int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.first) > 0 {
		n := copy(p, e.first)
		e.first = e.first[n:]
		return n, nil
	}
	n := copy(p[:min(len(p), e.size)], e.loop[e.at:])
	e.at = (e.at + n) % len(e.loop)
	return n, nil
}

func BenchmarkCopyReader(b *testing.B) {
	for _, bench := range []struct{ name, note string }{{"plain", "none"}, {"null", `\N`}, {"escapes", `say \\"hi\\"\nand go`}} {
		b.Run(bench.name, func(b *testing.B) {
			var loop []byte
			for i := range 1000 {
				loop = append(loop, msg('d', benchmarkRow(i, bench.note))...)
			}
			c := onConn(&endless{first: copyOut(13), loop: loop, size: 64 << 10})
			r, err := c.CopyOut(b.Context(), "COPY t TO STDOUT")
			if err != nil {
				b.Fatal(err)
			}
			var fields [][]byte
			b.ReportAllocs()
			b.SetBytes(int64(len(loop) / 1000))
			for b.Loop() {
				if fields, err = r.Next(fields); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
