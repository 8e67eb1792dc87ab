package columns

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// No document is longer than it may be, whatever its bytes become in JSON, and what is refused would have been nearly as long.
func TestText_DocumentsAreBounded(t *testing.T) {
	const most = 1000
	o := Options{MaxDocument: most, Schema: schema(t, `{"type":"object","properties":{"n":{"type":"integer"},"o":{"type":["object","null"]}}}`), AddValues: values("/_meta/file", `"b/k"`)}
	p, _, err := ForText([]string{"n", "o", "v"}, o)
	if err != nil {
		t.Fatal(err)
	}
	refused, taken := 0, 0
	for _, unit := range []string{"x", "\x01", "\\", "\u2028", `""`, "é"} {
		for n := 0; n < 1200; n += 7 {
			for _, before := range []string{"1,,", "1,\"{\"\"a\"\":[\"\"" + strings.Repeat("y", 100) + "\"\"]}\","} {
				text := strings.Repeat(unit, n)
				if unit == `""` {
					text = `"` + text + `"`
				}
				r := row(before + text)
				doc, err := p.Append([]byte("before "), r, &dialect, 0)
				whole, _, _ := ForText([]string{"n", "o", "v"}, Options{Schema: o.Schema, AddValues: o.AddValues})
				want, errWant := whole.Append([]byte("before "), r, &dialect, 0)
				var limit *LimitError
				switch {
				case errWant != nil:
					t.Fatal(errWant)
				case errors.As(err, &limit):
					if refused++; len(want)-7 < most*9/10-150 || string(doc) != "before " {
						t.Errorf("%d of %q: a document of %d bytes was refused: %v", n, unit, len(want)-7, err)
					}
				case err != nil || string(doc) != string(want) || len(doc)-7 > most:
					t.Errorf("%d of %q: %d bytes, %v", n, unit, len(doc)-7, err)
				default:
					taken++
				}
			}
		}
	}
	if refused < 500 || taken < 500 {
		t.Errorf("%d were refused, %d taken", refused, taken)
	}
}

func TestText_NamesAreBounded(t *testing.T) {
	for n, want := range map[int]string{
		maxNames - 1: "<nil>",
		maxNames:     fmt.Sprintf("making documents: the names of the columns have %d bytes together; at most %d are allowed", maxNames+1, maxNames),
	} {
		_, _, err := ForText([]string{strings.Repeat("x", n), "y"}, Options{})
		if fmt.Sprint(err) != want {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
}
