package main

import (
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/sqlsink"
)

func (b *binding) temp(t tempTable) string { return fmt.Sprintf("pg_temp.flow_%s_%d", t, b.index) }

// create makes a temporary table with the types that the table's columns have (bug materializations 69, 89: other types cut keys, or kept the index from being used).
func (b *binding) create(t tempTable) string {
	columns := b.columns
	if t == tempKeys {
		columns = columns[:b.keys]
	}
	return fmt.Sprintf("CREATE TEMPORARY TABLE %s ON COMMIT DELETE ROWS AS SELECT %s FROM %s WITH NO DATA",
		strings.TrimPrefix(b.temp(t), "pg_temp."), names("", columns), b.target.rows.sql())
}

// names lists columns, each after a prefix such as "t.".
func names(prefix string, columns []sqlsink.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = prefix + quote(c.Name)
	}
	return strings.Join(list, ", ")
}

// matches joins the table, t, with a temporary one, r, by the key. Keys are never null (bug materializations 61).
func (b *binding) matches() string {
	list := make([]string, b.keys)
	for i, c := range b.columns[:b.keys] {
		list[i] = "t." + quote(c.Name) + " = r." + quote(c.Name)
	}
	return strings.Join(list, " AND ")
}

// into is the COPY into the table itself.
func (b *binding) into() string {
	return fmt.Sprintf("COPY %s (%s) FROM STDIN", b.target.rows.sql(), names("", b.columns))
}

// stage is the COPY into a temporary table.
func (b *binding) stage(t tempTable) string {
	columns := b.columns
	if t == tempKeys {
		columns = columns[:b.keys]
	}
	return fmt.Sprintf("COPY %s (%s) FROM STDIN", b.temp(t), names("", columns))
}

// merge puts staged rows into a table that keeps its keys unique, be they there or not.
func (b *binding) merge() string {
	return fmt.Sprintf("INSERT INTO %s AS t (%s) SELECT %s FROM %s r %s",
		b.target.rows.sql(), names("", b.columns), names("r.", b.columns), b.temp(tempRows), b.onConflict())
}

func (b *binding) onConflict() string {
	keys, values := b.columns[:b.keys], b.columns[b.keys:]
	if len(values) == 0 { // bug materializations 73: a table of keys alone has nothing to update
		return fmt.Sprintf("ON CONFLICT (%s) DO NOTHING", names("", keys))
	}
	return fmt.Sprintf("ON CONFLICT (%s) DO UPDATE SET %s", names("", keys), assignments(values, "excluded"))
}

// update puts staged rows in the place of rows with their keys; "": there are only keys.
func (b *binding) update() string {
	values := b.columns[b.keys:]
	if len(values) == 0 {
		return ""
	}
	return b.byIndex(fmt.Sprintf("UPDATE %s t SET %s FROM %s r WHERE %s", b.target.rows.sql(), assignments(values, "r"), b.temp(tempRows), b.matches()))
}

// insert adds the staged rows whose keys the table does not have.
func (b *binding) insert() string {
	sql := fmt.Sprintf("INSERT INTO %s AS t (%s) SELECT %s FROM %s r WHERE NOT EXISTS (SELECT FROM %s t WHERE %s)",
		b.target.rows.sql(), names("", b.columns), names("r.", b.columns), b.temp(tempRows), b.target.rows.sql(), b.matches())
	if b.unique {
		sql += " " + b.onConflict() // one that somebody else has added meanwhile
	}
	return b.byIndex(sql)
}

// Keys come in order, so looking up each by the index is never far from the best, and most often it is. The planner knows neither this nor how many rows a
// temporary table has: it would read large tables as a whole, for each transaction.
const (
	lookUpKeys = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
	joinAsEver = "SET LOCAL enable_hashjoin TO DEFAULT; SET LOCAL enable_mergejoin TO DEFAULT"
)

// byIndex makes a statement look up each key, where the table has an index for that.
func (b *binding) byIndex(sql string) string {
	if !b.unique {
		return sql
	}
	return lookUpKeys + ";\n" + sql + ";\n" + joinAsEver
}

func assignments(columns []sqlsink.Column, from string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quote(c.Name) + " = " + from + "." + quote(c.Name)
	}
	return strings.Join(list, ", ")
}

// bury updates the rows of deleted documents that stay. A deletion may hold no more than its key, so what may not be null stays as it was.
func (b *binding) bury() string {
	values := b.columns[b.keys:]
	if len(values) == 0 {
		return ""
	}
	list := make([]string, len(values))
	for i, c := range values {
		name := quote(c.Name)
		list[i] = name + " = r." + name
		if c.NotNull {
			list[i] = name + " = coalesce(r." + name + ", t." + name + ")"
		}
	}
	return b.byIndex(fmt.Sprintf("UPDATE %s t SET %s FROM %s r WHERE %s", b.target.rows.sql(), strings.Join(list, ", "), b.temp(tempGone), b.matches()))
}

// remove deletes the rows whose keys are staged.
func (b *binding) remove() string {
	return b.byIndex(fmt.Sprintf("DELETE FROM %s t USING %s r WHERE %s", b.target.rows.sql(), b.temp(tempKeys), b.matches()))
}

// loaded lists what a load reads of each row, as text: the document, or the columns that it is rebuilt from.
func (b *binding) loaded() []string {
	columns := b.columns
	if b.document {
		columns = columns[len(columns)-1:]
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "t." + quote(c.Name) + "::text"
	}
	return list
}

// load is this binding's part of the query that loads documents of all bindings: its number, then width columns.
func (b *binding) load(width int) string {
	columns := b.loaded()
	for len(columns) < width {
		columns = append(columns, "NULL")
	}
	return fmt.Sprintf("SELECT %d, %s FROM %s t JOIN %s r ON %s", b.index, strings.Join(columns, ", "), b.target.rows.sql(), b.temp(tempKeys), b.matches())
}
