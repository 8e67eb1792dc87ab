package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/protocol"
)

func bindings(names ...string) (list []protocol.Binding) {
	for _, n := range names {
		list = append(list, protocol.Binding{Stream: protocol.Stream{Name: n, Namespace: "public"}})
	}
	return list
}

// catalogs is what a check could have written.
const catalogs = `SELECT 'publication', pubname, puballtables FROM pg_publication
	UNION ALL SELECT 'published', p.prrelid::regclass::text, false FROM pg_publication_rel p
	UNION ALL SELECT 'slot', slot_name, active FROM pg_replication_slots WHERE database = current_database()
	UNION ALL SELECT 'relation', oid::regclass::text, relhastriggers FROM pg_class WHERE relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
	UNION ALL SELECT 'schema', nspname, false FROM pg_namespace ORDER BY 1, 2`

// Each prerequisite is taken away by itself; the one problem names the cure, and when the SQL of the problem has been pasted the check succeeds.
func TestCheck_NamesEachCure(t *testing.T) {
	for _, c := range []struct {
		name   string
		remove string
		change func(*config)
		want   string
		cure   string // for a problem whose cure is no SQL
	}{
		{"nothing", "", nil, "", ""},
		{"wrong password", "", func(c *config) { c.Password = "hunter2" }, "correct user or password, or set a new one: ALTER ROLE ", ""},
		{"no such user", "", func(c *config) { c.User = "nobody_here" }, "does not accept the password of user", ""},
		{"no such database", "", func(c *config) { c.Database = "no such" }, `database "no such" does not exist`, ""},
		{"no login", "ALTER ROLE $role NOLOGIN", nil, "may not log in", ""},
		{"no connection", "REVOKE CONNECT ON DATABASE $database FROM PUBLIC", nil, "may not connect to database", ""},
		{"no connection left", "ALTER ROLE $role CONNECTION LIMIT 0", nil, "has no connection left", "ALTER ROLE $role CONNECTION LIMIT -1"},
		{"no replication", "ALTER ROLE $role NOREPLICATION", nil, "may not replicate", ""},
		{"no right to publish", "REVOKE CREATE ON DATABASE $database FROM $role", nil, `publication "flow_publication" does not exist`, ""},
		{"table of somebody else", "CREATE PUBLICATION flow_publication; ALTER PUBLICATION flow_publication OWNER TO $role; ALTER TABLE orders OWNER TO postgres; GRANT SELECT ON orders TO $role", nil, "table public.orders is not in publication", ""},
		{"publication of somebody else", "CREATE PUBLICATION flow_publication", nil, "table public.orders is not in publication", ""},
		{"no SELECT", "CREATE PUBLICATION flow_publication FOR TABLE orders, items; ALTER TABLE orders OWNER TO postgres", nil, "may not read table public.orders", ""},
		{"no USAGE", "REVOKE USAGE ON SCHEMA public FROM PUBLIC", nil, "may not use schema public", ""},
		// bug sql-cdc 32a: estuary/connectors history: row-level security made a backfill silently empty.
		{"row-level security", "CREATE PUBLICATION flow_publication FOR TABLE orders, items; ALTER TABLE orders OWNER TO postgres; GRANT SELECT ON orders TO $role; ALTER TABLE orders ENABLE ROW LEVEL SECURITY", nil, "row-level security hides rows", ""},
		{"no identity", "ALTER TABLE orders DROP CONSTRAINT orders_pkey", nil, "no replica identity", ""},
		{"no table", "ALTER TABLE orders RENAME TO order_s", nil, "table public.orders does not exist", "ALTER TABLE order_s RENAME TO orders"},
		{"a view", "ALTER TABLE orders RENAME TO order_s; CREATE VIEW orders AS SELECT * FROM order_s", nil, "public.orders is a view", "DROP VIEW orders; ALTER TABLE order_s RENAME TO orders"},
		{"unlogged", "ALTER TABLE orders SET UNLOGGED", nil, "public.orders is an unlogged table", "ALTER TABLE orders SET LOGGED"},
		{"slot of another plugin", "SELECT pg_create_logical_replication_slot('$slot', 'test_decoding')", nil, "test_decoding", "SELECT pg_drop_replication_slot('$slot')"},
		{"physical slot", "SELECT pg_create_physical_replication_slot('$slot')", nil, "a physical one", "SELECT pg_drop_replication_slot('$slot')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, 15)
			s.own("orders", "id int PRIMARY KEY")
			s.own("items", "id int PRIMARY KEY")
			expand := strings.NewReplacer("$database", s.config.Database, "$slot", s.config.Advanced.SlotName).Replace
			if c.remove != "" {
				s.exec(expand(c.remove))
			}
			configured := *s.config
			if c.change != nil {
				c.change(&configured)
			}
			before := s.query(catalogs)
			err := check(t.Context(), &configured, "", bindings("orders", "items"))
			if after := s.query(catalogs); after != before {
				t.Errorf("the check wrote:\n%s\nbefore it was:\n%s", after, before)
			}
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			list := protocol.Problems(err)
			for _, err := range list {
				problem, ok := errors.AsType[*protocol.Problem](err)
				if !ok || problem.Kind == protocol.System || problem.Fix == "" {
					t.Fatalf("got %v", err)
				}
				if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), rolePassword) {
					t.Errorf("the password is shown: %v", err)
				}
				if c.change == nil { // else there is nothing to mend on the server
					s.exec(expand(problem.SQL))
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want it to contain %q", err, c.want)
			}
			if c.change != nil {
				return
			}
			s.exec(expand(c.cure))
			if err := check(t.Context(), s.config, "", bindings("orders", "items")); err != nil {
				t.Errorf("after the cure: %v", err)
			}
		})
	}
}

func TestCheck_TellsEverythingAtOnce(t *testing.T) {
	cluster := pgtest.Start(t, pgtest.Options{Conf: map[string]string{"wal_level": "replica", "max_replication_slots": "1"}})
	s := siteOn(t, cluster)
	s.exec("ALTER ROLE $role NOREPLICATION", "REVOKE CREATE ON DATABASE "+s.config.Database+" FROM $role", "SELECT pg_create_physical_replication_slot('standby')",
		"CREATE TABLE orders (id int PRIMARY KEY)", "CREATE TABLE keyless (id int)", "CREATE TABLE guarded (id int PRIMARY KEY)", "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY", "GRANT SELECT ON guarded TO $role")
	before := s.query(catalogs)
	err := check(t.Context(), s.config, "", bindings("orders", "keyless", "guarded", "gone"))
	if after := s.query(catalogs); after != before {
		t.Errorf("the check wrote:\n%s\nbefore it was:\n%s", after, before)
	}
	role := quote(s.config.User)
	for _, want := range []string{
		"wal_level of the server is replica", "ALTER SYSTEM SET wal_level = logical;", "rds.logical_replication",
		"may not replicate", "ALTER ROLE " + role + " REPLICATION;",
		"all 1 replication slots",
		`ALTER TABLE "public"."keyless" REPLICA IDENTITY FULL; CREATE PUBLICATION "flow_publication" FOR TABLE ONLY "public"."guarded", ONLY "public"."keyless", ONLY "public"."orders" WITH (publish_via_partition_root = true);`,
		"may not read table public.orders", `GRANT SELECT ON "public"."orders" TO ` + role + ";", "may not read table public.keyless",
		"row-level security hides rows of table public.guarded", "ALTER ROLE " + role + " BYPASSRLS;",
		"table public.gone does not exist",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	for _, err := range protocol.Problems(err) {
		if _, ok := errors.AsType[*protocol.Problem](err); !ok {
			t.Errorf("%v is no problem for people", err)
		}
	}
}

// Without streams a database is fine as long as some of its tables can be read.
func TestCheck_WithoutStreams(t *testing.T) {
	s := newSite(t, 15)
	if err := check(t.Context(), s.config, "", nil); err != nil {
		t.Errorf("an empty database: %v", err)
	}
	s.exec("CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)")
	hook := listen(t)
	err := check(t.Context(), s.config, "", nil)
	problem, ok := errors.AsType[*protocol.Problem](protocol.Problems(err)[0])
	if !ok || !strings.Contains(problem.Summary, "may read none of the 2 tables") {
		t.Fatalf("got %v", err)
	}
	if strings.Contains(logged(hook), "may not read some") {
		t.Errorf("a problem and a warning: %s", logged(hook))
	}
	s.exec("GRANT SELECT ON a TO $role")
	if err := check(t.Context(), s.config, "", nil); err != nil {
		t.Errorf("with one readable table: %v", err)
	}
	if !strings.Contains(logged(hook), "public.b") || strings.Contains(logged(hook), "public.a") {
		t.Errorf("the warning has to name b alone: %s", logged(hook))
	}
	s.exec("REVOKE SELECT ON a FROM $role", problem.SQL)
	if err := check(t.Context(), s.config, "", nil); err != nil {
		t.Errorf("after the cure: %v", err)
	}
	s.exec("CREATE PUBLICATION flow_publication FOR TABLE b")
	hook = listen(t)
	if err := check(t.Context(), s.config, "", nil); err != nil {
		t.Errorf("with a publication: %v", err)
	}
	if got := logged(hook); !strings.Contains(got, "these tables are not published") || !strings.Contains(got, "public.a") || strings.Contains(got, "public.b") {
		t.Errorf("the warning has to name a alone, which a read of everything would fail for: %s", got)
	}
}

// bug sql-cdc 45: estuary/connectors history: a slot that the server gave up ended in a cryptic error.
func TestCheck_LostSlot(t *testing.T) {
	cluster := pgtest.Start(t, pgtest.Options{Conf: map[string]string{"max_slot_wal_keep_size": "1MB", "max_wal_size": "32MB", "min_wal_size": "32MB"}})
	s := siteOn(t, cluster)
	s.exec("SELECT pg_create_logical_replication_slot('" + s.config.Advanced.SlotName + "', 'pgoutput')")
	eventually(t, "the slot is lost", func() bool {
		s.exec("SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000)); SELECT pg_switch_wal()", "CHECKPOINT")
		return s.query("SELECT wal_status FROM pg_replication_slots") == "lost"
	})
	err := check(t.Context(), s.config, "", nil)
	if err == nil || !strings.Contains(err.Error(), "max_slot_wal_keep_size") || !strings.Contains(err.Error(), dropSlotSQL(s.config.Advanced.SlotName)) || !strings.Contains(err.Error(), "pipeline backfill FILE '*'") {
		t.Errorf("got %v", err)
	}
	_, exists, lost, err := s.slot(0).earliest(t.Context())
	if !exists || lost == "" || err != nil {
		t.Errorf("got %v, %q, %v", exists, lost, err)
	}
	s.exec(dropSlotSQL(s.config.Advanced.SlotName))
	hook := listen(t)
	if err := check(t.Context(), s.config, "", nil); err != nil || !strings.Contains(logged(hook), "max_slot_wal_keep_size=1MB") {
		t.Errorf("after the cure: %v, log: %s", err, logged(hook))
	}
}

// A capture that the runner names has a slot of its own, whatever becomes of the one for runs by hand.
func TestCheck_LooksAtTheSlotOfTheTask(t *testing.T) {
	s := newSite(t, 15)
	s.own("orders", "id int PRIMARY KEY")
	byHand, task := s.config.Advanced.SlotName, "acmeCo/"+s.config.Advanced.SlotName
	s.config.Advanced.SlotName = ""
	named := s.config.baseSlotName(task)
	t.Cleanup(func() {
		s.exec("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name IN ('" + named + "', 'flow_slot')")
	})
	s.exec("SELECT pg_create_logical_replication_slot('flow_slot', 'test_decoding')")
	if err := check(t.Context(), s.config, task, bindings("orders")); err != nil {
		t.Errorf("the slot of somebody else's runs by hand: %v", err)
	}
	s.exec("SELECT pg_create_logical_replication_slot('" + named + "', 'test_decoding')")
	if err := check(t.Context(), s.config, task, bindings("orders")); err == nil || !strings.Contains(err.Error(), named) {
		t.Errorf("got %v, want a problem of slot %s", err, named)
	}
	s.config.Advanced.SlotName = byHand
	if err := check(t.Context(), s.config, task, bindings("orders")); err != nil {
		t.Errorf("a configured slot counts for every task: %v", err)
	}
}

func TestCheck_Warnings(t *testing.T) {
	s := newSite(t, 15)
	s.own("keyless", "a int")
	s.own("orders", "id int PRIMARY KEY, other int")
	s.exec("ALTER TABLE keyless REPLICA IDENTITY FULL", "SELECT pg_create_logical_replication_slot('"+s.config.Advanced.SlotName+"_80000000', 'pgoutput')")
	s.config.Advanced.SkipBackfills = "public.orders, public.oders,*.*"
	s.config.DiscoveryFilters.IncludeSchemas = []string{"public", "publik"}
	hook := listen(t)
	bs := bindings("keyless", "orders")
	bs[1].Key = []string{"/other"}
	if err := check(t.Context(), s.config, "", bs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"neither a primary key nor a unique index", "the configured key is not the table's own", "nobody reads this replication slot", "pg_drop_replication_slot('" + s.config.Advanced.SlotName + "_80000000')",
		"advanced.skip_backfills names what the database does not have: look at the spelling\" missing=public.oders", "discoveryFilters.include_schemas names what the database does not have: look at the spelling\" missing=publik",
	} {
		if !strings.Contains(logged(hook), want) {
			t.Errorf("%q is missing in:\n%s", want, logged(hook))
		}
	}
}

func TestCheck_UnreachableServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	err = check(t.Context(), &config{Address: address, User: "u", Password: "hunter2", Database: "d"}, "", nil)
	if err == nil || !strings.Contains(err.Error(), "nothing accepts connections at "+address) || protocol.KindOf(err) != protocol.Transient {
		t.Errorf("got %v", err)
	}
	s := newSite(t, 15)
	s.config.Advanced.SSLMode = "require" // the test's servers have no certificate
	err = check(t.Context(), s.config, "", nil)
	if err == nil || !strings.Contains(err.Error(), "does not speak TLS") || protocol.KindOf(err) != protocol.Config {
		t.Errorf("got %v", err)
	}
	for _, mode := range []string{"", "disable", "allow", "prefer"} {
		s.config.Advanced.SSLMode = mode
		if err := check(t.Context(), s.config, "", nil); err != nil {
			t.Errorf("sslmode %q: %v", mode, err)
		}
	}
}

func TestCheck_EveryVersion(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newSite(t, version)
			s.own("orders", "id int PRIMARY KEY")
			if err := check(t.Context(), s.config, "", bindings("orders")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNamesEverybody(t *testing.T) {
	for setting, want := range map[string]bool{
		"": false, "*": true, "s1": false, "s1, *": true, "FIRST 1 (*)": true, "ANY 2 (s1, s2)": false, "2 (s1, \"*\")": true, "'*x'": false, `"s*"`: false,
	} {
		if got := namesEverybody(setting); got != want {
			t.Errorf("%q: got %v", setting, got)
		}
	}
}

// A document has _meta of its own, so that a table with such a column cannot be read; check and discover say so before a run does.
func TestCheck_AColumnNamedMeta(t *testing.T) {
	s := newSite(t, 15)
	s.own("orders", "id int PRIMARY KEY")
	s.own("taken", "id int PRIMARY KEY, _meta text")
	err := check(t.Context(), s.config, "", bindings("orders", "taken"))
	if list := protocol.Problems(err); len(list) != 1 || protocol.KindOf(list[0]) != protocol.Config ||
		!strings.Contains(err.Error(), "table public.taken has a column named _meta") || !strings.Contains(err.Error(), "rename the column") {
		t.Errorf("got %v", err)
	}
	for what, look := range map[string]func() error{
		"check":    func() error { return check(t.Context(), s.config, "", nil) },
		"discover": func() error { _, err := (&postgres{s.config}).Discover(t.Context()); return err },
	} {
		hook := listen(t)
		if err := look(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !strings.Contains(logged(hook), "a column named _meta") || !strings.Contains(logged(hook), "public.taken") || strings.Contains(logged(hook), "public.orders") {
			t.Errorf("%s: the log says %s", what, logged(hook))
		}
	}
}
