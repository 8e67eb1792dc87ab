package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/wire"
)

// thirds of the key space.
var thirds = [][2]string{{"00000000", "55555554"}, {"55555555", "aaaaaaa9"}, {"aaaaaaaa", "ffffffff"}}

// From a state in the middle of a sweep, three processes with a third of the keys each go on: together they print what is left, nothing twice, and each file
// comes from one of them.
func TestSweep_ThreeRangesPartitionTheFiles(t *testing.T) {
	t.Parallel()
	for _, s := range seeds() {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { divided(t, s) })
	}
}

func divided(t *testing.T, seed uint64) {
	t.Log(replayed(t, seed))
	l := inDirectory(t, binary.Build(t, "source-s3"), seed, usualLookback)
	if _, err := l.run(false); err != nil { // so that some files are in seen, of an earlier sweep
		t.Fatal(err)
	}
	for range l.files / 2 {
		if err := l.change(); err != nil {
			t.Fatal(err)
		}
	}
	formats, between := 3, 1
	if full() {
		formats, between = len(forms), 4
	}
	for _, i := range l.rng.Perm(len(forms))[:formats] {
		b, err := l.body(&forms[i], bigRows, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.put(l.newKey(&forms[i]), b, added, false); err != nil {
			t.Fatal(err)
		}
	}
	whole := l.print(t, l.catalog)
	places := l.places(whole, formats, between)
	kept, last := l.ledger.counts(), l.ledger.last
	shares := map[int]int{}
	for _, m := range places {
		if err := l.resume(whole, m); err != nil {
			t.Fatal(err)
		}
		for i, third := range thirds {
			l.ledger.last = nil // the file that was half read may be another's
			part := l.print(t, within(l.catalog, third))
			end := part.marks[len(part.marks)-1]
			if end.records != part.records {
				t.Errorf("range %v: %d records come after the last STATE", third, part.records-end.records)
			}
			if err := part.keep(end); err != nil {
				t.Errorf("range %v, from %s: %v", third, m.state.Body, err)
			}
			shares[i] += part.records
		}
		if err := l.ledger.settle(l.runs + 1); err != nil {
			t.Errorf("three ranges from %s: %v", m.state.Body, err)
		}
		l.ledger.restore(kept)
		l.ledger.last = last
	}
	t.Logf("%d STATEs in mid-sweep, %d of them inside a file; the ranges printed %v records", len(places), len(l.bites.of), shares)
	if len(places) < formats+between || shares[0]*shares[1]*shares[2] == 0 {
		t.Errorf("the test does not bite: it wants STATEs inside files of %d formats, %d between files, and records in each range", formats, between)
	}
}

// places chooses STATEs of the middle of a sweep: one inside a file of each of so many formats, and some between files.
func (l *life) places(o *output, formats, between int) (chosen []mark) {
	marks := slices.DeleteFunc(slices.Clone(o.marks), func(m mark) bool {
		return m.records == 0 || !strings.Contains(string(m.state.Body), `"started"`)
	})
	l.rng.Shuffle(len(marks), func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
	for _, m := range marks {
		at := o.before(m.records)
		f := at.of.body.form.name
		switch whole := at.to == at.of.body.rows; {
		case whole && between > 0:
			between--
		case !whole && l.bites.of[f] == 0 && len(l.bites.of) < formats:
			l.bites.of[f]++
		default:
			continue
		}
		chosen = append(chosen, m)
	}
	return chosen
}

// before returns the segment of the last of so many records, cut behind it.
func (o *output) before(records int) (s segment) {
	for _, s = range o.segments {
		if n := s.to - s.from; records <= n {
			s.to = s.from + records
			return s
		}
		records -= s.to - s.from
	}
	return s
}

// print lets a process read to the end.
func (l *life) print(t *testing.T, catalog []byte) *output {
	t.Helper()
	p, err := l.process(catalog, l.state)
	if err != nil {
		t.Fatal(err)
	}
	out := l.ledger.output()
	if _, err := l.read(p, out, func(int) error { return nil }, func(*wire.State) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if len(out.marks) == 0 {
		t.Fatal("a process ended without a STATE")
	}
	return out
}

// within adds a range to a catalog, and leaves the rest as it is: the text of the schema is part of what makes documents of a file, and of its cursor.
func within(catalog []byte, keys [2]string) []byte {
	return append(fmt.Appendf(nil, `{"estuary.dev/range":{"begin":%q,"end":%q},`, keys[0], keys[1]), catalog[1:]...)
}

// counts copies what has come, and restore puts it back.
func (l *ledger) counts() map[*version]int {
	kept := map[*version]int{}
	for v := range maps.Values(l.versions) {
		kept[v] = v.kept
	}
	return kept
}

func (l *ledger) restore(kept map[*version]int) {
	for v, n := range kept {
		v.kept = n
	}
}
