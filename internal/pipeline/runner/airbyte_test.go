package runner_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func newForeignShop(t *testing.T) *shop {
	s := newShop(t)
	s.name, s.streams = "airbyte", "[{stream: items, table: things}, events]"
	return s
}

// A source that is not ours: append_dedup by its key, append where it has none, and the whole document, whose undeclared fields would be lost otherwise.
func TestAirbyte_GoesOnFromItsStates(t *testing.T) {
	for _, kind := range []string{"STREAM", "GLOBAL", "LEGACY", "UNTYPED"} {
		s := newForeignShop(t)
		s.source["kind"] = kind
		s.append(item(1, "one", "c") + event(1) + commit + item(1, "uno", "c") + item(2, "two", "c") + commit)
		s.must("run", "--once", "FILE")
		s.expect("things", "name", `[1]"uno" [2]"two"`)
		s.append(event(2) + event(3) + item(2, "zwei", "c") + commit)
		s.must("run", "--once", "FILE")
		s.expect("things", "name", `[1]"uno" [2]"zwei"`)
		s.expect("events", "id", "1 2 3")
		s.expect("things", "flow_document", `[1]{"id":1,"name":"uno","_meta":{"op":"c"}} [2]{"id":2,"name":"zwei","_meta":{"op":"c"}}`)
		s.must("backfill", "FILE", "events")
		s.must("run", "--once", "FILE")
		if kind != "GLOBAL" {
			s.expect("events", "id", "1 2 3")
		}
		s.expect("things", "name", `[1]"uno" [2]"zwei"`)
	}
}

// A state for all streams in which none has a part of its own: a stream cannot start over alone, and is not emptied. A stream that is new is the source's.
func TestAirbyte_StateWithoutPartsForStreams(t *testing.T) {
	s := newForeignShop(t)
	s.source["kind"], s.source["opaque"] = "LEGACY", true
	s.append(item(1, "one", "c") + event(1) + commit)
	s.must("run", "--once", "FILE")
	s.must("backfill", "FILE", "events")
	want := "has no part for stream events, which therefore cannot start over alone: let all start over with `pipeline reset " + s.path("shop.yaml") + "`"
	if _, stderr, err := s.try("run", "--once", "FILE"); err == nil || !strings.HasSuffix(lastLine(stderr), want) {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.expect("events", "id", "1")
	s.must("reset", "--yes", "FILE")
	s.append(event(2) + commit)
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1 2")
	s.expect("things", "name", `[1]"one"`)
}

func TestAirbyte_WithoutStatesEachRunReadsAll(t *testing.T) {
	s := newForeignShop(t)
	s.source["kind"] = "none"
	s.append(item(1, "one", "c") + event(1) + commit)
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"one"`)
	s.append(item(1, "uno", "c"))
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"uno"`)
	s.expect("events", "id", "1 1")
}

func TestAirbyte_Check(t *testing.T) {
	s := newForeignShop(t)
	if out := s.must("check", "FILE"); !strings.Contains(out, "items → things (by key") || !strings.Contains(out, "events → events (added to only") {
		t.Errorf("got %s", out)
	}
	s.source["log"], s.source["password"] = s.path("gone-hush-hush"), "hush-hush"
	if _, stderr, err := s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "cannot be read") || strings.Contains(stderr, "hush-hush") {
		t.Errorf("got %v, %s", err, stderr)
	}
}

// A line that may have been a record is not passed over: its row would be missing for ever.
func TestAirbyte_BrokenLines(t *testing.T) {
	s := newForeignShop(t)
	s.append(item(1, "one", "c") + commit)
	for _, line := range []string{`{"type":"RECORD","record":{"stream":"items","da`, `{"type":"RECORD","record":{"stream":"items"}}`} {
		s.source["says"] = []string{line}
		if _, stderr, err := s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "printed a line that is broken, or not as the protocol has it") {
			t.Errorf("%s: got %v, %s", line, err, stderr)
		}
	}
	s.source["says"] = []string{`{'type': 'RECORD'}`, `{"level":"info"}`, `{`}
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"one"`)
}

// What came after the last STATE of a killed source is not there, and comes again: an append table has every row once.
func TestAirbyte_Killed(t *testing.T) {
	before, after, things, events := scenario()
	for _, kind := range []string{"STREAM", "LEGACY", "UNTYPED"} {
		for _, name := range []string{"document", "state"} {
			for _, killsRunner := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s states, at a %s, the runner %v", kind, name, killsRunner), func(t *testing.T) {
					t.Parallel()
					s := newForeignShop(t)
					s.source["kind"], s.source["pause"] = kind, 30
					// deletions are our own sources' convention, and known here, too
					s.append(before)
					s.must("run", "--once", "FILE")
					s.append(after)
					s.source["crash"] = object{"name": name, "nth": 5, "runner": killsRunner, "marker": s.path("marker")}
					s.runToTheEnd()
					if _, err := os.Stat(s.path("marker")); err != nil {
						t.Error("nobody died")
					}
					s.expect("things", "name", things)
					s.expect("events", "id", events)
				})
			}
		}
	}
}

func TestAirbyte_IndentedMessagesAreMessages(t *testing.T) {
	s := newForeignShop(t)
	s.source["says"] = []string{"  " + `{"type":"RECORD","record":{"stream":"events","data":{"id":7},"emitted_at":1}}`}
	s.append(event(8) + commit)
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "7 8")
}

func TestAirbyte_RecordsBehindTalkAreNotDropped(t *testing.T) {
	for _, before := range []string{"progress 5% ", "\ufeff"} {
		s := newForeignShop(t)
		s.source["says"] = []string{before + `{"type": "RECORD","record":{"stream":"events","data":{"id":7},"emitted_at":1}}`}
		s.append(event(8) + commit)
		if _, stderr, err := s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "the source printed a line that is broken") {
			t.Errorf("%q before a record: %v, %.300s", before, err, stderr)
		}
	}
}
