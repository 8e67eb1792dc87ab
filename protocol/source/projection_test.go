package source

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMoves_DefaultProjectionsCostNothing(t *testing.T) {
	m := newMoves(map[string]string{"id": "/id", "a/b": "/a~1b", "nothing": "", "also nothing": "not a pointer"})
	if m != nil {
		t.Errorf("projections that move nothing are kept: %v", m.paths)
	}
}

func TestMoves_Rewrite(t *testing.T) {
	for _, c := range []struct {
		name        string
		projections map[string]string
		doc, want   string
	}{
		{"into a new object", map[string]string{"Start Time": "/begin/timestamp"}, `{"id":1,"Start Time":"noon"}`, `{"id":1,"begin":{"timestamp":"noon"}}`},
		{"into one that is there", map[string]string{"t": "/begin/t"}, `{"t":1.50,"begin":{"place":"x"}}`, `{"begin":{"place":"x","t":1.50}}`},
		{"several into one", map[string]string{"a": "/o/a", "b": "/o/b"}, `{"a":[1,{"x":null}],"b":null,"c":3}`, `{"c":3,"o":{"a":[1,{"x":null}],"b":null}}`},
		{"replaces what is there", map[string]string{"a": "/b"}, `{"a":1,"b":2}`, `{"b":1}`},
		{"replaces what stands in the way", map[string]string{"a": "/b/c"}, `{"a":1,"b":2}`, `{"b":{"c":1}}`},
		{"swaps", map[string]string{"a": "/b", "b": "/a"}, `{"a":1,"b":2}`, `{"b":1,"a":2}`},
		{"escaped names", map[string]string{"a": "/x~1y/~0z"}, `{"a":12345678901234567890}`, `{"x/y":{"~z":12345678901234567890}}`},
		{"no such field", map[string]string{"z": "/y"}, `{"a": 1}`, `{"a": 1}`},
		{"no object", map[string]string{"z": "/y"}, `[1]`, `[1]`},
		{"no JSON", map[string]string{"z": "/y"}, `{"z":1`, `{"z":1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newMoves(c.projections).rewrite([]byte(`{"data":`+c.doc), len(`{"data":`))
			if string(got) != `{"data":`+c.want {
				t.Errorf("got %s, want %s", got[len(`{"data":`):], c.want)
			}
		})
	}
}

func FuzzMoves(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":2},"x":[{}]}`))
	f.Add([]byte(`{"a":1,"a":2,"b":"\u0061"}`))
	m := newMoves(map[string]string{"a": "/b/c", "x": "/y", "y": "/b/d/e"})
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := m.rewrite(append([]byte("prefix"), doc...), len("prefix"))
		if string(got[:6]) != "prefix" {
			t.Fatalf("the envelope changed: %q", got)
		}
		if json.Valid(doc) && !json.Valid(got[6:]) {
			t.Errorf("%q became %q, which is no JSON", doc, got[6:])
		}
	})
}

// A source that applies projections itself has put every field where it belongs: Out must not look for it again.
func TestOut_SourceThatProjectsItself(t *testing.T) {
	bs := twoBindings()
	bs[0].Projections = map[string]string{"a": "/b"}
	for itself, want := range map[bool]string{false: `"data":{"b":1}`, true: `"data":{"a":1}`} {
		var got strings.Builder
		out := NewOut(&got, AirbyteWire(bs), bs)
		if itself {
			out.ProjectsItself()
		}
		b := out.NewBatch()
		b.End(append(b.Begin(0), `{"a":1}`...))
		if _, err := out.Emit(b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("a source that projects itself (%v): %s, want %s", itself, got.String(), want)
		}
	}
}
