package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A bugCase is one comment of the form "// bug topic 12: public source, and what happened" in a test file.
type bugCase struct {
	topic  string
	number int
	letter string // 32a follows 32
	text   string
	file   string // from the root, with slashes
	test   string // the function that the comment stands in or above; empty in a file without one
}

var (
	bugComment = regexp.MustCompile(`//\s*bug ([a-z][a-z0-9-]*) ([0-9]+[a-z]?):\s*(.+)$`)
	testFunc   = regexp.MustCompile(`^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	anyFunc    = regexp.MustCompile(`^func `)
)

// bugCases lists the numbered comments of all test files, sorted.
func bugCases(root string) ([]bugCase, error) {
	var all []bugCase
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !isTestFile(path) {
			return nil
		}
		cases, err := casesOf(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for i := range cases {
			cases[i].file = filepath.ToSlash(rel)
		}
		all = append(all, cases...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing test cases: %w", err)
	}
	slices.SortStableFunc(all, func(a, b bugCase) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.number, b.number), cmp.Compare(a.letter, b.letter), cmp.Compare(a.file, b.file), cmp.Compare(a.test, b.test))
	})
	return slices.CompactFunc(all, func(a, b bugCase) bool { return a == b }), nil
}

// isTestFile: tests, and the packages that hold nothing but tests' helpers, whose suites are called by every connector.
func isTestFile(path string) bool {
	if !strings.HasSuffix(path, ".go") || strings.Contains(filepath.ToSlash(path), "docs/gen/") {
		return false
	}
	dir := filepath.Base(filepath.Dir(path))
	return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(dir, "test") || strings.Contains(filepath.ToSlash(path), "testsupport/")
}

func casesOf(path string) ([]bugCase, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found []bugCase
	var current string // the test that the lines belong to
	waiting := 0       // cases from here on stand above the next function
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if anyFunc.MatchString(line) {
			current = ""
			if m := testFunc.FindStringSubmatch(line); m != nil {
				current = m[1]
			}
			for i := waiting; i < len(found); i++ {
				found[i].test = current
			}
		}
		if m := bugComment.FindStringSubmatch(line); m != nil {
			number, err := strconv.Atoi(strings.TrimRight(m[2], "abcdefghijklmnopqrstuvwxyz"))
			if err != nil {
				return nil, fmt.Errorf("reading %s: case %q: %w", path, m[0], err)
			}
			found = append(found, bugCase{topic: m[1], number: number, letter: strings.TrimLeft(m[2], "0123456789"), text: strings.TrimSpace(m[3]), test: current})
		}
		if line == "}" {
			current, waiting = "", len(found)
		} else if current != "" {
			waiting = len(found)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return found, nil
}

func renderCases(cases []bugCase) string {
	var b strings.Builder
	b.WriteString("| case | situation and source | test |\n|---|---|---|\n")
	for _, c := range cases {
		where := c.file
		if c.test != "" {
			where = "`" + c.test + "` in " + c.file
		}
		fmt.Fprintf(&b, "| %s %d%s | %s | %s |\n", c.topic, c.number, c.letter, strings.ReplaceAll(c.text, "|", `\|`), where)
	}
	return b.String()
}
