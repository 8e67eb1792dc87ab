package protocol

// Schema is the neutral form of a JSON schema; internal/jsonschema renders it for Airbyte and for Flow. The zero value allows anything.
type Schema struct {
	// Types are JSON type names; empty: any type.
	Types            []string
	Title            string
	Description      string
	Format           string // date, date-time, time, uuid, number …
	ContentEncoding  string // base64
	ContentMediaType string
	MaxLength        int // characters; 0: no bound
	Enum             []string
	// Properties in document order, for objects.
	Properties []Property
	// Items describes the elements of an array; nil: anything.
	Items *Schema
	// Additional describes undeclared properties; nil: anything.
	Additional *Schema
	// Reduce is the reduction strategy at this location ("merge", "firstWriteWins"); empty: last write wins.
	Reduce string
	// Deletes, at the root: a document whose /_meta/op is "d" deletes its key.
	Deletes bool
	// Complete, at the root: every property is declared; nothing else will appear.
	Complete bool
}

// Property is a named part of an object.
type Property struct {
	Name     string
	Schema   Schema
	Required bool
}

// Nullable returns s with null added to its types.
func (s Schema) Nullable() Schema {
	if len(s.Types) == 0 {
		return s
	}
	for _, t := range s.Types {
		if t == "null" {
			return s
		}
	}
	s.Types = append(append(make([]string, 0, len(s.Types)+1), s.Types...), "null")
	return s
}
