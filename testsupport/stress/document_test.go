package stress

import (
	"bytes"
	"encoding/json"
	"testing"
)

// state is the one document that a runner folds from merge patches.
type state struct {
	Shared   sharedState                `json:"shared"`
	Bindings map[string]json.RawMessage `json:"bindings"`
}

type sharedState struct {
	Position struct {
		LSN string `json:"lsn"`
	} `json:"position"`
}

func parseState(t *testing.T, document json.RawMessage) state {
	t.Helper()
	var s state
	if err := json.Unmarshal(document, &s); err != nil {
		t.Errorf("reading the state %s: %v", document, err)
	}
	return s
}

// position of a folded document; 0: it has none.
func position(t *testing.T, document json.RawMessage) uint64 {
	t.Helper()
	if text := parseState(t, document).Shared.Position.LSN; text != "" {
		return lsn(t, text)
	}
	return 0
}

// patched applies a merge patch (RFC 7396).
func patched(target, patch json.RawMessage) (json.RawMessage, error) {
	t, err := decoded(target)
	if err != nil {
		return nil, err
	}
	p, err := decoded(patch)
	if err != nil {
		return nil, err
	}
	return json.Marshal(merge(t, p))
}

func decoded(raw json.RawMessage) (v any, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v)
}

func merge(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
		} else {
			t[name] = merge(t[name], value)
		}
	}
	return t
}
