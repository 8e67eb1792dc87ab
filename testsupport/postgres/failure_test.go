package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/proxy"
)

const ours = "FROM pg_stat_activity WHERE application_name = 'source-postgres' AND datname = current_database()"

func TestFailure_TheServerEndsOurSessions(t *testing.T) {
	d := newDatabase(t, wide, fillWide("1", "30"))
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 3})
	r := c.held(4)
	r.await("its first rows", func() bool { return len(r.records) >= 4 })
	d.exec("SELECT pg_terminate_backend(pid) "+ours, "UPDATE a SET big = 'x' WHERE id % 3 = 0")
	r.release()
	r.fails("transient_error")
	c.catchUp()
	c.equal(a)

	r = c.tail()
	d.exec("UPDATE a SET big = 'y' WHERE id = 1")
	r.awaitRow(a.Stream, "big", "y")
	d.exec("SELECT pg_terminate_backend(pid) " + ours + " AND backend_type = 'walsender'")
	r.fails("transient_error")
	d.exec("UPDATE a SET big = 'z' WHERE id = 2", "DELETE FROM a WHERE id = 3")
	c.catchUp()
	c.equal(a)
}

func TestFailure_TheConnectionIsCutInTheMiddleOfAMessage(t *testing.T) {
	d := newDatabase(t, wide, fillWide("1", "30"))
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 7})
	p := proxy.Start(t, d.cluster.Addr())
	c.config["address"] = p.Addr()
	cut := func(after int64) {
		t.Helper()
		p.CutAfter(after)
		c.start().fails("transient_error", p.Addr())
	}
	cut(2_000)     // of the look at the catalog
	cut(300_000)   // of a chunk
	cut(1_000_000) // of a later one
	d.exec("UPDATE a SET big = "+big("(-id)"), "DELETE FROM a WHERE id = 3")
	cut(500_000) // of both
	p.CutAfter(-1)
	c.catchUp()
	c.equal(a)
	d.exec("UPDATE a SET big = " + big("(-id * 2)"))
	cut(700_000) // of the log
	c.catchUp()
	c.equal(a)
	if n := p.Stats().Cut; n < 5 {
		t.Errorf("the proxy cut %d connections, want at least 5", n)
	}
}

func TestFailure_TheServerRestarts(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a)
	r := c.tail()
	r.awaitActive(a.Stream)
	d.exec("INSERT INTO a VALUES (2)")
	r.awaitRow(a.Stream, "id", "2")
	if err := d.cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	r.fails("transient_error")
	d.exec("INSERT INTO a VALUES (3)", "DELETE FROM a WHERE id = 1")
	c.catchUp()
	c.equal(a)
}

// bug sql-cdc 30: estuary/connectors history: a statement timeout threw a whole chunk away, again and again.
func TestFailure_AStatementTimeoutKeepsTheRowsBeforeIt(t *testing.T) {
	d := newDatabase(t, wide, "INSERT INTO a SELECT i, repeat('x', 40000) FROM generate_series(1, 1000) i") // more than the sockets hold
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"statement_timeout": "100ms"})
	r := c.held(3) // a reader so slow that the time limit passes meanwhile
	r.await("its first rows", func() bool { return len(r.records) >= 3 })
	d.until("SELECT count(*) "+ours+" AND query LIKE 'COPY%' AND now() - query_start > interval '300 ms' AND state IN ('active', 'idle in transaction (aborted)')", "1")
	r.release()
	r.succeeds()
	c.equal(a)
}

func TestFailure_AStatementTimeoutThatNoRowPassesIsTold(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'x')")
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"statement_timeout": "1ms"})
	for range 20 {
		r := c.start()
		if !r.Reaches(r.Ended) {
			t.Fatal("the run does not end")
		}
		if len(r.errors()) == 0 {
			r.succeeds() // this time it was quick enough
			c.equal(a)
			return
		}
		r.fails("config_error", "advanced.statement_timeout")
	}
}

// A query may run out of time while it is planned, before it has begun to answer.
func TestFailure_AStatementTimeoutBeforeTheAnswerIsTold(t *testing.T) {
	columns := make([]string, 1500)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d numeric", i)
	}
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, "+strings.Join(columns, ", ")+")", "INSERT INTO a VALUES (1)")
	c := d.capture(table("a", "id")).set(map[string]any{"statement_timeout": "1ms"})
	for range 10 {
		r := c.start()
		if !r.Reaches(r.Ended) {
			t.Fatal("the run does not end")
		}
		if len(r.errors()) > 0 {
			r.fails("config_error", "advanced.statement_timeout")
			return
		}
	}
	t.Error("1,500 columns were read within a millisecond, ten times: the test is about nothing")
}

func TestFailure_ATableLockedBySomebodyHoldsUpNoOther(t *testing.T) {
	d := newDatabase(t, wide, fillWide("1", "12"), "CREATE TABLE b (id int PRIMARY KEY, big text)", "INSERT INTO b SELECT * FROM a")
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b).set(map[string]any{"backfill_chunk_size": 2})
	r := c.held(3, "--tail")
	r.await("its first rows", func() bool { return len(r.records) >= 3 })
	conn := d.connect()
	d.run(conn, "BEGIN")
	locked := make(chan struct{})
	go func() {
		defer close(locked)
		d.run(conn, "LOCK TABLE a IN ACCESS EXCLUSIVE MODE") // it waits for an open chunk
	}()
	d.until("SELECT count(*) FROM pg_locks WHERE relation = 'a'::regclass AND mode = 'AccessExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())", "1")
	r.release()
	<-locked
	r.awaitLog("the table is locked by somebody else", "stream=public.a")
	r.awaitActive(b.Stream)
	d.exec("INSERT INTO b VALUES (100, 'x')")
	r.awaitRow(b.Stream, "id", "100")
	d.run(conn, "INSERT INTO a VALUES (100, 'x')", "COMMIT")
	r.awaitActive(a.Stream)
	r.stop()
	c.equal(a, b)
}

// bug sql-cdc 56: outboxx #113: a reader that blocks must not keep the server from its answers.
func TestFailure_AReaderThatStallsKeepsTheSession(t *testing.T) {
	d := newDatabase(t, wide)
	d.setting("wal_sender_timeout", "1s", "60s")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	d.exec(fillWide("1", "600")) // more than the connector reads ahead
	r := c.held(5, "--tail")
	r.await("its first changes", func() bool { return len(r.records) >= 5 })
	time.Sleep(5 * time.Second) // the stall is what is tested
	r.release()
	r.awaitRow(a.Stream, "id", "600")
	r.stop()
	c.equal(a)
}
