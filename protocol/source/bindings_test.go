package source

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
)

func TestCatalogBindings_StateKeysAreThoseOfTheResource(t *testing.T) {
	stream := func(name, namespace string) airbyte.ConfiguredStream {
		return airbyte.ConfiguredStream{Descriptor: airbyte.Descriptor{Name: name, Namespace: namespace}}
	}
	bs := catalogBindings(airbyte.Catalog{Streams: []airbyte.ConfiguredStream{
		stream("orders", "public"), stream("sales.orders", "sales"), stream("public.orders", "public"), stream("file", ""),
	}})
	for i, want := range []string{"public%2Forders", "sales%2Forders", "public%2Fpublic.orders", "file"} {
		if bs[i].StateKey != want {
			t.Errorf("%s has the state key %q, want %q", bs[i].Stream.Name, bs[i].StateKey, want)
		}
	}
}

const bothStreams = `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":null},"stream_state":{"~shared":{"p":1},"n":1}},"global":null,"data":null,"sourceStats":{"recordCount":3.0},"destinationStats":null},` +
	`{"type":"STREAM","stream":{"stream_descriptor":{"name":"items"},"stream_state":{"n":2}}},` +
	`{"type":"STREAM","stream":{"stream_descriptor":{"name":"of another table"},"stream_state":{"n":9}}}]`

func TestGiveState_EveryForm(t *testing.T) {
	const none = ""
	for _, c := range []struct {
		name, state        string
		orders, shared     string
		items, itemsShared string
	}{
		{name: "empty file", state: ""},
		{name: "null", state: "null"},
		{name: "empty object", state: "{}"},
		{name: "empty list", state: "[]\n"},
		{name: "list with nulls", state: bothStreams, orders: `{"n":1}`, shared: `{"p":1}`, items: `{"n":2}`, itemsShared: `{}`},
		{
			name:  "messages one after the other, the last counts",
			state: `{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"public"},"stream_state":{"n":1}}}}` + "\n" + `{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"public"},"stream_state":{"n":2,"~shared":{"p":2}}}}}`, orders: `{"n":2}`, shared: `{"p":2}`,
		},
		{name: "document", state: `{"shared":{"p":1},"bindings":{"public%2Forders":{"n":1},"other":{}}}`, orders: `{"n":1}`, shared: `{"p":1}`},
		{name: "document without shared", state: `{"bindings":{"items":{ "n" : 2 }}}`, items: `{"n":2}`, itemsShared: `{}`},
		{name: "document in an envelope", state: `{"type":"STATE","state":{"data":{"shared":{"p":1},"bindings":{"items":{"n":2}}},"estuary.dev/merge":true}}`, items: `{"n":2}`, itemsShared: `{"p":1}`},
		{name: "document as a legacy state in a list", state: `[{"type":"LEGACY","data":{"shared":{"p":1},"bindings":{"items":{"n":2}}}}]`, items: `{"n":2}`, itemsShared: `{"p":1}`},
		{name: "map of streams", state: `{"orders":{"n":1,"~shared":{"p":1}},"items":null}`, orders: `{"n":1}`, shared: `{"p":1}`},
		{name: "a state that is null", state: `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders"},"stream_state":null}}]`},
		{name: "another namespace", state: `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"sales"},"stream_state":{"n":1}}}]`},
		{name: "only the shared part", state: `{"orders":{"~shared":{"p":1}}}`, orders: `{}`, shared: `{"p":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, err := airbyte.DecodeState([]byte(c.state))
			if err != nil {
				t.Fatal(err)
			}
			bs := twoBindings()
			if _, err := giveState(bs, state); err != nil {
				t.Fatal(err)
			}
			for i, want := range [][2]string{{c.orders, c.shared}, {c.items, c.itemsShared}} {
				if string(bs[i].State) != want[0] || string(bs[i].Shared) != want[1] {
					t.Errorf("%s got state %q and shared %q, want %q and %q", bs[i].Stream.Name, bs[i].State, bs[i].Shared, want[0], want[1])
				}
				if (bs[i].State == nil) != (want[0] == none) || (bs[i].State == nil) != (bs[i].Shared == nil) {
					t.Errorf("%s: state %q and shared %q must be nil together", bs[i].Stream.Name, bs[i].State, bs[i].Shared)
				}
			}
		})
	}
}

func TestGiveState_FullRefreshStartsAnew(t *testing.T) {
	for _, raw := range []string{bothStreams, `{"shared":{"p":1},"bindings":{"public%2Forders":{"n":1}}}`} {
		state, err := airbyte.DecodeState([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		bs := twoBindings()
		bs[0].Mode = protocol.FullRefresh
		from, err := giveState(bs, state)
		if err != nil || bs[0].State != nil || bs[0].Shared != nil {
			t.Errorf("a full refresh got the state %q, %q (%v), want none", bs[0].State, bs[0].Shared, err)
		}
		if state.Document == nil {
			continue
		}
		// The runner's document holds the old state, which patches of the new one must not mix with.
		got := string(newExtendedWire(bs, from).AppendStart(nil, newClock().now))
		if !strings.Contains(got, `"data":{"bindings":{"public%2Forders":null}},"estuary.dev/merge":true`) {
			t.Errorf("the old state is not deleted from the document: %s", got)
		}
	}
}

// A stream that is added to a running capture has no copy of the shared state yet: what all copies agree on must not be lost with its first STATE.
func TestPlain_NewStreamStartsFromTheSharedState(t *testing.T) {
	bs := twoBindings()
	bs[1].State, bs[1].Shared = []byte(`{"n":1}`), []byte(`{"position":1,"slot":"a"}`)
	var got strings.Builder
	out := NewOut(&got, AirbyteWire(bs), bs)
	b := out.NewBatch()
	b.Patch(0, []byte(`{"n":0}`))
	b.PatchShared([]byte(`{"position":2}`))
	if _, err := out.Emit(b); err != nil {
		t.Fatal(err)
	}
	if want := `"stream_state":{"~shared":{"position":2,"slot":"a"},"n":0}`; !strings.Contains(got.String(), want) {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}

// A state that came as a list is not in the runner's document: the first patch of each part is all of it.
func TestDocument_FirstPatchOfAForeignStateIsWhole(t *testing.T) {
	bs := twoBindings()
	state, err := airbyte.DecodeState([]byte(bothStreams))
	if err != nil {
		t.Fatal(err)
	}
	from, err := giveState(bs, state)
	if err != nil {
		t.Fatal(err)
	}
	d := newDocument(bs, from)
	for i, want := range []string{
		`{"shared":{"p":1,"q":2},"bindings":{"public%2Forders":{"n":1,"m":1}}}`,
		`{"shared":{"q":3},"bindings":{"public%2Forders":{"m":2},"items":{"n":2,"m":3}}}`,
	} {
		patches := []Patch{{sharedBinding, []byte(`{"q":2}`)}, {0, []byte(`{"m":1}`)}}
		if i == 1 {
			patches = []Patch{{1, []byte(`{"m":3}`)}, {0, []byte(`{"m":2}`)}, {sharedBinding, []byte(`{"q":3}`)}}
		}
		got, _, err := d.apply(patches)
		if err != nil || string(got) != want {
			t.Errorf("patch no. %d is %s (%v), want %s", i, got, err, want)
		}
	}
}

// Merge patches are only as good as their sum: folding all patches must give the state that the source has.
func TestDocument_PatchesFoldToTheState(t *testing.T) {
	d := newDocument(twoBindings(), base{})
	var runner folded
	for _, patches := range [][]Patch{
		{{0, []byte(`{"a":{"x":1,"y":2}}`)}, {sharedBinding, []byte(`{"p":"1"}`)}},
		{{0, []byte(`{"a":null}`)}, {0, []byte(`{"a":{"z":3}}`)}},
		{{1, []byte(`{"big":12345678901234567890}`)}, {1, []byte(`{"n":[1,null]}`)}},
		{{0, []byte(`null`)}},
		{{0, []byte(`{"b":1}`)}, {0, []byte(`null`)}, {0, []byte(`{"c":{"d":null,"e":1}}`)}},
		{{sharedBinding, []byte(`{"p":null,"q":{}}`)}, {sharedBinding, []byte(`{"q":{"r":1}}`)}},
	} {
		patch, _, err := d.apply(patches)
		if err != nil {
			t.Fatal(err)
		}
		if runner, err = runner.fold(patch); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Shared   json.RawMessage
			Bindings map[string]json.RawMessage
		}
		if err := json.Unmarshal(runner, &got); err != nil {
			t.Fatal(err)
		}
		for i, key := range d.keys {
			if !sameJSON(got.Bindings[key], json.RawMessage(d.states[i])) {
				t.Errorf("after %s the runner has %s for %s, the source %s", patch, got.Bindings[key], key, d.states[i])
			}
		}
		if !sameJSON(got.Shared, json.RawMessage(d.shared)) {
			t.Errorf("after %s the runner has the shared state %s, the source %s", patch, got.Shared, d.shared)
		}
	}
}

// sameJSON compares by value, numbers by their digits.
func sameJSON(a, b json.RawMessage) bool {
	plain := func(raw json.RawMessage) string {
		if raw == nil {
			return ""
		}
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return err.Error()
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return plain(a) == plain(b)
}

func TestEmit_RefusesABadPatchWithoutShowingIt(t *testing.T) {
	for name, wire := range map[string]Wire{"plain": AirbyteWire(twoBindings()), "extended": ExtendedWire(twoBindings()), "flow": FlowWire(twoBindings())} {
		for _, patch := range []string{`{"key":"secret row"`, `"secret row"`, `[1]`, ``} {
			out := NewOut(&lineChecker{t: t}, wire, twoBindings())
			b := out.NewBatch()
			b.Patch(0, []byte(patch))
			_, err := out.Emit(b)
			if err == nil {
				t.Errorf("%s: the patch %q is taken", name, patch)
			} else if strings.Contains(err.Error(), "secret row") {
				t.Errorf("%s: the message shows the state: %v", name, err)
			}
		}
	}
}
