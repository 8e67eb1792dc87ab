package jsonschema

import (
	"slices"
	"strings"
)

// Place is a location that a schema tells of.
type Place struct {
	Tokens []string // those of its pointer
	*Node
	// Required: each document has it, so each object on the way is required, too. It may be null.
	Required bool
}

// Places calls f with the members that the schema's objects declare or require, in them the members of theirs, and so on: the shallow ones first, those of one
// object in order of appearance. An object that contains itself is entered once; elements of arrays are not listed. f returns false to end.
func (n *Node) Places(f func(Place) bool) {
	type object struct {
		Place
		from *object
		said string // where its members are told of
	}
	objects := []*object{{Place: Place{Node: n, Required: true}, said: n.declaredAt()}}
	for len(objects) > 0 {
		o := objects[0]
		objects = objects[1:]
		required := o.allRequired()
		// Each document is an object, also where its schema does not say so.
		surely := o.Required && (o.from == nil || o.Shape().Types == Object)
		for _, name := range append(o.PropertyNames(), required.undeclared...) {
			child := o.Child(name)
			p := Place{Tokens: append(slices.Clip(o.Tokens), name), Node: child, Required: surely && required.has(o.Node, name)}
			if !f(p) {
				return
			}
			if child.Shape().Types&Object == 0 {
				continue
			}
			said, again := child.declaredAt(), false
			for up := o; up != nil && !again; up = up.from {
				again = up.said == said
			}
			if !again {
				objects = append(objects, &object{p, o, said})
			}
		}
	}
}

// required are the names that an object's schemas list as required, in all branches or in some.
type required struct {
	listed     map[string]bool
	undeclared []string
}

// has tells whether each object has the member: only what is listed needs to be looked into.
func (r required) has(n *Node, name string) bool { return r.listed[name] && n.Requires(name) }

func (n *Node) allRequired() required {
	r := required{listed: map[string]bool{}}
	met := map[*Node]bool{}
	var names []string
	var visit func(*Node)
	visit = func(part *Node) {
		if met[part] {
			return
		}
		met[part] = true
		for _, name := range part.Required {
			if !r.listed[name] {
				r.listed[name] = true
				names = append(names, name)
			}
		}
		part.Parts(visit)
	}
	visit(n)
	if len(names) == 0 {
		return r
	}
	declared := map[string]bool{}
	for _, name := range n.PropertyNames() {
		declared[name] = true
	}
	for _, name := range names {
		if !declared[name] && n.Requires(name) {
			r.undeclared = append(r.undeclared, name)
		}
	}
	return r
}

// declaredAt names the parts of the schema's text that tell of members of n's objects; empty: none does.
func (n *Node) declaredAt() string {
	met := map[*Node]bool{}
	var at []string
	var visit func(*Node)
	visit = func(part *Node) {
		if met[part] {
			return
		}
		met[part] = true
		if len(part.Properties)+len(part.Required) > 0 {
			at = append(at, "#"+part.Location)
		}
		part.Parts(visit)
	}
	visit(n)
	slices.Sort(at)
	return strings.Join(at, "\n")
}
