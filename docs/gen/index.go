package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// connectorIndex renders a table of the connector folders (those with a main.go). The text of a row is the first paragraph of the connector's README.
func connectorIndex(root string) (string, error) {
	var b strings.Builder
	b.WriteString("| connector | what it does |\n|---|---|\n")
	for _, pattern := range []string{"source-*", "materialize-*"} {
		mains, err := filepath.Glob(filepath.Join(root, pattern, "main.go"))
		if err != nil {
			return "", err
		}
		for _, path := range mains {
			dir := filepath.Dir(path)
			text, err := firstParagraph(filepath.Join(dir, "README.md"))
			if err != nil {
				return "", err
			}
			name := filepath.Base(dir)
			fmt.Fprintf(&b, "| [%s](%s/README.md) | %s |\n", name, name, strings.ReplaceAll(text, "|", `\|`))
		}
	}
	return b.String(), nil
}

// firstParagraph returns the first paragraph of a Markdown file that is not a heading, as one line.
func firstParagraph(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var words []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "<!--"):
			words = append(words, line)
		case len(words) > 0:
			return strings.Join(words, " "), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	if len(words) == 0 {
		return "", fmt.Errorf("reading %s: no paragraph that says what the connector does", path)
	}
	return strings.Join(words, " "), nil
}
