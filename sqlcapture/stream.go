package sqlcapture

import (
	"bytes"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// phase is where a stream is in its life.
type phase uint8

const (
	pending  phase = iota // nothing scanned; its events are dropped, the first chunk will contain them
	backfill              // scanned up to a key
	active                // all scanned: every event is emitted
	missing               // the table does not exist; it starts over when it comes back
	failed                // told by Out.Fail; nothing more comes
)

// stream is a binding's table and how far it got. The engine's goroutine owns it.
type stream struct {
	binding int
	name    TableName
	phase   phase

	// key is the scan's key by column name, nil: keyless. docKey is the documents' key, the same unless the runner configured another; then the scan
	// is keyless, since only the table's own key is unique, never NULL and always in the log.
	key, docKey []string
	// ordered: every key column sorts in the database as its bytes do here.
	ordered bool
	// order tells apart the orders that the key's rows are read in: another type or collation of a key column is another order, in which scanned and
	// until are other places.
	order string

	scanned rowkey.Key // the last key read (keyless: Chunk.Progress); nil: nothing
	until   rowkey.Key // the greatest key when the backfill began: later ones are not scanned, their events are all emitted
	paged   bool       // keyless in several chunks: every event is emitted, and so at least once
	window  *window    // the open window; at most one stream has one
	rows    int64      // rows emitted by the backfill
	total   int64      // rows expected; 0: unknown

	stateMode, stateOrder string // of the given state
	stateKey              []string

	identity, leaves, columns string    // as last seen; "" when unknown
	delivery                  *Delivery // as last seen; nil when unknown
	given                     Position  // what its state is covered up to, at the start; nil: it has none
	own                       Position  // the stream's own position while the log is still behind it; nil once passed
	held                      Position  // where a failed stream's next run goes on, when no checkpoint says so yet
	resetReason               string    // the backfill started over and no chunk of the new one is covered by a checkpoint yet
	resetDue                  bool      // Out.Reset must follow the next checkpoint

	published   string    // the identity of the table that was published
	unpublished bool      // the log does not deliver this table (again) yet
	gate        uint64    // Barrier's mark; 0: not raised
	retryAt     time.Time // not before: the table was locked
	dirty       bool      // the state changed since the last checkpoint

	plans    map[*Table]*plan
	lastPlan *plan
	known    *Table // the newest description
}

// window is the part of a table that a chunk has read, from its snapshot to its fence.
type window struct {
	from, to rowkey.Key // from < key ≤ to
	end      bool       // the table was read to its end: to is +∞
	snapshot Snapshot
	keys     *keySet // the chunk's keys, where the filter needs them; else nil
	fence    FenceID
	progress rowkey.Key // keyless: the next scanned

	contained, newer int // events of the window's keys that were dropped, and emitted
}

// verdict says what to do with one half of an event.
func (e *engine) judge(s *stream, txn *Txn, key rowkey.Key, isDelete bool) bool {
	if s.emits(txn, key) {
		return true
	}
	// A consumer that keeps the records of a killed run, or rows from before a reset, may hold a row that only this delete removes. Not so if the row
	// was there again when the open chunk read it: the chunk's row is newer than the delete.
	if !isDelete || !e.alwaysDeletes || s.key == nil {
		return false
	}
	w := s.window
	return w == nil || !w.snapshot.Contains(txn) || !w.keys.has(key)
}

// emits is the filter of sql-cdc §4.2: does the output need this event, besides the rows that chunks emitted and will emit?
func (s *stream) emits(txn *Txn, key rowkey.Key) bool {
	w := s.window
	switch {
	case s.phase == active:
		return true
	case s.phase == missing || s.phase == failed:
		return false
	case s.phase == pending && w == nil:
		return false
	case s.key == nil:
		return s.paged || w == nil || w.lacks(txn)
	case !s.ordered:
		return w == nil || !w.keys.has(key) || w.lacks(txn)
	case s.scanned != nil && bytes.Compare(key, s.scanned) <= 0:
		return true
	case s.until != nil && bytes.Compare(key, s.until) > 0:
		return true
	case w == nil:
		return false
	case w.end || bytes.Compare(key, w.to) <= 0:
		return w.lacks(txn)
	}
	return false
}

// lacks tells whether the transaction is newer than the chunk: what it did to the window's keys is emitted. Otherwise the chunk stands for it.
func (w *window) lacks(txn *Txn) bool {
	if w.snapshot.Contains(txn) {
		w.contained++
		return false
	}
	w.newer++
	return true
}

// configure sets the stream's keys from the runner's and the table's.
func (s *stream) configure(t *Table, configured []string) *protocol.Problem {
	s.key, s.docKey = t.Key, t.Key
	if len(configured) > 0 && !sameNames(configured, t.Key) {
		s.key, s.docKey = nil, configured
	}
	s.ordered, s.order = true, keyOrder(t, s.key)
	s.plans, s.lastPlan = map[*Table]*plan{}, nil
	if problem := t.Unreadable(); problem != nil {
		return problem
	}
	for _, c := range t.Columns {
		for _, k := range s.key {
			if c.Name == k && !c.Ordered {
				s.ordered = false
			}
		}
	}
	if _, err := newPlan(t, s.key, s.docKey); err != nil {
		return &protocol.Problem{Kind: protocol.Config, Summary: err.Error(), Fix: "configure another key for this stream", Err: err}
	}
	return nil
}

// planFor returns the plan of a description of the stream's table.
func (s *stream) planFor(t *Table) (*plan, error) {
	if s.lastPlan != nil && s.lastPlan.table == t {
		return s.lastPlan, nil
	}
	p := s.plans[t]
	if p == nil {
		var err error
		if p, err = newPlan(t, s.key, s.docKey); err != nil {
			return nil, err
		}
		if len(s.plans) > 64 { // descriptions come with each walsender and each ALTER; old ones never come back
			clear(s.plans)
		}
		s.plans[t] = p
	}
	s.lastPlan = p
	return p, nil
}

func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
