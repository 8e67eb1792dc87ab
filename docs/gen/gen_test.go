package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRun_FillsBothListsAndKeepsTheRest(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "README.md"), "# R\n<!-- connectors:begin -->\nold\n<!-- connectors:end -->\nafter\n")
	write(t, filepath.Join(root, "docs/testing.md"), "# T\n<!-- cases:begin -->\n<!-- cases:end -->\nafter\n")
	write(t, filepath.Join(root, "source-x/main.go"), "package main\n")
	write(t, filepath.Join(root, "source-x/README.md"), "# source-x\n\nCaptures x,\nwell.\n\nMore.\n")
	write(t, filepath.Join(root, "source-unfinished/README.md"), "# no main, no row\n\nText.\n")
	// The comments are cut in two so that the generator does not take this file's own text for cases.
	write(t, filepath.Join(root, "a/a_test.go"), strings.Join([]string{
		"package a", "// " + "bug log 10: above, a|b", "// More about it.", "func TestAbove(t *testing.T) {", "}", "",
		"var table = []int{", "\t// " + "bug log 9: in a table of the file", "}", "",
		"func helper() {", "\t// " + "bug keys 2: in a helper", "}", "",
		"func TestInside(t *testing.T) {", "\t// " + "bug keys 1: inside", "}", "",
	}, "\n"))
	write(t, filepath.Join(root, "a/a.go"), "package a\n// "+"bug log 1: not a test\n")

	if err := run(root); err != nil {
		t.Fatal(err)
	}
	wantREADME := "# R\n<!-- connectors:begin -->\n| connector | what it does |\n|---|---|\n| [source-x](source-x/README.md) | Captures x, well. |\n<!-- connectors:end -->\nafter\n"
	wantTesting := "# T\n<!-- cases:begin -->\n| case | situation and source | test |\n|---|---|---|\n" +
		"| keys 1 | inside | `TestInside` in a/a_test.go |\n| keys 2 | in a helper | a/a_test.go |\n" +
		"| log 9 | in a table of the file | a/a_test.go |\n| log 10 | above, a\\|b | `TestAbove` in a/a_test.go |\n<!-- cases:end -->\nafter\n"
	for name, want := range map[string]string{"README.md": wantREADME, "docs/testing.md": wantTesting} {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestReplaceBetween_MissingMarkerIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.md")
	write(t, path, "nothing here\n")
	err := replaceBetween(path, "cases", "x")
	if err == nil || !strings.Contains(err.Error(), "<!-- cases:begin -->") {
		t.Errorf("got %v, want an error that names the marker", err)
	}
}

func TestFirstParagraph_EmptyREADMEIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	write(t, path, "# only a heading\n")
	if text, err := firstParagraph(path); err == nil {
		t.Errorf("got %q, want an error", text)
	}
}
