package columns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// added is what the user adds to each document: a tree of objects with values, and one row number.
type added struct {
	name     string
	text     []byte // `,"name":`
	value    []byte // JSON; nil: it is an object of children, or the row's number
	offset   bool
	children []*added
}

// parseAdded makes the tree: the values by the order of their locations, so that all documents are alike, and the row's number last.
func parseAdded(values map[string]json.RawMessage, offsetAt string) (*added, error) {
	root := &added{}
	locations := make([]string, 0, len(values))
	for location := range values {
		locations = append(locations, location)
	}
	slices.Sort(locations)
	for _, location := range locations {
		value, ok := jsontext.AppendValue([]byte{}, values[location], jsontext.Options{MaxValue: maxValue, MaxDepth: maxDepth})
		if !ok {
			return nil, fmt.Errorf("adding a value at %q: it is not JSON: %s", location, clip(values[location]))
		}
		if err := root.put(location, &added{value: value}); err != nil {
			return nil, err
		}
	}
	if offsetAt != "" {
		if err := root.put(offsetAt, &added{offset: true}); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (a *added) put(location string, leaf *added) error {
	tokens, ok := parsePointer(location)
	if !ok || len(tokens) == 0 {
		return fmt.Errorf("adding a value at %q: the location must be a JSON pointer to a member, as /_meta/file", location)
	}
	at := a
	for i, token := range tokens {
		next := at.child(token)
		last := i == len(tokens)-1
		switch {
		case next == nil && last:
			next = leaf
		case next == nil:
			next = &added{}
		case last || next.isLeaf():
			return fmt.Errorf("adding a value at %q: another value is added at that location, inside of it or around it", location)
		default:
			at = next
			continue
		}
		next.name, next.text = token, memberText(token)
		at.children = append(at.children, next)
		at = next
	}
	return nil
}

func (a *added) isLeaf() bool { return a.value != nil || a.offset }

func (a *added) child(name string) *added {
	for _, c := range a.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// has tells whether something is added at or inside of a member of the document.
func (a *added) has(name string) bool { return a.child(name) != nil }

// at returns what is added at or inside of a location; nil: nothing.
func (a *added) at(tokens []string) *added {
	for _, token := range tokens {
		if a = a.child(token); a == nil {
			return nil
		}
	}
	return a
}

// covers tells whether an added value stands at a location or around it.
func (a *added) covers(tokens []string) bool {
	for _, token := range tokens {
		if a = a.child(token); a == nil {
			return false
		}
		if a.isLeaf() {
			return true
		}
	}
	return false
}

// append appends what is added as a value. Where it is an object and raw is one, too, raw's members come first, as they were, without those that are added;
// of two members of one name the last one counts where it is merged. Any other raw is replaced.
func (a *added) append(dst, raw []byte, n int64) []byte {
	switch {
	case a.offset:
		return strconv.AppendInt(dst, n, 10)
	case a.value != nil:
		return append(dst, a.value...)
	}
	dst = append(dst, '{')
	var merged [][]byte
	if len(raw) > 0 && raw[0] == '{' {
		merged = make([][]byte, len(a.children))
		jsontext.Members(raw, func(name, value []byte) bool {
			if i := a.named(name); i >= 0 {
				merged[i] = value
				return true
			}
			dst = append(append(separate(dst), name...), ':')
			dst = append(dst, value...)
			return true
		})
	}
	for i, c := range a.children {
		dst = appendMember(dst, c.text)
		var inner []byte
		if merged != nil {
			inner = merged[i]
		}
		dst = c.append(dst, inner, n)
	}
	return append(dst, '}')
}

// named returns which child a member's name, as written in a document, means; negative: none.
func (a *added) named(raw []byte) int {
	for i, c := range a.children {
		if nameIs(raw, c.name, c.text) {
			return i
		}
	}
	return -1
}

// nameIs tells whether a member's name, as written with its quotes, spells a name whose member text is given.
func nameIs(raw []byte, name string, text []byte) bool {
	if bytes.Equal(raw, text[1:len(text)-1]) {
		return true
	}
	return bytes.IndexByte(raw, '\\') >= 0 && spelled(raw) == name
}

// spelled returns what a member's name, as written with its quotes, spells.
func spelled(raw []byte) string { return string(jsontext.AppendText(nil, raw)) }

// memberText is what stands before the value of a member: `,"name":`.
func memberText(name string) []byte {
	return append(jsontext.AppendString([]byte{','}, []byte(name)), ':')
}

// appendMember appends a member's text, without its comma at the start of an object or array.
func appendMember(dst, text []byte) []byte {
	if c := dst[len(dst)-1]; c == '{' || c == '[' {
		text = text[1:]
	}
	return append(dst, text...)
}

// separate appends a comma, but not at the start of an object.
func separate(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}
