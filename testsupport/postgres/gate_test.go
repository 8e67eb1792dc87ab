package postgres

import (
	"fmt"
	"testing"

	"github.com/estuary/connectors/testsupport/standby"
)

// once fails the test unless the row came exactly once.
func (r *run) once(stream, column, value string) {
	r.c.t.Helper()
	if n := r.count(func(rec record) bool { return rec.stream == stream && rec.text(column) == value }); n != 1 {
		r.c.t.Errorf("%s with %s = %s came %d times, want once", stream, column, value, n)
	}
}

// bug sql-cdc 40: estuary/connectors history: slot creation waits for every running transaction, and nobody said so.
func TestGate_ATransactionOpenBeforeTheSlotComesOnce(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)", "CREATE PUBLICATION flow_publication FOR TABLE a")
	a := table("a", "id")
	conn := d.connect()
	d.run(conn, "BEGIN", "INSERT INTO a VALUES (2)")
	c := d.capture(a)
	r := c.start()
	r.awaitLog("creating the replication slot waits for running transactions", fmt.Sprintf("pid %d", conn.PgConn().PID()))
	d.run(conn, "INSERT INTO a VALUES (3)", "COMMIT")
	r.succeeds()
	c.equal(a)
	r.once(a.Stream, "id", "2")
	r.once(a.Stream, "id", "3")
}

func TestGate_ATransactionOpenBeforeThePublicationComesOnce(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	first := d.capture(b)
	first.catchUp()
	conn := d.connect()
	d.run(conn, "BEGIN", "INSERT INTO a VALUES (2)")
	c := d.capture(a, b)
	c.state = first.state
	r := c.start()
	r.awaitLog("adding the table to the publication waits for transactions that changed it", "table=public.a", fmt.Sprintf("pid %d", conn.PgConn().PID()))
	d.run(conn, "INSERT INTO a VALUES (3)", "COMMIT")
	r.succeeds()
	c.equal(a, b)
	r.once(a.Stream, "id", "2")
	r.once(a.Stream, "id", "3")
}

// A change that was made before its table was published is not in the log, whenever it commits: only a later snapshot has it.
func TestGate_ATransactionOpenBeforeTheTableWasPublishedComesOnceAndHoldsUpNobody(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)",
		"CREATE PUBLICATION flow_publication FOR TABLE b")
	a, b := table("a", "id"), table("b", "id")
	first := d.capture(b)
	first.catchUp()
	conn := d.connect()
	d.run(conn, "BEGIN", "INSERT INTO a VALUES (2)")
	d.exec("ALTER PUBLICATION flow_publication ADD TABLE a") // by somebody who locks nobody out
	c := d.capture(a, b)
	c.state = first.state
	r := c.tail()
	for i := range 5 {
		d.exec(fmt.Sprintf("INSERT INTO b VALUES (%d)", i))
		r.awaitRow(b.Stream, "id", fmt.Sprint(i))
	}
	if n := r.count(func(rec record) bool { return rec.stream == a.Stream }); n != 0 {
		t.Errorf("%d rows were read before the transaction ended", n)
	}
	d.run(conn, "COMMIT")
	r.awaitActive(a.Stream)
	d.exec("INSERT INTO a VALUES (3)")
	r.awaitRow(a.Stream, "id", "3")
	r.stop()
	c.equal(a, b)
	r.once(a.Stream, "id", "2")
}

func TestGate_ACommitThatHangsWhileTheSlotIsMadeComesOnce(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)", "CREATE PUBLICATION flow_publication FOR TABLE a")
	a := table("a", "id")
	if err := standby.Block(d.cluster); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Release(d.cluster) }) // again, when the test fails
	hung := d.background("INSERT INTO a VALUES (2)")
	d.until("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()", "1")
	c := d.capture(a)
	r := c.start()
	d.until(fmt.Sprintf("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '%s'", d.slot), "1")
	if err := standby.Release(d.cluster); err != nil {
		t.Fatal(err)
	}
	hung()
	r.succeeds()
	c.equal(a)
	r.once(a.Stream, "id", "2")
}
