package filesource

import (
	"bytes"
	"slices"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

const (
	shapeDepth      = 6   // objects and arrays deeper than this may hold anything
	shapeProperties = 500 // of one object; beyond it is a map rather than a record
)

// shape is what values at one location looked like.
type shape struct {
	types  []string
	names  []string // of properties, in the order in which they appeared
	fields map[string]*shape
	items  *shape
}

func newShape() *shape { return &shape{fields: map[string]*shape{}} }

// add takes a value into account. What cannot be read says nothing.
func (s *shape) add(value []byte, depth int) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return
	}
	kind := kindOf(value)
	if !slices.Contains(s.types, kind) {
		s.types = append(s.types, kind)
	}
	if depth >= shapeDepth {
		return
	}
	switch kind {
	case "object":
		_ = rawjson.Object(value, func(name, member []byte) error { // a document is valid
			s.field(string(rawjson.AppendUnquoted(nil, name))).add(member, depth+1)
			return nil
		})
	case "array":
		if s.items == nil {
			s.items = newShape()
		}
		_ = rawjson.Array(value, func(item []byte) error { // likewise
			s.items.add(item, depth+1)
			return nil
		})
	}
}

func (s *shape) field(name string) *shape {
	f := s.fields[name]
	if f == nil {
		f = newShape()
		if len(s.names) < shapeProperties {
			s.names = append(s.names, name)
			s.fields[name] = f
		}
	}
	return f
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

// schema allows the types that were seen, and null: another file may lack the field.
func (s *shape) schema() protocol.Schema {
	types := slices.Clone(s.types)
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	if !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	schema := protocol.Schema{Types: types}
	if slices.Contains(types, "object") {
		for _, name := range s.names {
			schema.Properties = append(schema.Properties, protocol.Property{Name: name, Schema: s.fields[name].schema()})
		}
		schema.Additional = &protocol.Schema{}
	}
	if s.items != nil && len(s.items.types) > 0 {
		items := s.items.schema()
		schema.Items = &items
	}
	if len(s.types) == 0 || len(s.types) == 1 && s.types[0] == "null" {
		return protocol.Schema{} // nothing is known
	}
	return schema
}
