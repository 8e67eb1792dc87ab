package postgres

import (
	"strings"
	"testing"
)

// wide fills a table whose rows are so large that a held reader stops the backfill after the first ones.
const wide = "CREATE TABLE a (id int PRIMARY KEY, big text); ALTER TABLE a ALTER big SET STORAGE EXTERNAL"

func fillWide(from, to string) string {
	return "INSERT INTO a SELECT i, " + big("i") + " FROM generate_series(" + from + ", " + to + ") i"
}

func TestTruncate_OfAnActiveTableIsReadAnewWithOneWarning(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1), (2), (3)")
	a := table("a", "id")
	c := d.capture(a)
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("TRUNCATE a", "INSERT INTO a SELECT generate_series(1, 5)")
	r.awaitLog("WARN", "remain downstream", "stream=a", "TRUNCATE at ")
	r.awaitRow(a.Stream, "id", "5")
	r.awaitActive(a.Stream)
	d.exec("DELETE FROM a WHERE id = 4")
	r.awaitRecord("the deletion", func(rec record) bool { return rec.op == "d" })
	r.stop()
	c.equal(a)
}

func TestTruncate_FailsItsStreamWhenToldTo(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).set(map[string]any{"on_truncate": "fail"})
	c.catchUp()
	d.exec("TRUNCATE a", "INSERT INTO b VALUES (1)")
	r := c.start().fails("config_error", "table public.a was emptied by TRUNCATE at ")
	if a, b := r.status(a.Stream), r.status(b.Stream); a != "INCOMPLETE" || b != "COMPLETE" {
		t.Errorf("the streams ended %s and %s, want the truncated one alone to be incomplete", a, b)
	}
	c.equal(b)
}

func TestTruncate_InTheMiddleOfABackfillStartsItOver(t *testing.T) {
	d := newDatabase(t, wide, fillWide("1", "30"))
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 3})
	r := c.held(2)
	r.await("its first rows", func() bool { return len(r.records) >= 2 })
	truncated := d.background("TRUNCATE a; " + fillWide("1", "40")) // it waits for the open chunk
	r.release()
	truncated()
	r.succeeds()
	c.catchUp() // the TRUNCATE may have come after the end
	c.equal(a)
}

func TestTruncate_UnderARunnerThatResetsLeavesTheTable(t *testing.T) {
	for name, chunk := range map[string]int{"active": 50000, "in the middle of the backfill": 1} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t, wide, fillWide("1", "30"))
			a := table("a", "id")
			c := d.capture(a).set(map[string]any{"backfill_chunk_size": chunk})
			s := c.openSession(a)
			if chunk == 1 {
				s.await("its first documents", func() bool { return s.documents >= 2 })
			} else {
				s.await("the end of the backfill", func() bool { return s.checkpointSays(0, `"mode":"active"`) })
			}
			truncated := d.background("TRUNCATE a; " + fillWide("100", "103"))
			s.await("the reset", func() bool { return len(s.resets) > 0 })
			truncated()
			before := len(s.checkpoints)
			s.await("the end of the new backfill", func() bool { return s.checkpointSays(before, `"mode":"active"`) })
			s.finish()
			if len(s.resets) != 1 || !strings.HasPrefix(s.resets[0], "TRUNCATE at ") {
				t.Errorf("resets %q, want one that names the TRUNCATE", s.resets)
			}
			c.fold = s.fold
			c.equal(a)
		})
	}
}
