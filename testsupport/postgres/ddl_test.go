package postgres

import (
	"testing"
)

// bug sql-cdc 63: estuary/connectors history: a table under an old name was taken for the one before.
func TestTable_CreatedAnewBetweenTwoRunsIsReadAnew(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'old'), (2, 'old')")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	d.exec("DROP TABLE a", "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'new'), (2, 'new'), (3, 'new')")
	r := c.catchUp()
	c.equal(a)
	if !r.logged("WARN", "another table has taken its name") {
		t.Errorf("the run does not say so:\n%s", r.said())
	}
	d.exec("UPDATE a SET v = 'newer' WHERE id = 2")
	if n := c.catchUp().count(func(record) bool { return true }); n != 1 {
		t.Errorf("the run after it printed %d records, want the update alone", n)
	}
	c.equal(a)
}

// bug sql-cdc 63: estuary/connectors history: a staging table was renamed into place, and its rows never came.
func TestTable_SwappedInByARenameIsReadAnew(t *testing.T) {
	const swap = "BEGIN; ALTER TABLE a RENAME TO a_old; ALTER TABLE a_new RENAME TO a; INSERT INTO a VALUES (5, 'after'); COMMIT"
	setup := []string{
		"CREATE TABLE a (id int PRIMARY KEY, v text)", "CREATE TABLE a_new (id int PRIMARY KEY, v text)",
		"INSERT INTO a VALUES (1, 'old'), (2, 'old')", "INSERT INTO a_new VALUES (1, 'new'), (2, 'new'), (3, 'new')",
	}
	a := table("a", "id")
	t.Run("while both are published", func(t *testing.T) {
		d := newDatabase(t, append(setup, "CREATE PUBLICATION flow_publication FOR ALL TABLES")...)
		c := d.capture(a)
		r := c.tail()
		r.awaitActive(a.Stream)
		d.exec(swap, "INSERT INTO a_old VALUES (9, 'of the table before')")
		r.awaitLog("WARN", "another table has taken its name")
		r.awaitRow(a.Stream, "id", "5")
		r.awaitActive(a.Stream)
		d.exec("UPDATE a SET v = 'last' WHERE id = 1")
		r.awaitRow(a.Stream, "v", "last")
		r.stop()
		c.equal(a)
	})
	t.Run("while the new one is not published", func(t *testing.T) {
		d := newDatabase(t, setup...)
		c := d.capture(a)
		c.catchUp()
		d.exec(swap, "INSERT INTO a_old VALUES (9, 'of the table before')")
		c.catchUp()
		d.exec("UPDATE a SET v = 'last' WHERE id = 1")
		c.catchUp()
		c.equal(a)
	})
}

// What the log does not tell is looked for in the catalog: a table that is not published has taken the name.
func TestTable_SwappedInUnpublishedIsNoticedWhileRunning(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "CREATE TABLE a_new (id int PRIMARY KEY, v text)",
		"INSERT INTO a VALUES (1, 'old'), (2, 'old')", "INSERT INTO a_new VALUES (1, 'new'), (2, 'new'), (3, 'new')")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"rediscovery_interval": "1m"})
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("BEGIN; ALTER TABLE a RENAME TO a_old; ALTER TABLE a_new RENAME TO a; COMMIT")
	r.awaitLog("WARN", "another table has taken its name")
	r.awaitRow(a.Stream, "id", "3") // of the new table
	d.exec("UPDATE a SET v = 'last' WHERE id = 1", "DELETE FROM a WHERE id = 3")
	r.awaitRecord("the deletion", func(rec record) bool { return rec.op == "d" && rec.text("id") == "3" })
	r.stop()
	c.equal(a)
}

func TestColumn_AddedWithADefaultIsWarnedOf(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	r := d.capture(a).tail()
	r.awaitActive(a.Stream)
	d.exec("ALTER TABLE a ADD COLUMN v text NOT NULL DEFAULT 'x'", "INSERT INTO a VALUES (2)")
	r.awaitRow(a.Stream, "v", "x")
	r.awaitLog("WARN", "rows not touched since keep the old value", "stream=public.a")
	r.stop()
	if n := r.count(func(rec record) bool { return rec.text("id") == "1" }); n != 1 {
		t.Errorf("row 1 came %d times, want once: the table is not read anew", n)
	}
}

func TestColumn_AddedWithADefaultReadsTheTableAnewWhenToldTo(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"on_rewrite": "rebackfill"})
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("ALTER TABLE a ADD COLUMN v text NOT NULL DEFAULT 'x'", "INSERT INTO a VALUES (2)")
	r.awaitRecord("the old row with the new column", func(rec record) bool { return rec.text("id") == "1" && rec.text("v") == "x" })
	r.awaitActive(a.Stream)
	r.stop()
	c.equal(a)
}

// What leaves the rows that were read as they are is no reason to read them again, seen live or between two runs.
func TestColumn_DroppedOrAddedEmptyReadsNothingAnew(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, gone text, also text)", "INSERT INTO a VALUES (1, 'g', 'h')")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"on_rewrite": "rebackfill"})
	r := c.tail()
	r.awaitActive(a.Stream)
	// One after another: a column that goes and one that comes between two looks at the catalog may be one that was renamed, and are read anew.
	d.exec("ALTER TABLE a DROP COLUMN gone", "INSERT INTO a VALUES (2, 'h')")
	r.awaitCovered(a.Stream, "id", "2")
	d.exec("ALTER TABLE a ADD COLUMN v text", "INSERT INTO a VALUES (3, 'h', 'new')")
	r.awaitCovered(a.Stream, "id", "3")
	r.stop()
	for _, change := range []string{"INSERT INTO a VALUES (4, 'h')", "ALTER TABLE a DROP COLUMN also", "ALTER TABLE a ADD COLUMN w text, ALTER COLUMN v SET DEFAULT 'x'"} {
		d.exec(change)
		r = c.catchUp()
		if n := r.count(func(rec record) bool { return rec.snapshot }); n != 0 {
			t.Errorf("after %s %d rows were read again; the run says:\n%s", change, n, r.said())
		}
	}
	d.exec("ALTER TABLE a ADD COLUMN d int NOT NULL DEFAULT 7")
	if r = c.catchUp(); r.count(func(rec record) bool { return rec.snapshot && rec.text("d") == "7" }) != 4 {
		t.Errorf("a column with a default came while nobody read, but the rows were not read anew; the run says:\n%s", r.said())
	}
}

func TestColumn_DroppedRenamedAndOfAnotherType(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, gone text, name text, n int)", "INSERT INTO a VALUES (1, 'g', 'n', 7)")
	a := table("a", "id")
	r := d.capture(a).tail()
	r.awaitActive(a.Stream)
	d.exec("ALTER TABLE a DROP COLUMN gone", "INSERT INTO a VALUES (2, 'n', 7)")
	r.awaitRecord("a row without the dropped column", func(rec record) bool {
		return rec.text("id") == "2" && rec.doc["gone"] == nil && rec.text("name") == "n"
	})
	d.exec("ALTER TABLE a RENAME COLUMN name TO label", "INSERT INTO a VALUES (3, 'n', 7)")
	r.awaitRecord("a row with the new name", func(rec record) bool {
		return rec.text("id") == "3" && rec.doc["name"] == nil && rec.text("label") == "n"
	})
	d.exec("ALTER TABLE a ALTER COLUMN n TYPE text USING 'no. ' || n", "INSERT INTO a VALUES (4, 'n', 'no. 8')")
	r.awaitRecord("a row with the new type", func(rec record) bool { return rec.text("id") == "4" && string(rec.doc["n"]) == `"no. 8"` })
	r.awaitLog("WARN", "rows not touched since keep the old value")
	r.stop()
}

// bug sql-cdc 77: estuary/connectors history: types of the database were read once, at the start.
func TestColumn_OfATypeThatIsYoungerThanTheRun(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)")
	a := table("a", "id")
	r := d.capture(a).tail()
	r.awaitActive(a.Stream)
	d.exec("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN small AS int CHECK (VALUE < 10)",
		"ALTER TABLE a ADD COLUMN m mood, ADD COLUMN ms mood[], ADD COLUMN s small", "INSERT INTO a VALUES (1, 'sad', '{happy,sad}', 5)")
	r.awaitRecord("a row of the new types", func(rec record) bool {
		return string(rec.doc["m"]) == `"sad"` && string(rec.doc["ms"]) == `{"dimensions":[2],"elements":["happy","sad"]}` && string(rec.doc["s"]) == "5"
	})
	r.stop()
}
