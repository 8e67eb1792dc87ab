package replay

import (
	"encoding/json"
	"fmt"
)

// StateFile renders what a plain runner hands back after STATE number upTo of this run, given what it had stored before: the last STATE of each stream,
// or of all. The result goes into a --state file.
func (r *Run) StateFile(before []byte, upTo int) ([]byte, error) {
	var stored []json.RawMessage
	if len(before) > 0 {
		if err := json.Unmarshal(before, &stored); err != nil {
			return nil, fmt.Errorf("reading the stored states: %w", err)
		}
	}
	index := map[string]int{}
	for i, raw := range stored {
		name, err := streamOf(raw)
		if err != nil {
			return nil, err
		}
		index[name] = i
	}
	for n := 0; n <= upTo && n < len(r.states); n++ {
		s := r.State(n)
		if s.Merge {
			return nil, fmt.Errorf("STATE %d is a merge patch, which a plain runner must never see: %.200s", n, s.Raw)
		}
		name, err := streamOf(s.Raw)
		if err != nil {
			return nil, err
		}
		if i, ok := index[name]; ok {
			stored[i] = s.Raw
			continue
		}
		index[name] = len(stored)
		stored = append(stored, s.Raw)
	}
	if stored == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(stored)
}

// streamOf tells what a state belongs to: two states of one stream replace each other.
func streamOf(raw json.RawMessage) (string, error) {
	var s struct {
		Type   string `json:"type"`
		Stream struct {
			Descriptor struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"stream_descriptor"`
		} `json:"stream"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("reading a stored state: %w", err)
	}
	if s.Type == "STREAM" {
		return "stream " + s.Stream.Descriptor.Namespace + "." + s.Stream.Descriptor.Name, nil
	}
	return s.Type, nil
}
