package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/estuary/connectors/"

// source is one Go file.
type source struct {
	path    string // from the root, with slashes
	dir     string // its package: "internal/flow"
	pkg     string // the name in the package clause
	test    bool
	imports []string
	syntax  *ast.File
	lines   *token.FileSet
}

// at names a place in the file.
func (s source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.lines.Position(pos).Line)
}

// repository returns the tree that this test stands in.
func repository(t *testing.T) fs.FS {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("looking for the root of the repository: %v", err)
	}
	return os.DirFS(root)
}

// sources parses every Go file, whatever its build tags say, of both modules.
func sources(t *testing.T, tree fs.FS) []source {
	t.Helper()
	var all []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if base != "." && (base[0] == '.' || base[0] == '_') || slices.Contains([]string{"bin", "testdata", "node_modules"}, base) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		s := source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), lines: token.NewFileSet()}
		if s.syntax, err = parser.ParseFile(s.lines, name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		s.pkg = s.syntax.Name.Name
		for _, i := range s.syntax.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isTestCode tells whether a package exists for tests alone: its files may do what test files may, and nothing that ships may import it.
func isTestCode(dir string) bool {
	return dir == "internal/golden" || dir == "internal/archtest" || inside(dir, "testsupport/...") ||
		slices.ContainsFunc(strings.Split(dir, "/"), func(element string) bool { return len(element) > len("test") && strings.HasSuffix(element, "test") })
}

// inside matches a package with a pattern: path.Match element by element, and a final "..." for the package itself and all below it.
func inside(dir, pattern string) bool {
	elements := strings.Split(dir, "/")
	for i, p := range strings.Split(pattern, "/") {
		if p == "..." {
			return true
		}
		if i == len(elements) {
			return false
		}
		if ok, err := path.Match(p, elements[i]); err != nil || !ok {
			return false
		}
	}
	return len(elements) == strings.Count(pattern, "/")+1
}

func TestInside(t *testing.T) {
	for _, c := range []struct {
		dir, pattern string
		want         bool
	}{
		{"source-x", "source-*", true},
		{"source-x/wire", "source-*", false},
		{"source-x/wire", "source-*/...", true},
		{"source-x", "source-*/...", true},
		{"source-x", "source-*/*", false},
		{"internal/flow", "internal/flow", true},
		{"internal/flowing", "internal/flow/...", false},
		{"internal", "internal/flow", false},
	} {
		if got := inside(c.dir, c.pattern); got != c.want {
			t.Errorf("inside(%q, %q) = %v", c.dir, c.pattern, got)
		}
	}
}
