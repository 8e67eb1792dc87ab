package materialize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// constraintNames are the names of the protocol.
var constraintNames = map[ConstraintKind]string{
	FieldRequired: "FIELD_REQUIRED", LocationRequired: "LOCATION_REQUIRED", LocationRecommended: "LOCATION_RECOMMENDED", FieldOptional: "FIELD_OPTIONAL",
	FieldForbidden: "FIELD_FORBIDDEN", Incompatible: "INCOMPATIBLE",
}

// validate answers what may become of each projection. It runs the check as well: Flow has no other place for it.
func (inv *invocation) validate(v *flow.SinkValidate) (err error) {
	m, err := inv.openConfig(v.Config)
	if err != nil {
		return err
	}
	defer closeInto(m, &err)
	var problems []error
	proposed := make([]Proposed, len(v.Bindings))
	for i, b := range v.Bindings {
		if err := inv.connector.checkResource(b.Resource); err != nil {
			problems = append(problems, command.OfBinding(i, b.Collection.Name, err)...)
		}
		proposed[i] = Proposed{Resource: b.Resource, Collection: b.Collection, FieldConfig: b.FieldConfig, Backfill: b.Backfill}
	}
	if problems != nil {
		return errors.Join(problems...)
	}
	ctx := context.Background()
	if err := m.Check(ctx); err != nil {
		return err
	}
	var last []Binding
	if v.Last != nil {
		last = lastBindings(v.Last)
	}
	answers, err := inv.constrain(ctx, m, proposed, last)
	if err != nil {
		return err
	}
	paths := make([][]string, len(answers))
	for i, a := range answers {
		paths[i] = a.ResourcePath
	}
	if err := checkNeighbours(ctx, m, v.Name, paths); err != nil {
		return err
	}
	out := make([]flow.ValidatedBinding, len(answers))
	for i, a := range answers {
		out[i] = flow.ValidatedBinding{CaseInsensitiveFields: a.CaseInsensitive, ResourcePath: a.ResourcePath, DeltaUpdates: a.DeltaUpdates, Constraints: map[string]flow.Constraint{}}
		for field, c := range a.Fields {
			out[i].Constraints[field] = flow.Constraint{Type: constraintNames[c.Kind], Reason: c.Reason, FoldedField: c.Folded}
		}
	}
	return inv.Print(flow.AppendSinkValidated(nil, out))
}

// constrain asks for the constraints of bindings, of which last were applied before, and completes them: each projection has one.
//
// Bindings are matched by resource path, which only the materializer knows. So the last ones are looked for by the names in their resources first, and if
// the paths in the answer disagree, the question is asked once more with those that have them.
func (inv *invocation) constrain(ctx context.Context, m Materializer, proposed []Proposed, last []Binding) ([]Constraints, error) {
	if err := inv.guessLast(proposed, last); err != nil {
		return nil, err
	}
	answers, err := inv.ask(ctx, m, proposed)
	if err != nil {
		return nil, err
	}
	wrong := false
	for i, a := range answers {
		at := slices.IndexFunc(last, func(b Binding) bool { return slices.Equal(b.ResourcePath, a.ResourcePath) })
		var right *Binding
		if at >= 0 {
			right = &last[at]
		}
		wrong = wrong || right != proposed[i].Last
		proposed[i].Last = right
	}
	if wrong {
		if answers, err = inv.ask(ctx, m, proposed); err != nil {
			return nil, err
		}
	}
	return answers, samePaths(answers)
}

func (inv *invocation) guessLast(proposed []Proposed, last []Binding) error {
	if len(last) == 0 {
		return nil
	}
	names, err := flow.NamesOf(inv.connector.resourceSchema())
	if err != nil {
		return err
	}
	type table struct{ schema, name string }
	of := func(resource json.RawMessage) (t table, err error) {
		t.schema, t.name, _, err = names.Of(resource)
		return t, err
	}
	byName := map[table]*Binding{}
	for i := range slices.Backward(last) {
		if t, err := of(last[i].Resource); err == nil { // a resource of an older version may be anything
			byName[t] = &last[i]
		}
	}
	for i := range proposed {
		t, err := of(proposed[i].Resource)
		if err != nil {
			return err
		}
		proposed[i].Last = byName[t]
	}
	return nil
}

// ask returns the constraints, one for each projection.
func (inv *invocation) ask(ctx context.Context, m Materializer, proposed []Proposed) ([]Constraints, error) {
	answers, err := m.Validate(ctx, proposed)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(proposed) {
		return nil, fmt.Errorf("%s was asked about %d bindings and answers %d", inv.connector.name, len(proposed), len(answers))
	}
	for i := range answers {
		if err := inv.complete(&answers[i], &proposed[i].Collection); err != nil {
			return nil, fmt.Errorf("binding %d: %w", i, err)
		}
	}
	return answers, nil
}

// complete forbids what the materializer did not mention, and refuses what it cannot have meant.
func (inv *invocation) complete(a *Constraints, c *protocol.Collection) error {
	if len(a.ResourcePath) == 0 {
		return fmt.Errorf("%s answers without a resource path", inv.connector.name)
	}
	fields := make(map[string]Constraint, len(c.Projections))
	for i := range c.Projections {
		field := c.Projections[i].Field
		constraint, answered := a.Fields[field]
		switch {
		case !answered:
			constraint = Constraint{Kind: FieldForbidden, Reason: inv.connector.name + " has no place for this field"}
		case constraintNames[constraint.Kind] == "":
			// bug materializations 8: a forgotten constraint had the value zero, which meant "required" (2022-11)
			return fmt.Errorf("%s has no constraint for the field %q: its kind is %d", inv.connector.name, field, constraint.Kind)
		}
		fields[field] = constraint
	}
	for field := range a.Fields {
		if _, ok := fields[field]; !ok {
			return fmt.Errorf("%s has a constraint for the field %q, which collection %s does not have", inv.connector.name, field, c.Name)
		}
	}
	a.Fields = fields
	return nil
}

// checkNeighbours refuses tables that another task writes to, where the destination knows.
func checkNeighbours(ctx context.Context, m Materializer, task string, paths [][]string) error {
	c, ok := m.(NeighbourChecker)
	if !ok || task == "" || len(paths) == 0 {
		return nil
	}
	return c.CheckNeighbours(ctx, task, paths)
}

// samePaths refuses bindings that would write into one table.
func samePaths(answers []Constraints) error {
	first := map[string]int{}
	var problems []error
	for i, a := range answers {
		key := strings.Join(a.ResourcePath, "\x00")
		if other, ok := first[key]; ok {
			problems = append(problems, command.Problem(
				fmt.Sprintf("the bindings %d and %d both write into %s", other, i, strings.Join(a.ResourcePath, ".")), "give one of them another table",
			))
			continue
		}
		first[key] = i
	}
	return errors.Join(problems...)
}
