package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// node is a JSON value with the order of its keys. A config is small and is read once, so a tree is affordable.
type node struct {
	is      json.Delim // '{', '[', or 's' string, 'n' number, 'b' boolean, '0' null
	text    string     // of a string, a number, a boolean
	keys    []string   // of an object, in order
	members map[string]*node
	items   []*node
}

// describe names the node's type inside a sentence. It never shows the value, which may be a secret in the wrong place.
func (n *node) describe() string {
	switch n.is {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 's':
		return "a string"
	case 'n':
		return "a number"
	case 'b':
		return "true or false"
	default:
		return "null"
	}
}

// child returns the member with this name. A null is like an absent key: runners write nulls for what they do not know.
func (n *node) child(name string) *node {
	if n == nil || n.is != '{' {
		return nil
	}
	if c := n.members[name]; c != nil && c.is != '0' {
		return c
	}
	return nil
}

var errDeep = errors.New("values are nested too deeply")

// parse reads one JSON value and nothing behind it. An empty text is an empty object. Errors tell line and column, and no part of the text.
func parse(raw []byte) (*node, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) // editors on Windows write this mark
	if len(bytes.TrimSpace(raw)) == 0 {
		return &node{is: '{'}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	n, err := readNode(dec, 0)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return n, nil
		}
		err = errors.New("something follows the closing brace")
	}
	var twice *twiceError
	if errors.As(err, &twice) || errors.Is(err, errDeep) {
		return nil, err
	}
	offset := dec.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset > offset {
		offset = syntax.Offset
	}
	before := raw[:min(int(offset), len(raw))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return nil, fmt.Errorf("the text breaks off or has a mistake at line %d, column %d", line, column)
}

// twiceError: an object has the same key twice, and readers disagree which of the two counts.
type twiceError struct{ key string }

func (e *twiceError) Error() string {
	return "the key " + quote(e.key) + " is given twice in the same object"
}

func readNode(dec *json.Decoder, depth int) (*node, error) {
	if depth > 4*maxDepth {
		return nil, errDeep
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return &node{is: 's', text: t}, nil
	case json.Number:
		return &node{is: 'n', text: t.String()}, nil
	case bool:
		return &node{is: 'b', text: fmt.Sprint(t)}, nil
	case json.Delim:
		return readNested(dec, t, depth)
	default:
		return &node{is: '0'}, nil
	}
}

func readNested(dec *json.Decoder, open json.Delim, depth int) (*node, error) {
	n := &node{is: open, members: map[string]*node{}}
	for dec.More() {
		var key string
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key = token.(string) // the decoder admits nothing else before a colon
			if n.members[key] != nil {
				return nil, &twiceError{key}
			}
		}
		value, err := readNode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			n.keys = append(n.keys, key)
			n.members[key] = value
		} else {
			n.items = append(n.items, value)
		}
	}
	_, err := dec.Token()
	return n, err
}

// MarshalJSON renders a node again, keys in order.
func (n *node) MarshalJSON() ([]byte, error) {
	switch n.is {
	case 's':
		return json.Marshal(n.text)
	case 'n', 'b':
		return []byte(n.text), nil
	case '[':
		return json.Marshal(append([]*node{}, n.items...))
	case '{':
		o := make(object, len(n.keys))
		for i, k := range n.keys {
			o[i] = member{k, n.members[k]}
		}
		return o.MarshalJSON()
	default:
		return []byte("null"), nil
	}
}

// compact renders a node on one line.
func (n *node) compact() []byte {
	raw, err := n.MarshalJSON()
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, raw)
	}
	if err != nil {
		panic(fmt.Sprintf("config: writing JSON that was read: %v", err))
	}
	return line.Bytes()
}
