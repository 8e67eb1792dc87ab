package archtest

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// wholeCase is the form of a numbered case, from which docs/gen makes the list in docs/testing.md.
var wholeCase = regexp.MustCompile(`^// bug [a-z][a-z-]* [0-9]+[a-z]?: \S`)

// torn lists the comments that were meant as numbered cases, and that the generator would pass over.
func torn(all []source) []string {
	var wrong []string
	for _, s := range all {
		for _, group := range s.syntax.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "// bug ") && (s.test || isTestCode(s.dir)) && !wholeCase.MatchString(c.Text) {
					wrong = append(wrong, s.at(c.Pos())+" has a torn case: after bug come topic, number, colon and the public source")
				}
			}
		}
	}
	return wrong
}

func TestCases_HaveNumberAndSource(t *testing.T) {
	for _, wrong := range torn(sources(t, repository(t))) {
		t.Error(wrong)
	}
}

func TestCases_Bite(t *testing.T) {
	for comment, whole := range map[string]bool{
		"bug sql-cdc 63: pglogrepl #59": true, "bug sql-cdc 63": false, "bug sql-cdc: x": false, "bug 63: x": false, "bug sql-cdc 63:": false,
	} {
		tree := fstest.MapFS{"a/x_test.go": {Data: []byte("package a\n\n// " + comment + "\nfunc TestX() {}\n")}}
		if got := torn(sources(t, tree)); (len(got) == 0) != whole {
			t.Errorf("%q: got %q", comment, got)
		}
	}
}
