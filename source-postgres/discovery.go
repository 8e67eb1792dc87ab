package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	log "github.com/sirupsen/logrus"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

// defaultSchema is the one whose tables' streams carry no schema in their names.
const defaultSchema = "public"

// catalog describes the tables of a database, and publishes them.
type catalog struct {
	config    *config
	conn      *pgx.Conn
	version   int // server_version_num
	types     *typeTable
	published *publication
}

var _ sqlcapture.Catalog = (*catalog)(nil)

// newCatalog reads what describing tables takes. conn is used by the catalog's methods, one call at a time.
func newCatalog(ctx context.Context, conn *pgx.Conn, c *config) (*catalog, error) {
	version, err := serverVersion(ctx, conn)
	if err != nil {
		return nil, c.explain("connecting", err)
	}
	k := &catalog{config: c, conn: conn, version: version, published: newPublication(conn, c, version)}
	if err := k.loadTypes(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *catalog) loadTypes(ctx context.Context) (err error) {
	k.types, err = loadTypes(ctx, k.conn, k.config.typeOptions())
	return k.config.explain("reading the types of the database", err)
}

// Tables describes the named tables, or with nil those that discovery offers, sorted by schema and name. A name that belongs to a view, a foreign
// table, or a temporary or unlogged table is treated like one that does not exist: none of them is in the log.
func (k *catalog) Tables(ctx context.Context, names []sqlcapture.TableName) ([]*sqlcapture.Table, error) {
	relations, err := k.relations(ctx, names)
	if err != nil {
		return nil, err
	}
	tables := make([]*sqlcapture.Table, 0, len(relations))
	for _, r := range relations {
		if !r.capturable() {
			continue
		}
		t, err := k.table(ctx, r)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// Marks tells tables and their keys apart, see sqlcapture.Catalog: by the oid, the replica identity and the unique indexes.
func (k *catalog) Marks(ctx context.Context, names []sqlcapture.TableName) (map[sqlcapture.TableName]string, error) {
	schemas, tables := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], tables[i] = n.Schema, n.Name
	}
	marks, err := k.marks(ctx, schemas, tables)
	return marks, k.config.explain("looking at the captured tables", err)
}

func (k *catalog) marks(ctx context.Context, schemas, tables []string) (map[sqlcapture.TableName]string, error) {
	rows, err := k.conn.Query(ctx, `SELECT w.schema, w.name, concat_ws(' ', c.oid, c.relkind, c.relpersistence, c.relreplident, (
		SELECT string_agg(concat_ws(' ', i.indexrelid, i.indkey, i.indisprimary, i.indisreplident, i.indisvalid, i.indimmediate), ',' ORDER BY i.indexrelid)
		FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique))
		FROM unnest($1::text[], $2::text[]) w(schema, name)
		JOIN pg_namespace n ON n.nspname::text = w.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname::text = w.name`, schemas, tables)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	marks := make(map[sqlcapture.TableName]string, len(tables))
	for rows.Next() {
		var t sqlcapture.TableName
		var mark string
		if err := rows.Scan(&t.Schema, &t.Name, &mark); err != nil {
			return nil, err
		}
		marks[t] = mark
	}
	return marks, rows.Err()
}

// Publish makes the log deliver these tables' changes; see sqlcapture.Catalog.
func (k *catalog) Publish(ctx context.Context, names []sqlcapture.TableName) error {
	relations, err := k.relations(ctx, names)
	if err != nil {
		return err
	}
	return k.published.publish(ctx, relations)
}

// describe describes one table inside a transaction of another connection; nil: it is gone.
func (k *catalog) describe(ctx context.Context, run textQuery, name sqlcapture.TableName) (*sqlcapture.Table, error) {
	relations, err := relationsByName(ctx, run, k.version, []sqlcapture.TableName{name})
	if err != nil || len(relations) == 0 || !relations[0].capturable() {
		return nil, k.config.explain("describing table "+name.Schema+"."+name.Name, err)
	}
	return k.table(ctx, relations[0])
}

// relations describes the named tables, or those that discovery offers.
func (k *catalog) relations(ctx context.Context, names []sqlcapture.TableName) (list []*relation, err error) {
	if names == nil {
		var oids []uint32
		if oids, err = k.offered(ctx); err == nil {
			list, err = relationsByOID(ctx, textFrom(k.conn), k.version, oids)
		}
	} else {
		list, err = relationsByName(ctx, textFrom(k.conn), k.version, names)
	}
	if err != nil {
		return nil, k.config.explain("describing tables", err)
	}
	slices.SortFunc(list, func(a, b *relation) int {
		if n := strings.Compare(a.Schema, b.Schema); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

// offered lists the tables that discovery offers, by oid. Before PostgreSQL 13 a partitioned table cannot be published, so its partitions are offered.
func (k *catalog) offered(ctx context.Context) ([]uint32, error) {
	kinds := `c.relkind IN ('r', 'p') AND NOT c.relispartition`
	if k.version < 130000 {
		kinds = `c.relkind = 'r'`
	}
	// Schemas that begin with pg_ are the server's own (pg_catalog, pg_toast, other sessions' pg_temp_3); the others belong to managed services.
	rows, err := k.conn.Query(ctx, `SELECT c.oid::int8, n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE `+kinds+` AND c.relpersistence = 'p' AND left(n.nspname, 3) <> 'pg_'
		AND n.nspname NOT IN ('information_schema', 'catalog_history', 'cron', 'pglogical')
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`)
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	defer rows.Close()
	var oids []uint32
	for rows.Next() {
		var oid int64
		var schema, name string
		if err := rows.Scan(&oid, &schema, &name); err != nil {
			return nil, fmt.Errorf("listing tables: %w", err)
		}
		if k.config.DiscoveryFilters.offers(schema, name) {
			oids = append(oids, uint32(oid))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	return oids, nil
}

// offers tells whether a table passes the filters.
func (f *discoveryFilters) offers(schema, name string) bool {
	if len(f.IncludeSchemas) > 0 && !slices.Contains(f.IncludeSchemas, schema) || slices.Contains(f.ExcludeSchemas, schema) {
		return false
	}
	return len(f.TablePatterns) == 0 || slices.ContainsFunc(f.TablePatterns, func(pattern string) bool {
		return protocol.Glob(pattern, name) || protocol.Glob(pattern, schema+"."+name)
	})
}

// capturable tells whether the relation is a table whose changes are in the log.
func (r *relation) capturable() bool {
	return (r.Kind == "r" || r.Kind == "p") && r.Persistence == "p"
}

// table makes the engine's description of a relation. A type that is younger than the type table makes that load anew, once.
func (k *catalog) table(ctx context.Context, r *relation) (*sqlcapture.Table, error) {
	t, known := k.tableWith(k.types, r)
	if known {
		return t, nil
	}
	if err := k.loadTypes(ctx); err != nil {
		return nil, err
	}
	t, _ = k.tableWith(k.types, r) // a type that was dropped meanwhile is taken as text
	return t, nil
}

func (k *catalog) tableWith(types *typeTable, r *relation) (t *sqlcapture.Table, known bool) {
	t = &sqlcapture.Table{
		TableName:     r.tableName(),
		Identity:      strconv.FormatUint(uint64(r.OID), 10),
		Leaves:        r.leaves(),
		EstimatedRows: int64(max(r.Rows, 0)),
		Native:        r,
	}
	known = true
	for _, a := range r.Columns {
		c, ok := types.columnOf(attribute{Name: a.Name, OID: a.Type, Typmod: a.Modifier, NotNull: a.NotNull, BytewiseCollation: a.ByteOrder})
		known = known && ok
		c.Collation, c.Filled = a.Collation, a.Filled
		if a.Comment != "" {
			c.Schema.Description = a.Comment
		}
		t.Columns = append(t.Columns, c)
	}
	usable := func(a relationColumn) bool {
		return slices.ContainsFunc(t.Columns, func(c sqlcapture.Column) bool { return c.Name == a.Name && c.AppendKey != nil })
	}
	t.Key = r.key(usable)
	for _, x := range r.Indexes {
		if columns := r.indexColumns(x, usable); columns != nil {
			t.Unique = append(t.Unique, columns)
		}
	}
	return t, known
}

// discover lists the streams that the database offers; source is the schema of a document's /_meta/source. Tables that the user cannot read are
// offered, too, with a warning: discovery tells what there is, and reading one that is configured fails by itself.
func (k *catalog) discover(ctx context.Context, source protocol.Schema) ([]protocol.Stream, error) {
	tables, err := k.Tables(ctx, nil)
	if err != nil {
		return nil, err
	}
	if !k.config.DiscoveryFilters.DiscoverUnpublishedTables {
		published, err := k.published.state(ctx)
		if err != nil {
			return nil, err
		}
		tables = slices.DeleteFunc(tables, func(t *sqlcapture.Table) bool { return !published.has(t.TableName) })
	}
	streams := make([]protocol.Stream, 0, len(tables))
	var unreadable []string
	var relations []*relation
	for _, t := range tables {
		s, err := streamOf(t, source)
		if err != nil {
			return nil, err
		}
		streams = append(streams, s)
		r := t.Native.(*relation) //nolint:forcetypeassert // table sets it
		relations = append(relations, r)
		if !r.Readable || !r.SchemaUsable {
			unreadable = append(unreadable, r.String())
		}
	}
	warnOfReserved(relations)
	if len(unreadable) > 0 {
		log.WithField("tables", shorten(unreadable)).Warn("the user may not read some of the discovered tables")
	}
	return streams, nil
}

// warnOfReserved names the tables that cannot be read for the name of a column; see sqlcapture.Table.Unreadable.
func warnOfReserved(offered []*relation) {
	var list []string
	for _, r := range offered {
		if slices.ContainsFunc(r.Columns, func(c relationColumn) bool { return c.Name == "_meta" }) {
			list = append(list, r.String())
		}
	}
	if len(list) > 0 {
		log.WithField("tables", shorten(list)).Warn("these tables have a column named _meta, where documents hold the operation and its source, and so cannot be read: rename the column")
	}
}

// streamOf is the stream of a table.
func streamOf(t *sqlcapture.Table, source protocol.Schema) (protocol.Stream, error) {
	r, err := json.Marshal(resource{Namespace: t.Schema, Stream: t.Name})
	if err != nil {
		return protocol.Stream{}, fmt.Errorf("describing table %s.%s: %w", t.Schema, t.Name, err)
	}
	name := streamName(t.TableName)
	s := protocol.Stream{
		Name: name, Namespace: t.Schema, RecommendedName: t.Schema + "/" + name, Resource: r,
		Schema: sqlcapture.StreamSchema(t, source), Incremental: true, Cursor: "/_meta/source/lsn",
	}
	s.Key = pointers(t.Key)
	if s.Key == nil {
		// The transaction's place in the log, and the change's place in the transaction: COPY writes many rows under one position.
		s.FallbackKey = []string{"/_meta/source/loc/2", "/_meta/source/row"}
	}
	return s, nil
}

// pointerEscaper writes a name as a token of a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// streamName is a table's name in the default schema, else schema.table. A dot inside the table's name is written %2E, so that no two tables share a
// name; what already looks like one of the two escapes has its % written %25.
func streamName(t sqlcapture.TableName) string {
	var b strings.Builder
	if t.Schema != defaultSchema {
		b.WriteString(t.Schema + ".")
	}
	for i := range len(t.Name) {
		switch rest := t.Name[i:]; {
		case rest[0] == '.':
			b.WriteString("%2E")
		case strings.HasPrefix(rest, "%2E"), strings.HasPrefix(rest, "%25"):
			b.WriteString("%25")
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

// tableOf is the table of a binding: what its resource says, else what its stream's name and namespace say.
func tableOf(b protocol.Binding) sqlcapture.TableName {
	var r resource
	if len(b.Resource) > 0 && json.Unmarshal(b.Resource, &r) == nil && r.Namespace != "" && r.Stream != "" {
		return sqlcapture.TableName{Schema: r.Namespace, Name: r.Stream}
	}
	schema, name := b.Stream.Namespace, b.Stream.Name
	switch {
	case schema != "":
		// Other catalogs name a stream by its table alone, whatever the schema.
		name = strings.TrimPrefix(name, schema+".")
	case strings.Contains(name, "."):
		dot := strings.LastIndexByte(name, '.')
		schema, name = name[:dot], name[dot+1:]
	default:
		schema = defaultSchema
	}
	return sqlcapture.TableName{Schema: schema, Name: nameUnescaper.Replace(name)}
}

var nameUnescaper = strings.NewReplacer("%2E", ".", "%25", "%")

// shorten keeps a list readable.
func shorten(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
