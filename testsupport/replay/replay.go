// Package replay folds the output of a connector into tables, as a destination does, and judges it on the way: no older version of a row after a newer
// one, nothing rolled back, no change left out. Compare then holds the folded tables against the server's, column by column.
//
// A Run collects what one process printed. What of it counts is decided afterwards, because a test that kills the process chooses later which STATE to
// resume from: Fold.Add takes a run up to a STATE, or whole.
package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/testsupport/wire"
)

// Table tells how a stream is folded.
type Table struct {
	Stream string // namespace.name of the stream, as wire.Descriptor prints it
	// Key columns. Of a keyless table: columns that nevertheless tell its rows apart, so that the test can count each of them.
	Key     []string
	Keyless bool
	// Version is the column with the row's version, which grows by one with every change of a key, deletions included, and is negative in what was
	// rolled back. Empty: the table has none, and only its content is judged.
	Version string
}

// Row is a folded row: column → JSON value.
type Row map[string]json.RawMessage

// Fold is the state of a destination.
type Fold struct {
	// KeepsAll: the destination also keeps what came after the STATE that a killed run is resumed from. Then versions may go back between runs, and
	// changes come twice.
	KeepsAll bool
	tables   map[string]*folded
	Stats    Stats
}

// Stats counts what was folded.
type Stats struct {
	Records   int64 // all
	Snapshot  int64 // of a backfill
	Deletes   int64
	Discarded int64 // not counted by the resumed STATE
	Repeats   int64 // changes of the log whose version was there already
	Rescans   int64 // rows of a backfill whose version was there already, from the log
}

type folded struct {
	Table
	rows     map[string]Row
	versions map[string]version
	seen     map[string]int // keyless: key, version and operation → times
	errs     []error
	stranger bool // nobody asked for it
	scanned  int64
	changes  int64
}

// version is what is known of a key.
type version struct {
	n       int64
	known   bool  // n is the last version that was seen
	deletes int64 // 1: a deletion followed it
	run     int   // the run that it was seen in
}

// New makes an empty destination.
func New(keepsAll bool, tables ...Table) *Fold {
	f := &Fold{KeepsAll: keepsAll, tables: map[string]*folded{}}
	for _, t := range tables {
		f.tables[t.Stream] = &folded{Table: t, rows: map[string]Row{}, versions: map[string]version{}, seen: map[string]int{}}
	}
	return f
}

// Err returns what was wrong with the output so far, at most 20 findings a table.
func (f *Fold) Err() error {
	var errs []error
	for _, name := range f.streams() {
		errs = append(errs, f.tables[name].errs...)
	}
	return errors.Join(errs...)
}

// Rows returns the rows of a stream by key; they belong to the fold.
func (f *Fold) Rows(stream string) map[string]Row {
	if t := f.tables[stream]; t != nil {
		return t.rows
	}
	return nil
}

// Counts returns how many records of a stream were folded: rows of its backfill, and changes from the log.
func (f *Fold) Counts(stream string) (scanned, changes int64) {
	if t := f.tables[stream]; t != nil {
		return t.scanned, t.changes
	}
	return 0, 0
}

// Reset empties a stream: the connector has said that everything before is void.
func (f *Fold) Reset(stream string) {
	if t := f.tables[stream]; t != nil {
		*t = folded{Table: t.Table, rows: map[string]Row{}, versions: map[string]version{}, seen: map[string]int{}, errs: t.errs, scanned: t.scanned, changes: t.changes}
	}
}

func (f *Fold) streams() []string {
	var names []string
	for name := range f.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// meta is what the fold needs of a document's _meta.
type meta struct {
	Op     string `json:"op"`
	Source struct {
		Snapshot bool `json:"snapshot"`
	} `json:"source"`
}

// document is a parsed record; it is never changed.
type document struct {
	row  Row // with _meta
	meta meta
	err  error
}

func parse(data json.RawMessage) (d document) {
	members, err := wire.Object(data) // refuses a column that is there twice
	if err != nil {
		d.err = err
		return d
	}
	d.row = members
	if err := json.Unmarshal(members["_meta"], &d.meta); err != nil {
		d.err = fmt.Errorf("a document without a _meta that can be read: %.200s", data)
	}
	return d
}

// record folds one document of a run.
func (f *Fold) record(run int, stream string, d document) {
	t := f.tables[stream]
	if t == nil {
		t = &folded{Table: Table{Stream: stream}, stranger: true}
		f.tables[stream] = t
		t.fail("a record of stream %s, which was not asked for", stream)
		return
	}
	if t.stranger { // it was reported
		return
	}
	f.Stats.Records++
	if d.err != nil {
		t.fail("%s: %v", stream, d.err)
		return
	}
	key, err := t.key(d.row)
	if err != nil {
		t.fail("%s: %v", stream, err)
		return
	}
	if d.meta.Source.Snapshot {
		f.Stats.Snapshot++
		t.scanned++
	} else {
		t.changes++
	}
	switch d.meta.Op {
	case "c", "u":
		f.judge(t, run, key, d.row, d.meta)
		old := t.rows[key]
		if old == nil {
			old = make(Row, len(d.row))
			t.rows[key] = old
		}
		for column, value := range d.row { // absent = keep; a nested object is replaced as a whole
			if column != "_meta" {
				old[column] = value
			}
		}
	case "d":
		f.Stats.Deletes++
		f.judgeDelete(t, run, key, d.row)
		delete(t.rows, key)
	default:
		t.fail("%s, key %s: operation %q", stream, key, d.meta.Op)
	}
}

// key renders the key of a row: numbers as they stand, strings without quotes.
func (t *Table) key(row Row) (string, error) {
	var parts []string
	for _, column := range t.Key {
		raw, ok := row[column]
		if !ok || string(raw) == "null" {
			return "", fmt.Errorf("a document without key column %s: %.200v", column, row)
		}
		parts = append(parts, Text(raw))
	}
	return strings.Join(parts, "|"), nil
}

// Text is a JSON string's content, or another JSON value as it stands.
func Text(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (t *folded) fail(format string, args ...any) {
	if len(t.errs) < 20 {
		t.errs = append(t.errs, fmt.Errorf(format, args...))
	}
}
