package rows

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// oracle cuts text byte by byte, one state for each place in the grammar, and knows nothing of buffers: what Scanner has to agree with.
func oracle(text string, d Dialect) [][]string {
	text = strings.TrimSuffix(text, "\x1a")
	end := func(i int) int { // length of the row's end at i, 0: none
		switch {
		case d.End < LineEnd && i < len(text) && text[i] == byte(d.End):
			return 1
		case d.End < LineEnd:
			return 0
		case strings.HasPrefix(text[i:], "\r\n"):
			return 2
		case strings.HasPrefix(text[i:], "\n"), d.End == AnyEnd && strings.HasPrefix(text[i:], "\r"):
			return 1
		}
		return 0
	}
	line := func(upTo int) int {
		n := 1
		for i := 0; i < upTo; i++ {
			if e := end(i); e > 0 {
				i += e - 1
				n++
			} else if d.End == LineEnd && text[i] == '\n' {
				n++
			}
		}
		return n
	}
	var all [][]string
	var row []string
	for i := 0; i < len(text); {
		var field strings.Builder
		if end(i) > 0 && len(row) == 0 { // a blank line
			i += end(i)
			continue
		}
		if d.Quote != 0 && i < len(text) && text[i] == d.Quote {
			opened := i
			closed := false
			for i++; i < len(text) && !closed; i++ {
				switch c := text[i]; {
				case c == d.Quote && i+1 < len(text) && text[i+1] == d.Quote:
					field.WriteByte(c)
					i++
				case c == d.Quote:
					closed = true
				case d.Escape != 0 && c == d.Escape && i+1 < len(text):
					i++
					field.WriteByte(text[i])
				default:
					field.WriteByte(c)
				}
			}
			why := ""
			if !closed {
				why = "no closing quote before the end of the file"
			} else if i < len(text) && end(i) == 0 && !strings.HasPrefix(text[i:], d.Delimiter) && text[i] != ' ' && text[i] != '\t' {
				// The quote is an opening one if a field of a later line begins with it, or with it and doubled ones.
				begins := i - 1
				for ; begins > opened && text[begins-1] == d.Quote; begins-- {
				}
				behind := false
				for k := opened; k < begins; k++ {
					behind = behind || end(k) > 0
				}
				if behind && (strings.HasSuffix(text[:begins], d.Delimiter) || end(begins-1) > 0) {
					why = fmt.Sprintf("a field of line %d opens with a quote before a closing one", line(begins))
				}
			}
			if why != "" {
				all = append(all, []string{fmt.Sprintf("!unterminated quoted field opened at line %d: %s", line(opened), why)})
				row = nil
				for i = opened; i < len(text) && end(i) == 0; i++ {
				}
				i += end(i)
				continue
			}
		}
		for i < len(text) && end(i) == 0 && !strings.HasPrefix(text[i:], d.Delimiter) {
			if d.Escape != 0 && text[i] == d.Escape && i+1 < len(text) {
				if i++; end(i) == 2 && d.End >= LineEnd {
					field.WriteByte(text[i])
					i++
				}
			}
			field.WriteByte(text[i])
			i++
		}
		row = append(row, field.String())
		switch {
		case i == len(text) || end(i) > 0:
			all = append(all, row)
			row = nil
			i += end(i)
		default:
			if i += len(d.Delimiter); i == len(text) {
				all = append(all, append(row, ""))
			}
		}
	}
	return all
}

// someDialects are of every kind that takes a path of its own.
var someDialects = []Dialect{
	{Delimiter: ",", Quote: '"', End: LineEnd},
	{Delimiter: ",", Quote: '"', End: AnyEnd},
	{Delimiter: ",", Quote: '"', End: '\n'},
	{Delimiter: ",", Quote: '"', End: '\r'},
	{Delimiter: ",", Quote: '"', End: 0x1e},
	{Delimiter: ",", End: LineEnd},
	{Delimiter: ",", Quote: '"', Escape: '\\', End: LineEnd},
	{Delimiter: ",", Quote: '"', Escape: '\\', End: AnyEnd},
	{Delimiter: ",", Escape: '\\', End: LineEnd},
	{Delimiter: "||", Quote: '"', End: LineEnd},
	{Delimiter: ",;,", Quote: '\'', End: AnyEnd},
	{Delimiter: "é", Quote: '"', Escape: '\\', End: '\r'},
}

// soup is text made of what has a meaning somewhere.
func soup(random *rand.Rand) string {
	parts := []string{",", ",", "\"", "\"", "\"\"", "\n", "\r\n", "\r", "a", "bc", "defghijklm", "\\", "||", "|", ";", ",;,", "'", "é", "\x1e", "\x00", "\x1a", " "}
	var b strings.Builder
	for range random.IntN(24) {
		b.WriteString(parts[random.IntN(len(parts))])
	}
	return b.String()
}

func TestScanner_AgreesWithOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	unclosed, lenient := 0, 0
	for range 6_000 {
		text := soup(random)
		for _, d := range someDialects {
			records := scan(t, text, 1+random.IntN(9), d, Options{})
			if got, want := values(records), oracle(text, d); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q with %v: got %q, want %q", text, d, got, want)
			}
			for _, r := range records {
				if strings.HasPrefix(r.values[0], "!unterminated") {
					unclosed++
				}
				for _, f := range r.flags {
					lenient += int(f & Lenient)
				}
			}
		}
	}
	if unclosed < 300 || lenient < 300 {
		t.Errorf("%d unclosed quotes and %d with text behind them: that is no test", unclosed, lenient)
	}
}
