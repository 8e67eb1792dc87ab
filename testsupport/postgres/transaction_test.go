package postgres

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/estuary/connectors/testsupport/binary"
)

// bug sql-cdc 52: estuary/connectors history: messages of the application and origins killed the stream.
func TestTransaction_MessagesOfTheApplicationAndOriginsAreIgnored(t *testing.T) {
	d, c, a := captured(t)
	conn := d.connect()
	d.run(conn, "SELECT pg_replication_origin_create(current_database())", "SELECT pg_replication_origin_session_setup(current_database())")
	d.run(conn, "BEGIN", "SELECT pg_logical_emit_message(true, 'outbox', repeat('x', 2 << 20))", "UPDATE a SET v = 'y' WHERE id = 1",
		"SELECT pg_logical_emit_message(true, 'outbox', repeat('x', 2 << 20))", "COMMIT")
	d.run(conn, "SELECT pg_logical_emit_message(false, 'outbox', repeat('x', 2 << 20))", "SELECT pg_logical_emit_message(true, 'estuary.connectors.fence', '1')",
		"INSERT INTO a VALUES (4, 'x')", "SELECT pg_replication_origin_session_reset()", "SELECT pg_replication_origin_drop(current_database())")
	r := c.catchUp()
	c.equal(a)
	if n := r.count(func(record) bool { return true }); n != 2 {
		t.Errorf("%d records, want the update and the row", n)
	}
}

func TestTransaction_InTwoPhasesComesOnce(t *testing.T) {
	d, c, a := captured(t)
	d.exec("BEGIN; INSERT INTO a VALUES (4, 'x'); UPDATE a SET v = 'y' WHERE id = 1; PREPARE TRANSACTION 'of the test'",
		"BEGIN; INSERT INTO a VALUES (5, 'x'); PREPARE TRANSACTION 'rolled back'")
	if n := c.catchUp().count(func(record) bool { return true }); n != 0 {
		t.Errorf("%d records of what is only prepared", n)
	}
	d.exec("COMMIT PREPARED 'of the test'", "ROLLBACK PREPARED 'rolled back'")
	r := c.catchUp()
	c.equal(a)
	r.once(a.Stream, "id", "4")
	r.once(a.Stream, "id", "1")
	if n := c.catchUp().count(func(record) bool { return true }); n != 0 {
		t.Errorf("%d records came again", n)
	}
}

func TestTransaction_WhatASavepointRolledBackNeverComes(t *testing.T) {
	d, c, a := captured(t)
	d.exec(`BEGIN; INSERT INTO a VALUES (4, 'x'); SAVEPOINT s; INSERT INTO a VALUES (5, 'gone'); UPDATE a SET v = 'gone'; ROLLBACK TO s;
		SAVEPOINT s2; UPDATE a SET v = 'kept' WHERE id = 2; RELEASE s2; COMMIT`, "BEGIN; UPDATE a SET v = 'gone'; ROLLBACK")
	r := c.catchUp()
	c.equal(a)
	if n := r.count(func(rec record) bool { return rec.text("v") == "gone" }); n != 0 {
		t.Errorf("%d records of what was rolled back", n)
	}
	if n := r.count(func(record) bool { return true }); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

func TestTransaction_OfManyRowsTakesNoMoreMemory(t *testing.T) {
	d, c, _ := captured(t)
	d.exec("INSERT INTO a SELECT i, repeat('x', 200) FROM generate_series(1001, 201000) i")
	p, err := binary.Start(binary.Command{Path: binary.Build(t, "source-postgres"), Args: []string{"read", "--streams", c.streams}, Config: c.rawConfig(), State: c.state})
	if err != nil {
		t.Fatal(err)
	}
	records, after := 0, 0 // all, and those after the last STATE
	var line []byte
	for {
		line, err = p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"RECORD"`)):
			records, after = records+1, after+1
		case bytes.HasPrefix(line, []byte(`{"type":"STATE"`)):
			after = 0
		}
	}
	exit, err := p.Wait(patience)
	if err != nil || exit.Code != 0 || records != 200_000 || after != 0 {
		t.Errorf("the run ended with code %d after %d records, %d of them after the last STATE: %v", exit.Code, records, after, err)
	}
	if limit := int64(128 << 20); exit.PeakBytes > limit {
		t.Errorf("it held %d MiB, want at most %d", exit.PeakBytes>>20, limit>>20)
	}
}
