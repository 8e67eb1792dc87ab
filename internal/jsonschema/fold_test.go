package jsonschema

import "testing"

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
