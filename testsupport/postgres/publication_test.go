package postgres

import (
	"fmt"
	"testing"
)

func published(d *database) string {
	d.t.Helper()
	return d.one("SELECT coalesce(string_agg(tablename, ',' ORDER BY tablename), '') FROM pg_publication_tables WHERE pubname = 'flow_publication'")
}

// bug sql-cdc 47: estuary/connectors history: FOR ALL TABLES made UPDATE fail on every table without an identity.
// bug sql-cdc 48: estuary/connectors history: a table that was added to the catalog was not added to the publication, and its changes never came.
func TestPublication_HoldsTheCapturedTables(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "CREATE TABLE c (id int PRIMARY KEY)",
		"INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	first := d.capture(a)
	first.catchUp()
	if got := published(d); got != "a" {
		t.Errorf("published are %q, want the captured table alone", got)
	}
	if got := d.one("SELECT pubviaroot::text || puballtables::text FROM pg_publication WHERE pubname = 'flow_publication'"); got != "truefalse" {
		t.Errorf("publish_via_partition_root and FOR ALL TABLES are %s", got)
	}
	both := d.capture(a, b)
	both.state = first.state
	d.exec("INSERT INTO a VALUES (2)")
	r := both.tail()
	r.awaitActive(b.Stream)
	d.exec("INSERT INTO b VALUES (2)")
	r.awaitRow(b.Stream, "id", "2")
	r.stop()
	both.equal(b)
	if got := published(d); got != "a,b" {
		t.Errorf("published are %q, want both captured tables", got)
	}
	if n := r.count(func(rec record) bool { return rec.stream == a.Stream }); n != 1 {
		t.Errorf("%d records of the first table, want its one change", n)
	}
}

func TestPublication_ATableThatMayNotBeAddedFailsAlone(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication FOR TABLE a",
		"INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	role := d.role()
	d.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).as(role)
	r := c.start().fails("config_error", "table public.b is not in publication", `ALTER PUBLICATION "flow_publication" ADD TABLE ONLY "public"."b";`)
	if errors := r.errors(); len(errors) != 1 || errors[0].Stream.String() != b.Stream {
		t.Errorf("the errors are %+v, want one of stream %s", errors, b.Stream)
	}
	c.equal(a)
}

func TestPublication_ForAllTablesIsTakenAsItIs(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)",
		"CREATE PUBLICATION flow_publication FOR ALL TABLES WITH (publish_via_partition_root = true)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	role := d.role()
	d.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	a := table("a", "id")
	c := d.capture(a).as(role)
	c.catchUp()
	d.exec("INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (2)")
	if n := c.catchUp().count(func(rec record) bool { return true }); n != 1 {
		t.Errorf("%d records, want the captured table's change alone", n)
	}
	c.equal(a)
}

// bug sql-cdc 49: estuary/connectors history: publish = 'insert', row filters and column lists gave partial data without a word.
func TestPublication_ThatLeavesSomethingOutIsWarnedOf(t *testing.T) {
	for says, create := range map[string]string{
		"does not publish update, delete, truncate": "FOR TABLE a WITH (publish = 'insert')",
		"has a row filter on public.a":              "FOR TABLE a WHERE (id > 1)",
		"has a column list on public.a":             "FOR TABLE a (id)",
	} {
		t.Run(says, func(t *testing.T) {
			d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "CREATE PUBLICATION flow_publication "+create, "INSERT INTO a VALUES (1, 'x')")
			a := table("a", "id")
			c := d.capture(a)
			r := c.catchUp()
			c.equal(a)
			if !r.logged("WARN", says) {
				t.Errorf("no such warning:\n%s", r.said())
			}
		})
	}
}

// bug sql-cdc 32a: estuary/connectors history: a table without privileges gave an empty backfill.
func TestRights_LostOnOneTableBeforeItsBackfill(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication FOR TABLE a, b",
		"INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	role := d.role()
	d.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).as(role).discover()
	d.exec("REVOKE SELECT ON b FROM " + role)
	r := c.start().fails("config_error", "may not read table", fmt.Sprintf(`GRANT SELECT ON "public"."b" TO "%s";`, role))
	if r.status(b.Stream) != "INCOMPLETE" || r.status(a.Stream) != "COMPLETE" {
		t.Errorf("the streams ended %s and %s", r.status(a.Stream), r.status(b.Stream))
	}
	c.equal(a)
}

func TestRights_LostAfterTheBackfillStopNoChange(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication FOR TABLE a", "INSERT INTO a VALUES (1)")
	role := d.role()
	d.exec("GRANT SELECT ON a TO " + role)
	a := table("a", "id")
	c := d.capture(a).as(role)
	c.catchUp()
	d.exec("REVOKE SELECT ON a FROM "+role, "INSERT INTO a VALUES (2)")
	r := c.tail()
	r.awaitRow(a.Stream, "id", "2")
	d.exec("DELETE FROM a WHERE id = 1")
	r.awaitRecord("the deletion", func(rec record) bool { return rec.op == "d" })
	r.stop()
	c.equal(a)
}

// bug sql-cdc 32a: estuary/connectors history: row-level security gave a silently incomplete backfill.
func TestRights_RowLevelSecurityFailsItsTable(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication FOR TABLE a, b",
		"INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1), (2)", "ALTER TABLE b ENABLE ROW LEVEL SECURITY", "CREATE POLICY one ON b USING (id = 1)")
	role := d.role()
	d.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).as(role)
	r := c.start().fails("config_error", "row-level security", "BYPASSRLS")
	if n := r.count(func(rec record) bool { return rec.stream == b.Stream }); n != 0 {
		t.Errorf("%d rows of a table that may be read in part only", n)
	}
	c.equal(a)
}

func TestPublication_ATableThatWasTakenOutHasAGap(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b)
	c.catchUp()
	d.exec("ALTER PUBLICATION flow_publication DROP TABLE a", "INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (2)")
	for range 2 { // a second try must not pass over it
		r := c.start().fails("config_error", "the changes of table public.a after ", "it was taken out of the publication", "on_gap")
		if a, b := r.status(a.Stream), r.status(b.Stream); a != "INCOMPLETE" || b != "COMPLETE" {
			t.Errorf("the streams ended %s and %s, want the first alone to be incomplete", a, b)
		}
	}
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	d.exec("INSERT INTO a VALUES (3)")
	c.catchUp()
	c.equal(a, b)
}
