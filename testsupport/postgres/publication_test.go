package postgres

import (
	"bytes"
	"fmt"
	"regexp"
	"syscall"
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

// Each of these lets changes pass that the log never delivers, and leaves the table published afterwards.
func TestPublication_ATableThatWasTakenOutAndPutBackHasAGap(t *testing.T) {
	for name, x := range map[string]struct{ create, out, back string }{
		"table":       {"FOR TABLE a, b", "ALTER PUBLICATION flow_publication DROP TABLE a", "ALTER PUBLICATION flow_publication ADD TABLE a"},
		"schema":      {"FOR TABLES IN SCHEMA public", "ALTER PUBLICATION flow_publication DROP TABLES IN SCHEMA public", "ALTER PUBLICATION flow_publication ADD TABLES IN SCHEMA public"},
		"all tables":  {"FOR ALL TABLES", "DROP PUBLICATION flow_publication", "CREATE PUBLICATION flow_publication FOR ALL TABLES"},
		"publication": {"FOR TABLE a, b", "DROP PUBLICATION flow_publication", "CREATE PUBLICATION flow_publication FOR TABLE a, b"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication "+x.create, "INSERT INTO a VALUES (1)")
			a, b := table("a", "id"), table("b", "id")
			c := d.capture(a, b)
			c.catchUp()
			d.exec(x.out)
			if x.create != "FOR ALL TABLES" && name != "publication" { // the server decodes no change from before the publication's time
				d.exec("INSERT INTO a VALUES (2)")
			}
			d.exec(x.back, "INSERT INTO b VALUES (2)")
			for range 2 { // a second try must not pass over it
				r := c.start().fails("config_error", "the changes of table public.", "taken out of the publication and put back", "on_gap")
				if r.status(a.Stream) != "INCOMPLETE" {
					t.Errorf("the stream ended %s", r.status(a.Stream))
				}
			}
			c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
			d.exec("INSERT INTO a VALUES (3)")
			c.set(map[string]any{"on_gap": "fail"}).catchUp()
			c.equal(a, b)
		})
	}
}

func TestPublication_APartitionedTableThatWasTakenOutAndPutBackHasAGap(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY) PARTITION BY RANGE (id)", "CREATE TABLE a_1 PARTITION OF a FOR VALUES FROM (0) TO (10)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	d.exec("ALTER PUBLICATION flow_publication DROP TABLE a", "INSERT INTO a VALUES (2)", "ALTER PUBLICATION flow_publication ADD TABLE a")
	c.start().fails("config_error", "the changes of table public.a after ", "taken out of the publication and put back", "on_gap")
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	c.equal(a)
}

// What happens to the publication around a table that goes on being published is no gap.
func TestPublication_ThatGoesOnDeliveringATableHasNoGap(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	for _, sql := range []string{
		"ALTER PUBLICATION flow_publication ADD TABLE b", "ALTER PUBLICATION flow_publication SET (publish_via_partition_root = false)",
		"ALTER PUBLICATION flow_publication ADD TABLES IN SCHEMA public", "ALTER PUBLICATION flow_publication DROP TABLE a", // by the schema still
		"ALTER PUBLICATION flow_publication DROP TABLE b", "VACUUM FULL a",
		"CREATE PUBLICATION flow_other FOR ALL TABLES",
	} {
		d.exec(sql, "INSERT INTO a (id) SELECT max(id) + 1 FROM a")
		if n := c.catchUp().count(func(rec record) bool { return rec.stream == a.Stream }); n != 1 {
			t.Errorf("after %s %d records came, want the one change", sql, n)
		}
	}
	c.set(map[string]any{"publicationName": "flow_other"}) // it had the table all the time that it is asked for
	d.exec("INSERT INTO a (id) SELECT max(id) + 1 FROM a")
	c.catchUp()
	c.equal(a)
}

func TestPublication_ATableThatIsTakenOutWhileItIsTailedHasAGap(t *testing.T) {
	for name, back := range map[string]string{"put back": "ALTER PUBLICATION flow_publication ADD TABLE a", "left out": "SELECT 1"} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
			a, b := table("a", "id"), table("b", "id")
			c := d.capture(a, b).set(map[string]any{"rediscovery_interval": "1m"})
			r := c.tail()
			r.awaitActive(a.Stream, b.Stream)
			d.exec("ALTER PUBLICATION flow_publication DROP TABLE a", "INSERT INTO a VALUES (2)", back)
			r.awaitLog("ERROR", "the changes of table public.a after ", "taken out of the publication", "on_gap")
			d.exec("INSERT INTO b VALUES (2)")
			r.awaitRow(b.Stream, "id", "2") // the other stream goes on
			if err := r.process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			r.fails("config_error", "the changes of table public.a after ")
			c.start().fails("config_error", "the changes of table public.a after ")
			c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
			c.equal(a, b)
		})
	}
}

func TestPublication_ATableThatIsPutBackWhileItIsTailedIsReadAnewWhenToldTo(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"rediscovery_interval": "1m", "on_gap": "rebackfill"})
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("ALTER PUBLICATION flow_publication DROP TABLE a", "INSERT INTO a VALUES (2)", "ALTER PUBLICATION flow_publication ADD TABLE a", "INSERT INTO a VALUES (3)")
	r.awaitRow(a.Stream, "id", "2")
	r.awaitActive(a.Stream)
	d.exec("INSERT INTO a VALUES (4)")
	r.awaitRow(a.Stream, "id", "4")
	r.stop()
	c.equal(a)
}

// A state of a release that did not note how the table was published is taken as it is.
func TestPublication_StatesThatDoNotTellHowATableWasPublishedGoOn(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	older := regexp.MustCompile(`"delivery":\{[^}]*\},?`).ReplaceAll(c.state, nil)
	if bytes.Equal(older, c.state) {
		t.Fatalf("the state does not tell how the table is published: %s", c.state)
	}
	c.state = bytes.ReplaceAll(older, []byte(",}"), []byte("}"))
	d.exec("INSERT INTO a VALUES (2)")
	c.catchUp()
	c.equal(a)
	d.exec("ALTER PUBLICATION flow_publication DROP TABLE a", "ALTER PUBLICATION flow_publication ADD TABLE a")
	c.start().fails("config_error", "taken out of the publication and put back") // the run before noted it
}
