package simdb

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/estuary/connectors/sqlcapture"
)

// script makes given choices, then 0.
type script struct{ list []int }

func (s *script) Choose(n int, _ Choice) int {
	if len(s.list) == 0 {
		return 0
	}
	c := s.list[0]
	s.list = s.list[1:]
	return min(c, n-1)
}

var name = sqlcapture.TableName{Schema: "s", Name: "t"}

func world(programs ...Program) *World {
	return New(Config{
		Tables: []TableSpec{{Name: name, Rows: 1}}, Programs: programs, FirstXID: 1<<32 - 1, AllTables: true,
	}, &script{})
}

func rows(t *testing.T, w *World) int {
	t.Helper()
	quiet := w.Quiet
	w.Quiet = true
	defer func() { w.Quiet = quiet }()
	c, err := w.Database("slot", "").Scanner.Scan(context.Background(), sqlcapture.ScanRequest{Table: name, Key: []string{"k"}, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for n := 0; ; n++ {
		if _, err := c.Next(); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLoggedBeforeVisible: a transaction that waits for a standby is in the log, and no snapshot contains it.
func TestLoggedBeforeVisible(t *testing.T) {
	w := world(Program{Ops: []Op{{Kind: Put, Key: 1}}})
	ctx := context.Background()
	w.Quiet = true
	log, _, err := w.Database("slot", "").Opener.Open(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for w.txns[1].state != logged {
		w.take(w.steps()[0])
	}
	w.durable = w.end
	events, err := log.Next(ctx, 0)
	if err != nil || len(events.List) != 3 || events.List[2].Kind != sqlcapture.EventCommit {
		t.Fatalf("the log holds %+v, %v; want a table, an insert and a commit", events.List, err)
	}
	txn := events.List[2].Txn
	if snap := w.snapshot(); snap.Contains(txn) || rows(t, w) != 1 {
		t.Error("a snapshot contains a transaction that is not visible")
	}
	w.take(step{txn: w.txns[1]})
	if snap := w.snapshot(); !snap.Contains(txn) || rows(t, w) != 2 {
		t.Error("a snapshot does not contain a transaction that is visible")
	}
}

// TestVisibleBeforeDurable: with synchronous_commit off a transaction is visible, and the log does not hand it out yet. Its id is beyond 2^32.
func TestVisibleBeforeDurable(t *testing.T) {
	w := world(Program{Ops: []Op{{Kind: Delete, Key: 4}}}, Program{Ops: []Op{{Kind: Put, Key: 1}}})
	w.Quiet = true
	log, _, err := w.Database("slot", "").Opener.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, txn := range w.txns[1:] {
		for txn.state != ended {
			w.take(step{txn: txn})
		}
	}
	w.idle = -10 // nobody makes the log durable
	events, err := log.Next(context.Background(), 0)
	if err != nil || len(events.List) != 0 || rows(t, w) != 2 {
		t.Fatalf("the log holds %+v, %v, and %d rows are visible; want nothing and 2", events.List, err, rows(t, w))
	}
	if id := w.txns[2].full; id < 1<<32 {
		t.Errorf("transaction id %d does not cross 2^32", id)
	}
}

// TestLocksUntilVisible: a row's lock is held until its transaction is visible, not until it is in the log.
func TestLocksUntilVisible(t *testing.T) {
	w := world(Program{Ops: []Op{{Kind: Put, Key: 0}}}, Program{Ops: []Op{{Kind: Delete, Key: 0}}})
	first, second := w.txns[1], w.txns[2]
	for first.state != logged {
		w.take(step{txn: first})
	}
	for _, s := range w.steps() {
		if s.txn == second {
			t.Error("the second transaction does not wait for the row's lock")
		}
	}
	w.take(step{txn: first})
	w.take(step{txn: second})
	if len(second.changes) != 1 || second.changes[0].kind != remove {
		t.Errorf("the second transaction did %+v; want a delete", second.changes)
	}
}
