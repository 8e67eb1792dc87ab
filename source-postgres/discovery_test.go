package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

// everyKindOfTable is what discovery has to tell apart.
var everyKindOfTable = []string{
	`CREATE TYPE mood AS ENUM ('sad', 'happy')`,
	`CREATE DOMAIN posint AS int CHECK (VALUE > 0)`,
	`CREATE TABLE pk (id int PRIMARY KEY, "Data" text, m mood, p posint NOT NULL, a int[])`,
	`COMMENT ON COLUMN pk."Data" IS 'what it is'`,
	`CREATE TABLE composite (a int, b text, c int, PRIMARY KEY (c, a))`,
	`CREATE TABLE unique_only (a int NOT NULL, b int NOT NULL, c int, UNIQUE (b))`,
	`CREATE UNIQUE INDEX unique_only_a ON unique_only (a)`, // sorts before unique_only_b_key
	`CREATE TABLE keyless (a int)`,
	`CREATE TABLE half_keys (a int NOT NULL, b int)`,
	`CREATE UNIQUE INDEX ON half_keys (a) WHERE a > 0`,
	`CREATE UNIQUE INDEX ON half_keys ((a + 1))`,
	`CREATE UNIQUE INDEX ON half_keys (b)`,
	`CREATE TABLE later (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)`,
	`CREATE TABLE included (id int NOT NULL, extra int NOT NULL)`,
	`CREATE UNIQUE INDEX included_key ON included (id) INCLUDE (extra)`,
	`CREATE TABLE by_index (id int PRIMARY KEY, other int NOT NULL UNIQUE)`,
	`ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_other_key`,
	`CREATE TABLE generated (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED)`,
	`CREATE TABLE generated_key (id int NOT NULL, twice int GENERATED ALWAYS AS (id * 2) STORED PRIMARY KEY, other int NOT NULL UNIQUE)`,
	`CREATE TABLE "Upper" (id int PRIMARY KEY)`,
	`CREATE TABLE upper (id int PRIMARY KEY)`,
	`CREATE TABLE "quoted.dots" ("a.b/c~d" int PRIMARY KEY)`,
	`CREATE TABLE "quoted%2Edots" (id int PRIMARY KEY)`,
	`CREATE TABLE "select" (id int PRIMARY KEY)`,
	`CREATE SCHEMA "other ""schema"""`,
	`CREATE TABLE "other ""schema""".orders (id int PRIMARY KEY)`,
	`CREATE TABLE "other ""schema"""."a.b" (id int PRIMARY KEY)`,
	`CREATE TABLE dropped (id int PRIMARY KEY, gone int)`,
	`ALTER TABLE dropped DROP COLUMN gone`,
	`CREATE TABLE part (id int, region text, PRIMARY KEY (id, region)) PARTITION BY LIST (region)`,
	`CREATE TABLE part_eu PARTITION OF part FOR VALUES IN ('eu')`,
	`CREATE TABLE part_us PARTITION OF part FOR VALUES IN ('us') PARTITION BY RANGE (id)`,
	`CREATE TABLE part_us_1 PARTITION OF part_us FOR VALUES FROM (0) TO (100)`,
	`CREATE TABLE parent (id int PRIMARY KEY)`,
	`CREATE TABLE child () INHERITS (parent)`,
	`CREATE VIEW a_view AS SELECT 1 AS x`,
	`CREATE MATERIALIZED VIEW a_matview AS SELECT 1 AS x`,
	`CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY)`,
	`CREATE SEQUENCE seq`,
	`CREATE SCHEMA cron`, `CREATE TABLE cron.job (id int PRIMARY KEY)`, `REVOKE ALL ON SCHEMA cron FROM public`,
	`CREATE SCHEMA pglogical`, `CREATE TABLE pglogical.node (id int PRIMARY KEY)`,
	`CREATE SCHEMA catalog_history`, `CREATE TABLE catalog_history.x (id int PRIMARY KEY)`,
	`CREATE TABLE owned_by_extension (id int PRIMARY KEY)`,
	`CREATE EXTENSION hstore`, `ALTER EXTENSION hstore ADD TABLE owned_by_extension`,
}

// bug sql-cdc 85: estuary/connectors history: the cron schema, on which nobody can be granted anything, broke discovery.
// bug sql-cdc 86: estuary/connectors history: columns without a privilege were hidden.
// bug sql-cdc 87: estuary/connectors history: temporary and unlogged tables were discovered.
// bug sql-cdc 90: estuary/connectors history: views were captured.
// bug sql-cdc 20: estuary/connectors history: a primary key with a generated column, which documents lack.
// bug sql-cdc 21: estuary/connectors history: the key changed between runs when there were several unique indexes.
// bug sql-cdc 64: the log shows no update of the primary key under REPLICA IDENTITY USING INDEX (estuary/connectors history).
func TestTables_OfEveryKind(t *testing.T) {
	s := newSite(t, 15)
	s.exec(everyKindOfTable...)
	s.superuserTemp()
	tables, err := s.catalog().Tables(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, table := range tables {
		var columns []string
		for _, c := range table.Columns {
			columns = append(columns, c.Name)
		}
		got[table.Schema+"|"+table.Name] = strings.Join(columns, ",") + " key " + strings.Join(table.Key, ",")
	}
	want := map[string]string{
		"public|pk": "id,Data,m,p,a key id", "public|composite": "a,b,c key c,a", "public|unique_only": "a,b,c key a",
		"public|keyless": "a key ", "public|half_keys": "a,b key ", "public|later": "id key ", "public|included": "id,extra key id",
		"public|by_index": "id,other key other", "public|generated": "id key id", "public|generated_key": "id,other key ",
		"public|Upper": "id key id", "public|upper": "id key id", "public|quoted.dots": "a.b/c~d key a.b/c~d", "public|quoted%2Edots": "id key id",
		"public|select": "id key id", `other "schema"|orders`: "id key id", `other "schema"|a.b`: "id key id", "public|dropped": "id key id",
		"public|part": "id,region key id,region", "public|parent": "id key id", "public|child": "id key ",
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: got %q, want %q", name, got[name], w)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is discovered (%s)", name, g)
		}
	}
	if !slices.IsSortedFunc(tables, func(a, b *sqlcapture.Table) int {
		return strings.Compare(a.Schema+"\x00"+a.Name, b.Schema+"\x00"+b.Name)
	}) {
		t.Error("the tables are not sorted")
	}
}

// superuserTemp makes a temporary table that lives as long as the test.
func (s *site) superuserTemp() {
	s.t.Helper()
	if _, err := s.superuser().Exec(s.t.Context(), "CREATE TEMP TABLE temporary (id int PRIMARY KEY)"); err != nil {
		s.t.Fatal(err)
	}
}

// bug sql-cdc 88: estuary/connectors history: dots, percent signs and quotes in names.
// bug sql-cdc 89: estuary/connectors history: names that differ in case only collided.
func TestDiscover_NamesAreUniqueAndLeadBack(t *testing.T) {
	s := newSite(t, 15)
	s.exec(everyKindOfTable...)
	k := s.catalog()
	streams, err := k.discover(t.Context(), protocol.Schema{Types: []string{"object"}})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]protocol.Stream{}
	for _, st := range streams {
		if _, twice := byName[st.Name]; twice {
			t.Errorf("two streams are called %s", st.Name)
		}
		byName[st.Name] = st
		if st.RecommendedName != st.Namespace+"/"+st.Name || !st.Incremental {
			t.Errorf("%s: got %q, %v", st.Name, st.RecommendedName, st.Incremental)
		}
		fromResource := tableOf(protocol.Binding{Resource: st.Resource})
		fromName := tableOf(protocol.Binding{Stream: protocol.Stream{Name: st.Name, Namespace: st.Namespace}})
		if fromResource != fromName {
			t.Errorf("%s leads to %v by its resource, to %v by its name", st.Name, fromResource, fromName)
		}
		found, err := k.Tables(t.Context(), []sqlcapture.TableName{fromName})
		if err != nil || len(found) != 1 || found[0].TableName != fromName {
			t.Errorf("%s: table %v is not found: %v", st.Name, fromName, err)
		}
	}
	for _, name := range []string{"pk", "Upper", "upper", "quoted%2Edots", "quoted%252Edots", "select", `other "schema".orders`, `other "schema".a%2Eb`} {
		if _, ok := byName[name]; !ok {
			t.Errorf("no stream is called %s", name)
		}
	}
	if st := byName["quoted%2Edots"]; fmt.Sprint(st.Key) != "[/a.b~1c~0d]" || string(st.Resource) != `{"namespace":"public","stream":"quoted.dots"}` {
		t.Errorf("got key %v, resource %s", st.Key, st.Resource)
	}
	if st := byName["keyless"]; st.Key != nil || fmt.Sprint(st.FallbackKey) != "[/_meta/source/loc/2 /_meta/source/row]" {
		t.Errorf("keyless: got %v and %v", st.Key, st.FallbackKey)
	}
	if st := byName["pk"]; st.FallbackKey != nil || st.Schema.Properties[1].Schema.Description != "what it is" {
		t.Errorf("pk: got %v, %+v", st.FallbackKey, st.Schema.Properties[1])
	}
}

func TestTableOf(t *testing.T) {
	for _, c := range []struct {
		name, stream, namespace, resource string
		want                              sqlcapture.TableName
	}{
		{"default schema", "orders", "public", "", sqlcapture.TableName{Schema: "public", Name: "orders"}},
		{"other schema", "sales.orders", "sales", "", sqlcapture.TableName{Schema: "sales", Name: "orders"}},
		{"schema with a dot", "a.b.orders", "a.b", "", sqlcapture.TableName{Schema: "a.b", Name: "orders"}},
		{"table with a dot", "sales.a%2Eb", "sales", "", sqlcapture.TableName{Schema: "sales", Name: "a.b"}},
		{"table with an escape in its name", "a%252Eb", "public", "", sqlcapture.TableName{Schema: "public", Name: "a%2Eb"}},
		{"other catalogs' names", "orders", "sales", "", sqlcapture.TableName{Schema: "sales", Name: "orders"}},
		{"no namespace", "orders", "", "", sqlcapture.TableName{Schema: "public", Name: "orders"}},
		{"no namespace, other schema", "a.b.orders", "", "", sqlcapture.TableName{Schema: "a.b", Name: "orders"}},
		{"resource", "whatever", "x", `{"namespace":"s","stream":"t.u"}`, sqlcapture.TableName{Schema: "s", Name: "t.u"}},
	} {
		b := protocol.Binding{Stream: protocol.Stream{Name: c.stream, Namespace: c.namespace}, Resource: []byte(c.resource)}
		if got := tableOf(b); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzStreamName(f *testing.F) {
	f.Add("public", "orders")
	f.Add("sales", "a.b%2E%25")
	f.Add("public", "%%2E.%2525")
	f.Fuzz(func(t *testing.T, schema, name string) {
		if schema == "" || name == "" {
			return // the catalog has no such names
		}
		table := sqlcapture.TableName{Schema: schema, Name: name}
		stream := streamName(table)
		if got := tableOf(protocol.Binding{Stream: protocol.Stream{Name: stream, Namespace: schema}}); got != table {
			t.Errorf("%q: %q leads to %q", table, stream, got)
		}
	})
}

func TestMatchesGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a?c", "aüc", true},
		{"a?c", "ac", false},
		{"public.*_log", "public.a_log_log", true},
		{"*a*b*", "xxaxxbxx", true},
		{"*a*b*", "xxbxxaxx", false},
		{"[a]", "a", false},
		{"a/*", "a/b/c", true},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := protocol.Glob(c.pattern, c.name); got != c.want {
			t.Errorf("%.20q %.20q: got %v", c.pattern, c.name, got)
		}
	}
}

func TestDiscover_Filters(t *testing.T) {
	s := newSite(t, 15)
	s.exec("CREATE SCHEMA a", "CREATE SCHEMA b", "CREATE TABLE a.x (id int PRIMARY KEY)", "CREATE TABLE b.x (id int PRIMARY KEY)", "CREATE TABLE b.y (id int PRIMARY KEY)",
		"CREATE PUBLICATION flow_publication FOR TABLE b.y")
	for _, c := range []struct {
		name   string
		filter discoveryFilters
		want   string
	}{
		{"all", discoveryFilters{DiscoverUnpublishedTables: true}, "a.x b.x b.y"},
		{"include", discoveryFilters{IncludeSchemas: []string{"b"}, DiscoverUnpublishedTables: true}, "b.x b.y"},
		{"exclude", discoveryFilters{ExcludeSchemas: []string{"b"}, DiscoverUnpublishedTables: true}, "a.x"},
		{"name", discoveryFilters{TablePatterns: []string{"x"}, DiscoverUnpublishedTables: true}, "a.x b.x"},
		{"schema and name", discoveryFilters{TablePatterns: []string{"a.*", "*.y"}, DiscoverUnpublishedTables: true}, "a.x b.y"},
		{"published", discoveryFilters{}, "b.y"},
	} {
		s.config.DiscoveryFilters = c.filter
		streams, err := s.catalog().discover(t.Context(), protocol.Schema{})
		var got []string
		for _, st := range streams {
			got = append(got, st.Name)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// What tells the engine that rows came or went without a log entry.
func TestTables_NoticeOtherTablesUnderTheSameName(t *testing.T) {
	s := newSite(t, 15)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id)",
		"CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)", "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)")
	k := s.catalog()
	look := func(name string) *sqlcapture.Table {
		t.Helper()
		tables, err := k.Tables(t.Context(), []sqlcapture.TableName{{Schema: "public", Name: name}})
		if err != nil || len(tables) != 1 {
			t.Fatalf("%s: got %v, %v", name, tables, err)
		}
		return tables[0]
	}
	before, part := look("t"), look("p")
	if before.Leaves != "" || !strings.HasPrefix(part.Leaves, "2:") {
		t.Errorf("leaves: got %q and %q", before.Leaves, part.Leaves)
	}
	s.exec("TRUNCATE t", "ALTER TABLE t ADD c int")
	if again := look("t"); again.Identity != before.Identity || len(again.Columns) != 2 {
		t.Errorf("after TRUNCATE and ALTER TABLE: got %+v", again)
	} else if again.Native.(*relation).Filenode == before.Native.(*relation).Filenode {
		t.Error("TRUNCATE did not change the file node")
	}
	s.exec("DROP TABLE t", "CREATE TABLE t (id int PRIMARY KEY)")
	if again := look("t"); again.Identity == before.Identity {
		t.Error("a table that was made anew has its predecessor's identity")
	}
	seen := map[string]string{part.Leaves: "the beginning"}
	for _, change := range []string{
		"ALTER TABLE p DETACH PARTITION p2", "CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30)", "DROP TABLE p3; CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30)",
	} {
		s.exec(change)
		leaves := look("p").Leaves
		if seen[leaves] != "" {
			t.Errorf("after %s the leaves are as at %s", change, seen[leaves])
		}
		seen[leaves] = change
	}
	// The server cuts names to 63 bytes, also where it compares.
	s.exec("CREATE TABLE " + strings.Repeat("t", 63) + " (id int)")
	if tables, err := k.Tables(t.Context(), []sqlcapture.TableName{{Schema: "public", Name: "gone"}, {Schema: "public", Name: strings.Repeat("t", 64)}}); err != nil || len(tables) != 0 {
		t.Errorf("missing tables: got %v, %v", tables, err)
	}
}

// bug sql-cdc 62: estuary/connectors history: a type that came after the catalog was read.
func TestTables_LearnNewTypes(t *testing.T) {
	s := newSite(t, 15)
	k := s.catalog()
	s.exec("CREATE TYPE mood AS ENUM ('sad')", "CREATE TABLE t (m mood)")
	tables, err := k.Tables(t.Context(), []sqlcapture.TableName{{Schema: "public", Name: "t"}})
	if err != nil || len(tables) != 1 || tables[0].Columns[0].Type != "mood" {
		t.Errorf("got %+v, %v", tables, err)
	}
}

// bug sql-cdc 151: estuary/connectors history: one query for all of ten thousand tables ran out of memory.
func TestTables_ManyTables(t *testing.T) {
	s := newSite(t, 15)
	const n = 2*relationsPerQuery + 1
	s.exec(fmt.Sprintf("DO $do$ BEGIN FOR i IN 1..%d LOOP EXECUTE format('CREATE TABLE t%%s (id int PRIMARY KEY)', i); END LOOP; END $do$", n))
	tables, err := s.catalog().Tables(t.Context(), nil)
	if err != nil || len(tables) != n {
		t.Fatalf("got %d, %v", len(tables), err)
	}
	names := make([]sqlcapture.TableName, 0, n)
	for _, table := range tables {
		names = append(names, table.TableName)
	}
	if tables, err = s.catalog().Tables(t.Context(), names); err != nil || len(tables) != n {
		t.Errorf("by name: got %d, %v", len(tables), err)
	}
}

// The same description comes from a chunk's own transaction, in each version.
func TestDescribe_InAnotherTransaction(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newSite(t, version)
			s.exec(`CREATE TABLE "t 1" (id text COLLATE "C" PRIMARY KEY, natural_order text)`, `GRANT SELECT ON "t 1" TO $role`)
			k := s.catalog()
			name := sqlcapture.TableName{Schema: "public", Name: "t 1"}
			tables, err := k.Tables(t.Context(), []sqlcapture.TableName{name})
			if err != nil || len(tables) != 1 {
				t.Fatalf("got %v, %v", tables, err)
			}
			got, err := k.describe(t.Context(), textFromWire(s.replicate()), name)
			if err != nil || got == nil {
				t.Fatalf("got %v, %v", got, err)
			}
			if got.Identity != tables[0].Identity || len(got.Columns) != 2 || !got.Columns[0].Ordered || fmt.Sprint(got.Key) != "[id]" {
				t.Errorf("got %+v, want %+v", got, tables[0])
			}
			got, err = k.describe(t.Context(), textFromWire(s.replicate()), sqlcapture.TableName{Schema: "public", Name: "gone"})
			if got != nil || err != nil {
				t.Errorf("a missing table: got %v, %v", got, err)
			}
		})
	}
}

func TestRelationKey(t *testing.T) {
	column := func(n int, name string, notNull bool) relationColumn {
		return relationColumn{Number: n, Name: name, NotNull: notNull}
	}
	columns := []relationColumn{column(1, "a", true), column(2, "b", true), column(4, "nullable", false), column(5, "geometry", true)}
	pk := func(numbers ...int) relationIndex { return relationIndex{Name: "pk", Columns: numbers, Primary: true} }
	unique := func(name string, numbers ...int) relationIndex { return relationIndex{Name: name, Columns: numbers} }
	identity := func(numbers ...int) relationIndex { return relationIndex{Name: "id", Columns: numbers, Identity: true} }
	for _, c := range []struct {
		name     string
		identity string
		indexes  []relationIndex
		leaves   string
		want     string
	}{
		{"primary key", "d", []relationIndex{pk(2, 1), unique("u", 1)}, "", "b a"},
		{"first unique by name", "d", []relationIndex{unique("u1", 2), unique("u2", 1)}, "", "b"},
		{"nullable unique", "d", []relationIndex{unique("u1", 4), unique("u2", 1)}, "", "a"},
		{"column that documents lack", "d", []relationIndex{unique("u1", 3), unique("u2", 1)}, "", "a"},
		{"primary key of a type without order", "d", []relationIndex{pk(5), unique("u", 1)}, "", ""},
		{"the same under FULL", "f", []relationIndex{pk(5), unique("u", 1)}, "", "a"},
		{"index", "i", []relationIndex{identity(2), pk(1)}, "", "b"},
		{"index that is no key of ours", "i", []relationIndex{identity(5), pk(1)}, "", ""},
		{"nothing", "n", []relationIndex{pk(1)}, "", "a"},
		{"partitions under FULL", "d", []relationIndex{pk(1)}, "ff", "a"},
		{"partitions with indexes of their own", "d", []relationIndex{pk(1)}, "di", ""},
		{"partitions with the table's index", "i", []relationIndex{identity(2), pk(1)}, "ii", "b"},
	} {
		r := &relation{Kind: "r", Identity: c.identity, Columns: columns, Indexes: c.indexes}
		for i, id := range c.leaves {
			r.Kind, r.Leaves = "p", append(r.Leaves, relationLeaf{OID: uint32(i + 1), Kind: "r", Identity: string(id)})
		}
		got := strings.Join(r.key(func(c relationColumn) bool { return c.Name != "geometry" }), " ")
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	names := strings.Split(strings.TrimSuffix(strings.Repeat("t ", 23), " "), " ")
	if got := shorten(names); !strings.HasSuffix(got, "t and 3 more") {
		t.Errorf("got %q", got)
	}
	if got := shorten(names[:2]); got != "t, t" {
		t.Errorf("got %q", got)
	}
}
