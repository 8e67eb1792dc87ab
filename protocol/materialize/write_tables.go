package materialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/catalog"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/reduce"
	"github.com/estuary/connectors/internal/transact"
	"github.com/estuary/connectors/protocol"
)

// table is a stream of `write` and where it goes.
type table struct {
	airbyte.DestinationStream
	binding    Binding
	reducer    *reduce.Reducer // nil: later documents replace earlier ones whole
	checkpoint tableCheckpoint // what the destination has, with what is being committed
}

func (t *table) name() string { return t.Descriptor.String() }

// path is the table's name for people.
func (t *table) path() string { return strings.Join(t.binding.ResourcePath, ".") }

func (t *table) delta() bool { return t.Mode == airbyte.Append || len(t.Key) == 0 }

func bindingsOf(tables []*table) []Binding {
	bs := make([]Binding, len(tables))
	for i, t := range tables {
		bs[i] = t.binding
	}
	return bs
}

// prepareTables finds for each stream its table and its columns, and decides which tables are replaced. Nothing is written.
func (inv *invocation) prepareTables(ctx context.Context, m Materializer, streams []airbyte.DestinationStream) ([]*table, error) {
	tables, err := inv.proposeTables(ctx, m, streams)
	if err != nil {
		return nil, err
	}
	again, err := newGenerations(ctx, m, tables)
	if err != nil {
		return nil, err
	}
	if again { // an existing table does not matter for those that start over
		err = inv.place(ctx, m, tables)
	}
	return tables, err
}

// proposeTables finds for each stream its table and its columns.
func (inv *invocation) proposeTables(ctx context.Context, m Materializer, streams []airbyte.DestinationStream) ([]*table, error) {
	names, err := flow.NamesOf(inv.connector.resourceSchema())
	if err != nil {
		return nil, err
	}
	tables, problems := make([]*table, len(streams)), []error(nil)
	for i, s := range streams {
		t, err := inv.newTable(names, s)
		if err != nil {
			problems = append(problems, fmt.Errorf("stream %s: %w", s.Descriptor, err))
		}
		tables[i] = t
	}
	if problems != nil {
		return nil, errors.Join(problems...)
	}
	return tables, inv.place(ctx, m, tables)
}

// newTable makes a table of a stream, without its fields.
func (inv *invocation) newTable(names flow.ResourceNames, s airbyte.DestinationStream) (*table, error) {
	t := &table{DestinationStream: s}
	name := s.Descriptor.Name
	if short, ok := strings.CutPrefix(name, s.Descriptor.Namespace+"."); ok && short != "" {
		name = short
	}
	var err error
	b := &t.binding
	if b.Resource, err = names.Resource(s.Descriptor.Namespace, name, t.delta()); err != nil {
		return nil, err
	}
	if err := inv.connector.checkResource(b.Resource); err != nil {
		return nil, err
	}
	// A source that was given projections writes documents of another shape than the catalog tells.
	key, schema := catalog.ProjectKey(s.Key, s.Projections), catalog.Project(s.Schema, s.Projections)
	if t.delta() {
		key = nil // rows are only added, so nothing of them need be unique, or there
	}
	if schema == nil {
		schema = []byte("{}")
	}
	if b.Collection, err = catalog.Build(s.Descriptor.String(), key, schema, s.Projections); err != nil {
		return nil, err
	}
	b.Replace = s.Mode == airbyte.Overwrite
	// Without annotations there is nothing to reduce: the later document counts.
	if !t.delta() && bytes.Contains(s.Schema, []byte(`"reduce"`)) {
		if t.reducer, err = inv.reducer(s, schema); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// reducer refuses reductions that count what is repeated, unless the caller promises that nothing is.
func (inv *invocation) reducer(s airbyte.DestinationStream, schema []byte) (*reduce.Reducer, error) {
	r, err := reduce.Compile(schema)
	if err != nil {
		return nil, err
	}
	if ok, location := r.Idempotent(); !ok && !inv.args.Resumed {
		return nil, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("stream %s: the reduction at %s of its schema counts a record twice that a source repeats", s.Descriptor, location),
			Fix: fmt.Sprintf("start the source from `%s state` and give --resumed, or leave the reduction out", inv.connector.name),
		}
	}
	return r, nil
}

// place asks the destination what may become of each field, and selects.
func (inv *invocation) place(ctx context.Context, m Materializer, tables []*table) error {
	proposed := make([]Proposed, len(tables))
	for i, t := range tables {
		proposed[i] = Proposed{Resource: t.binding.Resource, Collection: t.binding.Collection, Replace: t.binding.Replace}
	}
	answers, err := inv.constrain(ctx, m, proposed, nil)
	if err != nil {
		return err
	}
	var problems []error
	for i, t := range tables {
		if err := inv.accept(t, &answers[i]); err != nil {
			problems = append(problems, fmt.Errorf("stream %s: %w", t.name(), err))
		}
	}
	return errors.Join(problems...)
}

func (inv *invocation) accept(t *table, a *Constraints) (err error) {
	b := &t.binding
	b.ResourcePath, b.DeltaUpdates, b.StateKey = a.ResourcePath, a.DeltaUpdates, flow.StateKey(a.ResourcePath, 0)
	switch {
	case a.DeltaUpdates && !t.delta():
		return command.Problem(fmt.Sprintf("%s only adds rows, so stream %s cannot have one for each key", inv.connector.name, t.name()), "choose the destination_sync_mode append")
	case !a.DeltaUpdates && t.delta():
		return command.Problem(fmt.Sprintf("%s keeps one row for each key, so rows of stream %s cannot only be added", inv.connector.name, t.name()),
			"give it a primary_key and the destination_sync_mode append_dedup")
	}
	b.Fields, err = selectFields(&b.Collection, a)
	return err
}

// selectFields takes what the destination recommends, and everything at the top of the documents that it can hold.
func selectFields(c *protocol.Collection, a *Constraints) (protocol.FieldSelection, error) {
	constraints := make(map[string]catalog.Constraint, len(a.Fields))
	for field, f := range a.Fields {
		constraints[field] = catalog.Constraint{Kind: catalog.Kind(f.Kind), Reason: f.Reason, Folded: f.Folded}
	}
	return catalog.Select(c, constraints, catalog.Options{CaseInsensitive: a.CaseInsensitive})
}

// newGenerations finds the tables whose rows a runner wants to be gone: it names a minimum generation that is the present one and greater than what the
// table remembers. Some runners name generation 1 as both, always, so that alone means nothing. It reports whether there is any.
func newGenerations(ctx context.Context, m Materializer, tables []*table) (any bool, err error) {
	var asking []*table
	var paths [][]string
	for _, t := range tables {
		if t.Generation > 1 && t.Generation == t.MinimumGeneration && !t.binding.Replace {
			asking = append(asking, t)
			paths = append(paths, t.binding.ResourcePath)
		}
	}
	reader, ok := m.(CheckpointReader)
	if !ok || len(asking) == 0 {
		return false, nil
	}
	raw, err := reader.ReadCheckpoints(ctx, paths)
	if err != nil {
		return false, err
	}
	for i, t := range asking {
		c, err := decodeTableCheckpoint(raw[i])
		if err != nil {
			return false, fmt.Errorf("reading the checkpoint of table %s in the destination: %w", t.path(), err)
		}
		if c.Generation > 0 && t.Generation > c.Generation {
			t.binding.Replace, any = true, true
		}
	}
	return any, nil
}

// transactBinding is what the combiner needs to know.
func (t *table) transactBinding() transact.Binding {
	b := &t.binding
	out := transact.Binding{Stream: t.name(), KeyFields: b.Fields.Keys, Document: b.Fields.Document != "", Delta: b.DeltaUpdates}
	for _, field := range b.Fields.Keys {
		out.Key = append(out.Key, b.Collection.Field(field).Pointer)
	}
	for _, field := range b.Fields.Values {
		out.ValuePointers = append(out.ValuePointers, b.Collection.Field(field).Pointer)
	}
	if t.reducer != nil {
		out.Reducer = t.reducer
	}
	return out
}
