package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/sqlcapture"
)

// relation is what the catalog says of a table. It is a sqlcapture.Table's Native; never changed once it is made.
type relation struct {
	OID         uint32 `json:"oid"`
	Schema      string `json:"schema"`
	Name        string `json:"name"`
	Kind        string `json:"kind"`        // relkind: r, p; with named look-ups also v, m, f …
	Persistence string `json:"persistence"` // relpersistence: p, u, t
	Partition   bool   `json:"partition"`   // it is a partition of another table
	// Filenode differs after a rewrite (VACUUM FULL, CLUSTER, TRUNCATE, some ALTER TABLE).
	Filenode uint32  `json:"filenode"`
	Rows     float64 `json:"rows"` // reltuples, of the leaves where there are any; below 0: never analysed
	Comment  string  `json:"comment"`
	// Identity is relreplident: d default, n nothing, f full, i index.
	Identity string `json:"identity"`
	// Identified: UPDATE and DELETE go on working once it is published; that takes a replica identity.
	Identified bool `json:"identified"`
	// Owned, SchemaUsable, Readable, Filtered: the current user is in the owner's role, may use the schema, may read the table, would see only the
	// rows that a policy lets it see.
	Owned        bool             `json:"owned"`
	SchemaUsable bool             `json:"schemaUsable"`
	Readable     bool             `json:"readable"`
	Filtered     bool             `json:"filtered"`
	Columns      []relationColumn `json:"columns"`
	Indexes      []relationIndex  `json:"indexes"`
	Leaves       []relationLeaf   `json:"leaves"`
}

type relationColumn struct {
	Number    int    `json:"number"` // attnum
	Name      string `json:"name"`
	Type      uint32 `json:"type"` // atttypid
	Modifier  int32  `json:"modifier"`
	NotNull   bool   `json:"notNull"`
	Filled    bool   `json:"filled"`    // rows that were there when it was added may have a value in it
	ByteOrder bool   `json:"byteOrder"` // its collation sorts by the bytes of UTF-8
	Collation string `json:"collation"` // empty: its type has none
	Comment   string `json:"comment"`
}

// relationIndex is a unique index without expressions and without a condition, whose uniqueness holds after each row.
type relationIndex struct {
	Name     string `json:"name"`
	Columns  []int  `json:"columns"` // attnums in index order
	Primary  bool   `json:"primary"`
	Identity bool   `json:"identity"` // indisreplident
}

// relationLeaf is a partition that holds rows. The log of a published root has its leaves' identities, not the root's.
type relationLeaf struct {
	OID        uint32 `json:"oid"`
	Name       string `json:"name"` // in SQL, qualified and quoted
	Kind       string `json:"kind"` // r, or f: a foreign table, whose changes are in no log
	Identity   string `json:"identity"`
	Identified bool   `json:"identified"`
}

// relationSQL selects one JSON object for each relation that condition, about pg_class c and pg_namespace n, lets through. It is a single statement
// without parameters, so that a chunk's transaction, which runs on a connection of another kind, can use it, too. It takes no locks and asks for no
// privilege: the columns of tables that cannot be read are described as well.
func relationSQL(version int, condition string) string {
	generated, keyColumns, attached, missing := "a.attgenerated <> ''", "i.indnkeyatts", "NOT h.inhdetachpending", "a.atthasmissing"
	if version < 140000 {
		attached = "true"
	}
	if version < 120000 {
		generated = "false"
	}
	if version < 110000 {
		keyColumns, missing = "i.indnatts", "false"
	}
	return `WITH RECURSIVE chosen AS (
	SELECT c.*, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ` + condition + `
), tree(root, oid) AS (
	SELECT c.oid, h.inhrelid FROM chosen c JOIN pg_inherits h ON h.inhparent = c.oid WHERE c.relkind = 'p' AND ` + attached + `
	UNION ALL SELECT t.root, h.inhrelid FROM tree t JOIN pg_inherits h ON h.inhparent = t.oid WHERE ` + attached + `
), leaves AS (
	SELECT t.root, l.oid, l.relkind, l.relreplident, l.reltuples FROM tree t JOIN pg_class l ON l.oid = t.oid WHERE l.relkind <> 'p'
)
SELECT json_build_object(
	'oid', c.oid::int8, 'schema', c.nspname, 'name', c.relname, 'kind', c.relkind, 'persistence', c.relpersistence, 'partition', c.relispartition,
	'filenode', c.relfilenode::int8, 'comment', obj_description(c.oid, 'pg_class'),
	'rows', CASE WHEN c.relkind = 'p' THEN (SELECT sum(greatest(l.reltuples, 0)) FROM leaves l WHERE l.root = c.oid) ELSE c.reltuples END,
	'identity', c.relreplident, 'identified', ` + identifiedSQL("c") + `,
	'owned', pg_has_role(c.relowner, 'USAGE'), 'schemaUsable', has_schema_privilege(c.relnamespace, 'USAGE'),
	'readable', has_table_privilege(c.oid, 'SELECT'), 'filtered', row_security_active(c.oid),
	'columns', (SELECT json_agg(json_build_object('number', a.attnum, 'name', a.attname, 'type', a.atttypid::int8, 'modifier', a.atttypmod,
			'notNull', a.attnotnull, 'filled', a.atthasdef OR a.attidentity <> '' OR ` + missing + ` OR y.typdefault IS NOT NULL, 'byteOrder', ` + byteOrderSQL(version) + `, 'collation', coalesce(k.collnamespace::regnamespace || '.' || quote_ident(k.collname), ''),
			 'comment', col_description(a.attrelid, a.attnum)) ORDER BY a.attnum)
		FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_collation k ON k.oid = a.attcollation
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND NOT (` + generated + `)),
	'indexes', (SELECT json_agg(json_build_object('name', x.relname, 'primary', i.indisprimary, 'identity', i.indisreplident,
			'columns', (SELECT json_agg(u.number ORDER BY u.place)
				FROM unnest(string_to_array(i.indkey::text, ' ')::int[]) WITH ORDINALITY u(number, place) WHERE u.place <= ` + keyColumns + `)
			) ORDER BY x.relname COLLATE "C")
		FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
		WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL),
	'leaves', (SELECT json_agg(json_build_object('oid', l.oid::int8, 'name', l.oid::regclass::text, 'kind', l.relkind, 'identity', l.relreplident, 'identified', ` + identifiedSQL("l") + `)
			ORDER BY l.oid) FROM leaves l WHERE l.root = c.oid))
FROM chosen c ORDER BY c.nspname COLLATE "C", c.relname COLLATE "C"`
}

// identifiedSQL tells whether the relation named alias has a replica identity. A deferrable primary key is none.
func identifiedSQL(alias string) string {
	return `(` + alias + `.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = ` + alias + `.oid AND i.indimmediate AND i.indisvalid
		AND (` + alias + `.relreplident = 'd' AND i.indisprimary OR ` + alias + `.relreplident = 'i' AND i.indisreplident)))`
}

// byteOrderSQL tells whether the collation k of a column, or the database's where k is "default", compares bytes. C.UTF-8 of the C library does so on
// some systems only, the builtin one of PostgreSQL 17 everywhere.
func byteOrderSQL(version int) string {
	column, database := `k.collprovider = 'c' AND k.collcollate IN ('C', 'POSIX')`, `d.datcollate IN ('C', 'POSIX')`
	const builtin = `IN ('C', 'C.UTF-8', 'C.UTF8', 'PG_UNICODE_FAST')`
	switch {
	case version >= 170000:
		column += ` OR k.collprovider = 'b' AND k.colllocale ` + builtin
		database = `d.datlocprovider = 'c' AND ` + database + ` OR d.datlocprovider = 'b' AND d.datlocale ` + builtin
	case version >= 150000:
		database = `d.datlocprovider = 'c' AND ` + database
	}
	return `coalesce(CASE WHEN k.collname = 'default' AND k.collprovider = 'd' THEN (SELECT ` + database + ` FROM pg_database d WHERE d.datname = current_database())
			ELSE ` + column + ` END, false)`
}

// textQuery runs a statement whose rows have one column, and returns that column.
type textQuery func(ctx context.Context, sql string) ([]string, error)

// textFrom runs statements on a connection of the driver, or in a transaction of it.
func textFrom(q querier) textQuery {
	return func(ctx context.Context, sql string) ([]string, error) {
		rows, err := q.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var list []string
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return nil, err
			}
			list = append(list, text)
		}
		return list, rows.Err()
	}
}

// textFromWire runs statements on a connection of our own, as the scanner has it.
func textFromWire(conn *pgwire.Conn) textQuery {
	return func(ctx context.Context, sql string) ([]string, error) {
		results, err := conn.Exec(ctx, sql)
		if err != nil {
			return nil, err
		}
		var list []string
		for _, r := range results {
			for _, row := range r.Rows {
				if len(row) == 1 && row[0] != nil {
					list = append(list, *row[0])
				}
			}
		}
		return list, nil
	}
}

// relationsPerQuery bounds one look-up: a database with ten thousand tables ran out of memory on a single one.
const relationsPerQuery = 100

// relationsByName describes the named relations, whatever their kind, sorted by name. Those that do not exist are left out.
func relationsByName(ctx context.Context, run textQuery, version int, names []sqlcapture.TableName) ([]*relation, error) {
	var list []*relation
	for part := range slices.Chunk(names, relationsPerQuery) {
		var b strings.Builder
		// Compared as text: what is compared with a name is cut to 63 bytes first, and may then be another table's.
		b.WriteString("(n.nspname::text, c.relname::text) IN (")
		for i, n := range part {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("(" + pgwire.QuoteLiteral(n.Schema) + ", " + pgwire.QuoteLiteral(n.Name) + ")")
		}
		b.WriteString(")")
		found, err := readRelations(ctx, run, version, b.String())
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// relationsByOID describes relations, in no particular order. Those that do not exist are left out.
func relationsByOID(ctx context.Context, run textQuery, version int, oids []uint32) ([]*relation, error) {
	var list []*relation
	for part := range slices.Chunk(oids, relationsPerQuery) {
		texts := make([]string, len(part))
		for i, oid := range part {
			texts[i] = strconv.FormatUint(uint64(oid), 10)
		}
		found, err := readRelations(ctx, run, version, "c.oid IN ("+strings.Join(texts, ", ")+")")
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

func readRelations(ctx context.Context, run textQuery, version int, condition string) ([]*relation, error) {
	texts, err := run(ctx, relationSQL(version, condition))
	if err != nil {
		return nil, fmt.Errorf("describing tables: %w", err)
	}
	list := make([]*relation, 0, len(texts))
	for _, text := range texts {
		r := new(relation)
		if err := json.Unmarshal([]byte(text), r); err != nil {
			return nil, fmt.Errorf("reading the description of a table: %w", err)
		}
		list = append(list, r)
	}
	return list, nil
}

func (r *relation) tableName() sqlcapture.TableName {
	return sqlcapture.TableName{Schema: r.Schema, Name: r.Name}
}

// sqlName is the table's name in SQL.
func (r *relation) sqlName() string { return quoteTable(r.Schema, r.Name) }

// String is the table's name for people, with quotes only where they tell something.
func (r *relation) String() string { return readable(r.Schema) + "." + readable(r.Name) }

// readable is a name for people.
func readable(name string) string {
	if plain.MatchString(name) {
		return name
	}
	return quote(name)
}

var plain = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// sqlOnly is the table in SQL without the tables that inherit from it, which are tables of their own. Partitions are the table's own parts.
func (r *relation) sqlOnly() string {
	if r.Kind == "p" {
		return r.sqlName()
	}
	return "ONLY " + r.sqlName()
}

// leaves digests the set of the partitions that hold rows; empty: not partitioned. Partitions are told apart by oid, so one that was dropped and made
// again counts as another.
func (r *relation) leaves() string {
	if r.Kind != "p" {
		return ""
	}
	h := sha256.New()
	for _, l := range r.Leaves {
		_ = binary.Write(h, binary.BigEndian, l.OID) // a hash never fails
	}
	return strconv.Itoa(len(r.Leaves)) + ":" + hex.EncodeToString(h.Sum(nil)[:8])
}

// identities are the distinct replica identities of what holds the table's rows.
func (r *relation) identities() string {
	var seen string
	for _, l := range r.Leaves {
		if l.Kind != "f" && !strings.Contains(seen, l.Identity) {
			seen += l.Identity
		}
	}
	if seen == "" {
		return r.Identity
	}
	return seen
}

// identified tells whether UPDATE and DELETE on the table go on working once it is published.
func (r *relation) identified() bool {
	if len(r.Leaves) == 0 {
		return r.Identified
	}
	return !slices.ContainsFunc(r.Leaves, func(l relationLeaf) bool { return l.Kind != "f" && !l.Identified })
}

// key chooses the columns that identify a row in scan and log alike; nil: there is no such choice. usable tells whether a column's type can be part of
// a key.
//
// The replica identity comes first, because it is all that the log tells of a deleted row, and of the old key of an updated one: under USING INDEX not
// even a changed primary key shows. Then comes the primary key, then the first unique index by name.
func (r *relation) key(usable func(relationColumn) bool) []string {
	ids := r.identities()
	if strings.Contains(ids, "i") {
		if ids != "i" || r.Identity != "i" {
			return nil // partitions with identities of their own: which columns, only they know
		}
		for _, x := range r.Indexes {
			if x.Identity {
				return r.indexColumns(x, usable)
			}
		}
	}
	for _, x := range r.Indexes {
		if x.Primary {
			columns := r.indexColumns(x, usable)
			if columns != nil || strings.Contains(ids, "d") {
				return columns
			}
		}
	}
	for _, x := range r.Indexes {
		if columns := r.indexColumns(x, usable); columns != nil {
			return columns
		}
	}
	return nil
}

// indexColumns are the names of an index's columns in its order; nil: one of them cannot be part of a key.
func (r *relation) indexColumns(x relationIndex, usable func(relationColumn) bool) []string {
	var names []string
	for _, number := range x.Columns {
		i := slices.IndexFunc(r.Columns, func(c relationColumn) bool { return c.Number == number })
		if i < 0 || !r.Columns[i].NotNull || !usable(r.Columns[i]) {
			return nil
		}
		names = append(names, r.Columns[i].Name)
	}
	return names
}
