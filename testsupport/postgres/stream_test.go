package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/replay"
)

func TestStream_OfATableThatIsGoneFailsAlone(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).discover()
	d.exec("DROP TABLE b")
	r := c.start().fails("config_error", "table public.b does not exist")
	if errors := r.errors(); len(errors) != 1 || errors[0].Stream.String() != b.Stream {
		t.Errorf("the errors are %+v, want one of stream %s", errors, b.Stream)
	}
	if a, b := r.status(a.Stream), r.status(b.Stream); a != "COMPLETE" || b != "INCOMPLETE" {
		t.Errorf("the streams ended %s and %s", a, b)
	}
	c.equal(a)
}

// bug sql-cdc 88: estuary/connectors history: dots, percent signs and quotes in names.
// bug sql-cdc 89: estuary/connectors history: names that differ in case only collided.
func TestStream_HostileNames(t *testing.T) {
	d := newDatabase(t)
	names := []string{"Orders", "orders", `a "quoted" one`, `it's`, "dot.ted", "100%", "%2E", `back\slash`, "select", "grüße 🙂", strings.Repeat("x", 63), "semi;colon -- not a comment", "a/b~c"}
	ident := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	for _, name := range names {
		d.exec(fmt.Sprintf("CREATE TABLE %[1]s (id int, %[1]s text, PRIMARY KEY (id, %[1]s))", ident(name)), fmt.Sprintf("INSERT INTO %s VALUES (1, 'x'), (2, 'y')", ident(name)))
	}
	schema := `The "schema".x`
	d.exec("CREATE SCHEMA "+ident(schema), fmt.Sprintf("CREATE TABLE %s.t (id int PRIMARY KEY, v text)", ident(schema)), fmt.Sprintf("INSERT INTO %s.t VALUES (1, 'x')", ident(schema)))
	c := d.capture(table("a", "id"))
	c.streams = "*"
	c.set(map[string]any{"backfill_chunk_size": 1})
	streams := map[string]string{} // of the tables
	fold := make([]replay.Table, 0, len(names))
	for _, name := range names {
		streams[name] = "public." + strings.NewReplacer("%2E", "%252E", ".", "%2E").Replace(name)
		fold = append(fold, replay.Table{Stream: streams[name], Key: []string{"id", name}})
	}
	other := replay.Table{Stream: schema + "." + schema + ".t", Key: []string{"id"}}
	c.fold = replay.New(false, append(fold, other)...)
	c.catchUp()
	for _, name := range names {
		d.exec(fmt.Sprintf("UPDATE %s SET %s = 'z' WHERE id = 1", ident(name), ident(name)), fmt.Sprintf("INSERT INTO %s VALUES (3, 'w')", ident(name)))
	}
	d.exec(fmt.Sprintf("UPDATE %s.t SET v = 'z'", ident(schema)))
	r := c.catchUp()
	if n := r.count(func(rec record) bool { return rec.snapshot }); n != 0 {
		t.Errorf("the second run read %d rows again", n)
	}
	for _, name := range names {
		c.same("public", name, streams[name])
	}
	c.same(schema, "t", other.Stream)
}

func TestStream_OfTablesWithNothingInThem(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE none (id int PRIMARY KEY)", "CREATE TABLE bare ()", "ALTER TABLE bare REPLICA IDENTITY FULL", "INSERT INTO bare DEFAULT VALUES")
	none := table("none", "id")
	c := d.capture(none, table("bare"))
	r := c.catchUp()
	if r.status(none.Stream) != "COMPLETE" || r.status("public.bare") != "COMPLETE" {
		t.Errorf("the streams ended %s and %s", r.status(none.Stream), r.status("public.bare"))
	}
	d.exec("INSERT INTO none VALUES (1)", "INSERT INTO bare DEFAULT VALUES")
	r = c.catchUp()
	c.equal(none)
	if n := r.count(func(rec record) bool { return rec.stream == "public.bare" && len(rec.doc) == 1 && rec.op == "c" }); n != 1 {
		t.Errorf("the row without columns came %d times, want once", n)
	}
}

// The server converts nothing in a database of the encoding SQL_ASCII, and refuses to send bytes that are no UTF-8 to whoever asks for it.
func TestStream_InADatabaseThatHoldsAnyBytes(t *testing.T) {
	d := newDatabase(t)
	name := d.name + "_bytes"
	d.exec("CREATE DATABASE " + name + " ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { d.exec("DROP DATABASE " + name + " WITH (FORCE)") })
	of := *d
	of.name, of.slot = name, d.slot+"_bytes"
	t.Cleanup(of.dropSlot)
	of.exec("CREATE TABLE a (id text PRIMARY KEY, v text)", `INSERT INTO a VALUES (E'\xFE', E'x\xFF'), (E'gr\xC3\xBC', E'\x80'), ('z', 'z')`)
	a := table("a", "id")
	c := of.capture(a).set(map[string]any{"backfill_chunk_size": 1})
	r := c.catchUp()
	if n := r.count(func(rec record) bool {
		return rec.text("id") == "gr\u00fc" && rec.text("v") == "\uFFFD" || rec.text("id") == "\uFFFD" && rec.text("v") == "x\uFFFD"
	}); n != 2 {
		t.Errorf("%d of the 2 rows came as they should", n)
	}
	of.exec(`UPDATE a SET v = v || E'\xC3'`)
	r = c.catchUp()
	if n := r.count(func(rec record) bool { return rec.op == "u" && strings.HasSuffix(rec.text("v"), "\uFFFD") }); n != 3 {
		t.Errorf("%d of the 3 changes came as they should", n)
	}
}
