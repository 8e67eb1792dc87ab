package postgres

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/estuary/connectors/testsupport/replay"
)

// captured makes a table with three rows and captures it once.
func captured(t *testing.T) (*database, *capture, replay.Table) {
	t.Helper()
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'x'), (2, 'x'), (3, 'x')")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	return d, c, a
}

// changed changes every row and adds one.
func changed(d *database) {
	d.t.Helper()
	d.exec("UPDATE a SET v = 'y'", "INSERT INTO a SELECT coalesce(max(id), 0) + 1, 'z' FROM a")
}

// dropSlot drops the slot once the server has noticed that its reader is gone.
func (d *database) dropSlot() {
	d.t.Helper()
	d.until("SELECT (count(*) FILTER (WHERE active))::text FROM pg_replication_slots WHERE slot_name = '"+d.slot+"'", "0")
	d.exec(fmt.Sprintf("SELECT pg_drop_replication_slot('%s')", d.slot))
}

func TestSlot_DroppedBetweenTwoRuns(t *testing.T) {
	d, c, a := captured(t)
	d.dropSlot()
	changed(d)
	c.start().fails("config_error", "the changes of table public.a after ", " are lost: ", "advanced.on_gap", "rebackfill", "pipeline backfill FILE STREAM")
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	c.equal(a)
	changed(d)
	if n := c.catchUp().count(func(rec record) bool { return rec.snapshot }); n != 0 {
		t.Errorf("the run after the new backfill read %d rows again", n)
	}
	c.equal(a)
}

// bug sql-cdc 37: debezium 5739: a slot that was made anew delivers from its own position on, whatever is asked for.
func TestSlot_MadeAnewAheadOfTheState(t *testing.T) {
	d, c, a := captured(t)
	d.dropSlot()
	changed(d)
	d.exec(fmt.Sprintf("SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", d.slot))
	c.start().fails("config_error", "the changes of table public.a after ", " are lost: the log is only kept from ")
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	c.equal(a)
}

// bug sql-cdc 45: estuary/connectors history: a slot that the server gave up ended in a cryptic error.
func TestSlot_InvalidatedByTheServer(t *testing.T) {
	d, c, a := captured(t)
	d.setting("max_slot_wal_keep_size", "1MB", "-1")
	changed(d)
	for range 4 { // segments of 16 MB
		d.exec("SELECT pg_logical_emit_message(false, 'filler', 'x')", "SELECT pg_switch_wal()")
	}
	d.exec("CHECKPOINT")
	d.until(fmt.Sprintf("SELECT wal_status FROM pg_replication_slots WHERE slot_name = '%s'", d.slot), "lost")
	c.start().fails("config_error", "the changes of table public.a after ", "max_slot_wal_keep_size", "SELECT pg_drop_replication_slot('"+d.slot+"')")
	d.dropSlot()
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	c.equal(a)
}

// bug sql-cdc 42: estuary/connectors history: a slot of another database gave an obscure error at the start.
func TestSlot_OfSomebodyElse(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)")
	other := newDatabase(t)
	for name, x := range map[string]struct {
		on     *database
		create string
		says   string
	}{
		"another plugin":   {d, "pg_create_logical_replication_slot('%s', 'test_decoding')", "its plugin is test_decoding"},
		"another database": {other, "pg_create_logical_replication_slot('%s', 'pgoutput')", "belongs to database"},
		"physical":         {d, "pg_create_physical_replication_slot('%s')", "is a physical one"},
	} {
		t.Run(name, func(t *testing.T) {
			x.on.exec("SELECT " + fmt.Sprintf(x.create, d.slot))
			defer d.dropSlot()
			d.capture(table("a", "id")).start().fails("config_error", d.slot, x.says, "advanced.slotName")
		})
	}
}

// bug sql-cdc 43: estuary/connectors history: a dead process's walsender still held the slot, and the capture crashed in a loop.
func TestSlot_HeldByAnotherReaderIsWaitedFor(t *testing.T) {
	d, c, a := captured(t)
	holder := d.capture(a).tail()
	holder.awaitActive(a.Stream)
	pid := d.one(fmt.Sprintf("SELECT active_pid FROM pg_replication_slots WHERE slot_name = '%s'", d.slot))
	changed(d)
	r := c.start()
	r.awaitLog("WARN", "waiting for the replication slot", "pid="+pid)
	holder.kill()
	r.succeeds()
	c.equal(a)
}

func TestSlot_ThatIsThereUnusedIsReadFromItsPosition(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY, v text)", "CREATE PUBLICATION flow_publication FOR TABLE a")
	d.exec(fmt.Sprintf("SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", d.slot))
	at := d.one(fmt.Sprintf("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '%s'", d.slot))
	d.exec("INSERT INTO a VALUES (1, 'x'), (2, 'x')", "DELETE FROM a WHERE id = 2")
	a := table("a", "id")
	c := d.capture(a)
	r := c.catchUp()
	c.equal(a)
	if !r.logged("found the replication slot", "confirmed="+at) || !r.logged("reading the log", "position="+at) {
		t.Errorf("the run does not read from the slot's position %s:\n%s", at, r.said())
	}
	if n := r.count(func(rec record) bool { return rec.op == "d" && rec.text("id") == "2" }); n != 1 {
		t.Errorf("the deletion after the slot's position came %d times, want once", n)
	}
}

func TestState_OfAnotherCluster(t *testing.T) {
	d, c, _ := captured(t)
	system := d.one("SELECT system_identifier FROM pg_control_system()")
	if !bytes.Contains(c.state, []byte(system)) {
		t.Fatalf("the state does not name the cluster %s: %s", system, c.state)
	}
	c.state = bytes.ReplaceAll(c.state, []byte(system), []byte("7000000000000000001"))
	c.start().fails("config_error", "the state comes from another database cluster", "7000000000000000001", system, "pipeline backfill FILE '*'")
}

// Decoding looks a publication up as it was when a change was made, and fails for ever on a change from before its time.
func TestSlot_OlderThanThePublicationIsTold(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)")
	d.exec(fmt.Sprintf("SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", d.slot), "INSERT INTO a VALUES (1)")
	a := table("a", "id")
	c := d.capture(a)
	c.start().fails("config_error", d.slot, "flow_publication", "SELECT pg_drop_replication_slot('"+d.slot+"')")
	d.dropSlot()
	c.set(map[string]any{"on_gap": "rebackfill"}).catchUp()
	c.equal(a)
}
