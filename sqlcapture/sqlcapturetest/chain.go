package sqlcapturetest

import (
	"encoding/json"
	"fmt"

	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// violation is a broken invariant.
type violation struct {
	Invariant string
	Detail    string
}

func (v *violation) Error() string { return v.Invariant + ": " + v.Detail }

func broken(invariant, format string, args ...any) error {
	return &violation{invariant, fmt.Sprintf(format, args...)}
}

// item is a record, or a reset, as the consumer holds it.
type item struct {
	reset    bool
	honoured bool // the runner acts on the reset
	op       byte
	key      int
	version  int64 // 0: not in the document
	long     int64 // 0: not in the document
	lsn      int64 // 0: a row of a chunk
	commit   int64 // end of the event's transaction
	original string
}

// parseItem reads a document.
func parseItem(w *simdb.World, spec simdb.TableSpec, doc json.RawMessage) (item, error) {
	var d struct {
		K    json.RawMessage `json:"k"`
		V    int64           `json:"v"`
		Long *string         `json:"long"`
		Meta struct {
			Op     string `json:"op"`
			Source struct {
				Snapshot   bool
				LSN, Final int64
			} `json:"source"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		return item{}, broken("format", "document %s: %v", doc, err)
	}
	text := string(d.K)
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	it := item{key: simdb.ParseKey(spec.Kind, text), version: d.V, lsn: d.Meta.Source.LSN, original: string(doc)}
	if it.key < 0 || len(d.Meta.Op) != 1 {
		return item{}, broken("format", "document %s: no such key or operation", doc)
	}
	it.op = d.Meta.Op[0]
	if d.Long != nil {
		if it.long = simdb.ParseLong(*d.Long); it.long < 0 {
			return item{}, broken("format", "document %s: its long column was never written", doc)
		}
	}
	if !d.Meta.Source.Snapshot {
		if it.commit = w.CommitEnd(d.Meta.Source.Final); it.commit == 0 {
			return item{}, broken("I4", "document %s comes from no committed transaction", doc)
		}
	}
	return it, nil
}

// chain is what was emitted of one row so far.
type chain struct {
	// any is the sequence number of the newest version that was emitted.
	any int64
	// counted is that of the newest one that counts for I3; 0: none.
	counted int64
}

// row is a row as the consumer reduces it.
type row struct {
	version, long, seq int64
	// stale: it came before a reset that the runner does not act on. Only a keyed table's deletes can take it away later.
	stale bool
}

// view is a table as a consumer holds it: rows reduced by key, and how each came.
type view struct {
	w      *simdb.World
	table  int
	spec   simdb.TableSpec
	chains map[int]*chain
	rows   map[int]*row
}

func newView(w *simdb.World, table int) *view {
	return &view{w: w, table: table, spec: w.Tables()[table], chains: map[int]*chain{}, rows: map[int]*row{}}
}

// add checks the item against the history and applies it; strict false: it is only applied, as by a consumer that keeps the records of killed runs.
func (v *view) add(it item, strict bool) error {
	if it.reset {
		if it.honoured {
			clear(v.rows)
		}
		for _, r := range v.rows {
			r.stale = !v.spec.Kind.HasKey()
		}
		for _, c := range v.chains {
			c.counted = 0
		}
		return nil
	}
	history := v.w.History(v.table, it.key)
	at := find(history, it)
	if at < 0 {
		return broken("I4", "table %d: %s is no committed version", v.table, it.original)
	}
	e := history[at]
	if strict && v.spec.Kind != simdb.Paged {
		if err := v.check(history, at, it); err != nil {
			return err
		}
	}
	if it.op == 'd' {
		delete(v.rows, it.key)
		return nil
	}
	r := v.rows[it.key]
	if r == nil || it.lsn == 0 {
		r = &row{}
		v.rows[it.key] = r
	}
	r.version, r.seq, r.stale = it.version, e.Seq, false
	if it.long != 0 {
		r.long = it.long
	}
	return nil
}

// find returns the index of the version that the item renders.
func find(history []simdb.Entry, it item) int {
	for i, e := range history {
		switch {
		case e.Emptied:
		case it.lsn == 0 && e.Version == it.version && it.version != 0:
			return i
		case it.lsn != 0 && e.LSN == it.lsn && (e.Version == 0) == (it.op == 'd') && (it.op == 'd' || e.Version == it.version):
			return i
		}
	}
	return -1
}

// check is I2 and I3 for one record.
func (v *view) check(history []simdb.Entry, at int, it item) error {
	e := history[at]
	c := v.chains[it.key]
	if c == nil {
		c = &chain{}
		v.chains[it.key] = c
	}
	emptied := int64(0) // the last time before e that the table lost all its rows
	for _, x := range history[:at] {
		if x.Emptied {
			emptied = x.Seq
		}
	}
	if c.counted != 0 && c.counted < emptied {
		c.counted = 0
	}
	fromChunk := it.lsn == 0
	switch {
	case e.Seq < c.any:
		return broken("I2", "table %d: %s is older than what was emitted before", v.table, it.original)
	case e.Seq == c.any && !fromChunk:
		return broken("I3", "table %d: %s was emitted before", v.table, it.original)
	case fromChunk && c.counted != 0 && v.spec.Kind != simdb.Locale:
		return broken("I3", "table %d: %s, a row of a chunk, was emitted before", v.table, it.original)
	case fromChunk && it.long != e.Long:
		return broken("I1", "table %d: %s: the long column is not that of this version (%d)", v.table, it.original, e.Long)
	}
	if !fromChunk && c.counted != 0 {
		for _, x := range history[:at] {
			if x.Seq > c.counted {
				return broken("I3", "table %d: %s: the version at %d before it was left out", v.table, it.original, x.LSN)
			}
		}
	}
	c.any = e.Seq
	if it.op != 'd' || c.counted != 0 {
		c.counted = e.Seq
	}
	return nil
}

// compare is I1: the reduced rows against the table. Rows that a TRUNCATE took away may remain where the runner does not act on a reset.
func (v *view) compare(who string, emptiedRemain bool) error {
	want := v.w.Rows(v.table)
	for key, w := range want {
		have := v.rows[key]
		switch {
		case have == nil:
			return broken("I1", "%s: table %d lacks key %d, version %d", who, v.table, key, w.Version)
		case have.version != w.Version || have.long != w.Long:
			return broken("I1", "%s: table %d has key %d at version %d with long %d instead of %d with %d",
				who, v.table, key, have.version, have.long, w.Version, w.Long)
		}
	}
	for key, have := range v.rows {
		if want[key] == nil && !have.stale && !(emptiedRemain && v.emptiedAfter(key, have.seq)) {
			return broken("I1", "%s: table %d has key %d at version %d, which is gone", who, v.table, key, have.version)
		}
	}
	return nil
}

func (v *view) emptiedAfter(key int, seq int64) bool {
	for _, e := range v.w.History(v.table, key) {
		if e.Emptied && e.Seq > seq {
			return true
		}
	}
	return false
}

// covers is I14: everything that was committed up to a change is in the output.
func (v *view) covers(seq int64, emptiedRemain bool) error {
	for key := range 8 {
		var last *simdb.Entry
		history := v.w.History(v.table, key)
		for i := range history {
			if history[i].Seq <= seq {
				last = &history[i]
			}
		}
		if last == nil {
			continue
		}
		have := v.rows[key]
		gone := last.Version == 0
		switch {
		case gone && (have == nil || have.seq > last.Seq):
		case gone && (have.stale || emptiedRemain && v.emptiedAfter(key, have.seq)):
		case gone:
			return broken("I14", "table %d still has key %d at version %d, deleted before the run began", v.table, key, have.version)
		case have != nil && have.seq >= last.Seq:
		case have == nil && goneAfter(history, last.Seq):
		default:
			return broken("I14", "table %d lacks key %d at version %d, committed before the run began", v.table, key, last.Version)
		}
	}
	return nil
}

func goneAfter(history []simdb.Entry, seq int64) bool {
	for _, e := range history {
		if e.Seq > seq && e.Version == 0 {
			return true
		}
	}
	return false
}
