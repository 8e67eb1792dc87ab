package jsonschema

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFold_IsCaselessMatching(t *testing.T) {
	for _, pair := range [][2]string{
		{"Foo/Bar", "foo/bar"}, {"ß", "ss"}, {"STRASSE", "straße"}, {"ﬃ", "ffi"}, {"Ｂ", "b"}, {"ſ", "s"}, {"E\u0300", "è"}, {"Σ", "ς"}, {"ÅNGSTRÖM", "ångstro\u0308m"}, {"", ""},
	} {
		if Fold(pair[0]) != Fold(pair[1]) {
			t.Errorf("%q folds to %q, %q to %q", pair[0], Fold(pair[0]), pair[1], Fold(pair[1]))
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a", "á"}, {"a b", "a_b"}, {"", " "}} {
		if Fold(pair[0]) == Fold(pair[1]) {
			t.Errorf("%q and %q fold to one name", pair[0], pair[1])
		}
	}
}

// bug streams-files-parser 19: predecessor
func TestFold_IsIdempotent(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		once := Fold(string(r))
		if twice := Fold(once); once != twice {
			t.Errorf("%U folds to %q and that to %q", r, once, twice)
		}
	}
	if got := Fold("㎒"); got != "mhz" {
		t.Errorf("㎒ folds to %q", got)
	}
	if got := Fold("İ"); got != "i\u0307" { // no rules of Turkish
		t.Errorf("İ folds to %q", got)
	}
}

func TestFoldBlanks(t *testing.T) {
	for in, want := range map[string]string{
		"Bike ID": "bike id", " \tBike \u00a0 ID\u2003": "bike id", "bike\r\nid": "bike id", "": "", " ": "", "a_b": "a_b", "ｂｉｋｅ　ＩＤ": "bike id", "a\u200bb": "a\u200bb",
	} {
		if got := FoldBlanks(in); got != want {
			t.Errorf("%q folds to %q, not %q", in, got, want)
		}
	}
}
