package sqlsink

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// Column is a column that a binding asks for.
type Column struct {
	Field   string // of the selection
	Name    string // in the database
	Type    string
	Shape   Shape
	NotNull bool
	// Key: a part of the collection's key.
	Key bool
	// Document: the root document.
	Document bool
	Pointer  string
	// Must: the schema promises a value, maybe null.
	Must bool
	// Custom: somebody has chosen the type, so it is as it is.
	Custom bool
}

// Table is what a binding asks for: a column for each selected field, keys first, then values, then the document.
type Table struct {
	Schema, Name string
	Columns      []Column
	// Keyed: the key is a primary key, and there is one row for each. Otherwise rows are only ever added.
	Keyed bool
	// Extra is SQL of the user's that runs when the table is made.
	Extra string
	// Comment is put on the table when it is made.
	Comment string
}

// Keys are the key's columns.
func (t *Table) Keys() []Column {
	var keys []Column
	for _, c := range t.Columns {
		if c.Key {
			keys = append(keys, c)
		}
	}
	return keys
}

// Live is a table as it is.
type Live struct {
	Columns []LiveColumn
	// Key are the columns of the primary key; nil: there is none. Constraint is its name.
	Key        []string
	Constraint string
	// Unique: rows are unique by the columns of each of these.
	Unique [][]string
	// Kind is empty for a table, else what stands in its place: "a view".
	Kind string
	// Ours: a materialization has made it.
	Ours bool
}

// LiveColumn is a column as it is.
type LiveColumn struct {
	Name, Type string
	NotNull    bool
	// Default: it has a default, or the database computes it.
	Default bool
}

// Column finds a column; nil: there is none.
func (l *Live) Column(name string) *LiveColumn {
	for i := range l.Columns {
		if l.Columns[i].Name == name {
			return &l.Columns[i]
		}
	}
	return nil
}

// UniqueBy tells whether the database keeps rows unique by exactly these columns.
func (l *Live) UniqueBy(names []string) bool {
	return slices.ContainsFunc(append([][]string{l.Key}, l.Unique...), func(u []string) bool { return sameSet(u, names) })
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

// fieldConfig are the settings of a single field: its column's type, instead of the one that the schema suggests.
type fieldConfig struct {
	DDL string `json:"DDL"`
}

// TableOf says what a binding asks for. schema and name are folded here.
func TableOf(d Dialect, b *materialize.Binding, schema, name string) (*Table, error) {
	t := &Table{Schema: d.Fold(schema), Name: d.Fold(name), Keyed: !b.DeltaUpdates}
	taken := map[string]string{}
	add := func(field string, key, document bool) error {
		p := b.Collection.Field(field)
		if p == nil {
			return fmt.Errorf("field %q of collection %s is selected, but the collection has no such field", field, b.Collection.Name)
		}
		c := Column{Field: field, Name: d.Fold(field), Shape: ShapeOf(&p.Inference), Key: key, Document: document, Pointer: p.Pointer, Must: p.Exists == protocol.Must}
		if other, ok := taken[c.Name]; ok {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("fields %q and %q of collection %s both become column %q", other, field, b.Collection.Name, c.Name),
				Fix: "select one of them, or give one another name by a projection",
			}
		}
		taken[c.Name] = field
		if document {
			c.Shape = Object
		}
		if c.Shape == Never {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("field %q of collection %s can only be null, so no column suits it", field, b.Collection.Name),
				Fix: "leave it out of the selection",
			}
		}
		c.Type = d.Type(c.Shape, key)
		var special fieldConfig
		if raw := b.Fields.FieldConfig[field]; len(raw) > 0 {
			if err := json.Unmarshal(raw, &special); err != nil {
				return &protocol.Problem{
					Kind: protocol.Config, Summary: fmt.Sprintf("the settings of field %q of collection %s are no object with a DDL", field, b.Collection.Name),
					Fix: `write {"DDL": "type"}, or nothing`, Err: err,
				}
			}
		}
		if special.DDL != "" {
			c.Type, c.Custom = special.DDL, true
		}
		// A primary key is never null. Other columns of a table that only grows may be: a deletion is a row, too, and holds little more than its key.
		c.NotNull = t.Keyed && (key || !p.Nullable() && !document)
		t.Columns = append(t.Columns, c)
		return nil
	}
	for _, f := range b.Fields.Keys {
		if err := add(f, true, false); err != nil {
			return nil, err
		}
	}
	for _, f := range b.Fields.Values {
		if err := add(f, false, false); err != nil {
			return nil, err
		}
	}
	if b.Fields.Document != "" {
		if err := add(b.Fields.Document, false, true); err != nil {
			return nil, err
		}
	}
	if t.Keyed && len(b.Fields.Keys) == 0 {
		return nil, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("collection %s has no key, so its rows cannot be kept up to date", b.Collection.Name),
			Fix: "give it a key, or set delta_updates, which adds a row for each document",
		}
	}
	return t, nil
}

// QualifiedName is the quoted name in statements.
func QualifiedName(d Names, schema, name string) string {
	if schema == "" {
		return d.Quote(name)
	}
	return d.Quote(schema) + "." + d.Quote(name)
}

func quoteAll(d Names, names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = d.Quote(n)
	}
	return strings.Join(quoted, ", ")
}
