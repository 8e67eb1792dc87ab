package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/golden"
	schemas "github.com/estuary/connectors/internal/jsonschema"
)

func TestReadme_Types(t *testing.T) {
	golden.Section(t, "README.md", "types", typeReadme(t))
}

// typeReadme is the table of types: a row for each rule and each kind of type that people define, with the first sample of it.
func typeReadme(t *testing.T) string {
	f := newFixture(typeOptions{})
	var out strings.Builder
	out.WriteString("| PostgreSQL type | JSON schema | example | as JSON | order of keys |\n|---|---|---|---|---|\n")
	row := func(names string, s sample) {
		c := f.named(t, s.typ)
		order := "found by value"
		switch {
		case c.AppendKey == nil:
			order = "not a key"
		case c.Ordered:
			order = "compared"
		case strings.Contains(" text varchar bpchar name ", " "+strings.Trim(s.typ, "()0123456789")+" "):
			order = `compared under collation "C"`
		}
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s | %s |\n", names, schemas.FlowClosed(c.Schema), cell(s.wire), cell(s.json), order)
	}
	for _, r := range rules {
		names := strings.Fields(r.names)
		for _, s := range append(samples, goldenOnly...) {
			if base, _, _ := strings.Cut(strings.Trim(s.typ, `"`), "("); slices.Contains(names, base) {
				row("`"+strings.Join(names, "` `")+"`", s)
				break
			}
		}
	}
	for _, kind := range []struct{ name, typ string }{
		{"enum", "mood"},
		{"composite", "item"},
		{"domain: as its base type", "posint"},
		{"range", "int4range"},
		{"range of dates or timestamps", "tsrange"},
		{"multirange", "int4multirange"},
		{"array, of any type", "int4[]"},
	} {
		for _, s := range samples {
			if s.typ == kind.typ {
				row(kind.name, s)
				break
			}
		}
	}
	out.WriteString("| any other | `{\"type\":\"string\"}` | | PostgreSQL's text | found by value |\n")
	return out.String()
}

// cell is text as code in a cell of a table.
func cell(text string) string {
	if text == "" {
		return "(empty)"
	}
	text = strings.NewReplacer("|", `\|`, "\n", " ", "\t", " ", "\x01", "", "\u2028", "").Replace(text)
	return "`` " + text + " ``"
}
