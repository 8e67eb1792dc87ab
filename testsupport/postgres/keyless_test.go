package postgres

import (
	"fmt"
	"testing"

	"github.com/estuary/connectors/testsupport/replay"
)

// keyless tells rows apart by a column that nobody promised to be unique.
func keyless(name string) replay.Table {
	return replay.Table{Stream: "public." + name, Key: []string{"n"}, Keyless: true, Version: "ver"}
}

func TestKeyless_EachRowAndEachChangeComesOnce(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (n int, ver int, big text)", "ALTER TABLE a REPLICA IDENTITY FULL", "ALTER TABLE a ALTER big SET STORAGE EXTERNAL",
		"INSERT INTO a SELECT i, 1, "+big("i")+" FROM generate_series(1, 20) i")
	a := keyless("a")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 5})
	r := c.held(2, "--tail")
	r.await("its first rows", func() bool { return len(r.records) >= 2 })
	d.exec("INSERT INTO a SELECT i, 1, 'x' FROM generate_series(101, 600) i", "UPDATE a SET ver = 2 WHERE n <= 10", "DELETE FROM a WHERE n = 15")
	r.release()
	r.awaitRow(a.Stream, "n", "600")
	r.awaitActive(a.Stream)
	d.exec("INSERT INTO a SELECT i, 1, 'x' FROM generate_series(1001, 1500) i", "UPDATE a SET ver = ver + 1 WHERE n < 10", "DELETE FROM a WHERE n = 600")
	r.awaitRecord("the last deletion", func(rec record) bool { return rec.op == "d" && rec.text("n") == "600" })
	r.stop()
	c.equal(a)
	seen := map[string]bool{}
	for _, rec := range r.records {
		id := fmt.Sprint(rec.loc[2], rec.row)
		if seen[id] {
			t.Fatalf("two documents have the key loc/2 = %d, row = %d", rec.loc[2], rec.row)
		}
		seen[id] = true
	}
	if len(r.records) != 20+500+10+1+500+9+1 {
		t.Errorf("%d records, want 20 rows and 1,021 changes", len(r.records))
	}
}

func TestKeyless_CopyOfManyRowsInOneTransaction(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (n int, ver int)", "ALTER TABLE a REPLICA IDENTITY FULL")
	a := keyless("a")
	c := d.capture(a)
	c.catchUp()
	conn := d.connect()
	rows := make([][]any, 5000)
	for i := range rows {
		rows[i] = []any{i, 1}
	}
	d.copyIn(conn, "a", []string{"n", "ver"}, rows)
	r := c.catchUp()
	c.equal(a)
	next := int64(0)
	for _, rec := range r.records {
		if rec.row != next || rec.loc[2] != r.records[0].loc[2] {
			t.Fatalf("row %d of the transaction has loc/2 = %d and row = %d", next, rec.loc[2], rec.row)
		}
		next++
	}
	if next != 5000 {
		t.Errorf("%d records, want 5,000", next)
	}
}

// bug sql-cdc 28: estuary/connectors history: a rewrite during a backfill by pages moved rows behind the cursor.
func TestKeyless_ALargeTableIsReadInRangesAndAnewAfterARewrite(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (n int, v text)", "ALTER TABLE a REPLICA IDENTITY FULL", "ALTER TABLE a ALTER v SET STORAGE PLAIN",
		"INSERT INTO a SELECT i, repeat('x', 3500) FROM generate_series(1, 120) i", "DELETE FROM a WHERE n <= 40")
	a := replay.Table{Stream: "public.a", Key: []string{"n"}}
	c := d.capture(a).set(map[string]any{"keyless_chunk_pages": 1})
	r := c.held(10, "--tail")
	r.await("its first rows", func() bool { return len(r.records) >= 10 })
	rewritten := d.background("VACUUM FULL a") // it waits for a range that is open, or has run between two
	d.until("SELECT count(*) > 0 OR pg_relation_filenode('a') <> 'a'::regclass::oid FROM pg_stat_activity WHERE query LIKE 'VACUUM FULL%' AND datname = current_database()", "t")
	r.release()
	rewritten()
	d.exec("UPDATE a SET v = 'y' WHERE n IN (50, 110)")
	r.awaitActive(a.Stream)
	// Not before: a row that goes while the table is read anew stays with a consumer that was not told to start over.
	d.exec("DELETE FROM a WHERE n = 60", "INSERT INTO a VALUES (200, 'z')")
	r.awaitRow(a.Stream, "n", "200")
	r.stop()
	c.equal(a)
	if n := r.count(func(rec record) bool { return rec.snapshot }); n < 80 {
		t.Errorf("%d rows were read, want at least the 80 that are there", n)
	}
	if !r.logged("WARN", "the table was rewritten while it was read page by page") {
		t.Errorf("the run does not say that it starts the table over:\n%s", r.said())
	}
}
