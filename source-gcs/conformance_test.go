package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/estuary/connectors/protocol/protocoltest"
)

// TestConformance drives the built binary as its runners do, over a local directory.
func TestConformance(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "source-gcs")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the connector: %v: %s", err, out)
	}
	protocoltest.Source(t, func(tb testing.TB) *protocoltest.Fixture { return conformanceFixture(tb, binary) })
}

const secret = "not-to-be-printed"

// files is a directory and what is in it.
type files struct {
	dir  string
	mu   sync.Mutex
	rows map[string][]string
	n    int
}

// write puts a file there at once, as who writes elsewhere and renames does. Rows have n, a text, and t, what it is.
func (f *files) write(name string, rows ...string) error {
	f.rows[name] = rows
	var text bytes.Buffer
	for _, row := range rows {
		fmt.Fprintf(&text, `{"n":%q,"t":%q}`+"\n", row, name)
	}
	if base, _, _ := strings.Cut(name, ".gz"); strings.HasSuffix(base, ".csv") {
		text.Reset()
		text.WriteString("n,t\n")
		for _, row := range rows {
			fmt.Fprintf(&text, "%s,%s\n", row, name)
		}
	}
	data := text.Bytes()
	if strings.HasSuffix(name, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		data = packed.Bytes()
	}
	path, elsewhere := filepath.Join(f.dir, name), filepath.Join(f.dir, ".elsewhere")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(elsewhere, data, 0o600); err != nil {
		return err
	}
	return os.Rename(elsewhere, path)
}

func numbered(what string, n int) []string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("%s %d", what, i))
	}
	return rows
}

// conformanceFixture makes a directory of its own. The names lie in both halves of the key space.
func conformanceFixture(tb testing.TB, binary string) *protocoltest.Fixture {
	tb.Helper()
	root := tb.TempDir()
	f := &files{dir: filepath.Join(root, "trips"), rows: map[string][]string{}}
	for name, n := range map[string]int{"a.csv": 20, "b.json": 10, "c.csv.gz": 15, "d/e.csv": 3, "d/f.csv": 3, "g.json": 1} {
		if err := f.write(name, numbered("row", n)...); err != nil {
			tb.Fatal(err)
		}
	}
	config := func(bucket, endpoint string) json.RawMessage {
		return fmt.Appendf(nil, `{"bucket":%q,"credentials":{"auth_type":"CredentialsJSON","credentials_json":%q},"advanced":{"endpoint":%q,"pollInterval":"1s"}}`,
			bucket, secret, endpoint)
	}
	anonymous := func(endpoint string) json.RawMessage {
		return fmt.Appendf(nil, `{"bucket":"trips","advanced":{"endpoint":%q}}`, endpoint)
	}
	return &protocoltest.Fixture{
		Binary: binary, Config: config("trips", "file://"+root), Secrets: []string{secret},
		// bug streams-files-parser 128: predecessor: check succeeded where nobody listens
		Refused: []json.RawMessage{config("nothing", "file://"+root), anonymous("http://127.0.0.1:1")},
		Streams: []protocoltest.Stream{{Name: "trips", Key: []string{"_meta/file", "_meta/offset"}, Parts: "_meta/file", Open: true}},
		Change: func(context.Context) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.n++
			for _, name := range []string{fmt.Sprintf("new-%d.csv", f.n), fmt.Sprintf("d/new-%d.json", f.n), fmt.Sprintf("z%d/new.csv.gz", f.n)} {
				if err := f.write(name, numbered("new", 3)...); err != nil {
					return err
				}
			}
			// Other rows in place of those that were there; fewer would leave the last ones of before downstream.
			return f.write("b.json", numbered(fmt.Sprint("changed in ", f.n), 10+f.n)...)
		},
		Rows: func(context.Context) (map[string][]json.RawMessage, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var all []json.RawMessage
			for name, rows := range f.rows {
				for _, row := range rows {
					all = append(all, fmt.Appendf(nil, `{"n":%q,"t":%q}`, row, name))
				}
			}
			return map[string][]json.RawMessage{"trips": all}, nil
		},
		Grow: func(context.Context) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.write("h.json", slices.Repeat([]string{strings.Repeat("x", 8000)}, 1100)...)
		},
	}
}
