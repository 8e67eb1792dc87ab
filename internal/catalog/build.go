package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// Fields with a name of their own.
const (
	Document  = "flow_document" // the root
	Operation = "_meta/op"
)

// Build makes a collection. Its projections are, in this order: the key's locations, the top-level properties in the schema's order, /_meta/op where the
// schema declares it, the root as flow_document, and the explicit ones (field → JSON pointer), sorted. An explicit one takes the place of a default one
// that has the same field and location. key holds JSON pointers. The error is for people.
func Build(name string, key []string, schema []byte, projections map[string]string) (protocol.Collection, error) {
	root, err := jsonschema.Parse(schema)
	if err != nil {
		return protocol.Collection{}, problem("the schema of %s cannot be read: %v", name, err)
	}
	if root.Shape().Types&jsonschema.Object == 0 {
		return protocol.Collection{}, problem("the schema of %s does not allow objects, and documents are objects", name)
	}
	b := builder{collection: protocol.Collection{Name: name, Key: key, Schema: schema}, root: root, explicit: projections}
	if err = b.check(); err != nil {
		return protocol.Collection{}, err
	}
	b.defaults()
	if err = b.projections(); err != nil {
		return protocol.Collection{}, err
	}
	return b.collection, nil
}

func problem(format string, args ...any) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf(format, args...)}
}

// Join returns a schema that takes the documents of both: nothing is dropped, types widen (jsonschema.Join). The annotations of the first stay.
func Join(a, b []byte) ([]byte, error) { return jsonschema.Join(a, b) }

type builder struct {
	collection protocol.Collection
	root       *jsonschema.Node
	explicit   map[string]string
}

// check looks at what was configured.
func (b *builder) check() error {
	name := b.collection.Name
	for i, pointer := range b.collection.Key {
		if _, err := rawjson.ParsePointer(pointer); err != nil {
			return problem("the key of %s is not understood: %v", name, err)
		}
		if pointer == "" {
			return problem("the key of %s is the whole document: name fields of it, like /id", name)
		}
		if slices.Contains(b.collection.Key[:i], pointer) {
			return problem("the key of %s has %s twice", name, pointer)
		}
	}
	folded := map[string]string{}
	for _, field := range sortedFields(b.explicit) {
		if _, err := rawjson.ParsePointer(b.explicit[field]); err != nil {
			return problem("the projection %q of %s is not understood: %v", field, name, err)
		}
		if field == "" {
			return problem("a projection of %s to %s has an empty name: give it one", name, b.explicit[field])
		}
		if other, taken := folded[jsonschema.Fold(field)]; taken {
			return problem("the projections %q and %q of %s differ in case only: rename one", other, field, name)
		}
		folded[jsonschema.Fold(field)] = field
	}
	return nil
}

func sortedFields(projections map[string]string) []string {
	fields := make([]string, 0, len(projections))
	for field := range projections {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	return fields
}

// defaults adds the projections that nobody has to ask for.
func (b *builder) defaults() {
	for _, pointer := range b.collection.Key {
		b.add(canonical(pointer), pointer)
	}
	names := b.root.PropertyNames()
	for _, name := range names {
		if pointer := "/" + protocol.EscapePointer(name); b.at(pointer) == nil {
			b.add(name, pointer)
		}
	}
	if slices.Contains(names, "_meta") && b.at("/_meta/op") == nil && slices.Contains(b.root.Child("_meta").PropertyNames(), "op") {
		b.add(Operation, "/_meta/op")
	}
	b.add(Document, "")
}

// canonical is the default field of a location: the property's name at the top, else the pointer without its first slash.
func canonical(pointer string) string {
	if name, ok := protocol.TopLevel(pointer); ok {
		return name
	}
	return strings.TrimPrefix(pointer, "/")
}

// projections adds what was asked for.
func (b *builder) projections() error {
	for _, field := range sortedFields(b.explicit) {
		pointer := b.explicit[field]
		if p := b.collection.Field(field); p == nil {
			b.append(field, pointer, true)
		} else if p.Explicit = p.Pointer == pointer; !p.Explicit {
			return problem("the projection %q of %s leads to %s, but this is the name of the field at %s: choose another", field, b.collection.Name, show(pointer), show(p.Pointer))
		}
	}
	return nil
}

func show(pointer string) string {
	if pointer == "" {
		return "the whole document"
	}
	return pointer
}

// at returns the first projection of a location; nil: there is none.
func (b *builder) at(pointer string) *protocol.Projection {
	for i := range b.collection.Projections {
		if b.collection.Projections[i].Pointer == pointer {
			return &b.collection.Projections[i]
		}
	}
	return nil
}

// add appends a default projection. A property whose name means something else here is renamed, always in the same way.
func (b *builder) add(field, pointer string) {
	name := field
	for !b.free(name, pointer) {
		name += "_"
	}
	p := b.append(name, pointer, false)
	if name != field {
		note := fmt.Sprintf("The property %q. Its field has another name, since %q means something else.", field, field)
		if field == "" {
			note = "The property with the empty name."
		}
		p.Description = strings.TrimSpace(note + " " + p.Description)
	}
}

// free tells whether a field may have a name. The names of the root and the operation are kept for them, in any case: destinations fold it.
func (b *builder) free(field, pointer string) bool {
	switch {
	case field == "" || b.collection.Field(field) != nil:
		return false
	case pointer != "" && jsonschema.Fold(field) == Document, pointer != "/_meta/op" && jsonschema.Fold(field) == Operation:
		return false
	}
	return true
}

func (b *builder) append(field, pointer string, explicit bool) *protocol.Projection {
	b.collection.Projections = append(b.collection.Projections, protocol.Projection{
		Field: field, Pointer: pointer, Explicit: explicit, Key: slices.Contains(b.collection.Key, pointer), Inference: infer(b.root, pointer),
	})
	return &b.collection.Projections[len(b.collection.Projections)-1]
}

// infer says what the schema says of a location.
func infer(root *jsonschema.Node, pointer string) protocol.Inference {
	s, exists, _ := root.At(pointer) // the pointer has been parsed
	i := protocol.Inference{
		Types: s.Types.Names(), Format: s.Format, ContentEncoding: s.ContentEncoding, MaxLength: max(s.MaxLength, 0), Title: s.Title, Description: s.Description, Default: s.Default,
	}
	switch exists {
	case jsonschema.May:
		i.Exists = protocol.May
	case jsonschema.Must:
		i.Exists = protocol.Must
	case jsonschema.Cannot:
		i.Exists = protocol.Cannot
	}
	if s.Minimum != nil {
		i.Minimum = s.Minimum.String()
	}
	if s.Maximum != nil {
		i.Maximum = s.Maximum.String()
	}
	if s.Types&jsonschema.Array != 0 {
		n := root
		p, _ := rawjson.ParsePointer(pointer)
		for _, token := range p.Tokens() {
			n = n.Child(token)
		}
		if of := n.Elements().Shape().Types; of != jsonschema.AnyTypes {
			i.ItemTypes = of.Names()
		}
	}
	return i
}
