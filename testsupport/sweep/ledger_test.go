package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/estuary/connectors/testsupport/wire"
)

// version is a version of a file that was there, and what a runner has of it.
type version struct {
	object

	key  string
	body *body
	how  kind
	run  int  // during which it appeared, or after which
	gone bool // replaced or deleted

	kept int // records that count: covered by the state that was resumed from
}

func (v *version) whole() bool { return v.kept == v.body.rows }

// kind is a kind of change.
type kind string

const (
	initial  kind = "there at the beginning"
	added    kind = "added"
	replaced kind = "replaced"
	deleted  kind = "deleted"
	hourBack kind = "put with a time one hour back"
	slow     kind = "put slowly, with a time before a sweep that was over when it appeared"
	twin     kind = "replaced inside the second in which it was put and read, at the same size"
	pair     kind = "replaced twice inside one second at the same size"
)

// wrong is what the connector did wrong, as opposed to what kept the test from finding out.
type wrong struct{ text string }

func (w *wrong) Error() string { return w.text }

func wrongf(format string, args ...any) error { return &wrong{fmt.Sprintf(format, args...)} }

// ledger knows what was put, and counts what has come of it.
type ledger struct {
	versions map[string]*version // by key and name
	there    map[string]*version // by key
	last     *version            // the one whose record was kept last
	halves   int                 // versions of which a part was kept when they went
	came     map[kind]int        // changes of which all records have come
}

func newLedger() *ledger {
	return &ledger{versions: map[string]*version{}, there: map[string]*version{}, came: map[kind]int{}}
}

// put notes that a version has taken the place of what was there.
func (l *ledger) put(v *version) error {
	id := v.key + " " + v.version
	if l.versions[id] != nil {
		return fmt.Errorf("the store gives %s a second time", id)
	}
	if old := l.there[v.key]; old != nil {
		old.gone = true
	}
	l.versions[id], l.there[v.key] = v, v
	return nil
}

func (l *ledger) delete(key string) {
	l.there[key].gone = true
	delete(l.there, key)
}

// segment is records of a version that came one after the other.
type segment struct {
	of       *version
	from, to int
	// before is the version that came before it, and gone whether that one was not there any more when the first record of this segment was read.
	before *version
	gone   bool
}

// output is what one process printed.
type output struct {
	ledger   *ledger
	records  int
	segments []segment
	marks    []mark
}

// mark is a STATE, and how many records came before it.
type mark struct {
	records int
	state   *wire.State
}

func (l *ledger) output() *output { return &output{ledger: l} }

// document takes a record, which must be a row of a version that was put, and of no other.
func (o *output) document(data json.RawMessage) (*version, error) {
	rows, text, _ := bytes.Cut(data, []byte(`,"_meta":`))
	var meta struct {
		File, Version string
		Offset        int
	}
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte("}")), &meta); err != nil {
		return nil, wrongf("a record without its place: %s", data)
	}
	key, inBucket := strings.CutPrefix(meta.File, bucketName+"/")
	v, n := o.ledger.versions[key+" "+meta.Version], meta.Offset
	if v == nil || !inBucket {
		return nil, wrongf("a record of %s %s, which was never there: %.200s", meta.File, meta.Version, data)
	}
	if n < 0 || n >= v.body.rows || string(rows) != v.body.form.record(v.body.id, n) {
		return nil, wrongf("a record that is not row %d of %d of the file %s with the content %s: %s", n, v.body.rows, key, v.body.id, data)
	}
	o.add(v, n)
	return v, nil
}

func (o *output) add(v *version, n int) {
	o.records++
	if i := len(o.segments) - 1; i >= 0 && o.segments[i].of == v && o.segments[i].to == n {
		o.segments[i].to++
		return
	}
	before := o.ledger.last
	if i := len(o.segments) - 1; i >= 0 {
		before = o.segments[i].of
	}
	o.segments = append(o.segments, segment{of: v, from: n, to: n + 1, before: before, gone: before == nil || before.gone})
}

// keep lets the records up to a mark count.
func (o *output) keep(m mark) error {
	left := m.records
	for _, s := range o.segments {
		if left == 0 {
			break
		}
		s.to = min(s.to, s.from+left)
		left -= s.to - s.from
		if err := o.ledger.keep(s); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) keep(s segment) error {
	v := s.of
	name := fmt.Sprintf("%s %s of %d rows (%s)", v.key, v.version, v.body.rows, v.how)
	if b := s.before; b != nil && b != v && !b.whole() {
		if !s.gone {
			return wrongf("of %s %s (%s), which was there all the time, only %d rows of %d came before those of %s", b.key, b.version, b.how, b.kept, b.body.rows, name)
		}
		l.halves++
	}
	switch {
	case s.from < v.kept:
		return wrongf("%s: row %d comes twice, %d of them have come", name, s.from, v.kept)
	case s.from > v.kept:
		return wrongf("%s: row %d comes when only %d have come, what lies between is lost", name, s.from, v.kept)
	}
	v.kept, l.last = s.to, v
	if v.whole() {
		l.came[v.how]++
	}
	return nil
}

// settle looks whether everything that was put before a run and is there has come to its end.
func (l *ledger) settle(run int) error {
	var lost []error
	for key, v := range l.there {
		if v.run < run && !v.whole() && len(lost) < 5 {
			lost = append(lost, wrongf("%s %s (%s) of %s: %d rows of %d have come when the sweep had ended", key, v.version, v.how, v.modified.Format(time.RFC3339Nano), v.kept, v.body.rows))
		}
	}
	return errors.Join(lost...)
}
