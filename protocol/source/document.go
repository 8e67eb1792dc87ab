package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/estuary/connectors/protocol"
)

// document is the folded state {"shared":…,"bindings":{stateKey:…}} of a runner that keeps one for all streams.
type document struct {
	keys   []string // by binding
	quoted [][]byte // the keys as JSON
	states []folded // by binding
	shared folded
	// missing, by binding and for the shared state: the state came from elsewhere and is not in the runner's document yet, so its first patch is all of it.
	missing       []bool
	missingShared bool
	// stale are quoted keys of states in the runner's document that this run must not build upon (full refresh).
	stale [][]byte
}

// base is what the runner's document holds, as far as the bindings do not tell.
type base struct {
	shared   json.RawMessage // nil: none
	foreign  bool            // the states did not come from a document
	outdated []string        // state keys of streams that start anew
}

func newDocument(bs []protocol.Binding, from base) *document {
	d := &document{shared: folded(from.shared), missingShared: from.foreign, missing: make([]bool, len(bs))}
	for i, b := range bs {
		d.keys, d.quoted, d.states = append(d.keys, b.StateKey), append(d.quoted, quote(b.StateKey)), append(d.states, folded(b.State))
		d.missing[i] = from.foreign && b.State != nil
		if d.shared == nil {
			d.shared = folded(b.Shared)
		}
	}
	for _, key := range from.outdated {
		d.stale = append(d.stale, quote(key))
	}
	return d
}

func quote(s string) []byte {
	quoted, _ := json.Marshal(s) // a string always has a JSON form
	return quoted
}

// forget returns the patch that deletes what is stale; nil: nothing is.
func (d *document) forget() []byte {
	if d.stale == nil {
		return nil
	}
	patch := []byte(`{"bindings":{`)
	for i, key := range d.stale {
		if i > 0 {
			patch = append(patch, ',')
		}
		patch = append(append(patch, key...), ":null"...)
	}
	return append(patch, "}}"...)
}

// apply folds the patches and returns one patch of the whole document that does the same, and which bindings it touches, ascending.
func (d *document) apply(patches []Patch) (patch []byte, touched []int, err error) {
	first := map[int][]byte{} // a binding's only patch; nil: it has several
	before := map[int]folded{}
	for _, p := range patches {
		var raw []byte
		if raw, err = compact(p.JSON); err != nil {
			return nil, nil, patchError(p, err)
		}
		state := d.at(p.Binding)
		if _, again := before[p.Binding]; again {
			first[p.Binding] = nil
		} else {
			before[p.Binding], first[p.Binding] = *state, raw
			touched = append(touched, p.Binding)
		}
		if *state, err = state.fold(raw); err != nil {
			return nil, nil, patchError(p, err)
		}
	}
	slices.Sort(touched)
	buf := bytes.NewBufferString("{")
	separator := ""
	for _, binding := range touched {
		one := first[binding]
		if d.takeMissing(binding) && *d.at(binding) != nil {
			one = *d.at(binding)
		}
		if one == nil {
			if one, err = difference(before[binding], *d.at(binding)); err != nil {
				return nil, nil, fmt.Errorf("joining the state patches of binding %d: %w", binding, err)
			}
		}
		switch {
		case binding == sharedBinding: // sorts first
			buf.WriteString(`"shared":`)
			separator = `,"bindings":{`
		case buf.Len() == 1:
			buf.WriteString(`"bindings":{`)
			fallthrough
		default:
			buf.WriteString(separator)
			buf.Write(d.quoted[binding])
			buf.WriteByte(':')
			separator = ","
		}
		buf.Write(one)
	}
	if touched[0] == sharedBinding {
		touched = touched[1:]
	}
	if len(touched) > 0 {
		buf.WriteByte('}')
	}
	buf.WriteByte('}')
	return buf.Bytes(), touched, nil
}

func (d *document) at(binding int) *folded {
	if binding == sharedBinding {
		return &d.shared
	}
	return &d.states[binding]
}

// takeMissing tells whether the runner's document lacks the state, once.
func (d *document) takeMissing(binding int) bool {
	flag := &d.missingShared
	if binding != sharedBinding {
		flag = &d.missing[binding]
	}
	was := *flag
	*flag = false
	return was
}
