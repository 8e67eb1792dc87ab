package columns

import (
	"fmt"
	"strconv"

	"github.com/estuary/connectors/internal/jsonschema"
)

// node is one member or element of the documents.
type node struct {
	name     string
	column   int    // whose value it is; negative: none's
	null     bool   // it is null in each document
	added    *added // what is added here; an object of added values may have a column, too, whose members it then joins
	list     bool   // children are elements of an array
	required bool   // an object that stands there, empty, when none of its members does
	children []*node
	byName   map[string]*node
}

func newNode(name string) *node { return &node{name: name, column: -1} }

func (n *node) put(child *node) *node {
	if n.byName == nil {
		n.byName = map[string]*node{}
	}
	n.children = append(n.children, child)
	n.byName[child.name] = child
	return child
}

// layout makes the tree of output locations. Its order is that of the columns, each object at its first one; behind them what is null, and last what is added.
func layout(fields []string, found []placed, schema *jsonschema.Node, added *added) (*node, error) {
	root := newNode("")
	for i, f := range found {
		if f.lost {
			continue
		}
		if err := root.grow(fields[i], i, f.tokens, schema); err != nil {
			return nil, err
		}
	}
	if err := root.require(schema, added); err != nil {
		return nil, err
	}
	for _, child := range root.children {
		if added.has(child.name) {
			root.moveToEnd(child.name)
		}
	}
	root.add(added)
	return root, nil
}

// require sees to the locations that each document must have and no column is at: null where the schema allows it, otherwise there can be no valid document.
func (n *node) require(schema *jsonschema.Node, added *added) error {
	if schema == nil {
		return nil
	}
	var missing []string
	count := 0
	schema.Places(func(p jsonschema.Place) bool {
		count++
		if !p.Required || added.at(p.Tokens) != nil || added.covers(p.Tokens) || n.covers(p.Tokens) {
			return count < maxPlaces
		}
		last := len(p.Tokens) - 1
		switch parent := p.Tokens[:last]; {
		case p.Shape().Types&jsonschema.Null != 0:
			n.constant(p.Tokens)
		case last == 0 || added.at(parent) != nil || n.covers(parent):
			// What is in an object that is missing itself need not be told.
			missing = append(missing, pointer(p.Tokens))
		}
		return count < maxPlaces
	})
	if missing != nil {
		return fmt.Errorf("placing columns: the schema requires %s, and no column is there; allow it to be absent or null, or project a column to it", show(missing))
	}
	return nil
}

// covers tells whether something is at a location, in it or around it.
func (n *node) covers(tokens []string) bool {
	for _, token := range tokens {
		if n = n.byName[token]; n == nil {
			return false
		}
		if n.column >= 0 || n.null {
			return true
		}
	}
	return true
}

// constant makes a location null in each document.
func (n *node) constant(tokens []string) {
	for _, token := range tokens {
		next := n.byName[token]
		if next == nil {
			next = n.put(newNode(token))
		}
		n = next
	}
	n.null = true
}

// grow makes the nodes on the way to a column.
func (n *node) grow(field string, column int, tokens []string, schema *jsonschema.Node) error {
	at := n
	for i, token := range tokens {
		if i > 0 && len(at.children) == 0 {
			s, required := locate(schema, tokens[:i])
			at.list = schema != nil && s.Types&(jsonschema.Array|jsonschema.Object) == jsonschema.Array
			at.required = required && s.Types&jsonschema.Null == 0
		}
		if at.list {
			index := len(at.children)
			if token == "-" {
				token = strconv.Itoa(index)
			}
			if at.byName[token] == nil && token != strconv.Itoa(index) {
				return fmt.Errorf("placing column %q at %s: element %d of %s has no column; elements are counted from 0, in the order of the columns", field, pointer(tokens), index, pointer(tokens[:i]))
			}
		}
		next := at.byName[token]
		if next == nil {
			next = at.put(newNode(token))
		}
		at = next
	}
	at.column = column
	return nil
}

// moveToEnd makes a child the last one.
func (n *node) moveToEnd(name string) {
	kept := make([]*node, 0, len(n.children))
	for _, child := range n.children {
		if child.name != name {
			kept = append(kept, child)
		}
	}
	n.children = append(kept, n.byName[name])
}

// add puts added values into the tree. They win: what a column would make of their objects is an object, or is replaced.
func (n *node) add(a *added) {
	for _, c := range a.children {
		child := n.byName[c.name]
		if child == nil {
			child = n.put(newNode(c.name))
		}
		switch {
		case c.isLeaf() || child.column >= 0:
			child.added = c
		default:
			child.list = false
			child.add(c)
		}
	}
}

// locate returns what a schema says of a location, and whether each document has it.
func locate(schema *jsonschema.Node, tokens []string) (s jsonschema.Shape, required bool) {
	if schema == nil {
		return jsonschema.Shape{Types: jsonschema.AnyTypes}, false
	}
	required = true
	n := schema
	s = n.Shape()
	s.Types &= jsonschema.Object
	for _, token := range tokens {
		required = required && s.Types == jsonschema.Object && n.Requires(token)
		if token == "-" && s.Types&(jsonschema.Array|jsonschema.Object) == jsonschema.Array {
			n = n.Elements()
		} else {
			n = n.Child(token)
		}
		s = n.Shape()
	}
	return s, required
}
