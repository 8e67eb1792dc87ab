package reduce

import (
	"slices"

	"github.com/estuary/connectors/internal/jsonschema"
)

// Simple tells two things of all valid documents at once, so that nobody need ask for each: one with nothing to its left stays as it is, and none ends the
// history of its key but those whose /_meta/op is "d" (and those whose _meta is no object, which no schema allows). Schemas of captures are so.
func (r *Reducer) Simple() bool {
	type visit struct {
		node             *jsonschema.Node
		whole, deletions bool // it applies to whole documents; and to no others than those whose /_meta/op is "d"
	}
	seen := map[visit]bool{}
	var simple func(n *jsonschema.Node, whole, deletions bool) bool
	simple = func(n *jsonschema.Node, whole, deletions bool) bool {
		if seen[visit{n, whole, deletions}] {
			return true
		}
		seen[visit{n, whole, deletions}] = true
		if s := r.strategies[n]; s != nil && (!slices.Contains([]string{merge, lastWriteWins, firstWriteWins, minimize, maximize}, s.name) || s.delete && !deletions) {
			return false
		}
		ok := true
		n.Children(func(part *jsonschema.Node) { ok = ok && simple(part, false, false) })
		n.Parts(func(part *jsonschema.Node) {
			ok = ok && (part == n.If || simple(part, whole, deletions || whole && part == n.Then && n.If != nil && wantsDeletion(n.If)))
		})
		return ok
	}
	return r.root == nil || r.root.nodes == nil || !slices.ContainsFunc(r.root.nodes, func(n *jsonschema.Node) bool { return !simple(n, true, false) })
}

// wantsDeletion tells whether a condition is met by no object but those whose /_meta/op is "d".
func wantsDeletion(condition *jsonschema.Node) bool {
	if !slices.Contains(condition.Required, "_meta") {
		return false
	}
	meta := condition.Property("_meta")
	if meta == nil || !slices.Contains(meta.Required, "op") {
		return false
	}
	op := meta.Property("op")
	return op != nil && len(op.Values) == 1 && string(op.Values[0]) == `"d"`
}
