package main

import (
	"strings"

	"github.com/estuary/connectors/sqlcapture"
)

// textColumns renders a table's columns for a COPY of their values as text, the same text that the log has, and the COPY's options.
//
// In text form a COPY escapes what it sends, and whoever reads it looks at each byte for the ends of values. In binary form each value has its length in
// front. So the types' output functions are called by name and their results, of type cstring, are sent in binary form, which of a cstring is its text
// (docs/adr/0013). A cast to text would not do: that of a boolean, inet or bpchar prints other text than its output function. Where the table has a type
// whose function cannot be called, such as one of an extension, which lives in a schema that the user may have no rights in, it is read in text form.
func (t *typeTable) textColumns(table *sqlcapture.Table) (values, options string) {
	types := make(map[string]uint32, len(table.Columns))
	for _, a := range table.Native.(*relation).Columns { //nolint:forcetypeassert // the catalog sets it
		types[a.Name] = a.Type
	}
	list := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		list[i] = quote(c.Name)
		switch output := t.output(types[c.Name]); output {
		case "":
			return sqlColumns(table.Columns), ""
		case "textout", "varcharout", "json_out": // the binary form is the text
		default:
			list[i] = "pg_catalog." + quote(output) + "(" + list[i] + ")"
		}
	}
	return strings.Join(list, ", "), " (FORMAT binary)"
}

// output is the function that prints values of a type; empty: it cannot be called. Those of enums, ranges and composite types are polymorphic, and the
// server finds none of them for a domain.
func (t *typeTable) output(oid uint32) string {
	row := t.rows[oid]
	base := row
	for range maxNesting {
		if base.Kind != 'd' {
			break
		}
		base = t.rows[base.Base]
	}
	if row.Kind == 'd' && base.Kind != 'b' {
		return ""
	}
	return row.Output
}
