package sqlsink

import "unicode/utf8"

// Dialect is how one database names things, types columns and changes tables.
type Dialect interface {
	Names
	Types
	Statements
}

// Names are the rules of identifiers.
type Names interface {
	// Quote makes an identifier of a name. Every name in a statement goes through it.
	Quote(name string) string
	// Fold returns a name as the database will keep it: cut to its limit, without what it forbids. Folding twice changes nothing.
	Fold(name string) string
}

// Types map fields to columns.
type Types interface {
	// Type is the type of a new column. A key's must compare equal exactly when the JSON values are equal.
	Type(s Shape, key bool) string
	// Holds tells whether a column of a live type takes every value of the shape.
	Holds(live string, s Shape, key bool) bool
	// Cast is the expression that converts a column (quoted already) from a live type to a wanted one without ever failing; !ok: there is none.
	Cast(live, wanted, column string) (expr string, ok bool)
}

// Statements change tables. table is a qualified, quoted name; columns are quoted by the callee.
type Statements interface {
	CreateSchema(schema string) string
	Create(t *Table) string
	AddColumns(table string, columns []Column) string
	// AlterTypes changes columns of a table in place, all at once; "": the database cannot, and each is replaced by way of a temporary column.
	AlterTypes(table string, changes []TypeChange) string
	// Truncate empties a table, and fences off the sessions that write to it.
	Truncate(table string) string
}

// TypeChange is a column with the type that it is to have, and the expression that its values become.
type TypeChange struct {
	Column Column
	Expr   string
}

// CutName cuts a name to limit bytes, on a rune's boundary.
func CutName(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	for limit > 0 && !utf8.RuneStart(name[limit]) {
		limit--
	}
	return name[:limit]
}
