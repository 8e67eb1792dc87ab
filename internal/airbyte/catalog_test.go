package airbyte

import (
	"reflect"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func TestDecodeCatalog(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      Catalog
	}{
		{"empty", `{"streams":[]}`, Catalog{Range: protocol.FullRange}},
		{
			"null for everything optional, unknown keys",
			`{"streams":[{"stream":{"name":"orders","namespace":null,"json_schema":null,"supported_sync_modes":null,"is_resumable":null},"sync_mode":"incremental","destination_sync_mode":"append","cursor_field":null,"primary_key":null,"generation_id":1,"include_files":false,"projections":null}],"tail":null,"range":null,"future":{}}`,
			Catalog{Streams: []ConfiguredStream{{Descriptor: Descriptor{Name: "orders"}, Mode: protocol.Incremental}}, Range: protocol.FullRange},
		},
		{
			"keys and schema",
			`{"streams":[{"stream":{"name":"orders","namespace":"public","json_schema":{"type":"object"}},"sync_mode":"full_refresh","primary_key":[["id"],["a","b/c"],[]]}]}`,
			Catalog{Streams: []ConfiguredStream{{
				Descriptor: Descriptor{"orders", "public"}, Mode: protocol.FullRefresh, Schema: []byte(`{"type":"object"}`), Key: []string{"/id", "/a/b~1c"},
			}}, Range: protocol.FullRange},
		},
		{"tail, old spelling", `{"streams":[],"tail":true}`, Catalog{Tail: true, Range: protocol.FullRange, Extended: true}},
		{"tail, the namespaced spelling wins", `{"streams":[],"tail":true,"estuary.dev/tail":false}`, Catalog{Range: protocol.FullRange, Extended: true}},
		{"range", `{"streams":[],"estuary.dev/range":{"begin":"00003039","end":"000A5bfe"}}`, Catalog{Range: protocol.Range{Begin: 0x3039, End: 0xa5bfe}, Extended: true}},
		{"range, the namespaced spelling wins", `{"streams":[],"range":{"begin":"1","end":"2"},"estuary.dev/range":{"begin":"3","end":"4"}}`, Catalog{Range: protocol.Range{Begin: 3, End: 4}, Extended: true}},
		{"range, fewer digits", `{"streams":[],"range":{"begin":"80000000"}}`, Catalog{Range: protocol.Range{Begin: 0x80000000, End: 0xffffffff}, Extended: true}},
		{"range that nobody set", `{"streams":[],"range":{"begin":"00000000","end":"00000000"}}`, Catalog{Range: protocol.FullRange, Extended: true}},
		{"range without bounds", `{"streams":[],"range":{}}`, Catalog{Range: protocol.FullRange, Extended: true}},
		{
			"projections",
			`{"streams":[{"stream":{"name":"a"},"sync_mode":"incremental","projections":{"x":"/y"},"estuary.dev/projections":{"x":"/z"}}]}`,
			Catalog{Streams: []ConfiguredStream{{Descriptor: Descriptor{Name: "a"}, Mode: protocol.Incremental, Projections: map[string]string{"x": "/z"}}}, Range: protocol.FullRange, Extended: true},
		},
	} {
		got, err := DecodeCatalog([]byte(c.raw))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

func TestDecodeCatalog_Refuses(t *testing.T) {
	for raw, want := range map[string]string{
		``:                            "no valid configured catalog",
		`[]`:                          "no valid configured catalog",
		`null`:                        `it has no "streams"`,
		`{"type":"TRACE","trace":{}}`: "it begins with a message of type TRACE: the command",
		"{\"type\":\"LOG\"}\n{\"type\":\"TRACE\"}": "it begins with a message of type LOG: the command",
		`{"streams":[null]}`:                       "stream 1 of it has no name",
		`{"streams":[{"stream":null}]}`:            "stream 1 of it has no name",
		`{"streams":[{"stream":{"name":"a"},"sync_mode":"incremental"},{"stream":{"name":"a"},"sync_mode":"incremental"}]}`: `it names stream "a" twice`,
		`{"streams":[{"stream":{"name":"a"},"sync_mode":null}]}`:                                                            `stream "a" has sync_mode ""`,
		`{"streams":[],"range":{"begin":"123456789"}}`:                                                                      "not a hexadecimal number",
		`{"streams":[],"range":{"begin":"000000001"}}`:                                                                      "not a hexadecimal number",
		`{"streams":[],"range":{"begin":"-1"}}`:                                                                             "not a hexadecimal number",
		`{"streams":[{"stream":{"name":"a"},"sync_mode":"incremental","estuary.dev/projections":{"id":"key/id"}}]}`:         `the projection of field "id" of stream "a" is no JSON pointer`,
		`{"streams":[],"tail":"yes"}`:                                                                                       "no valid configured catalog",
	} {
		_, err := DecodeCatalog([]byte(raw))
		if err == nil || !strings.Contains(err.Error(), want) || protocol.KindOf(err) != protocol.Config {
			t.Errorf("%s: got %v, want a config problem with %q", raw, err, want)
		}
	}
}

func FuzzDecodeCatalog(f *testing.F) {
	f.Add([]byte(`{"streams":[{"stream":{"name":"a","namespace":null},"sync_mode":"incremental","primary_key":[["id"]],"projections":{"x":"/y"}}],"range":{"begin":"0","end":"f"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := DecodeCatalog(raw)
		if err != nil {
			if protocol.KindOf(err) != protocol.Config {
				t.Errorf("the error is no config problem: %v", err)
			}
			return
		}
		if c.Range.Begin > c.Range.End {
			t.Errorf("the range %v ends before it begins", c.Range)
		}
		for _, s := range c.Streams {
			if s.Descriptor.Name == "" {
				t.Error("a stream without a name")
			}
		}
	})
}
