package main

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

func (s *site) slot(begin uint32) *slot {
	return newSlot(s.connect(), s.config, s.config.baseSlotName(""), protocol.Range{Begin: begin, End: 0xffffffff})
}

func TestSlot_IsCreatedOnceAndBeginsWhereItWasMade(t *testing.T) {
	s := newSite(t, 15)
	sl := s.slot(0)
	if _, exists, lost, err := sl.earliest(t.Context()); exists || lost != "" || err != nil {
		t.Fatalf("before: got %v, %q, %v", exists, lost, err)
	}
	made, err := sl.create(t.Context(), s.replicate())
	if err != nil {
		t.Fatal(err)
	}
	lsn, exists, lost, err := sl.earliest(t.Context())
	if err != nil || !exists || lost != "" || lsn != made || made == 0 {
		t.Fatalf("after: got %X, %v, %q, %v, want %X", lsn, exists, lost, err, made)
	}
	if got := s.query("SELECT plugin, database FROM pg_replication_slots WHERE slot_name = '" + sl.name + "'"); got != "pgoutput "+s.config.Database {
		t.Errorf("got the slot %s", got)
	}
	if _, err := sl.create(t.Context(), s.replicate()); pgserver.State(err) != codeDuplicateObject {
		t.Errorf("creating it again: got %v", err)
	}
}

// bug sql-cdc 40: estuary/connectors history: slot creation waits for every running transaction; statement_timeout cancelled it and each restart failed.
// bug sql-cdc 39: estuary/connectors history: the SQL function waited for its own transaction.
func TestSlot_CreationNamesWhomItWaitsFor(t *testing.T) {
	s := newSite(t, 15)
	s.exec("ALTER ROLE $role SET statement_timeout = '200ms'", "ALTER ROLE $role SET lock_timeout = '200ms'")
	hook := listen(t)
	other := s.superuser()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	sl := s.slot(0)
	sl.every = 50 * time.Millisecond
	repl := s.replicate()
	done := make(chan error, 1)
	begin := time.Now()
	go func() { _, err := sl.create(t.Context(), repl); done <- err }()
	pid := "pid " + strconv.Itoa(int(other.PgConn().PID()))
	eventually(t, "the log names "+pid, func() bool { return strings.Contains(logged(hook), pid+" (user postgres") })
	eventually(t, "the role's timeouts have passed", func() bool { return time.Since(begin) > 600*time.Millisecond })
	select {
	case err := <-done:
		t.Fatalf("the creation did not wait: %v", err)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// bug sql-cdc 43: estuary/connectors history: a dead process's walsender still held the slot, and the capture crashed in a loop.
func TestSlot_InUseIsWaitedForAndThenNamed(t *testing.T) {
	s := newSite(t, 15)
	hook := listen(t)
	sl := s.slot(0)
	sl.every = 10 * time.Millisecond
	s.exec("CREATE PUBLICATION flow_publication")
	repl := s.replicate()
	lsn, err := sl.create(t.Context(), repl)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := repl.StartReplication(t.Context(), "START_REPLICATION SLOT "+quote(sl.name)+" LOGICAL 0/0 (proto_version '1', publication_names '\"flow_publication\"')", pgwire.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slot is in use", func() bool {
		return s.query("SELECT active FROM pg_replication_slots WHERE slot_name = '"+sl.name+"'") == "t"
	})
	sl.patience = 300 * time.Millisecond
	_, _, _, err = sl.earliest(t.Context())
	pid := strconv.Itoa(int(repl.PID()))
	problem, ok := errors.AsType[*protocol.Problem](err)
	if !ok || !strings.Contains(problem.Summary, "pid "+pid) || problem.Kind != protocol.Transient || problem.SQL != "SELECT pg_terminate_backend("+pid+");" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(logged(hook), "waiting for the replication slot") {
		t.Errorf("nothing was logged: %s", logged(hook))
	}
	sl.patience = 20 * time.Second
	hook.Reset()
	type result struct {
		lsn uint64
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.lsn, _, _, r.err = sl.earliest(t.Context())
		done <- r
	}()
	eventually(t, "it waits", func() bool { return strings.Contains(logged(hook), "waiting for the replication slot") })
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.lsn != lsn {
		t.Errorf("after the reader has gone: got %X, %v, want %X", got.lsn, got.err, lsn)
	}
}

// bug sql-cdc 42: estuary/connectors history: a slot of another database gave an obscure error at the start.
func TestSlot_OfSomebodyElseIsRefused(t *testing.T) {
	s := newSite(t, 15)
	name := s.config.Advanced.SlotName
	elsewhere := s.cluster.NewDatabase(t)
	for _, c := range []struct{ name, database, create, want string }{
		{"physical", s.config.Database, "SELECT pg_create_physical_replication_slot('" + name + "')", "a physical one"},
		{"another plugin", s.config.Database, "SELECT pg_create_logical_replication_slot('" + name + "', 'test_decoding')", "test_decoding"},
		{"another database", elsewhere, "SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')", strconv.Quote(elsewhere)},
	} {
		if err := s.cluster.Exec(c.database, c.create); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := s.slot(0).earliest(t.Context())
		if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "slotName") {
			t.Errorf("%s: got %v", c.name, err)
		}
		if err := s.cluster.Exec(c.database, "SELECT pg_drop_replication_slot('"+name+"')"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlotState(t *testing.T) {
	at := "0/16B3748"
	for _, c := range []struct {
		name  string
		state slotState
		lost  string
		err   string
	}{
		{"usable", slotState{ConfirmedFlushLSN: &at, RestartLSN: &at, WALStatus: "extended"}, "", ""},
		// bug sql-cdc 44: estuary/connectors history: wal_status does not exist before 13.
		{"before 13", slotState{ConfirmedFlushLSN: &at, RestartLSN: &at}, "", ""},
		// bug sql-cdc 41: estuary/connectors history: an interrupted creation leaves NULLs.
		{"interrupted creation", slotState{}, "", "SELECT pg_drop_replication_slot('s');"},
		// bug sql-cdc 45: estuary/connectors history: a slot whose log is gone.
		{"log gone", slotState{ConfirmedFlushLSN: &at, WALStatus: "lost"}, "max_slot_wal_keep_size", ""},
		{"idle too long", slotState{ConfirmedFlushLSN: &at, WALStatus: "lost", InvalidationReason: "idle_timeout"}, "idle_replication_slot_timeout", ""},
		{"standby's conflict", slotState{ConfirmedFlushLSN: &at, RestartLSN: &at, Conflicting: true}, "conflicted with recovery", ""},
	} {
		c.state.Name = "s"
		lsn, lost, err := c.state.begin()
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v", c.name, err)
			}
		case err != nil, c.lost == "" && (lost != "" || lsn != 0x16B3748), !strings.Contains(lost, c.lost):
			t.Errorf("%s: got %X, %q, %v", c.name, lsn, lost, err)
		}
	}
}

// bug sql-cdc 37: debezium 5739: the server skips silently from an older position to the slot's own.
func TestSlot_CopyOfARangeBeginsNotAfterTheState(t *testing.T) {
	s := newSite(t, 15)
	first, upper := s.slot(0), s.slot(0x80000000)
	if _, err := upper.copyBase(t.Context(), 1<<40); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without a first slot: got %v", err)
	}
	at, err := first.create(t.Context(), s.replicate())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = upper.copyBase(t.Context(), at-1); err == nil || !strings.Contains(err.Error(), "are gone") {
		t.Errorf("with a state before the slot: got %v", err)
	}
	_, exists, _, err := upper.earliest(t.Context())
	if exists || err != nil {
		t.Fatalf("a refused copy left a slot: %v", err)
	}
	lsn, exists, lost, err := upper.baseEarliest(t.Context())
	if lsn != at || !exists || lost != "" || err != nil {
		t.Errorf("the first slot begins at %X, %v, %q, %v, want %X", lsn, exists, lost, err, at)
	}
	lsn, err = upper.copyBase(t.Context(), at)
	if err != nil || lsn != at {
		t.Fatalf("got %X, %v, want %X", lsn, err, at)
	}
	if got, exists, _, err := upper.earliest(t.Context()); got != at || !exists || err != nil {
		t.Errorf("the copy begins at %X, %v, %v", got, exists, err)
	}
}

func TestIdleSlots_AreThoseOfTheSameNameThatNobodyReads(t *testing.T) {
	s := newSite(t, 15)
	base := s.config.Advanced.SlotName
	for _, name := range []string{base, base + "_80000000", "zz" + base} {
		s.exec("SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')")
	}
	idle, err := idleSlots(t.Context(), s.connect(), s.config, base)
	if err != nil || len(idle) != 1 || idle[0].Name != base+"_80000000" {
		t.Errorf("got %+v, %v", idle, err)
	}
}

func TestOldestTransaction_SeesThoseOfOtherUsers(t *testing.T) {
	s := newSite(t, 15)
	if got, err := oldestTransaction(t.Context(), s.connect()); err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	tx, err := s.superuser().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	got, err := oldestTransaction(t.Context(), s.connect())
	if err != nil || !strings.HasPrefix(got, "pid ") || !strings.Contains(got, "user postgres") {
		t.Errorf("got %q, %v", got, err)
	}
}

// bug sql-cdc 83: estuary/connectors history: AlloyDB's IDENTIFY_SYSTEM has a column more.
func TestField_GoesByName(t *testing.T) {
	value := func(s string) *string { return &s }
	got, err := field([]pgwire.Result{{Columns: []string{"x", "consistent_point"}, Rows: [][]*string{{value("1"), value("0/1")}}}}, "consistent_point")
	if got != "0/1" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := field([]pgwire.Result{{Columns: []string{"consistent_point"}, Rows: [][]*string{{nil}}}}, "consistent_point"); err == nil {
		t.Error("a missing value is no error")
	}
}

func TestSlotLSN(t *testing.T) {
	for _, text := range []string{"0/0", "0/16B3748", "16/B374D848", "FFFFFFFF/FFFFFFFF"} {
		lsn, err := parseSlotLSN(text)
		if err != nil || formatSlotLSN(lsn) != text {
			t.Errorf("%s: got %s, %v", text, formatSlotLSN(lsn), err)
		}
	}
	for _, text := range []string{"", "0", "/", "0/", "/1", "1/1/1", "x/1", "1FFFFFFFF/0", "-1/0"} {
		if lsn, err := parseSlotLSN(text); err == nil {
			t.Errorf("%q: got %X", text, lsn)
		}
	}
}

// Names that only differ in characters that a slot's name cannot have once shared a slot. A capture that began then goes on with it.
func TestSlot_OfACaptureThatBeganUnderTheOlderName(t *testing.T) {
	s := newSite(t, 15)
	unique := strings.TrimPrefix(s.config.Advanced.SlotName, "slot_")
	s.config.Advanced.SlotName = ""
	task := "Co-" + unique
	older, name := "flow_co_"+unique, s.config.baseSlotName(task)
	half := protocol.Range{Begin: 0x80000000, End: 0xffffffff}
	base := func(resumes bool, r protocol.Range) string {
		t.Helper()
		got, err := slotBase(t.Context(), s.connect(), s.config, task, r, resumes)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	create := func(slot string) { s.exec("SELECT pg_create_logical_replication_slot('" + slot + "', 'pgoutput')") }
	expect := func(when string, resumes bool, r protocol.Range, want string) {
		t.Helper()
		if got := base(resumes, r); got != want {
			t.Errorf("%s: got %s, want %s", when, got, want)
		}
	}
	if name == older {
		t.Fatalf("%s has the slot of %s", task, "co_"+unique)
	}
	expect("nothing there", true, protocol.FullRange, name)
	create(older)
	expect("begins", false, protocol.FullRange, name)
	expect("goes on", true, protocol.FullRange, older)
	expect("goes on, upper half", true, half, older)
	create(name + "_80000000")
	expect("goes on with its half's own", true, half, name)
	create(name)
	expect("goes on with its own", true, protocol.FullRange, name)
	s.exec("SELECT pg_drop_replication_slot('" + name + "')")
	s.exec("SELECT pg_drop_replication_slot('" + older + "')")
	s.exec("SELECT pg_create_logical_replication_slot('" + older + "', 'test_decoding')")
	expect("the older name is other software's", true, protocol.FullRange, name)
	s.config.Advanced.SlotName = "mine"
	expect("configured", true, protocol.FullRange, "mine")
}
