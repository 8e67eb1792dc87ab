package archtest

import (
	"fmt"
	"go/ast"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// ofTheProcess are the names by which code touches the process: its input, its output, its end. Everything else returns an error, or writes to what it
// was given, so that one writer owns stdout and deferred clean-ups run.
var ofTheProcess = map[string][]string{
	"os":                         {"Stdin", "Stdout", "Exit"},
	"fmt":                        {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"log":                        {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	"github.com/sirupsen/logrus": {"Fatal", "Fatalf", "Fatalln", "Exit", "Panic", "Panicf", "Panicln"},
}

// mayTouch tells whether a file belongs to a main. A connector's own main package is none: its main.go hands over to protocol/source or
// protocol/materialize. Helpers of tests end the test process (TestMain) and nothing else.
func mayTouch(s source, name string) bool {
	switch {
	case s.test:
		return true
	case inside(s.dir, "internal/command"), inside(s.dir, "protocol/source"), inside(s.dir, "protocol/materialize"):
		return slices.Contains([]string{"os.Stdin", "os.Stdout", "os.Exit"}, name)
	case inside(s.dir, "source-*/..."), inside(s.dir, "materialize-*/..."):
		return false
	case s.pkg == "main":
		return true
	default:
		return isTestCode(s.dir) && name == "os.Exit"
	}
}

// touches lists where the process is touched by code that may not.
func touches(all []source) []string {
	var wrong []string
	for _, s := range all {
		names := map[string]string{} // local name → path
		for _, i := range s.syntax.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				continue // the parser has accepted it
			}
			local := path.Base(imported)
			if i.Name != nil {
				local = i.Name.Name
			}
			names[local] = imported
			if local == "." && ofTheProcess[imported] != nil {
				wrong = append(wrong, fmt.Sprintf("%s imports %s without a name: then nobody sees what it touches", s.path, imported))
			}
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, isIdent := selector.X.(*ast.Ident); isIdent && slices.Contains(ofTheProcess[names[x.Name]], selector.Sel.Name) {
				name := path.Base(names[x.Name]) + "." + selector.Sel.Name
				if !mayTouch(s, name) {
					wrong = append(wrong, fmt.Sprintf("%s uses %s: only mains touch the process; return an error, or take an io.Writer", s.at(n.Pos()), name))
				}
			}
			return true
		})
	}
	return wrong
}

func TestProcess_OnlyMainsTouchIt(t *testing.T) {
	for _, wrong := range touches(sources(t, repository(t))) {
		t.Error(wrong)
	}
}

func TestProcess_Bites(t *testing.T) {
	code := func(pkg, imported, statement string) string {
		return "package " + pkg + "\n\nimport " + imported + "\n\nfunc f() { " + statement + " }\n"
	}
	for _, c := range []struct {
		file, text string
		wrong      bool
	}{
		{"sqlcapture/x.go", code("sqlcapture", `"os"`, "os.Exit(1)"), true},
		{"sqlcapture/x.go", code("sqlcapture", `"os"`, "_ = os.Stdout"), true},
		{"sqlcapture/x.go", code("sqlcapture", `"os"`, "_ = os.Stderr"), false},
		{"sqlcapture/x.go", code("sqlcapture", `o "os"`, "_ = o.Stdin"), true},
		{"sqlcapture/x.go", code("sqlcapture", `. "os"`, "Exit(1)"), true},
		{"sqlcapture/x.go", code("sqlcapture", `"fmt"`, `fmt.Println("x")`), true},
		{"sqlcapture/x.go", code("sqlcapture", `log "github.com/sirupsen/logrus"`, `log.Fatal("x")`), true},
		{"sqlcapture/x_test.go", code("sqlcapture", `"fmt"`, `fmt.Println("x")`), false},
		{"source-a/main.go", code("main", `"os"`, "os.Exit(1)"), true},
		{"protocol/source/main.go", code("source", `"os"`, "os.Exit(1)"), false},
		{"internal/command/x.go", code("command", `"os"`, "_ = os.Stdin"), false},
		{"internal/command/x.go", code("command", `"fmt"`, `fmt.Println("x")`), true},
		{"protocol/source/main.go", code("source", `"fmt"`, `fmt.Println("x")`), true},
		{"pipeline/main.go", code("main", `"fmt"`, `fmt.Println("x")`), false},
		{"internal/pgtest/x.go", code("pgtest", `"os"`, "os.Exit(1)"), false},
		{"internal/pgtest/x.go", code("pgtest", `"fmt"`, `fmt.Println("x")`), true},
		{"testsupport/cmd/demo/main.go", code("main", `"fmt"`, `fmt.Println("x")`), false},
		{"testsupport/replay/x.go", code("replay", `"fmt"`, `fmt.Println("x")`), true},
	} {
		got := touches(sources(t, fstest.MapFS{c.file: {Data: []byte(c.text)}}))
		if (len(got) == 1) != c.wrong {
			t.Errorf("%s: %s: wrong %v, got %q", c.file, c.text, c.wrong, got)
		}
	}
}

// What the product binaries link, by the go command itself: no helper of tests by whatever way.
func TestProducts_LinkNoTestCode(t *testing.T) {
	var mains []string
	for _, s := range sources(t, repository(t)) {
		if s.pkg == "main" && !s.test && path.Base(s.path) == "main.go" && !isTestCode(s.dir) && !inside(s.dir, "docs/...") {
			mains = append(mains, "./"+s.dir)
		}
	}
	if len(mains) == 0 {
		t.Fatal("no product binary was found")
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e", "-deps", "-f", "{{.ImportPath}}"}, mains...)...)
	cmd.Dir = "../.."
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing what %s link: %v", mains, err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, module+"protocol") {
		t.Fatalf("the list is not of our binaries: %q", linked)
	}
	for _, dependency := range linked {
		if own, ok := strings.CutPrefix(dependency, module); dependency == "testing" || ok && isTestCode(own) {
			t.Errorf("a product binary links %s", dependency)
		}
	}
}
