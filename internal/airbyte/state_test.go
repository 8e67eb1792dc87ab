package airbyte

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// The forms themselves are tested where they are handed to bindings (protocol/source); here is what is refused.
func TestDecodeState_Refuses(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a"`:              "no valid JSON",
		`"text"`:            "must be a list or an object",
		`[[]]`:              "a list inside a list",
		`[3]`:               "must be a list or an object",
		`{"type":"STREAM"}`: "names no stream",
		`{"type":"STREAM","stream":{"stream_descriptor":{"name":""}}}`:         "names no stream",
		`{"type":"STATE","state":[]}`:                                          "is no object",
		`{"type":"LEGACY","data":[1]}`:                                         "is no object",
		`{"type":"GLOBAL","global":null}`:                                      "of type GLOBAL",
		`{"orders":5}`:                                                         "its member orders",
		"{\"type\":\"TRACE\",\"trace\":{}}\n{\"type\":\"STATE\",\"state\":{}}": "keep only its lines of type STATE",
		`{"type":"STREAM","stream":7}`:                                         "not as the protocol has it",
	} {
		_, err := DecodeState([]byte(raw))
		if err == nil || !strings.Contains(err.Error(), want) || protocol.KindOf(err) != protocol.Config {
			t.Errorf("%s: got %v, want a config problem with %q", raw, err, want)
		}
	}
}

func TestDecodeState_StreamsNamedLikeMembers(t *testing.T) {
	s, err := DecodeState([]byte(`{"type":{"n":1},"data":{"n":2},"shared":{"n":3},"bindings":{"n":4},"x":{}}`))
	if err != nil || len(s.Streams) != 4 || s.Document != nil {
		t.Errorf("got %d streams, document %s, %v; want a map of four streams", len(s.Streams), s.Document, err)
	}
}

func FuzzDecodeState(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `{"shared":{"p":1},"bindings":{"a":{}}}`, `{"orders":{"n":1}}`,
		`[{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":null},"stream_state":{"n":1}},"global":null,"data":null}]`,
		`{"type":"STATE","state":{"data":{"bindings":{}},"estuary.dev/merge":true}}` + "\n" + `{"type":"LEGACY","data":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeState(raw)
		if err != nil {
			if protocol.KindOf(err) != protocol.Config {
				t.Errorf("the error is no config problem: %v", err)
			}
			return
		}
		for _, given := range s.Streams {
			if !json.Valid(given.State) || given.State[0] == 'n' {
				t.Errorf("stream %q has the state %q", given.Descriptor.Name, given.State)
			}
		}
		if s.Document != nil && !json.Valid(s.Document) {
			t.Errorf("the document %q is no JSON", s.Document)
		}
	})
}
