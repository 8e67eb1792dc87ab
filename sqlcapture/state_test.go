package sqlcapture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// at is a position of the tests.
type at int

func (a at) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"at":%d}`, int(a)), nil }
func (a at) String() string               { return strconv.Itoa(int(a)) }

func (a at) Compare(other Position) int { return int(a) - int(other.(at)) }

func parseAt(raw json.RawMessage) (Position, error) {
	var p struct {
		At *int `json:"at"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.At == nil {
		return nil, errors.New("it is no position")
	}
	return at(*p.At), nil
}

func testEngine() *engine { return &engine{db: Database{ParsePosition: parseAt}} }

// Every shape of state that was ever released must load, and say the same when it is printed again.
func TestState_ReleasedShapesLoadForEver(t *testing.T) {
	files, err := filepath.Glob("testdata/state/v*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files of released states: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var states []json.RawMessage
		if err := json.Unmarshal(raw, &states); err != nil {
			t.Fatal(err)
		}
		for _, state := range states {
			var given map[string]any
			if err := json.Unmarshal(state, &given); err != nil {
				t.Fatal(err)
			}
			s := &stream{name: TableName{"public", "foo"}}
			if keys, ok := given["key"].([]any); ok {
				for _, k := range keys {
					s.key = append(s.key, k.(string))
				}
			}
			s.order, _ = given["order"].(string)
			position, err := testEngine().loadState(s, protocol.Binding{State: state, Shared: json.RawMessage(`{"position":{"at":5}}`)})
			if err != nil {
				t.Errorf("%s: %s: %v", file, state, err)
				continue
			}
			want := Position(at(5))
			if _, own := given["position"]; own {
				want = at(7)
				s.own = want
			}
			if position != want {
				t.Errorf("%s: %s: got position %v, want %v", file, state, position, want)
			}
			patch, err := s.statePatch()
			if err != nil {
				t.Fatal(err)
			}
			var printed map[string]any
			if err := json.Unmarshal(patch, &printed); err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(printed, func(_ string, v any) bool { return v == nil })
			if mode := given["mode"]; mode == "pending" || mode == "missing" { // the table is looked at anew
				delete(given, "columns")
				delete(given, "identity")
				given["mode"] = "pending"
			}
			delete(given, "held") // the stream goes on from there
			if !reflect.DeepEqual(printed, given) {
				t.Errorf("%s: got %v, want %v", file, printed, given)
			}
		}
	}
}

func TestState_WhatCannotBeReadIsAConfigProblem(t *testing.T) {
	for _, c := range []struct{ state, shared string }{
		{`{"mode":"sleeping"}`, `{"position":{"at":5}}`},
		{`{"mode":"active"}`, `{}`},
		{`{"mode":"active"}`, `{"position":{"at":"x"}}`},
		{`{"mode":"active","scanned":"*"}`, `{"position":{"at":5}}`},
		{`[]`, `{"position":{"at":5}}`},
		{`{"mode":"active"}`, `[]`},
	} {
		_, err := testEngine().loadState(&stream{name: TableName{"public", "foo"}}, protocol.Binding{State: json.RawMessage(c.state), Shared: json.RawMessage(c.shared)})
		if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "pipeline backfill FILE STREAM") {
			t.Errorf("state %s with %s: got %v, want a config problem with its cure", c.state, c.shared, err)
		}
	}
}

// bug sql-cdc 19: estuary/connectors history: a changed key with an old scanned key resumed in the wrong place.
func TestState_ChangedKeyStartsOver(t *testing.T) {
	s := &stream{name: TableName{"public", "foo"}, key: []string{"b"}}
	if _, err := testEngine().loadState(s, protocol.Binding{
		State: json.RawMessage(`{"mode":"backfill","key":["a"],"scanned":"FQE="}`), Shared: json.RawMessage(`{"position":{"at":5}}`),
	}); err != nil || s.outdated() == "" {
		t.Errorf("got reason %q, %v", s.outdated(), err)
	}
}

func TestState_KeyInAnotherOrderStartsOver(t *testing.T) {
	for _, c := range []struct {
		state string
		want  bool
	}{
		{`{"mode":"backfill","key":["a"],"scanned":"FQE=","order":"old"}`, true},
		{`{"mode":"backfill","key":["a"],"scanned":"FQE=","order":"new"}`, false},
		{`{"mode":"backfill","key":["a"],"scanned":"FQE="}`, false}, // of a release that wrote none
		{`{"mode":"active","key":["a"],"order":"old"}`, false},
	} {
		s := &stream{name: TableName{"public", "foo"}, key: []string{"a"}, order: "new"}
		_, err := testEngine().loadState(s, protocol.Binding{State: json.RawMessage(c.state), Shared: json.RawMessage(`{"position":{"at":5}}`)})
		if got := s.outdated(); err != nil || (got != "") != c.want {
			t.Errorf("%s: got reason %q, %v", c.state, got, err)
		}
	}
}

func TestState_MissingTableStartsOver(t *testing.T) {
	s := &stream{name: TableName{"public", "foo"}, key: []string{"a"}}
	_, err := testEngine().loadState(s, protocol.Binding{State: json.RawMessage(`{"mode":"missing","key":["a"]}`), Shared: json.RawMessage(`{"position":{"at":5}}`)})
	if err != nil || s.outdated() == "" {
		t.Errorf("got reason %q, %v", s.outdated(), err)
	}
}

func TestState_FailedStreamKeepsItsPosition(t *testing.T) {
	const state = `{"mode":"active","key":["a"],"held":true,"position":{"at":7}}`
	s := &stream{name: TableName{"public", "foo"}, key: []string{"a"}}
	position, err := testEngine().loadState(s, protocol.Binding{State: json.RawMessage(state), Shared: json.RawMessage(`{"position":{"at":9}}`)})
	if err != nil || position != at(7) || !s.dirty {
		t.Errorf("got %v, dirty %t, %v; want the position that it failed at, and that the mark goes", position, s.dirty, err)
	}
	s.held = at(8)
	if patch, err := s.statePatch(); err != nil || string(patch) != `{"held":true,"position":{"at":8}}` {
		t.Errorf("got patch %s, %v; want one that leaves the rest as it is", patch, err)
	}
}

// bug sql-cdc 145: estuary/connectors history: a removed stream's scanned key stayed in the merged state and was resumed from.
func TestState_PatchDeletesWhatIsGone(t *testing.T) {
	s := &stream{name: TableName{"public", "foo"}, key: []string{"id"}, phase: active}
	patch, err := s.statePatch()
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(patch, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"scanned", "until", "order", "paged", "rows", "identity", "leaves", "columns", "delivery", "position", "held", "reset"} {
		if string(members[name]) != "null" {
			t.Errorf("%s: got %q, want null", name, members[name])
		}
	}
}
