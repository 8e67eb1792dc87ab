package rows

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzScanner: reads of any length give the rows that the oracle gives; with a row limit they give the same rows whatever their length.
func FuzzScanner(f *testing.F) {
	for i, c := range grammar {
		f.Add(c.text, uint8(i), uint8(i), uint8(i*7))
	}
	for i := range someDialects {
		f.Add("a,b\n1,\"2\n3,4\n5,\\\"6||\"\"é7\r\n8,'9\x1a", uint8(i), uint8(1), uint8(8))
	}
	f.Fuzz(func(t *testing.T, text string, dialect, n, limit uint8) {
		if len(text) > 4096 || strings.HasPrefix(strings.ToLower(text), "sep=") {
			return
		}
		d := someDialects[int(dialect)%len(someDialects)]
		if got, want := values(scan(t, text, 1+int(n), d, Options{})), oracle(text, d); !reflect.DeepEqual(got, want) {
			t.Errorf("%q with %v: got %q, want %q", text, d, got, want)
		}
		o := Options{MaxRow: 1 + int(limit), MaxColumns: 1 + int(limit)/4, SkipLines: int(limit) % 3}
		d.Comment = []string{"", "#", "//"}[int(limit)%3]
		if got, want := scan(t, text, 1+int(n), d, o), scan(t, text, 65536, d, o); !reflect.DeepEqual(got, want) {
			t.Errorf("%q with %v, in reads of %d bytes: got %q, in one %q", text, d, 1+n, values(got), values(want))
		}
	})
}

// FuzzDetect: whatever the file and the configuration, what is detected can be scanned, and the copy with CRLF has the same dialect.
func FuzzDetect(f *testing.F) {
	for _, c := range grammar {
		quote := "auto"
		if c.given.Quote != nil {
			quote = *c.given.Quote
		}
		f.Add(c.text, c.given.Delimiter, quote, c.given.Escape, c.given.End, uint8(c.given.Columns), true)
	}
	f.Add("a;b\n'1,2';3\n'4", "", "auto", "", "", uint8(0), false)
	f.Fuzz(func(t *testing.T, text, delimiter, quote, escape, end string, columns uint8, atEOF bool) {
		g := Given{Delimiter: delimiter, Quote: &quote, Escape: escape, End: end, Columns: int(columns)}
		d, err := Detect([]byte(text), atEOF, g)
		if err != nil || len(text) > 4096 {
			return
		}
		if quote == "auto" && d.Quote != '"' && d.Quote != '\'' {
			t.Errorf("%q: the quote is %q", text, d.Quote)
		}
		scanAll(t, text, d, Options{})
		if end == "" && atEOF && !strings.Contains(text, "\r") {
			crlf, err := Detect([]byte(strings.ReplaceAll(text, "\n", "\r\n")), true, g)
			if err != nil || crlf != d {
				t.Errorf("%q: %v, with CRLF %v, %v", text, d, crlf, err)
			}
		}
	})
}

// FuzzW3C: reads of any length give the same entries, and each has as many fields as names.
func FuzzW3C(f *testing.F) {
	for i, text := range []string{
		"#Version: 1.0\n#Fields: date time cs-uri sc(X)\n2022-04-01 10:00:00 /x -\n#Fields: date cs-uri\n2022-04-01 /y",
		"#Fields:\ta\tb\r\n1\t\"2\"\"3\"\r\n\r\n4\t\"5\"6\r\n\"7\t8\r\n\x1a",
		"#Fields: a b\n1 \t2\n3\n4 5 6\n7\t\n",
		"1 2\n", "#Fields:\n", "#Fields: a\n" + strings.Repeat("x", 300) + "\n",
	} {
		f.Add(text, uint8(i), uint8(100))
	}
	f.Fuzz(func(t *testing.T, text string, n, limit uint8) {
		if len(text) > 4096 {
			return
		}
		o := Options{MaxRow: 1 + int(limit), MaxColumns: 1 + int(limit)/8}
		got, want := scanLog(t, text, 1+int(n), o), scanLog(t, text, 65536, o)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q in reads of %d bytes: got %+v, in one %+v", text, 1+n, got, want)
		}
		for _, e := range want {
			if len(e.values) != len(e.names) && !strings.HasPrefix(e.values[0], "!") {
				t.Errorf("%q: %q under %q", text, e.values, e.names)
			}
		}
	})
}
