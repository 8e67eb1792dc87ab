package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/rawjson"
)

// folded is a JSON object to which merge patches are applied; nil: none yet, which patches like {}.
type folded []byte

var (
	errPatch  = errors.New("it is neither a JSON object nor null")
	nullPatch = []byte("null")
)

// fold returns the object after the patch. A null patch deletes the object.
func (f folded) fold(patch []byte) (folded, error) {
	patch = bytes.TrimSpace(patch)
	if bytes.Equal(patch, nullPatch) {
		return nil, nil
	}
	if len(patch) == 0 || patch[0] != '{' {
		return nil, errPatch
	}
	object := []byte(f)
	if object == nil {
		object = []byte("{}")
	}
	after, err := rawjson.MergePatch(make([]byte, 0, len(object)+len(patch)), object, patch)
	if err != nil {
		return nil, fmt.Errorf("applying it: %w", err)
	}
	return after, nil
}

// compact returns JSON on one line, as every wire form needs it; one that is already so is returned itself.
func compact(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 && json.Valid(raw) {
		return raw, nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// difference returns the merge patch that leads from one object to the other. Two patches cannot always be joined without knowing what they apply to:
// {"a":null} and then {"a":{"b":1}} replaces a, which no single patch says.
func difference(from, to folded) ([]byte, error) {
	if to == nil {
		return nullPatch, nil
	}
	var before, after map[string]json.RawMessage
	if from != nil {
		if err := json.Unmarshal(from, &before); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(to, &after); err != nil {
		return nil, err
	}
	patch := map[string]json.RawMessage{}
	for name, value := range after {
		old, had := before[name]
		switch {
		case had && bytes.Equal(old, value):
		case had && isObject(old) && isObject(value):
			inner, err := difference(folded(old), folded(value))
			if err != nil {
				return nil, err
			}
			patch[name] = inner
		default:
			patch[name] = value
		}
	}
	for name := range before {
		if _, stays := after[name]; !stays {
			patch[name] = nullPatch
		}
	}
	return json.Marshal(patch)
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
