package filesourcetest

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

// Connector is what differs between the connectors whose conformance is tested.
type Connector struct {
	Binary string
	// Config makes a configuration for a bucket behind an endpoint, with Secret as its credentials' secret part.
	Config func(bucket, endpoint string) json.RawMessage
	Secret string
	// Unreachable is a configuration whose endpoint nobody listens on.
	Unreachable json.RawMessage
}

// Build builds the connector whose package is the working directory.
func Build(t *testing.T, name string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the connector: %v: %s", err, out)
	}
	return binary
}

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

// Fixture is a connector over a directory of its own. The files' names lie in both halves of the key space.
func Fixture(tb testing.TB, c Connector) *protocoltest.Fixture {
	tb.Helper()
	root := tb.TempDir()
	f := &files{dir: filepath.Join(root, "trips"), rows: map[string][]string{}}
	for name, n := range map[string]int{"a.csv": 20, "b.json": 10, "c.csv.gz": 15, "d/e.csv": 3, "d/f.csv": 3, "g.json": 1} {
		if err := f.write(name, numbered("row", n)...); err != nil {
			tb.Fatal(err)
		}
	}
	return &protocoltest.Fixture{
		Binary: c.Binary, Config: c.Config("trips", "file://"+root), Secrets: []string{c.Secret},
		Refused: []json.RawMessage{c.Config("nothing", "file://"+root), c.Unreachable},
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
