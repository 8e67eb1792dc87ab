package sqlcapturetest

import (
	"encoding/json"
	"fmt"
)

// fold applies an RFC 7396 merge patch to a document.
func fold(doc, patch json.RawMessage) (json.RawMessage, error) {
	var p any
	if err := json.Unmarshal(patch, &p); err != nil {
		return nil, fmt.Errorf("reading patch %s: %w", patch, err)
	}
	var d any
	if len(doc) > 0 {
		if err := json.Unmarshal(doc, &d); err != nil {
			return nil, fmt.Errorf("reading state %s: %w", doc, err)
		}
	}
	return json.Marshal(merged(d, p))
}

func merged(doc, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	target, ok := doc.(map[string]any)
	if !ok {
		target = map[string]any{}
	}
	for name, value := range members {
		if value == nil {
			delete(target, name)
			continue
		}
		target[name] = merged(target[name], value)
	}
	return target
}
