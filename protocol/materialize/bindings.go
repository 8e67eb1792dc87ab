package materialize

import (
	"errors"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
)

// bindings checks the bindings of a materialization that is about to be applied or opened.
func (inv *invocation) bindings(given []flow.MaterializationBinding) ([]Binding, error) {
	bs := make([]Binding, len(given))
	var problems []error
	for i, g := range given {
		if err := inv.connector.checkResource(g.Resource); err != nil {
			problems = append(problems, command.OfBinding(i, g.Collection.Name, err)...)
			continue
		}
		bs[i] = toBinding(g)
		for _, field := range append(append([]string{}, g.Fields.Keys...), g.Fields.Values...) {
			if bs[i].Collection.Field(field) == nil {
				problems = append(problems, fmt.Errorf("the runner selects the field %q of binding %d, but its collection %s has no such projection", field, i, g.Collection.Name))
			}
		}
	}
	return bs, errors.Join(problems...)
}

func toBinding(g flow.MaterializationBinding) Binding {
	b := Binding{
		Resource: g.Resource, ResourcePath: g.ResourcePath, Collection: g.Collection, Fields: g.Fields, DeltaUpdates: g.DeltaUpdates, Backfill: g.Backfill, StateKey: g.StateKey,
	}
	if b.StateKey == "" {
		b.StateKey = flow.StateKey(b.ResourcePath, b.Backfill)
	}
	return b
}

// lastBindings are those that were applied last, and those that were bound before.
func lastBindings(last *flow.Materialization) []Binding {
	var bs []Binding
	for _, list := range [][]flow.MaterializationBinding{last.Bindings, last.Inactive} {
		for _, g := range list {
			bs = append(bs, toBinding(g))
		}
	}
	return bs
}

// describe tells what a plan did.
func describe(plan Plan) string { return strings.Join(plan.Steps(), "\n") }
