package flow

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func TestScanCaptured(t *testing.T) {
	for _, c := range []struct {
		line    string
		binding int
		doc     string // empty: not scanned
		lengths string
	}{
		{`{"captured":{"binding":12,"doc":{"id":1}}}`, 12, `{"id":1}`, ""},
		{`{"captured":{"doc":{"id":1}}}`, 0, `{"id":1}`, ""},
		{`{"captured":{"binding":1,"doc":{"id":1},"lengths":"006"}}`, 1, `{"id":1}`, "006"},
		{`{"captured":{"doc":{"a":"\",\"lengths\":\""}}}`, 0, `{"a":"\",\"lengths\":\""}`, ""},
		{`{"captured":{"doc":{"lengths":"006"}}}`, 0, `{"lengths":"006"}`, ""},
		{`{"captured":{"doc":{"a":1,"lengths":"006"}}}`, 0, `{"a":1,"lengths":"006"}`, ""},
		{`{"captured":{"binding":0,"doc":{}}}`, 0, `{}`, ""},
		{`{"captured":{"doc":{"id":1},"binding":3}}`, 0, "", ""},
		{`{"captured":{"binding":,"doc":{}}}`, 0, "", ""},
		{`{"captured":{"binding":1234567890,"doc":{}}}`, 0, "", ""},
		{`{"captured":{"binding":1,"doc":[1]}}`, 0, "", ""},
		{`{"checkpoint":{"state":{"updated":{},"mergePatch":true}}}`, 0, "", ""},
		{`{"captured":{"doc":}}`, 0, "", ""},
		{`{"captured":{"doc":{`, 0, "", ""},
	} {
		binding, doc, lengths, ok := ScanCaptured([]byte(c.line))
		if ok != (c.doc != "") || ok && (binding != c.binding || string(doc) != c.doc || string(lengths) != c.lengths) {
			t.Errorf("%s: got binding %d, document %s, lengths %s, ok %v", c.line, binding, doc, lengths, ok)
		}
	}
}

// What the appending functions of a source write is what the runner scans.
func TestScanCaptured_ReadsWhatSourcesWrite(t *testing.T) {
	line := append(append(CapturedOpening(3), `{"a":"}}"}`...), CapturedClosing...)
	if binding, doc, _, ok := ScanCaptured(line[:len(line)-1]); !ok || binding != 3 || string(doc) != `{"a":"}}"}` {
		t.Errorf("got %d, %s, %v", binding, doc, ok)
	}
	line = AppendCheckpoint(nil, []byte(`{"bindings":{"a":{"x":1}}}`))
	if patch, ok := CheckpointPatch(line[:len(line)-1]); !ok || string(patch) != `{"bindings":{"a":{"x":1}}}` {
		t.Errorf("got the patch %s, %v", patch, ok)
	}
	if patch, ok := CheckpointPatch([]byte(`{"checkpoint":{"state":{"updated":{},"x":1,"mergePatch":true}}}`)); ok {
		t.Errorf("a checkpoint with a member more gave the patch %s", patch)
	}
}

func TestAppend_TransactionRequests(t *testing.T) {
	one := [][]byte{[]byte("1")}
	for _, c := range []struct{ got, want string }{
		{string(AppendLoad(nil, 0, one)), `{"load":{"key":[1]}}`},
		{string(AppendLoad(nil, 2, [][]byte{[]byte(`"x"`), []byte("2")})), `{"load":{"binding":2,"key":["x",2]}}`},
		{string(AppendStore(nil, 0, one, [][]byte{nil, []byte("12.50")}, nil, false, false, false)), `{"store":{"key":[1],"values":[null,12.50]}}`},
		{string(AppendStore(nil, 1, one, nil, []byte(`{"id":1}`), true, true, false)), `{"store":{"binding":1,"key":[1],"values":[],"doc":{"id":1},"exists":true,"delete":true}}`},
		{string(AppendStartCommit(nil, json.RawMessage(`{"txn": 1}`))), `{"startCommit":{"runtimeCheckpoint":{"txn": 1}}}`},
		{string(AppendSinkAcknowledge(nil, nil)), `{"acknowledge":{}}`},
		{string(AppendSinkAcknowledge(nil, []json.RawMessage{json.RawMessage(`{"a":1}`)})), `{"acknowledge":{"statePatches":[{"a":1}]}}`},
		{string(AppendCaptureAcknowledge(nil, 3)), `{"acknowledge":{"checkpoints":3}}`},
	} {
		if c.got != c.want+"\n" {
			t.Errorf("\n got %swant %s", c.got, c.want)
		}
	}
}

// What a runner writes for a capture is what a source reads.
func TestAppendCaptureOpen_IsReadBack(t *testing.T) {
	task := CaptureTask{Name: "shop", Config: json.RawMessage(`{"a":1}`), Bindings: []CaptureBinding{{
		Resource: json.RawMessage(`{"stream":"x"}`), ResourcePath: []string{"x"}, Backfill: 2, StateKey: "x.v2",
		Collection: protocol.Collection{Name: "x", Key: []string{"/id"}, Schema: json.RawMessage(`{}`), Projections: []protocol.Projection{
			{Field: "At", Pointer: "/times/at", Explicit: true, Inference: protocol.Inference{Types: []string{"integer"}, Minimum: "0", Exists: protocol.Must}},
		}},
	}}}
	r, err := DecodeRequest(AppendCaptureOpen(nil, task, "v", nil, false))
	if err != nil {
		t.Fatal(err)
	}
	b := r.Open.Capture.Bindings[0]
	switch {
	case r.Open.Tail == nil || *r.Open.Tail || !r.Open.Reset || !r.Open.Lengths:
		t.Errorf("tail is %v, reset %v and lengths %v, want false, true and true", r.Open.Tail, r.Open.Reset, r.Open.Lengths)
	case string(r.Open.State) != "{}" || *r.Open.Range.KeyEnd != 0xffffffff:
		t.Errorf("got state %s, range %+v", r.Open.State, r.Open.Range)
	case b.Backfill != 2 || b.StateKey != "x.v2" || b.Collection.Key[0] != "/id" || !b.Collection.Projections[0].Explicit || b.Collection.Projections[0].Pointer != "/times/at":
		t.Errorf("got the binding %+v", b)
	}
}

func TestDecodeSinkResponse_Checkpoints(t *testing.T) {
	for line, want := range map[string]string{
		`{"opened":{}}`:                                     "",
		`{"opened":{"runtimeCheckpoint":null}}`:             "",
		`{"opened":{"runtimeCheckpoint":{}}}`:               "{}",
		`{"opened":{"runtimeCheckpoint":{"txn":1, "a":0}}}`: `{"txn":1, "a":0}`,
	} {
		r, err := DecodeSinkResponse([]byte(line))
		if err != nil || r.Opened == nil || string(r.Opened.Checkpoint) != want {
			t.Errorf("%s: got %+v, %v; want the checkpoint %q", line, r.Opened, err, want)
		}
	}
	if _, err := DecodeSinkResponse([]byte("panic: x")); err == nil {
		t.Error("a line that is no JSON was taken")
	}
}

// The lengths that a source appends are those of its document's members, and a document with a very long one has none.
func TestAppendCapturedLengths(t *testing.T) {
	opening := CapturedOpening(0)
	doc := append(opening, `{"a":1,"long":"x","_meta":{}}`...)
	start := len(opening)
	line := AppendCapturedLengths(doc, start, []int{start + 6, start + 17, start + 28})
	_, got, lengths, ok := ScanCaptured(append(line, "}}"...))
	if want := "00500:00:"; !ok || string(lengths) != want || string(got) != `{"a":1,"long":"x","_meta":{}}` {
		t.Errorf("got %s with lengths %q, want %q", got, lengths, want)
	}
	if line := AppendCapturedLengths(doc, start, []int{start + 6, start + 1<<15 + 7}); !bytes.Equal(line, doc) {
		t.Errorf("a member of 32 KiB: got %q", line)
	}
}
