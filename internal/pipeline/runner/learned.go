package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/estuary/connectors/protocol"
)

// keepWider takes over, of the schema that was applied last, what allows more types than the source declares now. A column that changed its type while the
// pipeline ran holds values of both, and the table's column was widened for them; a start that went by the present type alone would find that column unfit.
func (r *route) keepWider(applied json.RawMessage) error {
	if r.entry.Schema != nil {
		return nil // the file's own counts
	}
	before, _ := parseObject(appliedSchema(applied, r.full(), r.sink.Backfill))
	known, _ := parseObject(before.get("properties"))
	root, _ := parseObject(r.schema)
	properties, ok := parseObject(root.get("properties"))
	if !ok {
		return nil
	}
	kept := false
	for i, p := range properties {
		if was := known.get(p.name); was != nil && wider(was, p.value) {
			properties[i].value, kept = was, true
		}
	}
	if !kept {
		return nil
	}
	root.set("properties", properties.json())
	return r.describe(root.json())
}

// appliedSchema is the schema of a stream in a specification that was applied; nil: it was not bound, or has started over since.
func appliedSchema(applied json.RawMessage, stream string, backfill uint32) json.RawMessage {
	var spec struct {
		Bindings []struct {
			Backfill   uint32 `json:"backfill"`
			Collection struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"writeSchema"`
			} `json:"collection"`
		} `json:"bindings"`
	}
	if applied == nil || json.Unmarshal(applied, &spec) != nil {
		return nil
	}
	for _, b := range spec.Bindings {
		if b.Collection.Name == stream && b.Backfill == backfill {
			return b.Collection.Schema
		}
	}
	return nil
}

// typed is what a property's schema says of the types of its values; Types nil: any.
type typed struct {
	Types  []string
	Format string
}

func typesOf(schema json.RawMessage) (t typed, ok bool) {
	var s struct {
		Type   json.RawMessage `json:"type"`
		Format string          `json:"format"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return typed{}, false
	}
	var one string
	switch {
	case s.Type == nil:
	case json.Unmarshal(s.Type, &one) == nil:
		t.Types = []string{one}
	case json.Unmarshal(s.Type, &t.Types) != nil:
		return typed{}, false
	}
	t.Types = slices.DeleteFunc(t.Types, func(name string) bool { return name == "null" })
	t.Format = s.Format
	return t, true
}

// wider tells whether a schema allows all types that another does, and more.
func wider(was, now json.RawMessage) bool {
	a, okA := typesOf(was)
	b, okB := typesOf(now)
	if !okA || !okB || len(b.Types) == 0 || loses(a, b) {
		return false
	}
	if len(a.Types) == 0 {
		return true
	}
	return len(a.Types) > len(b.Types) && !slices.ContainsFunc(b.Types, func(t string) bool { return !slices.Contains(a.Types, t) })
}

// loses tells whether numbers of any precision would be added to what was a floating-point number: both are numbers in text or not, and the join cannot tell
// that the table's column has too few digits.
func loses(was, now typed) bool {
	return slices.Contains(was.Types, "number") && now.Format == "number" && slices.Equal(now.Types, []string{"string"})
}

// outgrown returns the first property whose new values the table's column would round.
func outgrown(known, sourced json.RawMessage) (name string, found bool) {
	before, _ := parseObject(known)
	after, _ := parseObject(sourced)
	old, _ := parseObject(before.get("properties"))
	properties, _ := parseObject(after.get("properties"))
	for _, p := range properties {
		was, okWas := typesOf(old.get(p.name))
		now, okNow := typesOf(p.value)
		if okWas && okNow && loses(was, now) {
			return p.name, true
		}
	}
	return "", false
}

func (p *pipe) rounded(r *route, field string) error {
	return &protocol.Problem{
		Kind:    protocol.Config,
		Summary: fmt.Sprintf("field %q of stream %s was a floating-point number and is one of any precision now, whose digits the column in the destination cannot hold", field, r.full()),
		Fix:     fmt.Sprintf("let the stream start over, which empties its table, changes it and fills it anew: pipeline backfill %s %s", p.file.Path, r.full()),
	}
}
