// Command gen keeps the generated parts of the documents: the connector index in README.md, and in docs/testing.md the list of situations that bit
// somebody and the tests that hold them. It replaces what stands between a pair of markers.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

func main() {
	root, err := moduleRoot()
	if err == nil {
		err = run(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// moduleRoot is the nearest folder with a go.mod, from the working directory upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("looking for the repository: no go.mod here or above")
		}
		dir = up
	}
}

func run(root string) error {
	index, err := connectorIndex(root)
	if err != nil {
		return err
	}
	cases, err := bugCases(root)
	if err != nil {
		return err
	}
	return errors.Join(
		replaceBetween(filepath.Join(root, "README.md"), "connectors", index),
		replaceBetween(filepath.Join(root, "docs/testing.md"), "cases", renderCases(cases)),
	)
}

// replaceBetween writes text between the markers <!-- name:begin --> and <!-- name:end --> of a file; the markers stay.
func replaceBetween(path, name, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := []byte("<!-- "+name+":begin -->\n"), []byte("<!-- "+name+":end -->")
	head, rest, ok := bytes.Cut(old, begin)
	if !ok {
		return fmt.Errorf("updating %s: no line %q", path, bytes.TrimSpace(begin))
	}
	_, tail, ok := bytes.Cut(rest, end)
	if !ok {
		return fmt.Errorf("updating %s: no %q after %q", path, end, bytes.TrimSpace(begin))
	}
	updated := bytes.Join([][]byte{head, begin, []byte(text), end, tail}, nil)
	if bytes.Equal(updated, old) {
		return nil
	}
	return os.WriteFile(path, updated, 0o644)
}
