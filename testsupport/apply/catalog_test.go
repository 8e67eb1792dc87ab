package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
)

// catalog is what is in the two schemas: "lake.t" is a table's comment, "lake.t key" its primary key, "lake.t index i" an index, "lake.t c" a column's type,
// nullability, default and comment.
const catalogQuery = `
SELECT n.nspname || '.' || c.relname, coalesce(obj_description(c.oid, 'pg_class'), '')
	FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('lake', 'second') AND relkind <> 'i'
UNION ALL
SELECT n.nspname || '.' || c.relname || ' ' || a.attname, format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END ||
	coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || coalesce(', ' || col_description(c.oid, a.attnum), '')
	FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE nspname IN ('lake', 'second') AND relkind <> 'i'
UNION ALL
SELECT n.nspname || '.' || c.relname || ' key', pg_get_constraintdef(k.oid)
	FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' WHERE nspname IN ('lake', 'second')
UNION ALL
SELECT schemaname || '.' || tablename || ' index ' || indexname, indexdef FROM pg_indexes WHERE schemaname IN ('lake', 'second')`

// fingerprintQuery changes with anything that is written: the catalog's rows of the two schemas, and the rows of their tables.
const fingerprintQuery = `
WITH ours AS (SELECT c.oid, c.xmin, c.relname, c.relkind, c.relfilenode FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('lake', 'second', 'public'))
SELECT 'namespaces', string_agg(oid || ' ' || xmin, ',' ORDER BY oid) FROM pg_namespace
UNION ALL SELECT 'classes', string_agg(oid || ' ' || xmin || ' ' || relname || ' ' || relfilenode, ',' ORDER BY oid) FROM ours
UNION ALL SELECT 'columns', string_agg(attrelid || ' ' || a.attnum || ' ' || a.xmin || ' ' || a.ctid, ',' ORDER BY attrelid, a.attnum) FROM ours JOIN pg_attribute a ON attrelid = ours.oid
UNION ALL SELECT 'constraints', string_agg(k.oid || ' ' || k.xmin, ',' ORDER BY k.oid) FROM ours JOIN pg_constraint k ON conrelid = ours.oid
UNION ALL SELECT 'comments', string_agg(objoid || ' ' || objsubid || ' ' || d.xmin, ',' ORDER BY objoid, objsubid) FROM ours JOIN pg_description d ON objoid = ours.oid
UNION ALL SELECT 'rows', string_agg(query_to_xml(format('SELECT tableoid, xmin::text, ctid::text FROM %s ORDER BY ctid', oid::regclass), false, true, '')::text, '' ORDER BY oid)
	FROM ours WHERE relkind = 'r'`

// restoreQuery writes the statements that make schema lake again as it is, rows included; copying a database takes many times as long.
const restoreQuery = `
WITH ours AS (SELECT c.oid, c.oid::regclass::text AS name FROM pg_class c WHERE relnamespace = to_regnamespace('lake') AND relkind = 'r'),
columns AS (SELECT ours.oid, string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END ||
		coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), ''), ', ' ORDER BY attnum) AS list
	FROM ours JOIN pg_attribute ON attrelid = ours.oid AND attnum > 0 AND NOT attisdropped LEFT JOIN pg_attrdef ON adrelid = ours.oid AND adnum = attnum GROUP BY 1),
rows AS (SELECT name, convert_from(decode(unnest(xpath('//r/text()', query_to_xml(
		format($q$SELECT replace(encode(convert_to(t::text, 'UTF8'), 'base64'), E'\n', '') AS r FROM %s t$q$, name), false, false, '')))::text, 'base64'), 'UTF8') AS one FROM ours),
steps AS (
	SELECT 1 AS place, 'CREATE SCHEMA lake' AS sql FROM pg_namespace WHERE nspname = 'lake'
	UNION ALL SELECT 2, format('CREATE TABLE %s (%s)', name, list) FROM ours JOIN columns USING (oid)
	UNION ALL SELECT 3, format('INSERT INTO %s SELECT (%L::%s).*', name, one, name) FROM rows
	UNION ALL SELECT 4, format('ALTER TABLE %s ADD CONSTRAINT %I %s', name, conname, pg_get_constraintdef(k.oid)) FROM ours JOIN pg_constraint k ON conrelid = ours.oid
	UNION ALL SELECT 5, pg_get_indexdef(indexrelid) FROM ours JOIN pg_index ON indrelid = ours.oid AND NOT indisprimary
	UNION ALL SELECT 6, format('COMMENT ON TABLE %s IS %L', name, description) FROM ours JOIN pg_description ON objoid = ours.oid AND objsubid = 0
	UNION ALL SELECT 7, format('COMMENT ON COLUMN %s.%I IS %L', name, attname, description)
		FROM ours JOIN pg_description ON objoid = ours.oid JOIN pg_attribute ON attrelid = ours.oid AND attnum = objsubid AND attnum > 0)
SELECT coalesce(string_agg(sql, ';' ORDER BY place), '') FROM steps`

// pairs runs queries of two columns.
func pairs(t *testing.T, c *pgtest.Cluster, database string, queries ...string) map[string]string {
	t.Helper()
	rows, err := c.Query(database, strings.Join(queries, ";"))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, r := range rows {
		m[r[0]] = r[1]
	}
	return m
}

// compare lists what is different.
func compare(what string, got, want map[string]string) (different []string) {
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g, here := got[name]
		w, there := want[name]
		switch {
		case !here:
			different = append(different, fmt.Sprintf("%s: %q is missing, want %q", what, name, w))
		case !there:
			different = append(different, fmt.Sprintf("%s: %q is there, %q", what, name, g))
		case g != w:
			different = append(different, fmt.Sprintf("%s: %q is %.3000q, want %.3000q", what, name, g, w))
		}
	}
	return different
}

// rowsQuery lists the rows of tables, each row once: "lake.t rows" is one JSON object a line. fields are the columns by table; nil: the table does not count.
func rowsQuery(tables []table, fields func(t *table) []string) string {
	var queries []string
	for i := range tables {
		t := &tables[i]
		var columns []string
		for _, name := range fields(t) {
			columns = append(columns, `"`+name+`"`)
		}
		if columns != nil {
			queries = append(queries, fmt.Sprintf(`SELECT '%s rows', coalesce(string_agg(DISTINCT row_to_json(r)::text, E'\n'), '') FROM (SELECT %s FROM "%s") r`,
				strings.Join(t.path(), "."), strings.Join(columns, ", "), strings.Join(t.path(), `"."`)))
		}
	}
	return strings.Join(queries, " UNION ALL ")
}

// everything is all columns that a table has for its binding.
func everything(t *table) []string {
	columns := []string{document}
	for _, f := range t.fields {
		columns = append(columns, f.name)
	}
	return columns
}
