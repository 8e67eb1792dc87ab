package jsonschema

import (
	"regexp"
	"slices"

	"github.com/estuary/connectors/internal/rawjson"
)

// Node is a parsed JSON schema of any draft, or a part of one, with its references resolved. Parts that refer to each other form cycles. Keywords that are
// not formed as they should be are passed over: they allow anything.
type Node struct {
	// Location is a JSON pointer into the schema's text, Text what stands there. Nodes that Child makes of several have neither.
	Location string
	Text     []byte
	// False: no value is valid.
	False bool
	// Types are those that are named; 0: none is, and all are allowed.
	Types Types
	// Values are all that is allowed (enum, const); nil: no such keyword.
	Values [][]byte

	Title, Description, Format, ContentEncoding string
	Default                                     []byte
	Pattern                                     *regexp.Regexp
	// Bounds of numbers, nil: none; and of lengths and counts, negative: none.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum                           *rawjson.Number
	MinLength, MaxLength, MinItems, MaxItems, MinProperties, MaxProperties         int
	Ref, Not, If, Then, Else, Additional, Items, AdditionalItems, Contains, Naming *Node
	AllOf, AnyOf, OneOf, Prefix                                                    []*Node
	Required                                                                       []string
	Properties                                                                     []NamedNode // in the order of the text
	Patterns                                                                       []PatternNode

	// Reduce is the annotation's text; nil: none.
	Reduce []byte
	// Dangling is a reference that leads nowhere in the schema; the node allows anything.
	Dangling string
	// Unknown are keywords that assert something that Accepts does not know.
	Unknown []string

	byName map[string]*Node
}

// NamedNode is what a property must be.
type NamedNode struct {
	Name string
	*Node
}

// PatternNode is what properties must be whose name matches.
type PatternNode struct {
	Name *regexp.Regexp
	*Node
}

// Types is a set of JSON types.
type Types uint8

// The types. A number is an Integer or a Fraction.
const (
	Null Types = 1 << iota
	Boolean
	Integer
	Fraction
	String
	Array
	Object

	Number   = Integer | Fraction
	AnyTypes = Null | Boolean | Number | String | Array | Object
)

// Names are the JSON schema's names of the types, sorted; integer stands for integers without fractions only.
func (t Types) Names() []string {
	var names []string
	for _, one := range []struct {
		is   bool
		name string
	}{
		{t&Array != 0, "array"},
		{t&Boolean != 0, "boolean"},
		{t&Number == Integer, "integer"},
		{t&Null != 0, "null"},
		{t&Fraction != 0, "number"},
		{t&Object != 0, "object"},
		{t&String != 0, "string"},
	} {
		if one.is {
			names = append(names, one.name)
		}
	}
	return names
}

// typeNamed returns a type by its name; 0: there is none of that name.
func typeNamed(name string) Types {
	switch name {
	case "null":
		return Null
	case "boolean":
		return Boolean
	case "integer":
		return Integer
	case "number":
		return Number
	case "fractional": // Flow knows it, so it is in collections' schemas
		return Fraction
	case "string":
		return String
	case "array":
		return Array
	case "object":
		return Object
	}
	return 0
}

// TypeOf is the type of a value, trimmed.
func TypeOf(value []byte) Types {
	if len(value) == 0 {
		return 0
	}
	switch value[0] {
	case 'n':
		return Null
	case 't', 'f':
		return Boolean
	case '"':
		return String
	case '[':
		return Array
	case '{':
		return Object
	}
	if n, ok := rawjson.ParseNumber(value); ok && n.Integer() {
		return Integer
	}
	return Fraction
}

// Property returns what is declared of a property by its name; nil: nothing is.
func (n *Node) Property(name string) *Node {
	if n.byName != nil {
		return n.byName[name]
	}
	for _, p := range n.Properties {
		if p.Name == name {
			return p.Node
		}
	}
	return nil
}

// Parts calls f with each node that applies to the same value as n and stands directly in it: what $ref, allOf, anyOf, oneOf, then and else hold, and if.
func (n *Node) Parts(f func(*Node)) {
	for _, part := range slices.Concat([]*Node{n.Ref}, n.AllOf, n.AnyOf, n.OneOf, []*Node{n.If, n.Then, n.Else}) {
		if part != nil {
			f(part)
		}
	}
}

// Children calls f with each node that applies to a part of n's value and stands directly in it.
func (n *Node) Children(f func(*Node)) {
	for _, p := range n.Properties {
		f(p.Node)
	}
	for _, p := range n.Patterns {
		f(p.Node)
	}
	for _, part := range slices.Concat([]*Node{n.Additional, n.Items, n.AdditionalItems}, n.Prefix) {
		if part != nil {
			f(part)
		}
	}
}

// trail is the way that led to a node without leaving the value: who meets a node again there goes in a circle.
type trail struct {
	node *Node
	from *trail
}

func (t *trail) met(n *Node) bool {
	for ; t != nil; t = t.from {
		if t.node == n {
			return true
		}
	}
	return false
}
