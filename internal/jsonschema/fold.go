package jsonschema

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns what a name has in common with all that differ in case, width or composition only: Unicode's compatibility caseless matching (D146), NFD, then
// twice default case folding and NFKC. The second time is needed by 809 characters that NFKC makes capitals of, as U+3392 is MHz. Names of fields and
// collections that fold to the same are one name.
func Fold(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	fold := cases.Fold() // it keeps a state; so there is one a call
	return norm.NFKC.String(fold.String(norm.NFKC.String(fold.String(norm.NFD.String(name)))))
}

// FoldBlanks is Fold for names that people typed, as the headers of files: white space (Unicode's White_Space) at the ends is nothing, and a run of it one blank.
func FoldBlanks(name string) string {
	folded := Fold(name)
	if !strings.ContainsFunc(folded, unicode.IsSpace) {
		return folded
	}
	return strings.Join(strings.FieldsFunc(folded, unicode.IsSpace), " ")
}

func ascii(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return true
}
