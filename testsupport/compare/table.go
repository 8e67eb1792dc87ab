package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v4"
)

// Name is where a table is.
type Name struct{ Schema, Table string }

func (n Name) String() string { return n.Schema + "." + n.Table }

func (n Name) quoted() string { return pgx.Identifier{n.Schema, n.Table}.Sanitize() }

// Difference is one place where the two sides disagree. Its text names table, key and column.
type Difference struct {
	Table, Key string
	Column     string // empty when the whole row is on one side only
	Source     string
	Sink       string
}

// String says it in one line; long values are cut.
func (d Difference) String() string {
	if d.Column == "" {
		return fmt.Sprintf("table %s, key %s: %s in the source, %s in the sink", d.Table, d.Key, d.Source, d.Sink)
	}
	return fmt.Sprintf("table %s, key %s, column %s: the source has %s, the sink %s", d.Table, d.Key, d.Column, cut(d.Source), cut(d.Sink))
}

func cut(s string) string {
	const most = 100
	if len(s) > most {
		return fmt.Sprintf("%.*s… (%d bytes)", most, s, len(s))
	}
	return s
}

// most bounds the differences that are kept of a table.
const most = 20

// Result is what a comparison found.
type Result struct {
	Rows        int64 // of the source
	Differences []Difference
}

func (r *Result) add(d Difference) {
	if len(r.Differences) < most {
		r.Differences = append(r.Differences, d)
	}
}

// column is a column of the source with the expressions of both sides.
type column struct {
	name         string
	form         form
	source, sink string // sink "": it has no such column
}

// Table compares a table with the keyed table of a sink that deletes the rows of deleted documents: every row, every column of the source that is not
// generated. Columns that only the sink has do not count. key names the columns that tell rows apart.
func Table(ctx context.Context, source *pgx.Conn, table Name, sink *pgx.Conn, sinkTable Name, key []string) (Result, error) {
	columns, err := prepare(ctx, source, table, sink, sinkTable)
	if err != nil {
		return Result{}, err
	}
	return rows(ctx, source, table, sink, sinkTable, sinkTable.quoted(), columns, key)
}

// prepare fixes the sessions' settings and finds the columns.
func prepare(ctx context.Context, source *pgx.Conn, table Name, sink *pgx.Conn, sinkTable Name) ([]column, error) {
	for _, conn := range []*pgx.Conn{source, sink} {
		if _, err := conn.Exec(ctx, sessionSettings); err != nil {
			return nil, fmt.Errorf("comparing %s: %w", table, err)
		}
	}
	columns, err := columnsOf(ctx, source, table)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("comparing %s: the source has no such table", table)
	}
	live, err := columnsOf(ctx, sink, sinkTable)
	if err != nil {
		return nil, err
	}
	if len(live) == 0 {
		return nil, fmt.Errorf("comparing %s: the sink has no table %s", table, sinkTable)
	}
	for i := range columns {
		c := &columns[i]
		for _, l := range live {
			if l.name == c.name {
				c.sink = in(c.form.onSink(l.source), pgx.Identifier{l.name}.Sanitize())
			}
		}
		c.source = in(c.form.source, pgx.Identifier{c.name}.Sanitize())
	}
	return columns, nil
}

// columnsOf reads the columns of a table with their types, domains resolved. source is the type's name.
func columnsOf(ctx context.Context, conn *pgx.Conn, table Name) ([]column, error) {
	found, err := conn.Query(ctx, `WITH RECURSIVE resolved AS (
			SELECT attnum, attname::text AS name, atttypid AS type FROM pg_attribute
			WHERE attrelid = to_regclass(format('%I.%I', $1::text, $2::text)) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
			UNION ALL
			SELECT r.attnum, r.name, t.typbasetype FROM resolved r JOIN pg_type t ON t.oid = r.type WHERE t.typtype = 'd'
		)
		SELECT r.name, t.typname::text, coalesce(base.typname, e.typname)::text
		FROM resolved r JOIN pg_type t ON t.oid = r.type
		LEFT JOIN pg_type e ON e.typarray = t.oid LEFT JOIN pg_type base ON base.oid = e.typbasetype
		WHERE t.typtype <> 'd' ORDER BY r.attnum`, table.Schema, table.Table)
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", table, err)
	}
	defer found.Close()
	var columns []column
	for found.Next() {
		var c column
		var element *string
		if err := found.Scan(&c.name, &c.source, &element); err != nil {
			return nil, fmt.Errorf("reading the columns of %s: %w", table, err)
		}
		if element != nil {
			c.form = arrayOf(formOf(*element))
		} else {
			c.form = formOf(c.source)
		}
		columns = append(columns, c)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", table, err)
	}
	return columns, nil
}

// rows walks both sides in the order of the keys. from is where the sink's rows are read from.
func rows(ctx context.Context, source *pgx.Conn, table Name, sink *pgx.Conn, sinkTable Name, from string, columns []column, key []string) (r Result, err error) {
	for _, c := range columns {
		if c.sink == "" {
			r.add(Difference{Table: table.String(), Key: "of any row", Column: c.name, Source: "this column", Sink: "no such column"})
		}
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.sink == "" })
	left, err := openSide(ctx, source, table, table.quoted(), columns, key, func(c column) string { return c.source })
	if err != nil {
		return r, err
	}
	defer left.close()
	right, err := openSide(ctx, sink, sinkTable, from, columns, key, func(c column) string { return c.sink })
	if err != nil {
		return r, err
	}
	defer right.close()
	for left.ok || right.ok {
		order := 0
		switch {
		case !right.ok:
			order = -1
		case !left.ok:
			order = 1
		default:
			order = slices.Compare(left.key, right.key)
		}
		switch {
		case order < 0:
			r.add(Difference{Table: table.String(), Key: left.name(), Source: "a row", Sink: "none"})
		case order > 0:
			r.add(Difference{Table: table.String(), Key: right.name(), Source: "no row", Sink: "one, or one too many"})
		default:
			for i, c := range columns {
				if a, b := c.form.text(left.values[i]), c.form.text(right.values[i]); !equal(a, b) {
					r.add(Difference{Table: table.String(), Key: left.name(), Column: c.name, Source: shown(a), Sink: shown(b)})
				}
			}
		}
		if order <= 0 {
			r.Rows++
			left.next()
		}
		if order >= 0 {
			right.next()
		}
	}
	return r, errors.Join(left.err(table), right.err(sinkTable))
}

func equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func shown(v *string) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprintf("%q", *v)
}

// side reads one table in the order of its keys.
type side struct {
	rows   pgx.Rows
	keys   []int
	values []*string
	key    []string
	ok     bool
	broken error
}

func openSide(ctx context.Context, conn *pgx.Conn, table Name, from string, columns []column, key []string, expression func(column) string) (*side, error) {
	s := &side{values: make([]*string, len(columns))}
	var list, order []string
	for _, c := range columns {
		list = append(list, expression(c))
	}
	for _, k := range key {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == k })
		if i < 0 {
			return nil, fmt.Errorf("comparing %s: it has no key column %s", table, k)
		}
		s.keys = append(s.keys, i)
		order = append(order, "("+list[i]+`) COLLATE "C"`)
	}
	var err error
	sql := "SELECT " + strings.Join(list, ", ") + " FROM " + from
	if len(order) > 0 {
		sql += " ORDER BY " + strings.Join(order, ", ")
	}
	if s.rows, err = conn.Query(ctx, sql); err != nil {
		return nil, fmt.Errorf("reading %s: %w", table, err)
	}
	s.next()
	return s, nil
}

func (s *side) next() {
	if s.ok = s.broken == nil && s.rows.Next(); !s.ok {
		return
	}
	targets := make([]any, len(s.values))
	for i := range s.values {
		targets[i] = &s.values[i]
	}
	if s.broken = s.rows.Scan(targets...); s.broken != nil {
		s.ok = false
		return
	}
	s.key = s.key[:0]
	for _, i := range s.keys {
		text := ""
		if s.values[i] != nil {
			text = *s.values[i]
		}
		s.key = append(s.key, text)
	}
}

func (s *side) name() string { return strings.Join(s.key, "|") }

func (s *side) close() { s.rows.Close() }

func (s *side) err(table Name) error {
	s.rows.Close()
	if err := errors.Join(s.broken, s.rows.Err()); err != nil {
		return fmt.Errorf("reading %s: %w", table, err)
	}
	return nil
}
