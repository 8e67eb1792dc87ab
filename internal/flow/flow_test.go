package flow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func TestAppend_EveryResponse(t *testing.T) {
	streams := []protocol.Stream{
		{Name: "a", RecommendedName: "n/a", Resource: json.RawMessage(`{"stream":"a"}`), Key: []string{"/id"}, Schema: protocol.Schema{Complete: true}},
		{Name: "b", Resource: json.RawMessage(`{"stream":"b"}`), FallbackKey: []string{"/_meta/x"}},
		{Name: "c", Resource: json.RawMessage(`{"stream":"c"}`)},
	}
	for _, c := range []struct{ got, want string }{
		{
			string(AppendSpec(nil, Spec{ConfigSchema: []byte(`{}`), ResourceConfigSchema: []byte(`{}`), DocumentationURL: "https://x?a&b", ResourcePathPointers: []string{"/stream"}})),
			`{"spec":{"protocol":3032023,"configSchema":{},"resourceConfigSchema":{},"documentationUrl":"https://x?a&b","resourcePathPointers":["/stream"]}}`,
		},
		{
			string(AppendDiscovered(nil, streams, [][]string{{"a"}, {"b"}, {"c"}})),
			`{"discovered":{"bindings":[{"recommendedName":"n/a","resourceConfig":{"stream":"a"},"documentSchema":{},"key":["/id"],"resourcePath":["a"]},` +
				`{"recommendedName":"b","resourceConfig":{"stream":"b"},"documentSchema":{"x-infer-schema":true},"key":["/_meta/x"],"resourcePath":["b"],"isFallbackKey":true},` +
				`{"recommendedName":"c","resourceConfig":{"stream":"c"},"documentSchema":{"x-infer-schema":true},"resourcePath":["c"]}]}}`,
		},
		{string(AppendValidated(nil, [][]string{{"n", "a"}})), `{"validated":{"bindings":[{"resourcePath":["n","a"]}]}}`},
		{string(AppendValidated(nil, nil)), `{"validated":{"bindings":[]}}`},
		{string(AppendApplied(nil)), `{"applied":{}}`},
		{string(AppendOpened(nil)), `{"opened":{"explicitAcknowledgements":true}}`},
		{string(CapturedOpening(12)) + `{}` + CapturedClosing, `{"captured":{"binding":12,"doc":{}}}`},
		{string(AppendSourcedSchema(nil, 1, protocol.Schema{Types: []string{"object"}})), `{"sourcedSchema":{"binding":1,"documentSchema":{"type":"object","additionalProperties":false}}}`},
		{string(AppendCheckpoint(nil, []byte(`{}`))), `{"checkpoint":{"state":{"updated":{},"mergePatch":true}}}`},
		{string(AppendReset(nil, 0, "a \"b\"")), `{"reset":{"binding":0,"reason":"a \"b\""}}`},
	} {
		if c.got != c.want+"\n" {
			t.Errorf("\n got %swant %s", c.got, c.want)
		}
	}
}

// The runtime leaves out zeros and adds members that this version does not know.
func TestDecodeRequest_Open(t *testing.T) {
	r, err := DecodeRequest([]byte(`{"open":{"capture":{"name":"c","config":{},"bindings":[{"resourceConfig":{},"backfill":2}],"redactSalt":"b64"},"range":{"keyEnd":4294967295},"state":{},"sealedConfig":{}},"$internal":"AAA="}`))
	switch {
	case err != nil:
		t.Fatal(err)
	case r.Open == nil || r.Open.Capture.Name != "c" || r.Open.Capture.Bindings[0].Backfill != 2:
		t.Errorf("got %+v", r.Open)
	case r.Open.Range.KeyBegin != 0 || *r.Open.Range.KeyEnd != 0xffffffff:
		t.Errorf("got the range %+v, want the full one", r.Open.Range)
	case r.Open.Tail != nil || r.Open.Reset:
		t.Errorf("tail is %v and reset %v, want neither given", r.Open.Tail, r.Open.Reset)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(`{"acknowledge":{"checkpoints":1}}`)
	f.Add(`{"open":{"capture":{"bindings":[{"collection":null}]},"tail":false}}`)
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := DecodeRequest([]byte(line)); err != nil && !strings.HasPrefix(err.Error(), "reading a request: ") {
			t.Errorf("the error does not say what was read: %v", err)
		}
	})
}
