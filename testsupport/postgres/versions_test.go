package postgres

import (
	"fmt"
	"testing"
)

func TestVersions_BackfillLogAndResume(t *testing.T) {
	for _, version := range []int{17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			d := databaseOn(t, servers.Cluster(t, version),
				`CREATE TABLE a (id int PRIMARY KEY, big text, n numeric, at timestamptz, j jsonb, tags text[], made int GENERATED ALWAYS AS (id * 2) STORED)`,
				`CREATE TABLE none (n int, ver int)`, `ALTER TABLE none REPLICA IDENTITY FULL`,
				`INSERT INTO a SELECT i, `+big("i")+`, i / 7.0, '2024-01-15 12:00+05'::timestamptz + i * interval '1 s', jsonb_build_object('i', i), ARRAY['a', i::text] FROM generate_series(1, 30) i`,
				`INSERT INTO none SELECT i, 1 FROM generate_series(1, 100) i`)
			a, none := table("a", "id"), keyless("none")
			c := d.capture(a, none).set(map[string]any{"backfill_chunk_size": 4})
			r := c.held(6, "--tail")
			r.await("its first rows", func() bool { return len(r.records) >= 6 })
			d.exec("UPDATE a SET n = n + 1", "UPDATE a SET id = id + 100 WHERE id % 5 = 0", "DELETE FROM a WHERE id % 7 = 0", "UPDATE none SET ver = 2 WHERE n % 2 = 0")
			r.kill() // in the middle of the backfill
			d.exec("INSERT INTO a (id, big, n) VALUES (1000, 'x', 1)", "DELETE FROM none WHERE n = 50")
			r = c.tail()
			r.awaitActive(a.Stream, none.Stream)
			d.exec("UPDATE a SET tags = '{}', j = NULL WHERE id < 10")
			r.awaitRecord("the last update", func(rec record) bool { return rec.text("id") == "9" && string(rec.doc["j"]) == "null" })
			r.kill() // in the log
			d.exec("TRUNCATE none", "UPDATE a SET id = 2000 WHERE id = 1000")
			d.exec("INSERT INTO none SELECT i, 3 FROM generate_series(1, 10) i")
			c.catchUp()
			c.equal(a)
		})
	}
}

// Stored generated columns can be published from 18 on, and virtual ones exist. A document has neither, from scan and log alike.
func TestVersions_GeneratedColumnsOf18(t *testing.T) {
	d := databaseOn(t, servers.Cluster(t, 18),
		`CREATE TABLE a (id int PRIMARY KEY, n int, stored int GENERATED ALWAYS AS (n * 2) STORED)`, `ALTER TABLE a REPLICA IDENTITY FULL`,
		`CREATE TABLE b (id int PRIMARY KEY, n int, stored int GENERATED ALWAYS AS (n * 2) STORED, virtual int GENERATED ALWAYS AS (n * 3) VIRTUAL)`,
		`INSERT INTO a (id, n) SELECT i, i FROM generate_series(1, 5) i`, `INSERT INTO b (id, n) SELECT i, i FROM generate_series(1, 5) i`,
		`CREATE PUBLICATION flow_publication FOR TABLE a, b WITH (publish_via_partition_root = true, publish_generated_columns = stored)`)
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).set(map[string]any{"on_rewrite": "rebackfill"})
	c.catchUp()
	c.equal(a, b)
	for i := range 2 {
		for _, name := range []string{"a", "b"} {
			d.exec(fmt.Sprintf("UPDATE %s SET n = n + 10 WHERE id < 3", name), fmt.Sprintf("DELETE FROM %s WHERE id = %d", name, 5-i),
				fmt.Sprintf("UPDATE %s SET id = id + 100 WHERE id = 3", name))
		}
		r := c.catchUp()
		if n := r.count(func(rec record) bool { return rec.snapshot }); n != 0 {
			t.Errorf("%d rows were read again, as if the column were new", n)
		}
		c.equal(a, b)
	}
}
