package archtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	everyConnector = []string{"main.go", "config.go", "README.md", "CHANGELOG.md", "Dockerfile", "config_test.go", "conformance_test.go", "testdata"}
	sqlSource      = []string{"errors.go", "database.go", "check.go", "discovery.go", "backfill.go", "replication.go", "position.go", "types.go"}
)

// maxMainLines: a main that is longer does something that belongs elsewhere.
const maxMainLines = 20

// missing tells what a connector's folder lacks. Who knows one connector shall know all, so the names are the same everywhere.
func missing(dir string) []string {
	var bad []string
	want := slices.Clone(everyConnector)
	if main, err := os.ReadFile(filepath.Join(dir, "main.go")); err == nil {
		if n := bytes.Count(main, []byte("\n")); n > maxMainLines {
			bad = append(bad, fmt.Sprintf("main.go has %d lines, at most %d: the rest belongs into a file that says what it is", n, maxMainLines))
		}
	}
	// A source that scans and follows a database's log has a type table.
	if _, err := os.Stat(filepath.Join(dir, "replication.go")); err == nil {
		want = append(want, sqlSource...)
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			bad = append(bad, name+" is missing")
		}
	}
	return bad
}

func TestConnectors_HaveTheFilesThatAllHave(t *testing.T) {
	var dirs []string
	for _, pattern := range []string{"source-*", "materialize-*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, found...)
	}
	if len(dirs) == 0 {
		t.Fatal("no connector was found")
	}
	for _, dir := range dirs {
		for _, m := range missing(dir) {
			t.Errorf("%s: %s", filepath.Base(dir), m)
		}
	}
}

func TestConnectors_MissingFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": strings.Repeat("\n", maxMainLines+1), "replication.go": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(missing(dir), "; ")
	for _, want := range []string{"main.go has 21 lines", "config.go is missing", "testdata is missing", "types.go is missing"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
