package main

import (
	"context"
	"fmt"

	"github.com/estuary/connectors/sqlcapture"
)

// Deliveries tells by which entries of the publication the log delivers tables; see sqlcapture.Catalog. An entry is the oid of a row of the
// catalog, which another row hardly ever has again: of the table itself, of a table that it is a partition of, or of its schema; FOR ALL TABLES it is
// the publication's.
func (k *catalog) Deliveries(ctx context.Context, names []sqlcapture.TableName) (map[sqlcapture.TableName]*sqlcapture.Delivery, error) {
	list, err := k.deliveries(ctx, names)
	return list, k.config.explain("looking up how publication "+k.published.name+" delivers the tables", err)
}

func (k *catalog) deliveries(ctx context.Context, names []sqlcapture.TableName) (map[sqlcapture.TableName]*sqlcapture.Delivery, error) {
	schemas, tables := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], tables[i] = n.Schema, n.Name
	}
	rows, err := k.conn.Query(ctx, deliveriesSQL(k.version), schemas, tables, k.published.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make(map[sqlcapture.TableName]*sqlcapture.Delivery, len(names))
	for rows.Next() {
		var t sqlcapture.TableName
		d := &sqlcapture.Delivery{By: k.published.name}
		if err := rows.Scan(&t.Schema, &t.Name, &d.Entries); err != nil {
			return nil, fmt.Errorf("reading the entries of a table: %w", err)
		}
		list[t] = d
	}
	return list, rows.Err()
}

// deliveriesSQL selects the entries of each table that the publication delivers under its own name.
func deliveriesSQL(version int) string {
	bySchema := ""
	if version >= 150000 {
		bySchema = `
		UNION ALL SELECT 'schema ' || e.oid FROM pg_publication_namespace e JOIN pg_class c ON c.relnamespace = e.pnnspid JOIN tree ON tree.oid = c.oid
			WHERE tree.leaf = w.oid AND e.pnpubid = p.oid`
	}
	return `WITH RECURSIVE wanted AS (
	SELECT w.schema, w.name, c.oid FROM unnest($1::text[], $2::text[]) w(schema, name)
	JOIN pg_namespace n ON n.nspname::text = w.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname::text = w.name
), tree(leaf, oid) AS (
	SELECT oid, oid FROM wanted
	UNION ALL SELECT t.leaf, h.inhparent FROM tree t JOIN pg_class c ON c.oid = t.oid AND c.relispartition JOIN pg_inherits h ON h.inhrelid = t.oid
)
SELECT w.schema, w.name, ARRAY(
		SELECT 'table ' || e.oid FROM pg_publication_rel e JOIN tree ON tree.oid = e.prrelid WHERE tree.leaf = w.oid AND e.prpubid = p.oid` + bySchema + `
		UNION ALL SELECT 'all ' || p.oid WHERE p.puballtables
		ORDER BY 1)
	FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname::text) g JOIN wanted w ON w.oid = g.relid
	WHERE p.pubname::text = $3`
}
