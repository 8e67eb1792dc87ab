package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// eachFile calls f for each Go file of the root module that is no test, with its package's path below the module.
func eachFile(t *testing.T, f func(pkg, path string, file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testsupport", "testdata", "bin", "node_modules"}, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		f(filepath.ToSlash(rel), path, file)
		return nil
	})
	if err != nil {
		t.Fatalf("reading the module's files: %v", err)
	}
}

// shippedImports maps each package to what its files, tests apart, import.
func shippedImports(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	eachFile(t, func(pkg, path string, file *ast.File) {
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			imports[pkg] = append(imports[pkg], strings.TrimPrefix(to, module+"/"))
		}
		if imports[pkg] == nil {
			imports[pkg] = []string{}
		}
	})
	return imports
}

// ownsProcess: who may touch stdin, stdout and the exit code, and why.
var ownsProcess = map[string]string{
	"protocol/source":      "the main of every source",
	"protocol/materialize": "the main of every materialization",
	"pipeline":             "a main of its own",
	"parser/cmd/parser":    "a main of its own",
	"docs/gen":             "a main of its own",
	"internal/pgtest":      "the body of a TestMain",
}

func TestProcess_OnlyMainsTouchIt(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, func(pkg, path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if name := processUse(n); name != "" {
				found[pkg] = true
				if ownsProcess[pkg] == "" {
					t.Errorf("%s uses %s: only mains do; return an error, or take a writer", path, name)
				}
			}
			return true
		})
	})
	if !found["docs/gen"] {
		t.Error("not even docs/gen was seen to touch the process: this test looks for nothing")
	}
}

// processUse names a use of the process's own things: os.Exit, os.Stdin, os.Stdout, fmt.Print….
func processUse(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name := pkg.Name + "." + sel.Sel.Name
	switch name {
	case "os.Exit", "os.Stdin", "os.Stdout", "fmt.Print", "fmt.Printf", "fmt.Println":
		return name
	}
	return ""
}
