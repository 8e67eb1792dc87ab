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
}

func newDocument(bs []protocol.Binding) *document {
	d := &document{}
	for _, b := range bs {
		quoted, _ := json.Marshal(b.StateKey) // a string always has a JSON form
		d.keys, d.quoted, d.states = append(d.keys, b.StateKey), append(d.quoted, quoted), append(d.states, folded(b.State))
		if d.shared == nil {
			d.shared = folded(b.Shared)
		}
	}
	return d
}

// apply folds the patches and returns one patch of the whole document that does the same, and which bindings it touches, ascending.
func (d *document) apply(patches []Patch) (patch []byte, touched []int, err error) {
	first := map[int][]byte{} // a binding's only patch; nil: it has several
	before := map[int]folded{}
	for _, p := range patches {
		raw, err := compact(p.JSON)
		if err != nil {
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
