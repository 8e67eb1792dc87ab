package main

import (
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/internal/sqlsink"
)

const (
	checkpointTable = sqlsink.CheckpointTable
	// maxNameBytes is NAMEDATALEN - 1: the server silently cuts longer identifiers.
	maxNameBytes = 63
	// maxColumns of a table, less some room for columns that users add.
	maxColumns = 1500
	// comment starts the comments of the tables that we make. It tells them from tables of somebody else, which are not written to unasked.
	comment = "Materialized by Estuary"
)

// dialect is how PostgreSQL names things and changes tables.
type dialect struct {
	types
	// checkpoints is the quoted name of the table of checkpoints.
	checkpoints string
}

var _ sqlsink.Dialect = (*dialect)(nil)

func (c *config) dialect() *dialect {
	return &dialect{types: types{json: c.Advanced.JSONType}, checkpoints: quote(fold(c.Schema)) + "." + quote(checkpointTable)}
}

// quote makes an identifier. Every name in a statement goes through it.
func quote(name string) string { return pgwire.QuoteIdentifier(name) }

func literal(text string) string { return pgwire.QuoteLiteral(text) }

// systemColumns are taken in every table.
var systemColumns = map[string]bool{"ctid": true, "xmin": true, "xmax": true, "cmin": true, "cmax": true, "tableoid": true, "oid": true}

// fold returns a name as the server keeps it: at most 63 bytes, not empty, without zero bytes, and no name of a system column.
func fold(name string) string {
	name = strings.ReplaceAll(name, "\x00", "\uFFFD")
	if name == "" || systemColumns[name] {
		name += "_"
	}
	return sqlsink.CutName(name, maxNameBytes)
}

func (*dialect) Quote(name string) string { return quote(name) }

func (*dialect) Fold(name string) string { return fold(name) }

func (*dialect) CreateSchema(schema string) string {
	return "CREATE SCHEMA IF NOT EXISTS " + quote(schema)
}

// Create makes a table, its comment, and what the user wants besides, all or nothing.
func (*dialect) Create(t *sqlsink.Table) string {
	name := quote(t.Schema) + "." + quote(t.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", name)
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n\t" + quote(c.Name) + " " + c.Type)
		if c.NotNull {
			b.WriteString(" NOT NULL")
		}
	}
	if t.Keyed {
		b.WriteString(",\n\tPRIMARY KEY (")
		for i, c := range t.Keys() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quote(c.Name))
		}
		b.WriteByte(')')
	}
	fmt.Fprintf(&b, "\n);\nCOMMENT ON TABLE %s IS %s", name, literal(t.Comment))
	if t.Extra != "" {
		b.WriteString(";\n" + t.Extra)
	}
	return b.String()
}

func (*dialect) AddColumns(table string, columns []sqlsink.Column) string {
	clauses := make([]string, len(columns))
	for i, c := range columns {
		clauses[i] = "ADD COLUMN IF NOT EXISTS " + quote(c.Name) + " " + c.Type
	}
	return "ALTER TABLE " + table + " " + strings.Join(clauses, ", ")
}

// AlterTypes changes columns in place: one rewrite of the table for all, which happens or does not.
func (*dialect) AlterTypes(table string, changes []sqlsink.TypeChange) string {
	clauses := make([]string, len(changes))
	for i, c := range changes {
		clauses[i] = fmt.Sprintf("ALTER COLUMN %s TYPE %s USING %s", quote(c.Column.Name), c.Column.Type, c.Expr)
	}
	sql := "ALTER TABLE " + table + " " + strings.Join(clauses, ", ")
	if strings.Contains(sql, parseFunction) {
		sql = createParseFunction + ";\n" + sql
	}
	return sql
}

// Truncate takes the table's lock first, as a session that writes does: the other order would be a deadlock.
func (d *dialect) Truncate(table string) string {
	return "TRUNCATE " + table + ";\n" + sqlsink.FenceOff(d.checkpoints, literal(table), literal(host()))
}
