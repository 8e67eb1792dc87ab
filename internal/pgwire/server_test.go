package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgtest"
)

var servers pgtest.Shared

func TestMain(m *testing.M) { servers.Run(m) }

// connect opens a connection to a database of the package's server.
func connect(t testing.TB, database string, params map[string]string) *Conn {
	t.Helper()
	cfg, err := pgconn.ParseConfig(servers.Cluster(t, 15).DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range params {
		cfg.RuntimeParams[name] = value
	}
	c, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustExec(t testing.TB, c *Conn, sql string) [][]string {
	t.Helper()
	results, err := c.Exec(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return deref(results[len(results)-1].Rows)
}

func TestServer_ExecAndCopy(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), nil)
	if pid := mustExec(t, c, "SELECT pg_backend_pid()")[0][0]; pid != strconv.Itoa(int(c.PID())) {
		t.Errorf("PID is %d, the server says %s", c.PID(), pid)
	}
	if !strings.HasPrefix(c.ParameterStatus("server_version"), "15") {
		t.Errorf("server_version is %q", c.ParameterStatus("server_version"))
	}
	mustExec(t, c, `CREATE TABLE t (id int PRIMARY KEY, v text); SET client_min_messages = debug1;
		INSERT INTO t VALUES (1, NULL), (2, ''), (3, '\N'), (4, E'a\tb\nc\\d\r\x08\x0c\x0b'), (5, 'ü'), (6, repeat('x', 300000)), (7, '\.');
		ALTER TABLE t ADD COLUMN b bytea DEFAULT '\xdeadbeef'`)
	r, err := c.CopyOut(t.Context(), "COPY (SELECT * FROM t ORDER BY id) TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	want := [][]string{
		{"1", "NULL", `\xdeadbeef`},
		{"2", "", `\xdeadbeef`},
		{"3", `\N`, `\xdeadbeef`},
		{"4", "a\tb\nc\\d\r\b\f\v", `\xdeadbeef`},
		{"5", "ü", `\xdeadbeef`},
		{"6", strings.Repeat("x", 300000), `\xdeadbeef`},
		{"7", `\.`, `\xdeadbeef`},
	}
	if err != io.EOF || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %.500q, %v", got, err)
	}
	if r, err = c.CopyOut(t.Context(), "COPY (SELECT FROM t) TO STDOUT"); err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(r); err != io.EOF || len(got) != 7 || len(got[0]) != 0 {
		t.Errorf("rows without columns: %q, %v", got, err)
	}
}

// bug sql-cdc 30: estuary/connectors history: a statement timeout threw a whole chunk away. What came before it is kept, and the connection goes on.
func TestServer_StatementTimeoutHalfWay(t *testing.T) {
	c := connect(t, "postgres", nil)
	mustExec(t, c, "SET statement_timeout = 100")
	r, err := c.CopyOut(t.Context(), "COPY (SELECT i, CASE WHEN i > 5000 THEN pg_sleep(10)::text END FROM generate_series(1, 6000) i) TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readAll(r)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "57014" || refusal.Routine == "" || refusal.Line == 0 {
		t.Fatalf("got %+v", err)
	}
	if len(rows) < 4000 {
		t.Errorf("only %d rows came before the timeout", len(rows))
	}
	mustExec(t, c, "SELECT 1")
}

func TestServer_CopyClosedEarly(t *testing.T) {
	c := connect(t, "postgres", nil)
	mustExec(t, c, "BEGIN")
	r, err := c.CopyOut(t.Context(), "COPY (SELECT generate_series(1, 1000000000000)) TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	for range 10000 {
		if _, err := r.Next(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if c.TxStatus() != 'E' {
		t.Errorf("the transaction's status is %q", c.TxStatus())
	}
	mustExec(t, c, "ROLLBACK")
	for range 200 { // the cancel request must not hit what comes after
		mustExec(t, c, "SELECT 1")
	}
}

func TestServer_CloseCancelsWhatWaitsForALock(t *testing.T) {
	db := servers.Cluster(t, 15).NewDatabase(t)
	holder, waiter := connect(t, db, nil), connect(t, db, nil)
	mustExec(t, holder, "CREATE TABLE locked ()")
	mustExec(t, holder, "BEGIN; LOCK TABLE locked")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := waiter.Exec(ctx, "BEGIN; LOCK TABLE locked"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	waiting := fmt.Sprintf("SELECT count(*) FROM pg_locks WHERE pid = %d AND NOT granted", waiter.PID())
	if n := mustExec(t, holder, waiting)[0][0]; n != "1" {
		t.Fatalf("%s locks are waited for: the test is about nothing", n)
	}
	if err := waiter.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return mustExec(t, holder, waiting)[0][0] == "0" })
}

// eventually polls, for what a server does in its own time.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about within 10 seconds")
		}
	}
}

func TestServer_Quoting(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), map[string]string{"standard_conforming_strings": "on"})
	for _, name := range hostileNames {
		mustExec(t, c, "CREATE TABLE "+QuoteIdentifier(name)+" ("+QuoteIdentifier(name)+" text)")
		mustExec(t, c, "INSERT INTO "+QuoteIdentifier(name)+" VALUES ("+QuoteLiteral(name)+")")
		got := mustExec(t, c, "SELECT (SELECT relname FROM pg_class WHERE relname = "+QuoteLiteral(name)+"),"+
			" (SELECT attname FROM pg_attribute WHERE attnum = 1 AND attrelid = "+QuoteLiteral(QuoteIdentifier(name))+"::regclass),"+
			" (SELECT "+QuoteIdentifier(name)+" FROM public."+QuoteIdentifier(name)+")")
		if want := [][]string{{name, name, name}}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		mustExec(t, c, "DROP TABLE "+QuoteIdentifier(name))
	}
	if n := mustExec(t, c, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")[0][0]; n != "0" {
		t.Errorf("%s tables are left", n)
	}
}

func TestServer_RefusedLogin(t *testing.T) {
	cfg, err := pgconn.ParseConfig(servers.Cluster(t, 15).DSNAs(pgtest.User, "wrong", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Connect(t.Context(), cfg)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "28P01" {
		t.Errorf("got %v", err)
	}
}

// GO-2026-4518: pgproto3 v2 panics on lengths that a hostile server makes up.
func TestConnect_HostileServer(t *testing.T) {
	for name, sent := range map[string][]byte{
		"negative body":         {'R', 0, 0, 0, 0},
		"2 GiB":                 {'R', 0x7F, 0xFF, 0xFF, 0xFF},
		"authentication cut":    msg('R'),
		"md5 without salt":      msg('R', uint32(5)),
		"SASL without list":     msg('R', uint32(10)),
		"key data cut":          cat(msg('R', uint32(0)), msg('K', "x")),
		"negative field length": cat(msg('R', uint32(0)), msg('D', uint16(1), uint32(0xFFFFFFF0), "x")),
		"parameter unended":     cat(msg('R', uint32(0)), msg('S', "x")),
		"error unended":         msg('E', "Sx"),
		"nothing":               {},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := pgconn.ParseConfig("host=127.0.0.1 user=u password=p database=d sslmode=disable")
			if err != nil {
				t.Fatal(err)
			}
			cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return &scripted{pieces: [][]byte{sent}}, nil }
			if _, err := Connect(t.Context(), cfg); err == nil {
				t.Error("no error")
			}
		})
	}
}

// replicate creates a slot and a publication of all tables and starts a stream from the slot.
func replicate(t testing.TB, db string, opts StreamOptions) *Stream {
	t.Helper()
	mustExec(t, connect(t, db, nil), "CREATE PUBLICATION p FOR ALL TABLES")
	c := connect(t, db, map[string]string{"replication": "database"})
	id := mustExec(t, c, "IDENTIFY_SYSTEM")
	if id[0][3] != db {
		t.Fatalf("IDENTIFY_SYSTEM returned %q", id)
	}
	mustExec(t, c, "CREATE_REPLICATION_SLOT "+QuoteIdentifier(db)+" LOGICAL pgoutput NOEXPORT_SNAPSHOT")
	s, err := c.StartReplication(t.Context(), "START_REPLICATION SLOT "+QuoteIdentifier(db)+" LOGICAL 0/0 (proto_version '1', publication_names 'p')", opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestServer_Replication(t *testing.T) {
	db := servers.Cluster(t, 15).NewDatabase(t)
	w := connect(t, db, nil)
	mustExec(t, w, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	s := replicate(t, db, StreamOptions{Blocks: 2})
	const rows = 20000
	mustExec(t, w, fmt.Sprintf("INSERT INTO t SELECT i, repeat('x', i %% 100) FROM generate_series(1, %d) i", rows))
	mustExec(t, w, "INSERT INTO t VALUES (0, repeat('y', 1000000))")

	type batch struct {
		payloads [][]byte
		hold     Hold
	}
	batches := make(chan *batch, 100)
	read := make(chan error, 1)
	go func() {
		defer close(batches)
		for b, n, commits := new(batch), 0, 0; ; {
			m, err := s.Next(10 * time.Second)
			if err != nil || m.Kind == Nothing {
				read <- fmt.Errorf("after %d changes, kind %d: %w", n, m.Kind, err)
				return
			}
			if m.Kind == XLogData {
				b.payloads = append(b.payloads, m.Payload)
				n++
				if m.Payload[0] == 'C' {
					commits++
				}
				if s := time.Since(time.UnixMicro(m.ServerTime)); s < -time.Minute || s > time.Minute {
					read <- fmt.Errorf("the server's time is off by %v", s)
					return
				}
			}
			if !s.Buffered() || commits == 2 {
				s.Detach(&b.hold)
				batches <- b
				b = new(batch)
			}
			if commits == 2 {
				read <- nil
				return
			}
		}
	}()
	// The consumer is slow to give back: what it holds must stay as it was.
	var kinds strings.Builder
	next := 1
	for b := range batches {
		for _, p := range b.payloads {
			if p[0] != 'I' {
				kinds.WriteByte(p[0])
				continue
			}
			size := binary.BigEndian.Uint32(p[9:])
			id, err := strconv.Atoi(string(p[13 : 13+size]))
			if err != nil || id != next%(rows+1) {
				t.Fatalf("got row %d, %v, want %d", id, err, next)
			}
			value := string(p[13+size+5:])
			if want := strings.Repeat("x", id%100); id > 0 && value != want || id == 0 && value != strings.Repeat("y", 1000000) {
				t.Fatalf("row %d has %q", id, value)
			}
			next++
		}
		b.hold.Release()
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if next != rows+2 || kinds.String() != "BRCBC" {
		t.Errorf("got %d rows and %q", next-1, kinds.String())
	}
	if s.pool.out > 2 {
		t.Errorf("%d blocks are out after the end", s.pool.out)
	}
}

func TestServer_StatusIsAnsweredAndRecorded(t *testing.T) {
	db := servers.Cluster(t, 15).NewDatabase(t)
	w := connect(t, db, nil)
	s := replicate(t, db, StreamOptions{})
	mustExec(t, w, "SELECT pg_logical_emit_message(false, 'p', 'x')") // the log goes on
	at := mustExec(t, w, "SELECT pg_current_wal_flush_lsn(), pg_current_wal_flush_lsn() - '0/0'")[0]
	lsn, err := strconv.ParseUint(at[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.SendStatus(lsn, lsn, lsn, true) }() // while Next waits
	for {
		m, err := s.Next(10 * time.Second)
		if err != nil || m.Kind == Nothing {
			t.Fatalf("no keepalive: %v", err)
		}
		if m.Kind == Keepalive && m.WALEnd >= lsn {
			break
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		return mustExec(t, w, "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '"+db+"'")[0][0] == at[0]
	})
	eventually(t, func() bool { // some keepalives come by themselves
		m, err := s.Next(20 * time.Millisecond)
		if err != nil || m.Kind == XLogData {
			t.Fatalf("an idle server sent %+v, %v", m, err)
		}
		return m.Kind == Nothing
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.SendStatus(lsn, lsn, lsn, false); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a status after Close: %v", err)
	}
	eventually(t, func() bool {
		return mustExec(t, w, "SELECT active FROM pg_replication_slots WHERE slot_name = '"+db+"'")[0][0] == "f"
	})
}

func TestServer_ReplicationRefusedAndTerminated(t *testing.T) {
	db := servers.Cluster(t, 15).NewDatabase(t)
	c := connect(t, db, map[string]string{"replication": "database"})
	_, err := c.StartReplication(t.Context(), "START_REPLICATION SLOT nothing LOGICAL 0/0 (proto_version '1', publication_names 'p')", StreamOptions{})
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "42704" {
		t.Fatalf("got %v", err)
	}
	mustExec(t, c, "SHOW wal_level")
	if _, err = c.StartReplication(t.Context(), "SHOW wal_level", StreamOptions{}); err == nil {
		t.Error("SHOW started a replication")
	}
	s := replicate(t, db, StreamOptions{})
	mustExec(t, connect(t, db, nil), fmt.Sprintf("SELECT pg_terminate_backend(%d)", s.c.PID()))
	for err = nil; err == nil; {
		_, err = s.Next(10 * time.Second)
	}
	if !errors.As(err, &refusal) || refusal.Code != "57P01" {
		t.Errorf("got %v", err)
	}
}
