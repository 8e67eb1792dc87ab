package runner

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/rawjson"
)

// fold returns a state after an update; nil: there is none. An update that is nil changes nothing.
func fold(state json.RawMessage, u *flow.StateUpdate) (json.RawMessage, error) {
	if u == nil || len(u.Updated) == 0 {
		return state, nil
	}
	if !u.MergePatch {
		if bytes.Equal(u.Updated, []byte("null")) {
			return nil, nil
		}
		return u.Updated, nil
	}
	return foldPatch(state, u.Updated)
}

// foldPatch applies a merge patch (RFC 7396) to an object; a null patch deletes it.
func foldPatch(state, patch json.RawMessage) (json.RawMessage, error) {
	patch = bytes.TrimSpace(patch)
	switch {
	case bytes.Equal(patch, []byte("null")):
		return nil, nil
	case bytes.Equal(patch, []byte("{}")):
		return state, nil
	case len(patch) == 0 || patch[0] != '{':
		return nil, fmt.Errorf("the state patch %.80s is no object", patch)
	}
	if len(state) == 0 {
		state = json.RawMessage("{}")
	}
	after, err := rawjson.MergePatch(make([]byte, 0, len(state)+len(patch)), state, patch)
	if err != nil {
		return nil, fmt.Errorf("applying the state patch %.80s: %w", patch, err)
	}
	return after, nil
}
