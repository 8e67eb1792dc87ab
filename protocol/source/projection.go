package source

import (
	"bytes"
	"encoding/json"
	"strings"
)

// moves puts top-level fields of a document elsewhere, as a catalog's projections ask.
type moves struct {
	paths map[string][]string // field → where its value is put
}

// newMoves returns nil when no projection moves anything: Flow and its bridge send the default ones (/field → field) as well.
func newMoves(projections map[string]string) *moves {
	m := &moves{paths: map[string][]string{}}
	for field, pointer := range projections {
		path, ok := pointerPath(pointer)
		if ok && !(len(path) == 1 && path[0] == field) {
			m.paths[field] = path
		}
	}
	if len(m.paths) == 0 {
		return nil
	}
	return m
}

// pointerPath splits a JSON pointer; the root and what is no pointer are not places for a field.
func pointerPath(pointer string) ([]string, bool) {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, false
	}
	path := strings.Split(rest, "/")
	for i := range path {
		path[i] = strings.ReplaceAll(strings.ReplaceAll(path[i], "~1", "/"), "~0", "~")
	}
	return path, true
}

// rewrite replaces buf[start:], a document, by one whose fields are where they belong. A document that is no JSON object, or that holds none of the
// fields, stays as it is.
func (m *moves) rewrite(buf []byte, start int) []byte {
	root := &member{value: buf[start:]}
	if !root.expand() {
		return buf
	}
	var moved []*member
	stay := root.members[:0:0]
	for _, f := range root.members {
		if _, ok := m.paths[f.name]; ok {
			moved = append(moved, f)
		} else {
			stay = append(stay, f)
		}
	}
	if len(moved) == 0 {
		return buf
	}
	root.members = stay
	for _, f := range moved {
		root.put(m.paths[f.name], f.value)
	}
	return append(buf[:start], root.appendTo(nil)...)
}

// member is a member of an object that is being rebuilt: a raw value, or members of its own once something is put inside.
type member struct {
	name    string
	value   []byte
	members []*member
	opened  bool
}

// expand turns an object's raw value into members, in order. It returns false, changing nothing, for any other value.
func (m *member) expand() bool {
	dec := json.NewDecoder(bytes.NewReader(m.value))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return false
	}
	var list []*member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return false
		}
		list = append(list, &member{name: name.(string), value: value})
	}
	if _, err := dec.Token(); err != nil {
		return false
	}
	m.members, m.value, m.opened = list, nil, true
	return true
}

// put sets the value at path, replacing what is there. What stands in the way of the path and is no object is replaced by one.
func (m *member) put(path []string, value []byte) {
	for _, name := range path {
		if !m.opened && !m.expand() {
			m.value, m.opened = nil, true
		}
		m = m.child(name)
	}
	m.value, m.members, m.opened = value, nil, false
}

// child returns the member of this name, a new one where there is none.
func (m *member) child(name string) *member {
	for _, c := range m.members {
		if c.name == name {
			return c
		}
	}
	c := &member{name: name}
	m.members = append(m.members, c)
	return c
}

func (m *member) appendTo(dst []byte) []byte {
	if !m.opened {
		return append(dst, m.value...)
	}
	dst = append(dst, '{')
	for i, c := range m.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, _ := json.Marshal(c.name) // a string always has a JSON form
		dst = append(append(dst, name...), ':')
		dst = c.appendTo(dst)
	}
	return append(dst, '}')
}
