package replay

import (
	"fmt"
	"strings"
	"testing"
)

const stream = "public.t"

var keyed = Table{Stream: stream, Key: []string{"k"}, Version: "ver"}

func rec(data string) string {
	return `{"type":"RECORD","record":{"stream":"t","namespace":"public","data":` + data + `,"emitted_at":1}}`
}

// row is a change of key 1; snapshot rows are operation r here.
func row(op string, ver int) string {
	switch op {
	case "r":
		return rec(fmt.Sprintf(`{"k":1,"ver":%d,"_meta":{"op":"c","source":{"snapshot":true}}}`, ver))
	case "d":
		return rec(`{"k":1,"_meta":{"op":"d","source":{}}}`)
	}
	return rec(fmt.Sprintf(`{"k":1,"ver":%d,"_meta":{"op":%q,"source":{}}}`, ver, op))
}

func state(name, cursor string) string {
	return fmt.Sprintf(`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":%q,"namespace":"public"},"stream_state":{"c":%q}}}}`, name, cursor)
}

func runOf(t *testing.T, lines ...string) *Run {
	t.Helper()
	var r Run
	for _, line := range lines {
		if _, err := r.Line([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	return &r
}

func TestVersions(t *testing.T) {
	for _, test := range []struct {
		name    string
		table   Table
		changes []string
		want    string // part of the finding; empty: none
	}{
		{"steps", keyed, []string{row("r", 3), row("u", 4), row("d", 0), row("c", 6), row("u", 7)}, ""},
		{"first seen late", keyed, []string{row("u", 9), row("u", 10)}, ""},
		{"a scan ahead of the log", keyed, []string{row("u", 3), row("r", 9), row("u", 10)}, ""},
		{"deletions of rows never seen", keyed, []string{row("d", 0), row("d", 0), row("r", 5), row("u", 6)}, ""},
		{"a later version first", keyed, []string{row("r", 5), row("u", 4)}, "version 4 came after version 5"},
		{"a scan behind the log", keyed, []string{row("u", 5), row("r", 4)}, "version 4 came after version 5"},
		{"back after a deletion", keyed, []string{row("c", 5), row("d", 0), row("r", 5)}, "version 5 came after version 6"},
		{"a lost change", keyed, []string{row("r", 5), row("u", 7)}, "what lies between is lost"},
		{"a lost deletion", keyed, []string{row("u", 5), row("c", 7)}, "what lies between is lost"},
		{"a lost re-creation", keyed, []string{row("u", 5), row("d", 0), row("u", 8)}, "what lies between is lost"},
		{"rolled back", keyed, []string{row("c", -4)}, "version 4 was rolled back"},
		{"no version", keyed, []string{rec(`{"k":1,"_meta":{"op":"u","source":{}}}`)}, "want an integer"},
		{"no key", keyed, []string{rec(`{"ver":1,"_meta":{"op":"u","source":{}}}`)}, "without key column k"},
		{"no meta", keyed, []string{rec(`{"k":1,"ver":1}`)}, "_meta"},
		{"a column twice", keyed, []string{rec(`{"k":1,"ver":1,"ver":2,"_meta":{"op":"u","source":{}}}`)}, "twice"},
		{"unknown operation", keyed, []string{rec(`{"k":1,"ver":1,"_meta":{"op":"x","source":{}}}`)}, `operation "x"`},
		{"a stranger", Table{Stream: "public.other", Key: []string{"k"}}, []string{row("c", 1)}, "not asked for"},
		{"keyless, each once", Table{Stream: stream, Key: []string{"k"}, Keyless: true, Version: "ver"}, []string{row("r", 1), row("u", 2)}, ""},
		{"keyless, twice", Table{Stream: stream, Key: []string{"k"}, Keyless: true, Version: "ver"}, []string{row("r", 1), row("c", 1)}, "came twice"},
		{"a wrong old row in a deletion", keyed, []string{row("r", 5), rec(`{"k":1,"ver":4,"_meta":{"op":"d","source":{}}}`)}, "deletion of version 4 came after"},
		{"a deletion too early", keyed, []string{row("r", 5), rec(`{"k":1,"ver":7,"_meta":{"op":"d","source":{}}}`)}, "is lost"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := New(false, test.table)
			if err := f.Add(0, runOf(t, test.changes...), Whole); err != nil {
				t.Fatal(err)
			}
			err := f.Err()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("found %v, want %q", err, test.want)
			}
		})
	}
}

func TestResumeCountsUpToTheState(t *testing.T) {
	first := runOf(t, row("r", 1), state("t", "a"), row("u", 2), state("t", "b"), row("u", 3), state("other", "x"), row("u", 4))
	for _, test := range []struct {
		name    string
		upTo    int
		again   []string
		discard int64
	}{
		{"the first state", 0, []string{row("u", 2), row("u", 3)}, 3},
		{"the second", 1, []string{row("u", 3), row("u", 4)}, 2},
		{"another stream's state covers nothing of this one", 2, []string{row("u", 3), row("u", 4)}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, all := New(false, keyed), New(true, keyed)
			for _, fold := range []*Fold{f, all} {
				if err := fold.Add(0, first, test.upTo); err != nil {
					t.Fatal(err)
				}
				if err := fold.Add(1, runOf(t, test.again...), Whole); err != nil {
					t.Fatal(err)
				}
				if err := fold.Err(); err != nil {
					t.Error(err)
				}
			}
			if f.Stats.Discarded != test.discard || all.Stats.Discarded != 0 {
				t.Errorf("discarded %d and %d, want %d and none", f.Stats.Discarded, all.Stats.Discarded, test.discard)
			}
		})
	}
	// The resumed run leaves out a change that the STATE does not cover.
	f := New(false, keyed)
	if err := f.Add(0, first, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(1, runOf(t, row("u", 3)), Whole); err != nil {
		t.Fatal(err)
	}
	if f.Err() == nil {
		t.Error("a change lost across a resume was not found")
	}
	if first.RecordsAfterState() != 1 || first.States() != 3 || first.Records() != 4 {
		t.Errorf("%d records after the last of %d states, %d records", first.RecordsAfterState(), first.States(), first.Records())
	}
}

func TestStateFileIsTheLastOfEachStream(t *testing.T) {
	r := runOf(t, state("t", "a"), state("u", "b"), state("t", "c"), state("v", "d"))
	got, err := r.StateFile([]byte(`[{"type":"STREAM","stream":{"stream_descriptor":{"name":"w","namespace":"public"},"stream_state":{"c":"old"}}}]`), 2)
	if err != nil {
		t.Fatal(err)
	}
	for part, n := range map[string]int{`"c":"old"`: 1, `"c":"b"`: 1, `"c":"c"`: 1, `"c":"a"`: 0, `"c":"d"`: 0} {
		if strings.Count(string(got), part) != n {
			t.Errorf("%s is there %d times, want %d: %s", part, strings.Count(string(got), part), n, got)
		}
	}
	if _, err := runOf(t, `{"type":"STATE","state":{"data":{},"estuary.dev/merge":true}}`).StateFile(nil, 0); err == nil {
		t.Error("a plain runner was given a merge patch")
	}
}

func TestMergeKeepsAbsentColumnsAndReplacesObjects(t *testing.T) {
	f := New(false, Table{Stream: stream, Key: []string{"k"}})
	run := runOf(t, rec(`{"k":1,"big":"long","doc":{"a":1},"n":1,"_meta":{"op":"c","source":{}}}`), rec(`{"k":1,"doc":{"b":2},"n":null,"_meta":{"op":"u","source":{}}}`))
	if err := f.Add(0, run, Whole); err != nil {
		t.Fatal(err)
	}
	got := f.Rows(stream)["1"]
	if string(got["big"]) != `"long"` || string(got["doc"]) != `{"b":2}` || string(got["n"]) != "null" {
		t.Errorf("folded to %s", got)
	}
	f.Reset(stream)
	if len(f.Rows(stream)) != 0 {
		t.Error("rows are left after a reset")
	}
}
