package rows

import (
	"fmt"
	"unicode/utf8"
)

// Given is what the user fixed of a dialect, in the words of the configuration, and what is known of the rows.
type Given struct {
	Delimiter string  // one character or several; tab or \t: TAB; empty or auto: found out
	Usual     string  // the delimiter where Delimiter is empty and no line sep= names another; empty: found out
	Quote     *string // one ASCII character; empty: none; auto: " or ', found out; nil: "
	Escape    string  // one ASCII character; empty or auto: none
	End       string  // see ParseEnd; empty or auto: found out
	Comment   string  // see Dialect
	Columns   int     // number of columns, where the configuration names them; 0: the first row does
	SkipLines int     // as in Options
}

// dialect is what of it is fixed. Open are an empty delimiter, a zero End and, if quotes is true, the quote.
func (g Given) dialect() (d Dialect, quotes bool, err error) {
	d = Dialect{Delimiter: g.Delimiter, Quote: '"', Comment: g.Comment}
	switch g.Delimiter {
	case "auto":
		d.Delimiter = ""
	case `\t`, "tab":
		d.Delimiter = "\t"
	}
	if g.Quote != nil {
		if quotes = *g.Quote == "auto"; !quotes {
			d.Quote, err = character("quote", *g.Quote)
		}
	}
	if err == nil && g.Escape != "auto" {
		d.Escape, err = character("escape", g.Escape)
	}
	if err == nil {
		d.End, err = ParseEnd(g.End)
	}
	if err == nil {
		trial := d
		if trial.Delimiter == "" {
			trial.Delimiter = g.Usual
		}
		if trial.Delimiter == "" {
			trial.Delimiter = d.candidates()[0]
		}
		if trial.End == 0 {
			trial.End = LineEnd
		}
		err = trial.check()
	}
	return d, quotes, err
}

// character reads an option of one ASCII character or none.
func character(option, s string) (byte, error) {
	switch {
	case s == "":
		return 0, nil
	case len(s) == 1 && s[0] > 0 && s[0] < utf8.RuneSelf:
		return s[0], nil
	}
	return 0, fmt.Errorf("reading the %s %q: it is not one ASCII character", option, s)
}
