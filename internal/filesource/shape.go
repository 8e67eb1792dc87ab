package filesource

import (
	"bytes"
	"slices"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

const (
	shapeDepth      = 6      // objects and arrays in sampled values that are deeper than this may hold anything
	shapeProperties = 500    // of one sampled object; beyond it is a map rather than a record
	shapeRoom       = 20_000 // properties in all, so that a catalog stays a line that runners read
)

// shape is what is known of the values at one location: what they looked like, and what files declare of them. It is the union of both over all files. Which
// properties must be there and which values an enum has is left out: of a few files it says nothing of the others.
type shape struct {
	types       []string
	sampled     bool // values were looked at, and another file may lack them
	anything    bool // a file declares that anything may be here
	form        *form
	description string

	record bool     // some objects have members of their own
	names  []string // of properties, in the order in which they appeared
	fields map[string]*shape
	values *shape // of maps: what is declared of all members
	items  *shape

	room *int // how many more properties there may be, in all shapes together
}

// form is what holds for all strings at a location.
type form struct{ format, contentEncoding string }

func newShape() *shape {
	room := shapeRoom
	return &shape{room: &room}
}

// part is a shape inside of s, made when it is first asked for.
func (s *shape) part(at **shape) *shape {
	if *at == nil {
		*at = &shape{room: s.room}
	}
	return *at
}

// field is the shape of a property. Beyond most properties it is one that nobody sees.
func (s *shape) field(name string, most int) *shape {
	f := s.fields[name]
	if f == nil {
		f = &shape{room: s.room}
		if len(s.names) < most && *s.room > 0 {
			if s.fields == nil {
				s.fields = map[string]*shape{}
			}
			*s.room--
			s.names = append(s.names, name)
			s.fields[name] = f
		}
	}
	return f
}

func (s *shape) addType(name string) {
	if !slices.Contains(s.types, name) {
		s.types = append(s.types, name)
	}
}

func (s *shape) addForm(f form) {
	switch {
	case s.form == nil:
		s.form = &f
	case *s.form != f:
		s.form = &form{}
	}
}

// add takes a value into account. What cannot be read says nothing.
func (s *shape) add(value []byte, depth int) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return
	}
	s.sampled = true
	kind := kindOf(value)
	s.addType(kind)
	switch kind {
	case "string":
		s.addForm(form{})
	case "object":
		s.record = true
		if depth >= shapeDepth {
			return
		}
		_ = rawjson.Object(value, func(name, member []byte) error { // a document is valid
			s.field(string(rawjson.AppendUnquoted(nil, name)), shapeProperties).add(member, depth+1)
			return nil
		})
	case "array":
		if depth >= shapeDepth {
			return
		}
		_ = rawjson.Array(value, func(item []byte) error { // likewise
			s.part(&s.items).add(item, depth+1)
			return nil
		})
	}
}

func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(value, ".eE") {
		return "number"
	}
	return "integer"
}

// declare takes into account what a file says of its values, in the forms in which the parser tells it: types, combined by anyOf only, without references.
func (s *shape) declare(n *jsonschema.Node) {
	for _, branch := range n.AnyOf {
		s.declare(branch)
	}
	if n.AnyOf == nil && n.Types == 0 {
		s.anything = true
	}
	if s.description == "" {
		s.description = n.Description
	}
	for _, name := range n.Types.Names() {
		s.addType(name)
	}
	if n.Types&jsonschema.String != 0 {
		s.addForm(form{n.Format, n.ContentEncoding})
	}
	switch {
	case n.Types&jsonschema.Object == 0:
	case n.Additional != nil:
		s.part(&s.values).declare(n.Additional)
	default:
		s.record = true
	}
	for _, p := range n.Properties {
		s.field(p.Name, shapeRoom).declare(p.Node)
	}
	if n.Items != nil {
		s.part(&s.items).declare(n.Items)
	}
}

// schema allows the types that were seen or declared; where values were seen null, too, for another file may lack them.
func (s *shape) schema() protocol.Schema {
	is := func(name string) bool { return slices.Contains(s.types, name) }
	if s.anything || len(s.types) == 0 || len(s.types) == 1 && is("null") {
		return protocol.Schema{Description: s.description} // nothing is known
	}
	types := slices.DeleteFunc(slices.Clone(s.types), func(t string) bool { return t == "null" || t == "integer" && is("number") })
	if s.sampled || is("null") {
		types = append(types, "null")
	}
	schema := protocol.Schema{Types: types, Description: s.description}
	if s.form != nil {
		schema.Format, schema.ContentEncoding = s.form.format, s.form.contentEncoding
	}
	if is("object") {
		schema.Additional = &protocol.Schema{}
		switch {
		case s.values == nil:
			for _, name := range s.names {
				schema.Properties = append(schema.Properties, protocol.Property{Name: name, Schema: s.fields[name].schema()})
			}
		case !s.record: // where one file has a record and another a map, members may be anything
			*schema.Additional = s.values.schema()
		}
	}
	if s.items != nil {
		if items := s.items.schema(); len(items.Types) > 0 {
			schema.Items = &items
		}
	}
	return schema
}
