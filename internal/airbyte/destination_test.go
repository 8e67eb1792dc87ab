package airbyte

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func TestDecodeDestinationCatalog(t *testing.T) {
	got, err := DecodeDestinationCatalog([]byte(`{"streams":[
		{"stream":{"name":"orders","namespace":"a","json_schema":{"type":"object"},"source_defined_primary_key":[["own"]]},"sync_mode":"incremental","destination_sync_mode":"append_dedup","primary_key":[["id"],["x","y"]],"generation_id":3,"minimum_generation_id":2.0,"sync_id":null},
		{"stream":{"name":"orders","namespace":"b","json_schema":null,"source_defined_primary_key":[["own"]]},"sync_mode":null,"destination_sync_mode":"overwrite","primary_key":null,"generation_id":null},
		{"stream":{"name":"log","namespace":null},"destination_sync_mode":"append","primary_key":[],"estuary.dev/projections":{"a":"/b"}}],"future":1}`))
	want := []DestinationStream{
		{Descriptor: Descriptor{"orders", "a"}, Schema: []byte(`{"type":"object"}`), Mode: AppendDedup, Key: []string{"/id", "/x/y"}, Generation: 3, MinimumGeneration: 2},
		{Descriptor: Descriptor{"orders", "b"}, Mode: Overwrite, Key: []string{"/own"}},
		{Descriptor: Descriptor{Name: "log"}, Mode: Append, Projections: map[string]string{"a": "/b"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestDecodeDestinationCatalog_Refuses(t *testing.T) {
	for raw, want := range map[string]string{
		`[]`:                              "no valid configured catalog",
		`{}`:                              `it has no "streams"`,
		`{"type":"TRACE"}`:                "it begins with a message of type TRACE",
		`{"type":"CATALOG","catalog":{}}`: "the output of discover",
		`{"streams":[{"stream":{}}]}`:     "stream 1 of it has no name",
		`{"streams":[{"stream":{"name":"a","namespace":"n"},"destination_sync_mode":"append_dedup"}]}`:                                                                        "stream n.a is to be deduplicated, but has no key",
		`{"streams":[{"stream":{"name":"a"},"destination_sync_mode":"soft_delete"}]}`:                                                                                         `stream a has destination_sync_mode "soft_delete"`,
		`{"streams":[{"stream":{"name":"a"},"destination_sync_mode":null}]}`:                                                                                                  `stream a has destination_sync_mode ""`,
		`{"streams":[{"stream":{"name":"n.a","namespace":"n"},"destination_sync_mode":"append"},{"stream":{"name":"n.a","namespace":"n"},"destination_sync_mode":"append"}]}`: "it names stream n.a twice",
	} {
		_, err := DecodeDestinationCatalog([]byte(raw))
		if err == nil || !strings.Contains(err.Error(), want) || protocol.KindOf(err) != protocol.Config {
			t.Errorf("%s: got %v, want a config problem with %q", raw, err, want)
		}
	}
}

func TestDecodeMessage(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"RECORD","record":{"stream":"orders","namespace":"public","data":{"id":1},"emitted_at":1}}`, `RECORD orders public {"id":1}`},
		{`{"record":{"emitted_at":1.5e9,"data": {"a":[ ]} ,"namespace":null,"stream":"\u006frders","meta":null},"type":"RECORD","state":null}`, `RECORD orders  {"a":[ ]}`},
		{`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"o","namespace":null},"stream_state":{"n":1}},"global_":null,"data":null,"global_":null}}`, `STATE STREAM o  {"n":1}   false`},
		{`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"o","namespace":"n"},"stream_state":null}}}`, `STATE STREAM o n    false`},
		{`{"type":"STATE","state":{"type":"GLOBAL","global":{"shared_state":1,"stream_states":[]}}}`, `STATE GLOBAL    {"shared_state":1,"stream_states":[]}  false`},
		{`{"type":"STATE","state":{"type":"GLOBAL","global_":{"shared_state":2},"global_":null}}`, `STATE GLOBAL    {"shared_state":2}  false`},
		{`{"type":"STATE","state":{"data":{"a":null},"estuary.dev/merge":true}}`, `STATE LEGACY     {"a":null} true`},
		{`{"type":"STATE","state":{"type":null,"data":{"a":1},"merge":false}}`, `STATE LEGACY     {"a":1} false`},
		{`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1795982378078.0,"error":null,"stream_status":{"stream_descriptor":{"name":"o"},"status":"COMPLETE","reasons":null}}}`, `TRACE o  COMPLETE`},
		{`{"type":"TRACE","trace":{"type":"ESTIMATE","estimate":{"name":"o"},"stream_status":null}}`, `TRACE   `},
		{`{"type":"LOG","log":{"level":"INFO","message":"x"}}`, `LOG`},
		{`{"type":"SPEC","spec":{}}`, `SPEC`},
	} {
		m, err := DecodeMessage([]byte(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		got := string(m.Type)
		switch m.Type {
		case RecordMessage:
			got = fmt.Sprintf("%s %s %s %s", m.Type, m.Stream, m.Namespace, m.Data)
		case StateMessage:
			s := m.State
			got = fmt.Sprintf("%s %s %s %s %s %s %s %t", m.Type, s.Kind, s.Stream, s.Namespace, s.StreamState, s.Global, s.Data, s.Merge)
		case TraceMessage:
			got = fmt.Sprintf("%s %s %s %s", m.Type, m.Stream, m.Namespace, m.Status)
		case LogMessage:
		}
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.line, got, c.want)
		}
	}
}

func TestDecodeMessage_Refuses(t *testing.T) {
	for _, line := range []string{
		``, `x`, `[]`, `{}`, `{"type":7}`, `{"type":"RECORD","record":{"stream":"a"}}`, `{"type":"RECORD","record":{"stream":"a","data":{}}`, `{"type":"RECORD","record":[]}`,
		`{"type":"STATE","state":{"type":"GLOBAL"}}`, `{"type":"STATE","state":{"type":"STREAM"}}`, `{"type":"STATE","state":{"type":"OTHER"}}`,
	} {
		if m, err := DecodeMessage([]byte(line)); err == nil {
			t.Errorf("%s became %+v", line, m)
		}
	}
}

func TestAppendEcho_ChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"STATE","state":{"type":"LEGACY","data":{"a": 1.0}}}`, `{"type":"STATE","state":{"type":"LEGACY","data":{"a": 1.0},"destinationStats":{"recordCount":7.0}}}`},
		{`{"state": { }, "type":"STATE"}`, `{"state": { "destinationStats":{"recordCount":7.0}}, "type":"STATE"}`},
		{`{"type":"STATE","state":{"destinationStats":null,"data":{"destinationStats":1}},"x":{}}`, `{"type":"STATE","state":{"destinationStats":{"recordCount":7.0},"data":{"destinationStats":1}},"x":{}}`},
		{
			`{"type": "STATE", "state": {"type": "STREAM", "global_": null, "destinationStats": {"recordCount": 0.0}, "global_": null}}`,
			`{"type": "STATE", "state": {"type": "STREAM", "global_": null, "destinationStats": {"recordCount":7.0}, "global_": null}}`,
		},
	} {
		if got := string(AppendEcho(nil, []byte(c.line), 7)); got != c.want+"\n" {
			t.Errorf("%s:\n got %swant %s", c.line, got, c.want)
		}
	}
}

func TestShapes(t *testing.T) {
	var s Shapes
	learn := func(id int, line string) {
		raw := []byte(line)
		m, err := DecodeMessage(raw)
		if err != nil {
			t.Fatal(err)
		}
		s.Learn(id, raw, m.Data)
	}
	learn(1, `{"type":"RECORD","record":{"stream":"a","data":{"x":1},"emitted_at":1724500000123}}`)
	learn(2, `{"type": "RECORD", "record": {"stream": "b", "data": {"x": 1}, "emitted_at": 1724500000.5, "namespace": null}, "state": null}`)
	learn(3, `{"type":"RECORD","record":{"emitted_at":1,"stream":"c","data":{"x":1}}}`) // a number before the document: nothing to learn
	for _, c := range []struct {
		line, data string
		id         int
	}{
		{`{"type":"RECORD","record":{"stream":"a","data":{"emitted_at":5,"y":"}}"},"emitted_at":2}}`, `{"emitted_at":5,"y":"}}"}`, 1},
		{`{"type":"RECORD","record":{"stream":"a","data":{},"emitted_at":2}}`, `{}`, 1},
		{`{"type": "RECORD", "record": {"stream": "b", "data": {"x": 9}, "emitted_at": 3, "namespace": null}, "state": null}`, `{"x": 9}`, 2},
		{`{"type":"RECORD","record":{"stream":"ab","data":{},"emitted_at":2}}`, "", 0},
		{`{"type":"RECORD","record":{"stream":"a","namespace":"n","data":{},"emitted_at":2}}`, "", 0},
		{`{"type":"RECORD","record":{"stream":"a","data":{},"emitted_at":}}`, "", 0},
		{`{"type":"RECORD","record":{"stream":"a","data":{},"emitted_at":"2"}}`, "", 0},
		{`{"type":"RECORD","record":{"stream":"c","data":{},"emitted_at":2}}`, "", 0},
		{`{"type":"STATE"}`, "", 0},
	} {
		id, data, ok := s.Find([]byte(c.line))
		if id != c.id || string(data) != c.data || ok != (c.id != 0) {
			t.Errorf("%s: got stream %d, %q", c.line, id, data)
		}
	}
	// What is no single object is found, and refused by whoever reads the document.
	if _, data, _ := s.Find([]byte(`{"type":"RECORD","record":{"stream":"a","data":{"x":1},"data":{"y":2},"emitted_at":2}}`)); string(data) != `{"x":1},"data":{"y":2}` {
		t.Errorf("got %q", data)
	}
}

func TestShapes_ManyStreams(t *testing.T) {
	var s Shapes
	for round := range 2 {
		for i := range 3 * maxShapes {
			line := fmt.Appendf(nil, `{"type":"RECORD","record":{"stream":"s%d","data":{"n":%d},"emitted_at":1}}`, i, round)
			id, data, ok := s.Find(line)
			if !ok {
				m, err := DecodeMessage(line)
				if err != nil {
					t.Fatal(err)
				}
				s.Learn(i, line, m.Data)
				continue
			}
			if id != i || string(data) != fmt.Sprintf(`{"n":%d}`, round) {
				t.Fatalf("stream %d: got %d, %s", i, id, data)
			}
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"type":"RECORD","record":{"stream":"a","data":{"x":1},"emitted_at":1}}`))
	f.Add([]byte(`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"o"},"stream_state":{}},"destinationStats":null}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := DecodeMessage(line)
		if err != nil {
			return
		}
		switch m.Type {
		case RecordMessage:
			var s Shapes
			s.Learn(1, line, m.Data)
			if id, data, ok := s.Find(line); ok && (id != 1 || string(data) != string(m.Data)) {
				t.Errorf("%q: the document %q, by its shape %q", line, m.Data, data)
			}
		case StateMessage:
			if again, err := DecodeMessage(AppendEcho(nil, line, 3)); err != nil || !reflect.DeepEqual(again.State, m.State) {
				t.Errorf("%q: the echo reads %+v, %v", line, again.State, err)
			}
		case LogMessage, TraceMessage:
		}
	})
}

func BenchmarkRecordLine(b *testing.B) {
	line := fmt.Appendf(nil, `{"type":"RECORD","record":{"stream":"orders","namespace":"public","data":{"id":1,"text":%q,"_meta":{"op":"c"}},"emitted_at":1724500000123}}`, strings.Repeat("lorem ", 70))
	b.Run("shape", func(b *testing.B) {
		var s Shapes
		m, _ := DecodeMessage(line)
		s.Learn(1, line, m.Data)
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			if _, _, ok := s.Find(line); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("full", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			if _, err := DecodeMessage(line); err != nil {
				b.Fatal(err)
			}
		}
	})
}
