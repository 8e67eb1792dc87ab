package postgres

import (
	"strings"
	"testing"
)

// The key's order changes while nobody reads, in the middle of the backfill: what was scanned last is another place in the new order.
func TestKey_InAnotherOrderStartsTheBackfillOver(t *testing.T) {
	for name, x := range map[string]struct{ create, fill, change string }{
		"another type": {
			"CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a SELECT generate_series(1, 2000)", "ALTER TABLE a ALTER id TYPE text",
		},
		"another collation": {
			`CREATE TABLE a (id text COLLATE "C" PRIMARY KEY)`, "INSERT INTO a SELECT chr(65 + i % 26 + 32 * (i / 26 % 2)) || i FROM generate_series(1, 2000) i",
			`ALTER TABLE a ALTER id TYPE text COLLATE "und-x-icu"`,
		},
		"a value of an enum renamed": {
			"CREATE TYPE v AS ENUM ('v0'); CREATE TABLE a (kind v, id int, PRIMARY KEY (kind, id))", "INSERT INTO a SELECT 'v0', generate_series(1, 2000)",
			"ALTER TYPE v RENAME VALUE 'v0' TO 'w0'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t, x.create, x.fill)
			a := table("a", "id")
			c := d.capture(a).set(map[string]any{"backfill_chunk_size": 1})
			r := c.tail()
			r.await("a STATE within the backfill", func() bool { return r.stateHas(a.Stream, `"scanned"`) })
			r.kill()
			d.exec(x.change)
			c.set(map[string]any{"backfill_chunk_size": 500})
			r = c.catchUp()
			ids := map[string]bool{}
			r.count(func(rec record) bool { ids[rec.text("id")] = true; return rec.snapshot })
			if len(ids) != 2000 {
				t.Errorf("the run that starts over read %d rows, want 2000", len(ids))
			}
		})
	}
}

// The table is read anew by the key that it has now, once.
func TestKey_DroppedDuringTheBackfillIsTakenAsItIs(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, u int NOT NULL UNIQUE)", "INSERT INTO a SELECT i, -i FROM generate_series(1, 500) i")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 1})
	r := c.tail()
	r.await("a STATE within the backfill", func() bool { return r.stateHas(a.Stream, `"scanned"`) })
	d.exec("ALTER TABLE a DROP CONSTRAINT a_pkey")
	r.awaitLog("WARN", "its key changed from [id] to ")
	r.awaitActive(a.Stream)
	r.stop()
	if n := strings.Count(r.said(), "the table is read anew from its beginning"); n != 1 {
		t.Errorf("the table was read anew %d times, want once", n)
	}
	c.equal(a)
}

func TestKey_ThatTheLogLacksFailsItsStreamAlone(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, u int)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1, 1)")
	a, b := table("a", "u"), table("b", "id")
	c := d.capture(a, b)
	c.catalog = []byte(`{"streams":[{"stream":{"name":"a","namespace":"public","json_schema":{},"supported_sync_modes":["incremental"]},
			"sync_mode":"incremental","destination_sync_mode":"append_dedup","primary_key":[["u"]]},
		{"stream":{"name":"b","namespace":"public","json_schema":{},"supported_sync_modes":["incremental"]},
			"sync_mode":"incremental","destination_sync_mode":"append_dedup","primary_key":[["id"]]}]}`)
	c.catchUp()
	d.exec("DELETE FROM a", "INSERT INTO b VALUES (7)")
	r := c.start().fails("config_error", "was logged without [u], the key that is configured")
	if a, b := r.status(a.Stream), r.status(b.Stream); a != "INCOMPLETE" || b != "COMPLETE" {
		t.Errorf("the streams ended %s and %s, want the first alone to be incomplete", a, b)
	}
	c.equal(b)
}
