package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Object splits a JSON object into its members. Names are compared exactly, unlike encoding/json does, and a repeated name is an error. The values are
// parts of raw.
func Object(raw []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("reading %.120q: %w", raw, json.Unmarshal(raw, &v))
	}
	if !isObject(raw) {
		return nil, fmt.Errorf("reading %.120q: not a JSON object", raw)
	}
	return split(raw)
}

// split takes an object that is known to be valid JSON.
func split(raw []byte) (map[string]json.RawMessage, error) {
	members := make(map[string]json.RawMessage, 8)
	for i := space(raw, bytes.IndexByte(raw, '{')+1); raw[i] != '}'; {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		end := value(raw, i)
		name := string(raw[i+1 : end-1])
		if bytes.IndexByte(raw[i:end], '\\') >= 0 {
			if err := json.Unmarshal(raw[i:end], &name); err != nil {
				return nil, fmt.Errorf("reading a member's name %s: %w", raw[i:end], err)
			}
		}
		i = space(raw, space(raw, end)+1) // over the colon
		end = value(raw, i)
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("reading %.120q: member %q is there twice", raw, name)
		}
		members[name] = raw[i:end:end]
		i = space(raw, end)
	}
	return members, nil
}

// space returns the index of the next byte that is no white space.
func space(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n' {
		i++
	}
	return i
}

// value returns the index behind the value that starts at i.
func value(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of the object around a number, true, false or null
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
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
	if into, ok := any(out).(*json.RawMessage); ok { // documents are large and need no copy
		*into = raw
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
