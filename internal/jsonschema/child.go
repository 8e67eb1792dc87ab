package jsonschema

import (
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// Exists tells whether a location is there in each document.
type Exists int

// May is the zero value.
const (
	May    Exists = iota // the zero value: it may be absent, or null
	Must                 // it is there, and not null
	Cannot               // it is never there
)

// At returns what a schema of objects says of a location, and whether something is there.
func (n *Node) At(pointer string) (Shape, Exists, error) {
	p, err := rawjson.ParsePointer(pointer)
	if err != nil {
		return Shape{}, May, err
	}
	s := n.Shape()
	s.Types &= Object
	exists := Must
	for _, token := range p.Tokens() {
		if s.Types != Object || !n.Requires(token) {
			exists = May
		}
		n = n.Child(token)
		s = n.Shape()
	}
	switch {
	case s.Types == 0:
		exists = Cannot
	case s.Types&Null != 0:
		exists = May
	}
	return s, exists, nil
}

// Requires tells whether an object must have a member.
func (n *Node) Requires(name string) bool { return n.requires(name, nil) }

func (n *Node) requires(name string, way *trail) bool {
	if way.met(n) {
		return false
	}
	way = &trail{n, way}
	if slices.Contains(n.Required, name) || n.Ref != nil && n.Ref.requires(name, way) {
		return true
	}
	is := func(part *Node) bool { return part.requires(name, way) }
	if slices.ContainsFunc(n.AllOf, is) {
		return true
	}
	for _, branches := range n.branches() {
		// A branch that no object satisfies has no say.
		objects := slices.DeleteFunc(slices.Clone(branches), func(part *Node) bool { return part.shape(way).Types&Object == 0 })
		if len(objects) > 0 && !slices.ContainsFunc(objects, func(part *Node) bool { return !is(part) }) {
			return true
		}
	}
	return false
}

// Child returns what the schema says of a member of its objects, or of an element of its arrays where the token is an index.
func (n *Node) Child(token string) *Node {
	return n.descend(nil, func(part *Node) *Node { return part.ownChild(token) })
}

// Elements returns what the schema says of all elements of its arrays.
func (n *Node) Elements() *Node {
	return n.descend(nil, func(part *Node) *Node {
		rest := part.Items
		switch {
		case part.Types != 0 && part.Types&Array == 0:
			return never()
		case rest == nil:
			return anything()
		case part.Prefix == nil:
			return rest
		}
		all := anything()
		all.AnyOf = append(slices.Clone(part.Prefix), rest)
		return all
	})
}

func never() *Node { return &Node{False: true} }

// descend combines what the parts of n say of a part of the value.
func (n *Node) descend(way *trail, own func(*Node) *Node) *Node {
	switch {
	case n.False:
		return never()
	case way.met(n):
		return anything()
	}
	way = &trail{n, way}
	all := []*Node{own(n)}
	if n.Ref != nil {
		all = append(all, n.Ref.descend(way, own))
	}
	for _, part := range n.AllOf {
		all = append(all, part.descend(way, own))
	}
	for _, branches := range n.branches() {
		either := anything()
		for _, part := range branches {
			either.AnyOf = append(either.AnyOf, part.descend(way, own))
		}
		// A branch that says nothing makes the choice say nothing, and such a node would have children like itself without end.
		if !slices.ContainsFunc(either.AnyOf, (*Node).silent) {
			all = append(all, either)
		}
	}
	// What says nothing is left out, so that most nodes stay as they are in the text.
	said := slices.DeleteFunc(all, func(part *Node) bool { return part.silent() })
	switch len(said) {
	case 0:
		return anything()
	case 1:
		return said[0]
	}
	both := anything()
	both.AllOf = said
	return both
}

// silent tells whether a node is one that anything made.
func (n *Node) silent() bool { return n.Text == nil && !n.False && n.AllOf == nil && n.AnyOf == nil }

func (n *Node) ownChild(token string) *Node {
	types := n.Types
	if types == 0 {
		types = Object | Array
	}
	index, isIndex := arrayIndex(token)
	var member, element *Node
	if types&Object != 0 {
		member = n.member(token)
	}
	if types&Array != 0 && isIndex {
		element = n.element(index)
	}
	switch {
	case member == nil && element == nil:
		return never()
	case element == nil:
		return member
	case member == nil:
		return element
	}
	either := anything()
	either.AnyOf = []*Node{member, element}
	return either
}

// arrayIndex reads a token as an index: digits without a zero in front.
func arrayIndex(token string) (index int, ok bool) {
	if token == "" || token[0] < '0' || token[0] > '9' { // most are names, and the error would cost more than all else
		return 0, false
	}
	index, err := strconv.Atoi(token)
	return index, err == nil && strconv.Itoa(index) == token
}

// member is what the node itself says of a member.
func (n *Node) member(name string) *Node {
	var said []*Node
	if p := n.Property(name); p != nil {
		said = append(said, p)
	}
	for _, p := range n.Patterns {
		if p.Name.MatchString(name) {
			said = append(said, p.Node)
		}
	}
	switch {
	case len(said) == 1:
		return said[0]
	case len(said) > 1:
		both := anything()
		both.AllOf = said
		return both
	case n.Additional != nil:
		return n.Additional
	}
	return anything()
}

func (n *Node) element(index int) *Node {
	switch {
	case index < len(n.Prefix):
		return n.Prefix[index]
	case n.Items != nil:
		return n.Items
	}
	return anything()
}

// PropertyNames lists the members that the schema declares, in order of appearance.
func (n *Node) PropertyNames() []string {
	var names []string
	listed, met := map[string]bool{}, map[*Node]bool{}
	var visit func(*Node)
	visit = func(part *Node) {
		if part == nil || met[part] {
			return
		}
		met[part] = true
		for _, p := range part.Properties {
			if !listed[p.Name] {
				listed[p.Name] = true
				names = append(names, p.Name)
			}
		}
		for _, parts := range [][]*Node{{part.Ref}, part.AllOf, part.AnyOf, part.OneOf, {part.Then, part.Else}} {
			for _, p := range parts {
				visit(p)
			}
		}
	}
	visit(n)
	return names
}
