package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v4"
)

// Difference is one place where the fold and the server disagree.
type Difference struct {
	Table, Key, Column string // Column is empty when the whole row is on one side only
	Server, Folded     string
}

// String says it in one line; long values are cut.
func (d Difference) String() string {
	if d.Column == "" {
		return fmt.Sprintf("table %s, key %s: %s on the server, %s in the output", d.Table, d.Key, d.Server, d.Folded)
	}
	return fmt.Sprintf("table %s, key %s, column %s: the server has %s, the output %s", d.Table, d.Key, d.Column, cut(d.Server), cut(d.Folded))
}

func cut(s string) string {
	const most = 100
	if len(s) > most {
		return fmt.Sprintf("%.*q… (%d bytes)", most, s, len(s))
	}
	return fmt.Sprintf("%q", s)
}

type column struct {
	name string
	pair pair
}

// Compare reads a table of the server and holds the folded stream against it, every column of every row. It returns at most 20 differences, in the
// order of the keys, and how many rows the server has.
func Compare(ctx context.Context, conn *pgx.Conn, schema, table string, f *Fold, stream string) (differences []Difference, rows int64, err error) {
	t := f.tables[stream]
	if t == nil {
		return nil, 0, fmt.Errorf("comparing %s.%s: stream %s was not folded", schema, table, stream)
	}
	columns, err := columnsOf(ctx, conn, schema, table)
	if err != nil {
		return nil, 0, err
	}
	var expressions []string
	for _, c := range columns {
		expressions = append(expressions, fmt.Sprintf(c.pair.sql, pgx.Identifier{c.name}.Sanitize()))
	}
	server := map[string]bool{}
	cursor, err := conn.Query(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM "+pgx.Identifier{schema, table}.Sanitize())
	if err != nil {
		return nil, 0, fmt.Errorf("reading %s.%s: %w", schema, table, err)
	}
	defer cursor.Close()
	values := make([]*string, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for cursor.Next() {
		if err := cursor.Scan(targets...); err != nil {
			return nil, 0, fmt.Errorf("reading %s.%s: %w", schema, table, err)
		}
		rows++
		key := serverKey(t.Key, columns, values)
		server[key] = true
		row, ok := t.rows[key]
		if !ok {
			differences = append(differences, Difference{Table: table, Key: key, Server: "a row", Folded: "none"})
			continue
		}
		found, err := compareRow(columns, values, row)
		if err != nil {
			return nil, 0, fmt.Errorf("reading %s.%s, key %s: %w", schema, table, key, err)
		}
		for _, d := range found {
			d.Table, d.Key = table, key
			differences = append(differences, d)
		}
	}
	if err := cursor.Err(); err != nil {
		return nil, 0, fmt.Errorf("reading %s.%s: %w", schema, table, err)
	}
	for key := range t.rows {
		if !server[key] {
			differences = append(differences, Difference{Table: table, Key: key, Server: "no row", Folded: "one"})
		}
	}
	slices.SortFunc(differences, func(a, b Difference) int { return strings.Compare(a.Key+"\x00"+a.Column, b.Key+"\x00"+b.Column) })
	return differences[:min(len(differences), 20)], rows, nil
}

func columnsOf(ctx context.Context, conn *pgx.Conn, schema, table string) ([]column, error) {
	cursor, err := conn.Query(ctx, `SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute
		WHERE attrelid = format('%I.%I', $1::text, $2::text)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, schema, table)
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s.%s: %w", schema, table, err)
	}
	defer cursor.Close()
	var columns []column
	for cursor.Next() {
		var name, typ string
		if err := cursor.Scan(&name, &typ); err != nil {
			return nil, fmt.Errorf("reading the columns of %s.%s: %w", schema, table, err)
		}
		p, ok := pairs[typ]
		if !ok {
			return nil, fmt.Errorf("comparing %s.%s: no comparison for column %s of type %s", schema, table, name, typ)
		}
		columns = append(columns, column{name, p})
	}
	return columns, cursor.Err()
}

func serverKey(key []string, columns []column, values []*string) string {
	var parts []string
	for _, name := range key {
		for i, c := range columns {
			if c.name == name && values[i] != nil {
				parts = append(parts, *values[i])
			}
		}
	}
	return strings.Join(parts, "|")
}

func compareRow(columns []column, values []*string, row Row) ([]Difference, error) {
	var found []Difference
	known := map[string]bool{}
	for i, c := range columns {
		known[c.name] = true
		want := "NULL"
		if values[i] != nil {
			want = *values[i]
			if c.pair.post != nil {
				var err error
				if want, err = c.pair.post(want); err != nil {
					return nil, fmt.Errorf("column %s: %w", c.name, err)
				}
			}
		}
		raw, ok := row[c.name]
		var got string
		switch {
		case !ok:
			got = "no value at all"
		case string(raw) == "null":
			got = "NULL"
		default:
			var err error
			if got, err = c.pair.json(raw); err != nil {
				got = err.Error()
			} else if values[i] == nil {
				got = "the value " + got // the text NULL is not NULL
			}
		}
		if got != want || (ok && values[i] != nil && string(raw) == "null") {
			found = append(found, Difference{Column: c.name, Server: want, Folded: got})
		}
	}
	for name, raw := range row {
		if !known[name] {
			found = append(found, Difference{Column: name, Server: "no such column", Folded: string(raw)})
		}
	}
	return found, nil
}
