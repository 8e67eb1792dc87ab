package postgres

import (
	"strings"
	"syscall"
	"testing"
	"time"
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

// Rows that share the key that documents have would be one downstream, and nobody would be told.
func TestKey_ChangedWhileRunningFailsItsStreamAlone(t *testing.T) {
	for name, x := range map[string]struct{ prepare, change, then string }{
		"as the log tells":       {"SELECT 1", "ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (id, u)", "INSERT INTO a VALUES (1, 2)"},
		"to another column":      {"SELECT 1", "ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (u)", "INSERT INTO a VALUES (1, 2)"},
		"as the catalog tells":   {"ALTER TABLE a REPLICA IDENTITY FULL", "ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (id, u)", "SELECT 1"},
		"in two steps, and seen": {"ALTER TABLE a REPLICA IDENTITY FULL", "ALTER TABLE a DROP CONSTRAINT a_pkey", "ALTER TABLE a ADD PRIMARY KEY (id, u)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, u int NOT NULL)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1, 1)", x.prepare)
			a, b := table("a", "id"), table("b", "id")
			c := d.capture(a, b).set(map[string]any{"rediscovery_interval": "1m"})
			r := c.tail()
			r.awaitActive(a.Stream)
			r.awaitActive(b.Stream)
			d.exec(x.change)
			if name == "in two steps, and seen" {
				r.awaitLog("WARN", "the table has no key any more")
			}
			d.exec(x.then)
			r.awaitLog("ERROR", "the key of table public.a changed from [id] to [")
			d.exec("INSERT INTO b VALUES (7)")
			r.awaitRow(b.Stream, "id", "7")
			if err := r.process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			r.fails("config_error", "the key of table public.a changed from [id] to [", "read this one from its beginning by its new key")
			c.equal(b)
		})
	}
}

// Where no key is chosen but the first unique index by name, another index may come before it; rows are told apart by the old one as before.
func TestKey_AnotherUniqueIndexChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "CREATE TABLE a (id int NOT NULL, u int NOT NULL)", "CREATE UNIQUE INDEX m ON a (id)", "ALTER TABLE a REPLICA IDENTITY FULL", "INSERT INTO a VALUES (1, 1)")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"rediscovery_interval": "1m"})
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("CREATE UNIQUE INDEX b ON a (u)")
	time.Sleep(10 * time.Second) // two looks
	d.exec("INSERT INTO a VALUES (2, 2)", "UPDATE a SET u = 3 WHERE id = 1")
	r.awaitRow(a.Stream, "u", "3")
	r.stop()
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
