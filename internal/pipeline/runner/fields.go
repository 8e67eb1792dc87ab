package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/catalog"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// kinds are the protocol's names of constraints.
var kinds = map[string]catalog.Kind{
	"FIELD_REQUIRED": catalog.FieldRequired, "LOCATION_REQUIRED": catalog.LocationRequired, "LOCATION_RECOMMENDED": catalog.LocationRecommended,
	"FIELD_OPTIONAL": catalog.FieldOptional, "FIELD_FORBIDDEN": catalog.FieldForbidden, "INCOMPATIBLE": catalog.Incompatible, "UNSATISFIABLE": catalog.Incompatible,
}

// choose selects the fields of a route by what the sink says of them. last is what was selected before; nil: nothing was.
func (r *route) choose(v flow.ValidatedBinding, last *protocol.FieldSelection) error {
	constraints := make(map[string]catalog.Constraint, len(v.Constraints))
	for field, c := range v.Constraints {
		kind, known := kinds[c.Type]
		if !known {
			return fmt.Errorf("the sink says %q of the field %s of stream %s, which is no constraint of the protocol", c.Type, field, r.full())
		}
		constraints[field] = catalog.Constraint{Kind: kind, Reason: c.Reason, Folded: c.FoldedField}
	}
	options := catalog.Options{Root: r.root(constraints), CaseInsensitive: v.CaseInsensitiveFields}
	if last != nil {
		options.Current = *last
	}
	fields, err := catalog.Select(&r.sink.Collection, constraints, options)
	if err != nil {
		return err
	}
	r.sink.ResourcePath, r.sink.DeltaUpdates, r.sink.Fields = v.ResourcePath, v.DeltaUpdates, fields
	r.sink.StateKey = flow.StateKey(v.ResourcePath, r.sink.Backfill)
	return nil
}

// root says what is wanted of the root document: what the file says, else it is kept where its undeclared fields would be lost.
func (r *route) root(constraints map[string]catalog.Constraint) catalog.Root {
	switch {
	case r.entry.RootDocument != nil && *r.entry.RootDocument:
		return catalog.RootWanted
	case r.entry.RootDocument != nil:
		return catalog.RootUnwanted
	case !r.complete || r.entry.Schema != nil:
		return catalog.RootWanted
	}
	for i := range r.sink.Collection.Projections {
		p := &r.sink.Collection.Projections[i]
		kind := constraints[p.Field].Kind
		if p.Pointer == "" && (kind == catalog.FieldRequired || kind == catalog.LocationRequired) {
			return catalog.RootRecommended
		}
	}
	return catalog.RootUnwanted
}

// selected returns what was selected for a resource in a specification that was applied; nil: nothing, or the binding has started over since.
func selected(applied json.RawMessage, path []string, backfill uint32) *protocol.FieldSelection {
	var spec struct {
		Bindings []struct {
			ResourcePath []string `json:"resourcePath"`
			Backfill     uint32   `json:"backfill"`
			Fields       struct {
				Keys     []string `json:"keys"`
				Values   []string `json:"values"`
				Document string   `json:"document"`
			} `json:"fieldSelection"`
		} `json:"bindings"`
	}
	if applied == nil || json.Unmarshal(applied, &spec) != nil {
		return nil
	}
	for _, b := range spec.Bindings {
		if slices.Equal(b.ResourcePath, path) && b.Backfill == backfill {
			return &protocol.FieldSelection{Keys: b.Fields.Keys, Values: b.Fields.Values, Document: b.Fields.Document}
		}
	}
	return nil
}
