package main

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/testsupport/fixture"
)

func TestCanonical(t *testing.T) {
	for value, want := range map[string]string{
		`"plain"`:             "plain",
		`"a \"b\" \n \u00e9"`: "a \"b\" \n é",
		`12.50`:               "12.50",
		`true`:                "true",
		`{"n":1}`:             `{"n":1}`,
		`{"dimensions":[2],"elements":["a","b"]}`: `["a","b"]`,
	} {
		if got, null, err := canonical([]byte(value)); err != nil || null || string(got) != want {
			t.Errorf("%s: %q, NULL %v, %v, want %q", value, got, null, err, want)
		}
	}
	if _, null, err := canonical([]byte("null")); !null || err != nil {
		t.Errorf("null: NULL %v, %v", null, err)
	}
	if _, _, err := canonical(nil); err == nil {
		t.Error("a column that is missing counts as there")
	}
}

func TestChecksums_ValueNullAndNumber(t *testing.T) {
	sums := func(texts ...string) checksums {
		c := make(checksums, len(fixture.Columns))
		for _, text := range texts {
			c[2].add([]byte(text))
		}
		return c
	}
	if err := sums("a", "b").equal(sums("b", "a")); err != nil {
		t.Errorf("in another order: %v", err)
	}
	for name, other := range map[string]checksums{"another value": sums("a", "c"), "a NULL": sums("a"), "an empty text more": sums("a", "b", "")} {
		if err := sums("a", "b").equal(other); err == nil || !strings.Contains(err.Error(), "column name") {
			t.Errorf("%s: %v, want the column's name", name, err)
		}
	}
}
