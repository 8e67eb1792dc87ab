// Package golden compares what a test got with a file that was reviewed before: Check with a whole file under testdata, Section with the part of a
// document between two markers. `go test PACKAGE -update` writes the files anew; the diff in the commit is the review. For tests only.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files and generated sections instead of comparing")

// Check compares got with testdata/NAME.golden beside the test, and with -update writes it.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with: go test -run '^%s$' -update)", err, t.Name())
	}
	compare(t, path, got, want)
}

// Section compares got with what stands in the file between <!-- NAME:begin --> and <!-- NAME:end -->, and with -update puts it there.
func Section(t testing.TB, path, name, got string) {
	t.Helper()
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Between(document, name)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if !*update {
		compare(t, path, []byte(strings.TrimSpace(got)), []byte(want))
		return
	}
	replaced, err := Replace(document, name, got)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if !bytes.Equal(replaced, document) {
		if err := os.WriteFile(path, replaced, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compare(t testing.TB, path string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := 0; ; i++ {
		if i < len(g) && i < len(w) && g[i] == w[i] {
			continue
		}
		t.Errorf("%s is out of date from line %d on (write it with: go test -run '^%s$' -update)\ngot:  %s\nwant: %s", path, i+1, t.Name(), line(g, i), line(w, i))
		return
	}
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing: the text ends before)"
	}
	return lines[i]
}

// Between returns what stands between the markers of a section, without the white space around it.
func Between(document []byte, name string) (string, error) {
	from, to, err := markers(document, name)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(document[from:to])), nil
}

// Replace returns the document with body between the markers of a section.
func Replace(document []byte, name, body string) ([]byte, error) {
	from, to, err := markers(document, name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(document[:from])
	out.WriteString("\n" + strings.TrimSpace(body) + "\n")
	out.Write(document[to:])
	return out.Bytes(), nil
}

// markers returns where the body of a section begins and ends.
func markers(document []byte, name string) (from, to int, err error) {
	begin, end := []byte("<!-- "+name+":begin -->"), []byte("<!-- "+name+":end -->")
	if bytes.Count(document, begin) != 1 || bytes.Count(document, end) != 1 {
		return 0, 0, fmt.Errorf("looking for the markers of a generated section: need %s and %s once each", begin, end)
	}
	from, to = bytes.Index(document, begin)+len(begin), bytes.Index(document, end)
	if to < from {
		return 0, 0, fmt.Errorf("looking for the markers of a generated section: %s stands before %s", end, begin)
	}
	return from, to, nil
}
