package jsonschema

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns what a name has in common with all that differ in case, width or composition only: Unicode's default caseless matching, NFD, then default
// case folding, then NFKC. Names of fields and collections that fold to the same are one name.
func Fold(name string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFD.String(name)))
}
