package avro

import (
	"fmt"
)

// maxConstant bounds the JSON of a value that takes no bytes: records of records of nothing could make it as long as one likes.
const maxConstant = 64 << 10

// finish sets what is only known when all types are: which take no bytes, and which stand inside themselves.
func (p *parser) finish(root *node) error {
	f := finisher{done: map[*node]bool{}, open: map[*node]bool{}}
	return f.visit(root)
}

type finisher struct {
	done, open map[*node]bool
}

func (f *finisher) visit(n *node) error {
	if f.open[n] {
		n.recurs = true
		return nil
	}
	if f.done[n] {
		return nil
	}
	f.open[n] = true
	defer delete(f.open, n)
	f.done[n] = true
	for _, inner := range n.inner() {
		if err := f.visit(inner); err != nil {
			return err
		}
	}
	return n.setConstant()
}

// inner returns the types inside.
func (n *node) inner() []*node {
	switch n.kind {
	case kindRecord:
		inner := make([]*node, len(n.fields))
		for i, f := range n.fields {
			inner[i] = f.node
		}
		return inner
	case kindArray, kindMap:
		return []*node{n.item}
	case kindUnion:
		return n.branches
	default:
		return nil
	}
}

// setConstant sets the JSON of a type whose values take no bytes. A record that is still being visited, because it stands inside itself, has none.
func (n *node) setConstant() error {
	switch n.kind {
	case kindNull:
		n.constant = []byte("null")
	case kindFixed:
		if n.size == 0 {
			n.constant = []byte(`""`)
		}
	case kindRecord:
		text := []byte{}
		for _, f := range n.fields {
			if f.node.constant == nil {
				return nil
			}
			text = append(append(text, f.prefix...), f.node.constant...)
			if len(text) > maxConstant {
				return fmt.Errorf("the record %s has no content, but would take more than %d bytes of JSON", n.name, maxConstant)
			}
		}
		if len(n.fields) == 0 {
			text = append(text, '{')
		}
		n.constant = append(text, '}')
	default:
	}
	return nil
}
