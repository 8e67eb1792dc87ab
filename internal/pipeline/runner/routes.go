package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/catalog"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/store"
	"github.com/estuary/connectors/internal/reduce"
	"github.com/estuary/connectors/internal/transact"
	"github.com/estuary/connectors/protocol"
)

// route is a stream's way from the source into the sink: a binding of both.
type route struct {
	chosen
	path    string          // of the stream, in counters
	schema  json.RawMessage // of the documents, with everything that was learnt of them
	changed int             // the version of the routes in which the fields changed last
	capture flow.CaptureBinding
	sink    flow.SinkBinding
	reducer transact.Reducer
}

// routes makes the ways of the streams that the file names. resourceSchema is the sink's; applied is the specification that was applied last.
func routes(f *config.File, streams []offered, resourceSchema, applied json.RawMessage, p position) ([]*route, error) {
	list, problems := choose(streams, f.Streams)
	marks, err := readMarks(resourceSchema)
	if err != nil {
		return nil, err
	}
	var out []*route
	for _, c := range list {
		r, err := newRoute(c, marks)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		r.count(p)
		if err := r.keepWider(applied); err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(problems...)
}

func newRoute(c chosen, marks resourceMarks) (*route, error) {
	r := &route{chosen: c, path: store.Path(c.offered.path), schema: c.offered.schema}
	if c.entry.Schema != nil {
		r.schema = c.entry.Schema
	} else {
		r.schema = catalog.Project(r.schema, c.entry.Projections)
	}
	if err := r.describe(r.schema); err != nil {
		return nil, err
	}
	if err := r.knowsKey(); err != nil {
		return nil, err
	}
	r.capture.Resource, r.capture.ResourcePath = c.resource, c.offered.path
	var err error
	r.sink.Resource, err = marks.resource(c, len(r.key()) == 0 || c.fallback && c.entry.Key == nil)
	return r, err
}

// key is the configured key, else the source's own.
func (r *route) key() []string {
	if r.entry.Key != nil {
		return r.entry.Key
	}
	return catalog.ProjectKey(r.offered.key, r.entry.Projections)
}

// knowsKey refuses a configured key that no document can have, since the source has told all fields.
func (r *route) knowsKey() error {
	if r.entry.Key == nil || r.entry.Schema != nil || !r.complete {
		return nil
	}
	root, _ := parseObject(r.schema)
	properties, _ := parseObject(root.get("properties"))
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	for _, pointer := range r.entry.Key {
		first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		if first = strings.NewReplacer("~1", "/", "~0", "~").Replace(first); !slices.Contains(names, first) {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("stream %s has no field %q, which is a part of the key in the file", r.full(), first), Fix: config.Advise(first, names),
			}
		}
	}
	return nil
}

func (r *route) collection(schema json.RawMessage) (protocol.Collection, error) {
	return catalog.Build(r.full(), r.key(), schema, r.entry.Projections)
}

// describe takes over a schema of the documents.
func (r *route) describe(schema json.RawMessage) error {
	c, err := r.collection(schema)
	if err != nil {
		return err
	}
	reducer, err := reduce.Compile(schema)
	if err != nil {
		return fmt.Errorf("stream %s: %w", r.full(), err)
	}
	r.schema, r.reducer = schema, reducer
	r.capture.Collection, r.sink.Collection = c, c
	return nil
}

// count sets how often the stream has started over.
func (r *route) count(p position) {
	total, byReset := p.Backfill[r.path], p.Resets[r.path]
	r.capture.Backfill = total - min(byReset, total)
	r.capture.StateKey = flow.StateKey(r.offered.path, r.capture.Backfill)
	r.sink.Backfill = total
	if r.sink.ResourcePath != nil {
		r.sink.StateKey = flow.StateKey(r.sink.ResourcePath, total)
	}
}

// pointers are the locations of fields.
func (r *route) pointers(fields []string) []string {
	list := make([]string, len(fields))
	for i, name := range fields {
		if p := r.sink.Collection.Field(name); p != nil {
			list[i] = p.Pointer
		}
	}
	return list
}

// binding is what the combiner has to know. It always keeps the document: fields may change while it is on its way.
func (r *route) binding() transact.Binding {
	return transact.Binding{
		Stream: r.full(), Key: r.pointers(r.sink.Fields.Keys), KeyFields: r.sink.Fields.Keys, ValuePointers: r.pointers(r.sink.Fields.Values),
		Document: true, Delta: r.sink.DeltaUpdates, Reducer: r.reducer,
	}
}

func (p *pipe) newCombiner() (*transact.Combiner, error) {
	bindings := make([]transact.Binding, len(p.routes))
	for i, r := range p.routes {
		bindings[i] = r.binding()
	}
	return transact.New(bindings, transact.Options{MemoryBytes: memoryBytes})
}

// resourceMarks are the members of a sink's resource.
type resourceMarks struct {
	names                []string
	table, schema, delta string // the members that hold a table's name, its schema's, and whether rows are only added; "": none
}

func readMarks(resourceSchema json.RawMessage) (resourceMarks, error) {
	root, ok := parseObject(resourceSchema)
	if !ok {
		return resourceMarks{}, errors.New("the sink's resource has no schema")
	}
	var m resourceMarks
	properties, _ := parseObject(root.get("properties"))
	for _, p := range properties {
		m.names = append(m.names, p.name)
		marks, _ := parseObject(p.value)
		for mark, into := range map[string]*string{flow.MarkCollection: &m.table, flow.MarkSchema: &m.schema, flow.MarkDelta: &m.delta} {
			if string(marks.get(mark)) == "true" {
				*into = p.name
			}
		}
	}
	return m, nil
}

// resource is where a stream goes: what the entry says, else a table of the stream's name in a schema of its namespace's. Streams without a key of their
// own are only added to.
func (m resourceMarks) resource(c chosen, keyless bool) (json.RawMessage, error) {
	var o schemaObject
	if m.table != "" {
		o.set(m.table, quoted(c.table()))
	}
	if m.schema != "" && c.namespace != "" {
		o.set(m.schema, quoted(c.namespace))
	}
	if m.delta != "" && keyless {
		o.set(m.delta, json.RawMessage("true"))
	}
	var problems []error
	for _, given := range c.entry.Resource {
		if !slices.Contains(m.names, given.Name) {
			p := &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("line %d: unknown key %q of stream %s", given.Line, given.Name, c.entry.Pattern), Fix: config.Advise(given.Name, slices.Concat(config.StreamKeys, m.names)),
			}
			if given.Name == "schema" {
				p.Summary, p.Fix = fmt.Sprintf("line %d: schema of stream %s is %s, and the sink's tables have none", given.Line, c.entry.Pattern, given.Value), "write the path of a JSON schema, which ends with .json"
			}
			problems = append(problems, p)
			continue
		}
		o.set(given.Name, given.Value)
	}
	return o.json(), errors.Join(problems...)
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string always has a JSON form
	return raw
}

// collisions finds streams that would go into one table.
func collisions(list []*route) error {
	seen := map[string]*route{}
	var problems []error
	for _, r := range list {
		at := strings.Join(r.sink.ResourcePath, ".")
		if other := seen[at]; other != nil {
			problems = append(problems, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("streams %s and %s would both go into %s", other.full(), r.full(), at), Fix: "name another table for one of them",
			})
		}
		seen[at] = r
	}
	return errors.Join(problems...)
}
