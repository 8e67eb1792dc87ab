package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// shown prints a load or store so that two of them can be compared.
func shown(r SinkRequest) string {
	switch {
	case r.Load != nil:
		return fmt.Sprintf("load %d %q %x", r.Load.Binding, r.Load.Key, r.Load.Packed)
	case r.Store != nil:
		s := r.Store
		return fmt.Sprintf("store %d %q %x %q %q exists=%v delete=%v", s.Binding, s.Key, s.Packed, s.Values, s.Doc, s.Exists, s.Delete)
	}
	return "something else"
}

func TestSinkDecoder_BothKeyEncodings(t *testing.T) {
	for line, want := range map[string]string{
		`{"load":{"key":[1]}}`:                                     `load 0 ["1"] 1501`,
		`{"load":{"keyPacked":"FQE="}}`:                            `load 0 ["1"] 1501`,
		`{"load":{"binding":12,"key":["a",-1],"keyPacked":""}}`:    `load 12 ["\"a\"" "-1"] `,
		`{"load":{"key":null,"keyPacked":"AmEA"}}`:                 `load 0 ["\"a\""] 026100`,
		`{"load":{"binding":"3","keyPacked":"FSoCaGkA"}}`:          `load 3 ["42" "\"hi\""] 152a02686900`,
		`{"load":{"keyPacked":"FQE\u003d"}}`:                       `load 0 ["1"] 1501`,
		`{"load":{}}`:                                              `load 0 [] `,
		` { "load" : { "key" : [ 1 , "x" ] , "binding" : 2 } } `:   `load 2 ["1" "\"x\""] 1501027800`,
		`{"$internal":"AAA=","load":{"key":[1],"later":{"a":[]}}}`: `load 0 ["1"] 1501`,
		`{"load":{"later":{"a":[]},"key":[true,null]}}`:            `load 0 ["true" "null"] 2700`,
		`{"store":{"keyPacked":"FQE=","valuesPacked":"AkFjbWUAIcApAAAAAAAA","doc":{"id":1,"total":0.10}}}`: `store 0 ["1"] 1501 ["\"Acme\"" "12.5"] "{\"id\":1,\"total\":0.10}" exists=false delete=false`,
		`{"store":{"key":[1],"values":["Acme",12.5,null],"exists":true}}`:                                  `store 0 ["1"] 1501 ["\"Acme\"" "12.5" ""] "" exists=true delete=false`,
		`{"store":{"key":[1],"valuesPacked":"AkJvbHQAIcAeAAAAAAAAAA==","delete":true,"exists":false}}`:     `store 0 ["1"] 1501 ["\"Bolt\"" "7.5" ""] "" exists=false delete=true`,
		`{"store":{"keyPacked":"FQE=","values":[{"a":1},[1e400]],"doc":null}}`:                             `store 0 ["1"] 1501 ["{\"a\":1}" "[1e400]"] "" exists=false delete=false`,
		`{"store":{"key":[1],"key":[2],"binding":1,"binding":4}}`:                                          `store 4 ["2"] 1502 [] "" exists=false delete=false`,
	} {
		var d SinkDecoder
		for range 2 { // the second time with buffers that are used
			got, err := d.Decode([]byte(line))
			if err != nil || shown(got) != want {
				t.Errorf("%s:\n got %s, %v\nwant %s", line, shown(got), err, want)
			}
		}
	}
}

func TestSinkDecoder_SaysWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		`{"store":{"key":[1]}`:                     "unexpected end of JSON input",
		`{"store":{"key":[1],"values":[,]}}`:       "reading a request: invalid character",
		`{"store":{"key":{"a":1}}}`:                "reading a request: key: ",
		`{"store":{"keyPacked":"!"}}`:              "no base64",
		`{"store":{"keyPacked":7}}`:                "no base64",
		`{"load":{"keyPacked":"FQ=="}}`:            "keyPacked: a packed key ends in the middle",
		`{"store":{"valuesPacked":"/w=="}}`:        "valuesPacked: ",
		`{"load":{"key":[1.5]}}`:                   "reading a request: key: 1.5",
		`{"load":{"binding":-1}}`:                  "an integer from 0 to 4294967295",
		`{"load":{"binding":99999999999}}`:         "an integer from 0 to 4294967295",
		`{"store":{"exists":"yes"}}`:               "cannot unmarshal",
		`{"load":{"key":[1]},"flush":{}}`:          "holds 2 requests",
		`{}`:                                       "none of spec, validate",
		`{"load":null}`:                            "none of spec, validate",
		`{"discover":{}}`:                          "takes this sink for a source",
		`{"later":{}}`:                             "none of spec, validate",
		`[]`:                                       "reading a request: ",
		`{"open":{"range":{"keyEnd":4294967296}}}`: "an integer from 0",
	} {
		var d SinkDecoder
		if got, err := d.Decode([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want %q", line, got, err, want)
		}
	}
}

// bug materializations 1: the predecessor kept the config by reference to the read buffer, and the next message overwrote it (2023-04)
// bug materializations 2: a request that was decoded into again kept the member of the message before (2023-03)
func TestSinkDecoder_NothingStaysAndNothingIsOverwritten(t *testing.T) {
	var d SinkDecoder
	line := []byte(`{"open":{"materialization":{"name":"a","config":{"password":"first"},"bindings":[{"resourceConfig":{"table":"t"},"collection":{"readSchema":{"a":1}}}]},"state":{"k":{"x":1}}}}`)
	open, err := d.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	commit := []byte(`{"startCommit":{"runtimeCheckpoint":{"a":[0.10,  1e400]}}}`)
	start, err := d.Decode(commit)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range [][]byte{line, commit} {
		for i := range l {
			l[i] = 'x'
		}
	}
	if _, err := d.Decode([]byte(`{"open":{"materialization":{}}}`)); err != nil {
		t.Fatal(err)
	}
	m := open.Open.Materialization
	if string(m.Config) != `{"password":"first"}` || string(m.Bindings[0].Resource) != `{"table":"t"}` || string(m.Bindings[0].Collection.Schema) != `{"a":1}` || string(open.Open.State) != `{"k":{"x":1}}` {
		t.Errorf("the open request has changed: %+v", open.Open)
	}
	if string(start.StartCommit.Checkpoint) != `{"a":[0.10,  1e400]}` {
		t.Errorf("the checkpoint is %s, want it byte for byte", start.StartCommit.Checkpoint)
	}
	flush, err := d.Decode([]byte(`{"flush":{}}`))
	if err != nil || !reflect.DeepEqual(flush, SinkRequest{Flush: &struct{}{}}) {
		t.Errorf("flush came with members of others: %+v, %v", flush, err)
	}
	if _, err := d.Decode([]byte(`{"store":{"key":[1],"values":[2],"doc":{},"exists":true,"delete":true,"binding":3}}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Decode([]byte(`{"store":{}}`)); err != nil || shown(got) != `store 0 []  [] "" exists=false delete=false` {
		t.Errorf("a store kept what the one before had: %s, %v", shown(got), err)
	}
}

// bug materializations 9: a state that is absent, null or {} made connectors panic (2023-04, 2024-01, 2025)
func TestSinkDecoder_StatesThatHoldNothing(t *testing.T) {
	for _, state := range []string{``, `,"state":null`, `,"state":{}`, `,"state":{ }`} {
		for _, name := range []string{"open", "apply"} {
			var d SinkDecoder
			r, err := d.Decode([]byte(`{"` + name + `":{"materialization":{}` + state + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			if r.Open != nil && r.Open.State != nil || r.Apply != nil && r.Apply.State != nil {
				t.Errorf("%s%s: the state is not nil", name, state)
			}
		}
	}
}

func TestSinkDecoder_Collection(t *testing.T) {
	const line = `{"validate":{"name":"acme/mat","connectorType":"IMAGE","config":{"a":1},"bindings":[{"resourceConfig":{"table":"t"},"fieldConfig":{"id":{"x":1}},"backfill":2,"groupBy":["id"],"collection":{
		"name":"acme/c","writeSchema":{"w":1},"readSchema":{"r":1},"key":["/id"],"uuidPtr":"/_meta/uuid","partitionFields":[],"projections":[
		{"ptr":"/id","field":"id","isPrimaryKey":true,"inference":{"types":["string","integer"],"exists":"MUST","string":{"format":"integer","maxLength":"20"},"title":"T","description":"D","default":7}},
		{"ptr":"/n","field":"n","explicit":true,"inference":{"types":["number"],"exists":2,"numeric":{"hasMinimum":true,"hasMaximum":true,"maximum":1e19},"default":null}},
		{"ptr":"/l","field":"l","inference":{"types":["array"],"exists":"IMPLICIT","array":{"minItems":1,"itemTypes":["string","null"]}}},
		{"ptr":"","field":"flow_document","inference":{"types":["object"],"exists":1}},
		{"ptr":"/never","field":"never","inference":{"exists":"CANNOT"}}]}}],
		"lastMaterialization":{"name":"acme/mat","bindings":[{"resourcePath":["s","t"],"fieldSelection":{"keys":["id"],"values":["n"],"document":"flow_document","fieldConfig":{"n":{}}},"deltaUpdates":true,"stateKey":"s%2Ft"}],
		"inactiveBindings":[{"resourcePath":["old"]}]},"lastVersion":"v"}}`
	var d SinkDecoder
	r, err := d.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	b := r.Validate.Bindings[0]
	want := protocol.Collection{Name: "acme/c", Key: []string{"/id"}, Schema: json.RawMessage(`{"r":1}`), Projections: []protocol.Projection{
		{Field: "id", Pointer: "/id", Key: true, Inference: protocol.Inference{
			Types: []string{"integer", "string"}, Exists: protocol.Must, Format: "integer", MaxLength: 20, Title: "T", Description: "D", Default: json.RawMessage("7"),
		}},
		{Field: "n", Pointer: "/n", Explicit: true, Inference: protocol.Inference{Types: []string{"number"}, Minimum: "0", Maximum: "1e19"}},
		{Field: "l", Pointer: "/l", Inference: protocol.Inference{Types: []string{"array"}, ItemTypes: []string{"null", "string"}}},
		{Field: "flow_document", Inference: protocol.Inference{Types: []string{"object"}, Exists: protocol.Must}},
		{Field: "never", Pointer: "/never", Inference: protocol.Inference{Exists: protocol.Cannot}},
	}}
	if !reflect.DeepEqual(b.Collection, want) {
		t.Errorf("\n got %+v\nwant %+v", b.Collection, want)
	}
	if b.Backfill != 2 || string(b.Resource) != `{"table":"t"}` || string(b.FieldConfig["id"]) != `{"x":1}` {
		t.Errorf("got %+v", b)
	}
	last := r.Validate.Last
	if len(last.Bindings) != 1 || !last.Bindings[0].DeltaUpdates || last.Bindings[0].Fields.Document != "flow_document" || last.Bindings[0].StateKey != "s%2Ft" || last.Inactive[0].ResourcePath[0] != "old" {
		t.Errorf("got %+v", last)
	}
}

// The pipeline's requests are read as they were meant.
func TestSinkDecoder_ReadsWhatTheRunnerWrites(t *testing.T) {
	c := protocol.Collection{Name: "c", Key: []string{"/id"}, Schema: json.RawMessage(`{}`), Projections: []protocol.Projection{
		{Field: "id", Pointer: "/id", Key: true, Inference: protocol.Inference{Types: []string{"integer"}, Exists: protocol.Must, Minimum: "-9223372036854775808", Maximum: "9223372036854775807"}},
		{Field: "s", Pointer: "/s", Inference: protocol.Inference{Types: []string{"null", "string"}, Format: "date", MaxLength: 3, ContentEncoding: "base64", Default: json.RawMessage(`"x"`)}},
		{Field: "a", Pointer: "/a", Explicit: true, Inference: protocol.Inference{Types: []string{"array"}, Exists: protocol.Cannot, ItemTypes: []string{"string"}}},
	}}
	task := SinkTask{Name: "p", Config: json.RawMessage(`{}`), Bindings: []SinkBinding{{
		Resource: json.RawMessage(`{"table":"t"}`), ResourcePath: []string{"t"}, Collection: c, StateKey: "t.v1", Backfill: 1,
		Fields: protocol.FieldSelection{Keys: []string{"id"}, Values: []string{"s", "a"}},
	}}}
	var d SinkDecoder
	r, err := d.Decode(AppendSinkOpen(nil, task, "v", json.RawMessage(`{"a":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	b := r.Open.Materialization.Bindings[0]
	if !reflect.DeepEqual(b.Collection, c) || !reflect.DeepEqual(b.Fields, task.Bindings[0].Fields) || b.StateKey != "t.v1" || b.Backfill != 1 || *r.Open.Range.KeyEnd != 0xffffffff || !r.Open.Lengths {
		t.Errorf("got %+v", b)
	}
	store := bytes.TrimSpace(AppendStore(nil, 2, [][]byte{[]byte("1")}, [][]byte{nil, []byte("[]")}, []byte(`{}`), true, true, false))
	if r, err = d.Decode(store); err != nil || shown(r) != `store 2 ["1"] 1501 ["" "[]"] "{}" exists=true delete=true` {
		t.Errorf("got %s, %v", shown(r), err)
	}
	if r, err = d.Decode(bytes.TrimSpace(AppendLoad(nil, 0, [][]byte{[]byte(`"x"`)}))); err != nil || shown(r) != `load 0 ["\"x\""] 027800` {
		t.Errorf("got %s, %v", shown(r), err)
	}
	if r, err = d.Decode(AppendSinkAcknowledge(nil, []json.RawMessage{[]byte(`{"a":1}`)})); err != nil || len(r.Acknowledge.Patches) != 1 || string(r.Acknowledge.Patches[0]) != `{"a":1}` {
		t.Errorf("got %+v, %v", r.Acknowledge, err)
	}
}

func TestAppendSink_EveryResponse(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{
			string(AppendSinkSpec(nil, Spec{ConfigSchema: []byte(`{}`), ResourceConfigSchema: []byte(`{}`), DocumentationURL: "https://x"})),
			`{"spec":{"protocol":3032023,"configSchema":{},"resourceConfigSchema":{},"documentationUrl":"https://x"}}`,
		},
		{
			string(AppendSinkValidated(nil, []ValidatedBinding{
				{Constraints: map[string]Constraint{"b": {Type: "FIELD_OPTIONAL", Reason: "r", FoldedField: "B"}, "a": {Type: "FIELD_REQUIRED", Reason: "<k>"}}, ResourcePath: []string{"t"}},
				{CaseInsensitiveFields: true, DeltaUpdates: true},
			})),
			`{"validated":{"bindings":[{"constraints":{"a":{"type":"FIELD_REQUIRED","reason":"<k>"},"b":{"type":"FIELD_OPTIONAL","reason":"r","foldedField":"B"}},"resourcePath":["t"]},` +
				`{"caseInsensitiveFields":true,"constraints":{},"resourcePath":[],"deltaUpdates":true}]}}`,
		},
		{string(AppendSinkApplied(nil, "")), `{"applied":{}}`},
		{string(AppendSinkApplied(nil, "CREATE \"t\";\nx")), `{"applied":{"actionDescription":"CREATE \"t\";\nx"}}`},
		{string(AppendSinkOpened(nil, nil, false, false)), `{"opened":{}}`},
		{string(AppendSinkOpened(nil, []byte(`{}`), false, false)), `{"opened":{"runtimeCheckpoint":{}}}`},
		{string(AppendSinkOpened(nil, []byte(`{"a": 0.10}`), true, false)), `{"opened":{"runtimeCheckpoint":{"a": 0.10},"disableLoadOptimization":true}}`},
		{string(AppendSinkOpened(nil, nil, true, true)), `{"opened":{"disableLoadOptimization":true,"lengths":true}}`},
		{string(AppendLoaded(nil, 3, []byte("{\"a\": 1,\n\"b\":\"\\n\"}"))), `{"loaded":{"binding":3,"doc":{"a":1,"b":"\n"}}}`},
		{string(AppendLoaded(nil, 0, []byte(`{"a": 1}`))), `{"loaded":{"binding":0,"doc":{"a": 1}}}`},
		{string(AppendFlushed(nil)), `{"flushed":{}}`},
		{string(AppendStartedCommit(nil, nil)), `{"startedCommit":{}}`},
		{string(AppendStartedCommit(nil, []byte("{\"a\":\t1}"))), `{"startedCommit":{"state":{"updated":{"a":1},"mergePatch":true}}}`},
		{string(AppendAcknowledged(nil, []byte(`{"a":null}`))), `{"acknowledged":{"state":{"updated":{"a":null},"mergePatch":true}}}`},
	} {
		if c.got != c.want+"\n" {
			t.Errorf("\n got %swant %s", c.got, c.want)
		}
	}
}

func TestResourceNames(t *testing.T) {
	n, err := NamesOf([]byte(`{"properties":{"table":{"type":"string","x-collection-name":true},"schema":{"x-schema-name":true},"delta":{"x-delta-updates":true},"other":{"x-schema-name":false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schema, table string
		delta         bool
		want          string
	}{{"s", "t", true, `{"delta":true,"schema":"s","table":"t"}`}, {"", "t", false, `{"table":"t"}`}} {
		got, resourceErr := n.Resource(c.schema, c.table, c.delta)
		if resourceErr != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, resourceErr, c.want)
		}
		if schema, table, delta, err := n.Of(got); err != nil || schema != c.schema || table != c.table || delta != c.delta {
			t.Errorf("%s: got %q, %q, %v, %v", got, schema, table, delta, err)
		}
	}
	n, err = NamesOf([]byte(`{"properties":{"index":{"x-collection-name":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Resource("s", "t", false); err == nil || !strings.Contains(err.Error(), "the destination has no schemas") {
		t.Errorf("got %v", err)
	}
	if _, err := n.Resource("", "t", true); err == nil || !strings.Contains(err.Error(), "rows are only added") {
		t.Errorf("got %v", err)
	}
	if _, err := NamesOf([]byte(`{"properties":{}}`)); err == nil {
		t.Error("a resource without a name is taken")
	}
}

// The fast way and the slow one agree about everything that the fast one takes.
func FuzzSinkDecoder(f *testing.F) {
	f.Add(`{"store":{"binding":1,"key":[1,"a"],"values":[null,{"a":[]}],"doc":{"a":1},"exists":true}}`)
	f.Add(`{"load":{"keyPacked":"FSoCaGkA","key":[42]}}`)
	f.Add(`{"store":{"keyPacked":"FQE=","valuesPacked":"AkFjbWUAIcApAAAAAAAA"}}`)
	f.Add(`{"load":{"bin\u0064ing":1,"key":[ 1]}}`)
	f.Fuzz(func(t *testing.T, line string) {
		var fast, slow SinkDecoder
		got, err := fast.Decode([]byte(line))
		want, slowErr := slow.decodeSlowly([]byte(line))
		if (err == nil) != (slowErr == nil) || err == nil && shown(got) != shown(want) {
			t.Errorf("%q:\nfast %s, %v\nslow %s, %v", line, shown(got), err, shown(want), slowErr)
		}
	})
}

var benchLines = map[string][]byte{
	"json": []byte(`{"store":{"binding":1,"key":[1234567],"values":["Acme Incorporated",12345.50,"2026-11-29T12:34:56.123456Z",true,null,"the quick brown fox jumps over the lazy dog","b5a7e8f2-0000-4000-8000-000000000001",42],` +
		`"doc":{"id":1234567,"customer":"Acme Incorporated","total":12345.50,"placed_at":"2026-11-29T12:34:56.123456Z","paid":true,"note":null,"text":"the quick brown fox jumps over the lazy dog","ref":"b5a7e8f2-0000-4000-8000-000000000001","n":42,"_meta":{"op":"u"}},"exists":true}}`),
	"packed": []byte(`{"store":{"binding":1,"keyPacked":"FxLWhw==","valuesPacked":"AkJvbHQAIcAeAAAAAAAAAA==",` +
		`"doc":{"id":1234567,"customer":"Acme Incorporated","total":12345.50,"placed_at":"2026-11-29T12:34:56.123456Z","paid":true,"note":null,"text":"the quick brown fox jumps over the lazy dog","ref":"b5a7e8f2-0000-4000-8000-000000000001","n":42,"_meta":{"op":"u"}},"exists":true}}`),
	"load": []byte(`{"load":{"key":[1234567]}}`),
}

func TestSinkDecoder_AllocatesNothing(t *testing.T) {
	var d SinkDecoder
	for name, line := range benchLines {
		if n := testing.AllocsPerRun(100, func() {
			if r, err := d.Decode(line); err != nil || r.Load == nil && r.Store == nil {
				t.Error(r, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a line, want none", name, n)
		}
	}
}

func BenchmarkSinkDecoder(b *testing.B) {
	for name, line := range benchLines {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			var d SinkDecoder
			for b.Loop() {
				if _, err := d.Decode(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// With lengths a store says the same; those that do not fit, or were not agreed upon, count for nothing.
func TestSinkDecoder_Lengths(t *testing.T) {
	long := `"` + strings.Repeat("x", rawjson.MaxLength) + `"`
	for _, values := range [][]string{{}, {""}, {"1", `"a\"],b"`, `{"x":[1,{"y":"]"}]}`, "", "true"}, {"1.5", long, "7"}} {
		for _, doc := range []string{"", `{"a":"]}"}`, `{"a":` + long + `}`} {
			var raw [][]byte
			for _, v := range values {
				raw = append(raw, []byte(v))
				if v == "" {
					raw[len(raw)-1] = nil
				}
			}
			var root []byte
			if doc != "" {
				root = []byte(doc)
			}
			key := [][]byte{[]byte(`"k"`), []byte("12")}
			plain := SinkDecoder{}
			want, err := plain.Decode(bytes.TrimSpace(AppendStore(nil, 3, key, raw, root, true, false, false)))
			if err != nil {
				t.Fatal(err)
			}
			line := bytes.TrimSpace(AppendStore(nil, 3, key, raw, root, true, false, true))
			for _, trusted := range []bool{true, false} {
				d := SinkDecoder{Lengths: trusted}
				if got, err := d.Decode(line); err != nil || shown(got) != shown(want) {
					t.Errorf("%.100s, trusted %v: got %.200s, %v", line, trusted, shown(got), err)
				}
			}
		}
	}
	for _, line := range []string{
		`{"store":{"lengths":"001004","key":[1],"values":["ab",2]}}`, `{"store":{"lengths":"001OOO","key":[1],"values":["ab",2]}}`,
		`{"store":{"lengths":"001003","key":[1],"values":["ab",2]}}`, `{"store":{"lengths":"00","key":[1],"values":["ab",2]}}`,
		`{"store":{"lengths":"zzz","key":[1],"values":["ab",2]}}`, `{"store":{"lengths":7,"key":[1],"values":["ab",2]}}`,
		`{"store":{"lengths":"001005","key":[1],"values":["ab",2]}}`,
	} {
		d := SinkDecoder{Lengths: true}
		if got, err := d.Decode([]byte(line)); err != nil || shown(got) != `store 0 ["1"] 1501 ["\"ab\"" "2"] "" exists=false delete=false` {
			t.Errorf("%s: got %s, %v", line, shown(got), err)
		}
	}
}
