package main

import (
	"strconv"
	"strings"
	"testing"

	log "github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

// The lines that tell how far behind a capture is.
func TestReport_TellsLagAndWhatTheSlotHoldsBack(t *testing.T) {
	s := newSite(t, 15)
	session, err := openSession(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.close)
	slot := s.config.Advanced.SlotName
	s.exec("SELECT pg_create_logical_replication_slot('" + slot + "', 'pgoutput')")
	at := s.walPosition()
	hook := listen(t)
	session.report(t.Context(), slot, at)
	before := lagLine(t, hook)
	if before.Data["slot"] != slot || before.Data["position"] != formatSlotLSN(at) {
		t.Errorf("the line is of slot %v at %v, want %s at %s", before.Data["slot"], before.Data["position"], slot, formatSlotLSN(at))
	}
	s.exec("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))")
	grown := int64(s.walPosition() - at) //nolint:gosec // small
	session.report(t.Context(), slot, at)
	after := lagLine(t, hook)
	if lag := number(t, after, "lagBytes"); lag < 1_000_000 || lag < grown || lag > grown+1<<20 {
		t.Errorf("lagBytes is %d, the log has grown by %d", lag, grown)
	}
	if more := number(t, after, "retainedBytes") - number(t, before, "retainedBytes"); more < 1_000_000 {
		t.Errorf("retainedBytes has grown by %d, the log by %d", more, grown)
	}
	// A slot that is gone is told and ends nothing.
	s.exec("SELECT pg_drop_replication_slot('" + slot + "')")
	session.report(t.Context(), slot, at)
	if got := logged(hook); !strings.Contains(got, "looking at the replication slot's lag") {
		t.Errorf("nothing is said of a slot that is gone: %s", got)
	}
}

// lagLine is the newest line of a report at level info.
func lagLine(t *testing.T, hook *logtest.Hook) *log.Entry {
	t.Helper()
	e := hook.LastEntry()
	if e == nil || e.Message != "log position" || e.Level != log.InfoLevel {
		t.Fatalf("the last line is no report: %s", logged(hook))
	}
	return e
}

func number(t *testing.T, e *log.Entry, field string) int64 {
	t.Helper()
	n, ok := e.Data[field].(int64)
	if !ok {
		t.Fatalf("field %s is %v", field, e.Data[field])
	}
	return n
}

// walPosition is where the log ends.
func (s *site) walPosition() uint64 {
	s.t.Helper()
	at, err := strconv.ParseUint(s.query("SELECT (pg_current_wal_lsn() - '0/0')::text"), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return at
}
