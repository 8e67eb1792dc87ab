package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/sqlsink"
)

// tableName is the place of a table, as the server keeps it.
type tableName struct{ schema, table string }

func (n tableName) String() string { return n.schema + "." + n.table }

func (n tableName) sql() string { return quote(n.schema) + "." + quote(n.table) }

const describeColumns = `
SELECT n.nspname, c.relname, c.relkind::text, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),
	a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull::text, (a.atthasdef OR a.attidentity <> '')::text
FROM unnest($1::text[], $2::text[]) AS w (schema, name)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.name AND c.relkind NOT IN ('i', 'I', 'S', 't', 'c')
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY n.nspname, c.relname, a.attnum`

// to_jsonb bridges the versions: included columns came with 11.
const describeKeys = `
SELECT n.nspname, c.relname, x.relname, i.indisprimary::text, a.attname
FROM unnest($1::text[], $2::text[]) AS w (schema, name)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.name
JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
WHERE k.place <= coalesce((pg_catalog.to_jsonb(i) ->> 'indnkeyatts')::int, i.indnatts)
ORDER BY n.nspname, c.relname, x.relname, k.place`

// kinds are what may stand where a table is wanted. A partitioned table takes rows like any other.
var kinds = map[string]string{"v": "a view", "m": "a materialized view", "f": "a foreign table"}

// describe reads tables as they are; those that are missing are missing in the result.
func (s *session) describe(ctx context.Context, names []tableName) (map[tableName]*sqlsink.Live, error) {
	all := map[tableName]*sqlsink.Live{}
	if len(names) == 0 {
		return all, nil
	}
	schemas, tables := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], tables[i] = n.schema, n.table
		s.seen(n)
	}
	schemaList, tableList := textArray(schemas), textArray(tables)
	rows, _, err := s.Execute(ctx, describeColumns, &schemaList, &tableList)
	if err != nil {
		return nil, fmt.Errorf("describing tables: %w", err)
	}
	for _, r := range rows {
		name := tableName{*r[0], *r[1]}
		t := all[name]
		if t == nil {
			t = &sqlsink.Live{Kind: kinds[*r[2]], Ours: strings.HasPrefix(*r[3], comment)}
			all[name] = t
		}
		if r[4] != nil {
			t.Columns = append(t.Columns, sqlsink.LiveColumn{Name: *r[4], Type: *r[5], NotNull: *r[6] == "true", Default: *r[7] == "true"})
		}
	}
	if rows, _, err = s.Execute(ctx, describeKeys, &schemaList, &tableList); err != nil {
		return nil, fmt.Errorf("describing the keys of tables: %w", err)
	}
	indexes := map[[3]string]int{} // places in Unique
	for _, r := range rows {
		t := all[tableName{*r[0], *r[1]}]
		if t == nil {
			continue // made between the two queries
		}
		if *r[3] == "true" {
			t.Constraint, t.Key = *r[2], append(t.Key, *r[4])
			continue
		}
		id := [3]string{*r[0], *r[1], *r[2]}
		if _, ok := indexes[id]; !ok {
			indexes[id] = len(t.Unique)
			t.Unique = append(t.Unique, nil)
		}
		t.Unique[indexes[id]] = append(t.Unique[indexes[id]], *r[4])
	}
	return all, nil
}

// existing lists which of the schemas exist.
func (s *session) existing(ctx context.Context, schemas []string) (map[string]bool, error) {
	list := textArray(schemas)
	rows, _, err := s.Execute(ctx, `SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = ANY ($1::text[])`, &list)
	if err != nil {
		return nil, fmt.Errorf("looking up schemas: %w", err)
	}
	found := map[string]bool{}
	for _, r := range rows {
		found[*r[0]] = true
	}
	return found, nil
}

// textArray is the text form of an array of texts.
func textArray(values []string) string { return sqlsink.ArrayLiteral(values) }
