package protocoltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// folded is what a destination makes of a stream's records: rows by key, or, without a key, rows and how often each is there.
type folded struct {
	stream Stream
	rows   map[string]string // key → row
	bag    map[string]int    // row → times
}

func newFolded(s Stream) *folded { return &folded{s, map[string]string{}, map[string]int{}} }

// clone returns a copy that goes its own way.
func (f *folded) clone() *folded { return &folded{f.stream, maps.Clone(f.rows), maps.Clone(f.bag)} }

// document is a record's data as far as folding looks at it.
type document struct {
	row    string // canonical, without _meta
	key    string
	part   string // the value of Stream.Parts
	op     string // c, u or d
	before string // the row before an update; empty: not told
}

func (s Stream) document(raw []byte) (document, error) {
	value, err := parse(raw)
	if err != nil {
		return document{}, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return document{}, fmt.Errorf("reading %.100q: no object", raw)
	}
	d := document{op: "c"}
	if meta, ok := object["_meta"].(map[string]any); ok {
		if op, ok := meta["op"].(string); ok {
			d.op = op
		}
		if before, ok := meta["before"].(map[string]any); ok {
			d.before = canonical(before)
		}
	}
	var key []any
	for _, name := range s.Key {
		value := member(object, name)
		if value == nil {
			return d, fmt.Errorf("a record of %s has no value for its key %s: %.200s", s.descriptor(), name, raw)
		}
		if name == s.Parts {
			d.part = canonical(value)
		}
		key = append(key, value)
	}
	delete(object, "_meta")
	d.row, d.key = canonical(object), canonical(key)
	return d, nil
}

// member is the value at a name such as a or a/b; nil: there is none.
func member(object map[string]any, name string) any {
	for {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			return object[first]
		}
		object, _ = object[first].(map[string]any)
		name = rest
	}
}

// canonical prints a parsed value: members sorted, numbers as they were written.
func canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error() // not a value that parse returns
	}
	return string(text)
}

// add folds one record in. An error is a record that no destination could place.
func (f *folded) add(raw []byte) error {
	d, err := f.stream.document(raw)
	if err != nil {
		return err
	}
	if len(f.stream.Key) > 0 {
		if d.op == "d" {
			delete(f.rows, d.key)
		} else {
			f.rows[d.key] = d.row
		}
		return nil
	}
	gone := ""
	switch d.op {
	case "d":
		gone = d.row
	case "u":
		gone = d.before
	}
	if gone != "" {
		if f.bag[gone] == 0 {
			return fmt.Errorf("a record of %s takes away a row that is not there: %.200s", f.stream.descriptor(), raw)
		}
		if f.bag[gone]--; f.bag[gone] == 0 {
			delete(f.bag, gone)
		}
	}
	if d.op != "d" {
		f.bag[d.row]++
	}
	return nil
}

// holds tells whether the row is there already, as it is.
func (f *folded) holds(d document) bool {
	if len(f.stream.Key) > 0 {
		return d.op != "d" && f.rows[d.key] == d.row
	}
	return false // an equal row may be another one
}

// differences compares with what the fixture says the stream holds.
func (f *folded) differences(want []json.RawMessage) []string {
	have, wanted := f.bag, map[string]int{}
	if len(f.stream.Key) > 0 {
		have = map[string]int{}
		for _, row := range f.rows {
			have[row]++
		}
	}
	for _, raw := range want {
		value, err := parse(raw)
		if err != nil {
			return []string{err.Error()}
		}
		wanted[canonical(value)]++
	}
	var list []string
	for _, row := range slices.Sorted(maps.Keys(wanted)) {
		if have[row] < wanted[row] {
			list = append(list, fmt.Sprintf("%s lacks %.200s (%d of %d)", f.stream.descriptor(), row, have[row], wanted[row]))
		}
	}
	for _, row := range slices.Sorted(maps.Keys(have)) {
		if have[row] > wanted[row] {
			list = append(list, fmt.Sprintf("%s has %.200s %d times, want %d", f.stream.descriptor(), row, have[row], wanted[row]))
		}
	}
	return list
}

// tables folds several streams.
type tables map[descriptor]*folded

func (s *session) tables() tables {
	t := tables{}
	for _, stream := range s.f.Streams {
		t[stream.descriptor()] = newFolded(stream)
	}
	return t
}

func (t tables) clone() tables {
	c := tables{}
	for d, f := range t {
		c[d] = f.clone()
	}
	return c
}

// fold folds a record in and reports what cannot be folded.
func (s *session) fold(t tables, r *record) {
	f := t[r.descriptor()]
	if f == nil {
		s.report("a RECORD of %s, which is not a stream of the source", r.descriptor())
		return
	}
	if err := f.add(r.Data); err != nil {
		s.report("%v", err)
	}
}

// compare reports where the folded records differ from the source. when is what happened before.
func (s *session) compare(t tables, when string) error {
	want, err := s.rows()
	if err != nil {
		return err
	}
	for _, stream := range s.f.Streams {
		if list := t[stream.descriptor()].differences(want[stream.Name]); len(list) > 0 {
			s.report("%s the records do not amount to what the source holds: %s", when, strings.Join(list[:min(3, len(list))], "; "))
		}
	}
	return nil
}

// rows calls the fixture's Rows. A stream without rows would prove nothing.
func (s *session) rows() (map[string][]json.RawMessage, error) {
	want, err := s.f.Rows(s.ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the fixture's rows: %w", err)
	}
	for _, stream := range s.f.Streams {
		if len(want[stream.Name]) == 0 {
			return nil, fmt.Errorf("the fixture has no rows of %s: then the suite proves nothing", stream.descriptor())
		}
	}
	return want, nil
}
