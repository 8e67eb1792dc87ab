package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/estuary/connectors/internal/golden"
)

// waivers excuse a connector from a file, "connector/file", and say why. One that is no longer needed fails.
var waivers = map[string]string{}

// maxMainLines: a main.go that is longer does something that has a file of its own.
const maxMainLines = 20

// everyConnector lists what each connector has, so who knows one knows all.
var everyConnector = []string{
	"main.go", "config.go", "errors.go", "README.md", "CHANGELOG.md", "Dockerfile", "config_test.go", "conformance_test.go", "testdata",
}

// kindOf returns the name of a connector's kind, told by the engine that it imports, and the files that its kind has besides.
func kindOf(dir string, all []source) (kind string, files []string) {
	uses := func(engine string) bool {
		return slices.ContainsFunc(all, func(s source) bool {
			return s.dir == dir && !s.test && slices.ContainsFunc(s.imports, func(i string) bool {
				own, ok := strings.CutPrefix(i, module)
				return ok && inside(own, engine+"/...")
			})
		})
	}
	sink := strings.HasPrefix(dir, "materialize-")
	switch {
	case !sink && uses("sqlcapture"):
		return "SQL source", []string{"database.go", "check.go", "discovery.go", "backfill.go", "replication.go", "position.go", "types.go"}
	case !sink && uses("internal/filesource"):
		return "file source", []string{"store.go"}
	case !sink:
		return "stream source", []string{"discovery.go", "read.go", "shard.go", "position.go"}
	case uses("internal/sqlsink"):
		return "SQL sink", []string{"dialect.go", "types.go", "session.go", "stage.go"}
	default:
		return "API or file sink", []string{"mapping.go", "writer.go", "client.go"}
	}
}

// fleet lists the connectors of a tree.
func fleet(t *testing.T, tree fs.FS) []string {
	t.Helper()
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && (inside(e.Name(), "source-*") || inside(e.Name(), "materialize-*")) {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs
}

// unlike lists what sets connectors apart from the others of their kind.
func unlike(t *testing.T, tree fs.FS, excused map[string]string) []string {
	t.Helper()
	all := sources(t, tree)
	needed := map[string]bool{} // waivers
	var wrong []string
	add := func(file, format string, args ...any) {
		if excused[file] != "" {
			needed[file] = true
			return
		}
		wrong = append(wrong, file+" "+fmt.Sprintf(format, args...))
	}
	for _, dir := range fleet(t, tree) {
		kind, files := kindOf(dir, all)
		for _, name := range slices.Concat(everyConnector, files) {
			if _, err := fs.Stat(tree, path.Join(dir, name)); err != nil {
				add(path.Join(dir, name), "is missing: every %s has it", kind)
			}
		}
		if main, err := fs.ReadFile(tree, path.Join(dir, "main.go")); err == nil {
			if n := bytes.Count(main, []byte("\n")); n > maxMainLines {
				add(path.Join(dir, "main.go"), "has %d lines, at most %d: the rest has a file of its own", n, maxMainLines)
			}
		}
		if readme, err := fs.ReadFile(tree, path.Join(dir, "README.md")); err == nil {
			if table, err := golden.Between(readme, "config"); err != nil {
				add(path.Join(dir, "README.md"), "has no place for the generated configuration table: %v", err)
			} else if !strings.HasPrefix(table, "| field |") {
				add(path.Join(dir, "README.md"), "has no configuration table between its markers: run make generate")
			}
		}
		for _, s := range all {
			switch s.path {
			case path.Join(dir, "config_test.go"):
				if !holdsTable(s) {
					add(s.path, `does not hold the README's table: call golden.Section(t, "README.md", "config", config.ReadmeTable[…]()) in a test`)
				}
				if !regenerates(s) {
					add(s.path, "does not write the README's table by make generate: add //go:generate go test -run=^TestReadme . -update")
				}
			case path.Join(dir, "conformance_test.go"):
				if !slices.Contains(s.imports, module+"protocol/protocoltest") || len(testsOf(s)) == 0 {
					add(s.path, "runs no simulator: call protocol/protocoltest from a test")
				}
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(excused)) {
		if !needed[file] {
			wrong = append(wrong, fmt.Sprintf("the waiver of %s (%s) is stale: remove it", file, excused[file]))
		}
	}
	return wrong
}

// testsOf lists the test functions of a file.
func testsOf(s source) []*ast.FuncDecl {
	var tests []*ast.FuncDecl
	for _, d := range s.syntax.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			tests = append(tests, f)
		}
	}
	return tests
}

// holdsTable tells whether a test named TestReadme… compares the README's table with the config struct.
func holdsTable(s source) bool {
	for _, test := range testsOf(s) {
		section, table := false, false
		ast.Inspect(test, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				table = table || n.Sel.Name == "ReadmeTable"
			case *ast.CallExpr:
				callee, ok := n.Fun.(*ast.SelectorExpr)
				section = section || ok && callee.Sel.Name == "Section" && len(n.Args) == 4 && isText(n.Args[1], "README.md") && isText(n.Args[2], "config")
			}
			return true
		})
		if section && table && strings.HasPrefix(test.Name.Name, "TestReadme") {
			return true
		}
	}
	return false
}

func isText(e ast.Expr, want string) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && strings.Trim(literal.Value, "\"`") == want
}

// regenerates tells whether go generate runs that test with -update.
func regenerates(s source) bool {
	for _, group := range s.syntax.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:generate go test ") && strings.Contains(c.Text, "TestReadme") && strings.HasSuffix(c.Text, " -update") {
				return true
			}
		}
	}
	return false
}

func TestFleet_IsAlike(t *testing.T) {
	tree := repository(t)
	if len(fleet(t, tree)) == 0 {
		t.Fatal("no connector was found")
	}
	for _, wrong := range unlike(t, tree, waivers) {
		t.Error(wrong)
	}
}

// A whole connector in miniature, from which one thing at a time is taken away.
func TestFleet_Bites(t *testing.T) {
	whole := func() fstest.MapFS {
		tree := fstest.MapFS{"source-a/testdata/x": {}}
		for _, name := range []string{"CHANGELOG.md", "Dockerfile"} {
			tree["source-a/"+name] = &fstest.MapFile{}
		}
		for _, name := range []string{
			"main.go", "config.go", "errors.go", "check.go", "discovery.go", "backfill.go", "replication.go", "position.go", "types.go",
		} {
			tree["source-a/"+name] = &fstest.MapFile{Data: []byte("package main\n")}
		}
		tree["source-a/database.go"] = &fstest.MapFile{Data: []byte("package main\n\nimport _ \"" + module + "sqlcapture\"\n")}
		tree["source-a/README.md"] = &fstest.MapFile{Data: []byte("<!-- config:begin -->\n| field | type |\n<!-- config:end -->\n")}
		tree["source-a/config_test.go"] = &fstest.MapFile{Data: []byte("package main\n\n//go:generate go test -run=^TestReadme . -update\n\n" +
			`func TestReadme_Config(t *testing.T) { golden.Section(t, "README.md", "config", config.ReadmeTable[c]()) }` + "\n")}
		tree["source-a/conformance_test.go"] = &fstest.MapFile{Data: []byte("package main\n\nimport _ \"" + module + "protocol/protocoltest\"\n\n" +
			"func TestConformance(t *testing.T) {}\n")}
		return tree
	}
	if got := unlike(t, whole(), nil); got != nil {
		t.Fatalf("the whole one: %q", got)
	}
	for name := range whole() {
		if name == "source-a/database.go" { // without it the source is of another kind
			continue
		}
		broken := whole()
		delete(broken, name)
		if got := unlike(t, broken, nil); len(got) != 1 || !strings.Contains(got[0], " is missing") {
			t.Errorf("without %s: got %q", name, got)
		}
	}
	for _, c := range []struct{ file, text, want string }{
		{"main.go", "package main\n" + strings.Repeat("\n", maxMainLines), "21 lines"},
		{"README.md", "no markers", "no place"},
		{"README.md", "<!-- config:begin -->\n<!-- config:end -->\n", "make generate"},
		{"config_test.go", "package main\n\n//go:generate go test -run=^TestReadme . -update\n\nfunc TestReadme_X(t *testing.T) {}\n", "does not hold"},
		{"config_test.go", strings.Replace(string(whole()["source-a/config_test.go"].Data), "//go:generate", "//", 1), "does not write"},
		{"conformance_test.go", "package main\n\nfunc TestConformance(t *testing.T) {}\n", "no simulator"},
		{"conformance_test.go", "package main\n\nimport _ \"" + module + "protocol/protocoltest\"\n", "no simulator"},
	} {
		broken := whole()
		broken["source-a/"+c.file] = &fstest.MapFile{Data: []byte(c.text)}
		if got := unlike(t, broken, nil); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want one about %q", c.file, got, c.want)
		}
	}
	excused := map[string]string{"source-a/errors.go": "speaks to no vendor"}
	if got := unlike(t, whole(), excused); len(got) != 1 || !strings.Contains(got[0], "stale") {
		t.Errorf("a stale waiver: got %q", got)
	}
	broken := whole()
	delete(broken, "source-a/errors.go")
	if got := unlike(t, broken, excused); got != nil {
		t.Errorf("a needed waiver: got %q", got)
	}
}
