package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAirbyte(t *testing.T) {
	m, err := Airbyte([]byte(`{"type":"RECORD","record":{"stream":"orders","namespace":"public","data":{"id":1},"emitted_at":1724500000123}}`))
	if err != nil || m.Record.Stream.String() != "public.orders" || string(m.Record.Data) != `{"id":1}` || m.Record.EmittedAt != 1724500000123 {
		t.Errorf("a record: %+v, %v", m, err)
	}
	m, err = Airbyte([]byte(`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"public"},"stream_state":{"cursor":"42"}},"sourceStats":{"recordCount":3.0}}}`))
	if err != nil || m.State.Stream.Name != "orders" || string(m.State.Body) != `{"cursor":"42"}` || m.State.Records != 3 || !strings.HasPrefix(string(m.State.Raw), `{"type":"STREAM"`) {
		t.Errorf("a STREAM state: %+v, %v", m, err)
	}
	m, err = Airbyte([]byte(`{"type":"STATE","state":{"data":{"a":1},"estuary.dev/merge":true}}`))
	if err != nil || m.State.Type != "LEGACY" || !m.State.Merge || string(m.State.Data) != `{"a":1}` || m.State.Records != -1 {
		t.Errorf("a merge patch: %+v, %v", m, err)
	}
	m, err = Airbyte([]byte(`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1.0,"stream_status":{"stream_descriptor":{"name":"orders"},"status":"RUNNING"}}}`))
	if err != nil || m.Trace.Status != "RUNNING" || m.Trace.Stream.Name != "orders" {
		t.Errorf("a status: %+v, %v", m, err)
	}
}

func TestAirbyteRefuses(t *testing.T) {
	for _, line := range []string{
		`not JSON`, `[]`, `{"type":"RECORD"}`, `{"type":"NEWS","news":{}}`, `{"type":"RECORD","record":{"stream":"a","data":[],"emitted_at":1}}`,
		`{"type":"RECORD","record":{"stream":"a","data":{}}}`, `{"type":"RECORD","record":{"data":{},"emitted_at":1}}`,
		`{"type":"RECORD","record":{"stream":"a","data":{},"emitted_at":1},"state":{}}`, `{"type":"RECORD","record":{"stream":"a","data":{},"emitted_at":1}} x`,
		`{"type":"RECORD","type":"STATE","record":{"stream":"a","data":{},"emitted_at":1}}`,
		`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"a"}}}}`, `{"type":"STATE","state":{"type":"OTHER"}}`, `{"type":"STATE","state":{}}`,
		`{"type":"TRACE","trace":{"type":"ERROR","emitted_at":1,"error":{}}}`, `{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1,"stream_status":{"status":"SLEEPING"}}}`,
		`{"type":"CONNECTION_STATUS","connectionStatus":{"status":"MAYBE"}}`,
	} {
		if m, err := Airbyte([]byte(line)); err == nil {
			t.Errorf("%s was taken as %+v", line, m)
		}
	}
}

func TestFlow(t *testing.T) {
	var f FlowDecoder
	for line, check := range map[string]func(*Response) bool{
		`{"spec":{"protocol":3032023,"configSchema":{},"resourceConfigSchema":{},"documentationUrl":"https://x","resourcePathPointers":["/a"]}}`: func(r *Response) bool { return r.Kind == "spec" },
		`{"discovered":{"bindings":[{"recommendedName":"a/b","resourceConfig":{},"documentSchema":{},"key":["/id"],"isFallbackKey":true}]}}`: func(r *Response) bool {
			return r.Discovered[0].RecommendedName == "a/b" && r.Discovered[0].Key[0] == "/id" && r.Discovered[0].IsFallbackKey
		},
		`{"validated":{"bindings":[{"resourcePath":["a"]}]}}`: func(r *Response) bool { return r.Validated[0][0] == "a" },
		`{"applied":{}}`: func(r *Response) bool { return r.Kind == "applied" },
		`{"opened":{"explicitAcknowledgements":true}}`:                                         func(r *Response) bool { return r.ExplicitAcknowledgements },
		`{"captured":{"doc":{"id":1}}}`:                                                        func(r *Response) bool { return r.Binding == 0 && string(r.Doc) == `{"id":1}` },
		`{"captured":{"binding":7,"doc":{}}}`:                                                  func(r *Response) bool { return r.Binding == 7 },
		`{"sourcedSchema":{"binding":1,"documentSchema":{"additionalProperties":false}}}`:      func(r *Response) bool { return r.Binding == 1 },
		`{"checkpoint":{"state":{"updated":{"bindings":{"a":{"x":null}}},"mergePatch":true}}}`: func(r *Response) bool { return r.MergePatch && strings.Contains(string(r.State), "null") },
	} {
		r, err := f.Decode([]byte(line))
		if err != nil || !check(r) {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
	r, err := FlowDecoder{AllowReset: true}.Decode([]byte(`{"reset":{"binding":2,"reason":"TRUNCATE"}}`))
	if err != nil || r.Binding != 2 || r.Reason != "TRUNCATE" {
		t.Errorf("a reset: %+v, %v", r, err)
	}
}

func TestFlowLengths(t *testing.T) {
	for line, fine := range map[string]bool{
		`{"captured":{"doc":{"id":1,"t":"a,}"},"lengths":"006009"}}`: true, `{"captured":{"doc":{"id":1,"t":"a,}"},"lengths":"006008"}}`: false,
		`{"captured":{"doc":{"id":1}}}`: false, `{"captured":{"doc":{"id":1},"lengths":"006"}}`: true, `{"captured":{"doc":{"id":1},"lengths":"006000"}}`: false,
	} {
		if _, err := (FlowDecoder{Lengths: true}).Decode([]byte(line)); (err == nil) != fine {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := (FlowDecoder{}).Decode([]byte(`{"captured":{"doc":{"id":1},"lengths":"006"}}`)); err == nil {
		t.Error("lengths that nobody asked for were taken")
	}
}

func TestFlowRefuses(t *testing.T) {
	for _, line := range []string{
		`{}`, `{"captured":{"doc":{}},"opened":{}}`, `{"captured":{"doc":{},"extra":1}}`, `{"Captured":{"doc":{}}}`, `{"captured":{"Doc":{}}}`, `{"captured":{"doc":[]}}`,
		`{"captured":{"binding":-1,"doc":{}}}`, `{"captured":{"binding":"1","doc":{}}}`, "{\"captured\":{\"doc\":\t{}}}", `{"captured":{"doc":{},"doc":{}}}`,
		`{"backfillBegin":{"binding":0}}`, `{"reset":{"binding":0,"reason":"x"}}`, `{"checkpoint":{}}`, `{"checkpoint":{"state":{}}}`, `{"checkpoint":{"state":{"updated":[]}}}`,
		`{"checkpoint":{"state":{"updated":{},"merge_patch":true}}}`, `{"sourcedSchema":{"documentSchema":{"type":"object"}}}`, `{"opened":{"explicitAcknowledgements":1}}`,
		`{"spec":{"protocol":1,"configSchema":{},"resourceConfigSchema":{},"resourcePathPointers":[]}}`, `{"applied":{"state":{}}}`, `{"captured":{"doc":{}}}{}`,
	} {
		if r, err := (FlowDecoder{}).Decode([]byte(line)); err == nil {
			t.Errorf("%s was taken as %+v", line, r)
		}
	}
}

func TestObjectSplits(t *testing.T) {
	members, err := Object([]byte(` { "a\u0062" : [1, {"x":"}]\\\""}] , "n":-1.5e3,"t":true,"o":{},"s":"\\","z" : null } `))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"ab": `[1, {"x":"}]\\\""}]`, "n": "-1.5e3", "t": "true", "o": "{}", "s": `"\\"`, "z": "null"} {
		if string(members[name]) != want {
			t.Errorf("member %s is %s, want %s", name, members[name], want)
		}
	}
	if len(members) != 6 {
		t.Errorf("%d members, want 6", len(members))
	}
	if members, err = Object([]byte("{}")); err != nil || len(members) != 0 {
		t.Errorf("an empty object: %v, %v", members, err)
	}
}

// Whatever is valid JSON is split as encoding/json would, names apart that are there twice.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,2,{"c":null}]},"d":"\"}"}`, `[1]`, `{"a":1,"a":2}`, ` {"a" : true } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !utf8.Valid(raw) {
			return // encoding/json replaces bytes in names, and two may become one
		}
		got, err := Object(raw)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(raw, &want)
		if err != nil {
			if wantErr == nil && want != nil && !strings.Contains(err.Error(), "twice") {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if wantErr != nil || len(got) != len(want) {
			t.Fatalf("%q: split into %d members, want %d (%v)", raw, len(got), len(want), wantErr)
		}
		for name, value := range got {
			if string(want[name]) != string(value) {
				t.Fatalf("%q: member %q is %q, want %q", raw, name, value, want[name])
			}
		}
	})
}
