package sqlcapture

import (
	"slices"

	"github.com/estuary/connectors/protocol"
)

// Unreadable tells what about a table's columns keeps every stream of it from being read; nil: nothing.
func (t *Table) Unreadable() *protocol.Problem {
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == meta }) {
		return nil
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: "table " + t.String() + " has a column named " + meta + ", where documents hold the operation and its source",
		Fix: "rename the column, or leave the table out",
	}
}

// meta is the member of documents that is no column.
const meta = "_meta"

// StreamSchema is the schema of a table's documents: its columns at the root, and _meta with the operation, where the change came from, and the row
// before it. Only key columns are required, since a log may leave out others; so the root reduces by merge.
func StreamSchema(t *Table, source protocol.Schema) protocol.Schema {
	isKey := make(map[string]bool, len(t.Key))
	for _, k := range t.Key {
		isKey[k] = true
	}
	root := protocol.Schema{Types: []string{"object"}, Reduce: "merge", Deletes: len(t.Key) > 0, Complete: true}
	for _, c := range t.Columns {
		s := c.Schema
		if s.Description == "" {
			s.Description = "(source type: " + nullability(c) + c.Type + ")"
		}
		if !c.NotNull {
			s = s.Nullable()
		}
		root.Properties = append(root.Properties, protocol.Property{Name: c.Name, Schema: s, Required: isKey[c.Name]})
	}
	root.Properties = append(root.Properties, protocol.Property{Name: meta, Required: true, Schema: metaSchema(source, before(root.Properties))})
	return root
}

func nullability(c Column) string {
	if c.NotNull {
		return "non-nullable "
	}
	return ""
}

// before describes the row before a change: the same columns, any of which the log may leave out. It names them, because the closed form of a schema
// allows nothing that it does not name.
func before(columns []protocol.Property) []protocol.Property {
	properties := make([]protocol.Property, len(columns))
	for i, c := range columns {
		c.Schema.Description = ""
		properties[i] = protocol.Property{Name: c.Name, Schema: c.Schema.Nullable()}
	}
	return properties
}

func metaSchema(source protocol.Schema, before []protocol.Property) protocol.Schema {
	return protocol.Schema{Types: []string{"object"}, Reduce: "merge", Properties: []protocol.Property{
		{Name: "op", Required: true, Schema: protocol.Schema{
			Types: []string{"string"}, Enum: []string{"c", "u", "d"},
			Description: "c: created, or found by the backfill; u: updated; d: deleted",
		}},
		{Name: "source", Required: true, Schema: source},
		{Name: "before", Schema: protocol.Schema{
			Types: []string{"object"}, Reduce: "firstWriteWins", Properties: before,
			Description: "the row before the change, as far as the log holds it",
		}},
	}}
}
