package protocol

import "encoding/json"

// Collection is a set of keyed JSON documents, as a materialization sees it.
type Collection struct {
	Name string
	// Key holds JSON pointers; empty: the documents have no key, and only delta updates make sense.
	Key []string
	// Schema is the JSON schema of the documents, with its reduce annotations, verbatim.
	Schema json.RawMessage
	// Projections are the locations that may become fields.
	Projections []Projection
}

// Projection names a location of a collection's documents.
type Projection struct {
	Field    string
	Pointer  string // "" is the root
	Explicit bool   // somebody asked for it by name
	Key      bool   // the location is part of the collection's key
	Inference
}

// Inference is what a schema says of a location. The zero value says that nothing can be there.
type Inference struct {
	// Types are JSON type names, sorted, null among them; empty: no value is valid.
	Types  []string
	Exists Exists
	// Of strings.
	Format          string
	ContentEncoding string
	MaxLength       int // characters; 0: no bound
	// Bounds of numbers as JSON numbers, exact; "": none.
	Minimum, Maximum string
	// ItemTypes are the types of an array's elements; empty: any.
	ItemTypes   []string
	Title       string
	Description string
	Default     json.RawMessage // nil: none
}

// Exists tells whether a location is there in each document.
type Exists int

// May is the zero value.
const (
	May    Exists = iota // it may be absent
	Must                 // always
	Cannot               // never
)

// Nullable tells whether a field may lack a value: the location may be absent, or null.
func (i *Inference) Nullable() bool {
	if i.Exists != Must {
		return true
	}
	for _, t := range i.Types {
		if t == "null" {
			return true
		}
	}
	return false
}

// FieldSelection says which projections a binding materializes, by field name, in the order of a document's keys and values.
type FieldSelection struct {
	Keys, Values []string
	Document     string                     // the field of the root document; "": none
	FieldConfig  map[string]json.RawMessage // settings of single fields
}

// Field is the projection of a field name; nil: there is none.
func (c *Collection) Field(name string) *Projection {
	for i := range c.Projections {
		if c.Projections[i].Field == name {
			return &c.Projections[i]
		}
	}
	return nil
}
