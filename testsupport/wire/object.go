package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Object splits a JSON object into its members. Names are compared exactly, unlike encoding/json does, and a repeated name is an error.
func Object(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	start, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("reading %.120q: %w", raw, err)
	}
	if start != json.Delim('{') {
		return nil, fmt.Errorf("reading %.120q: not a JSON object", raw)
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("reading %.120q: %w", raw, err)
		}
		var value json.RawMessage
		if err = d.Decode(&value); err != nil {
			return nil, fmt.Errorf("reading member %v of %.120q: %w", name, raw, err)
		}
		if _, twice := members[name.(string)]; twice {
			return nil, fmt.Errorf("reading %.120q: member %v is there twice", raw, name)
		}
		members[name.(string)] = value
	}
	if _, err = d.Token(); err != nil {
		return nil, fmt.Errorf("reading %.120q: %w", raw, err)
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %.120q: something follows the object", raw)
	}
	return members, nil
}

// only refuses members that are not in allowed.
func only(members map[string]json.RawMessage, where string, allowed ...string) error {
	for name := range members {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("reading %s: unknown member %q", where, name)
		}
	}
	return nil
}

// member decodes one member into out; a missing one leaves out alone, unless it is required.
func member[T any](members map[string]json.RawMessage, where, name string, required bool, out *T) error {
	raw, ok := members[name]
	if !ok || string(raw) == "null" {
		if required {
			return fmt.Errorf("reading %s: member %q is missing", where, name)
		}
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("reading %s: member %q: %w", where, name, err)
	}
	return nil
}

// isObject tells whether raw is a JSON object; raw is valid JSON.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}
