package filesourcetest

import (
	"bytes"
	"os"
	"testing"
)

// ReadmeExample is the configuration that the README of the connector in the working directory shows.
func ReadmeExample(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := bytes.Cut(text, []byte("\n## Configuration\n\n```json\n"))
	example, _, ok := bytes.Cut(section, []byte("\n```\n"))
	if !ok {
		t.Fatal("README.md shows no configuration")
	}
	return example
}
