package jsonschema

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/rawjson"
)

// Assessable tells whether Accepts knows all that the schema asserts; if not, the error names the location and the keyword. Format asserts nothing.
func (n *Node) Assessable() error { return n.assessable(map[*Node]bool{}) }

func (n *Node) assessable(seen map[*Node]bool) error {
	if seen[n] {
		return nil
	}
	seen[n] = true
	if len(n.Unknown) > 0 {
		return fmt.Errorf("%s: %s is not understood here", show(n.Location), n.Unknown[0])
	}
	if n.Dangling != "" {
		return fmt.Errorf("%s: the reference %q leads nowhere in the schema", show(n.Location), n.Dangling)
	}
	var err error
	visit := func(part *Node) {
		if err == nil && part != nil {
			err = part.assessable(seen)
		}
	}
	n.Parts(visit)
	n.Children(visit)
	for _, part := range []*Node{n.Not, n.Contains, n.Naming} {
		visit(part)
	}
	return err
}

// show writes a location for people.
func show(location string) string {
	if location == "" {
		return "the schema's root"
	}
	return location
}

// Accepts tells whether a valid JSON value, trimmed, satisfies an assessable schema.
func (n *Node) Accepts(value []byte) bool { return n.accepts(value, nil) }

func (n *Node) accepts(value []byte, way *trail) bool {
	if n.False || way.met(n) {
		return false
	}
	if n.Types != 0 && n.Types&TypeOf(value) == 0 || n.Values != nil && !contains(n.Values, value) {
		return false
	}
	return n.acceptsKind(value) && n.acceptsParts(value, way)
}

func (n *Node) acceptsKind(value []byte) bool {
	switch value[0] {
	case '"':
		return n.acceptsString(value)
	case '{':
		return n.acceptsObject(value)
	case '[':
		return n.acceptsArray(value)
	case 'n', 't', 'f':
		return true
	}
	return n.acceptsNumber(value)
}

func (n *Node) acceptsParts(value []byte, way *trail) bool {
	if n.Ref == nil && n.Not == nil && n.If == nil && n.AllOf == nil && n.AnyOf == nil && n.OneOf == nil {
		return true
	}
	way = &trail{n, way}
	if n.Ref != nil && !n.Ref.accepts(value, way) || n.Not != nil && n.Not.accepts(value, way) {
		return false
	}
	count := func(list []*Node) (valid int) {
		for _, part := range list {
			if part.accepts(value, way) {
				valid++
			}
		}
		return valid
	}
	if count(n.AllOf) < len(n.AllOf) || n.AnyOf != nil && count(n.AnyOf) == 0 || n.OneOf != nil && count(n.OneOf) != 1 {
		return false
	}
	if n.If == nil {
		return true
	}
	branch := n.Else
	if n.If.accepts(value, way) {
		branch = n.Then
	}
	return branch == nil || branch.accepts(value, way)
}

func (n *Node) acceptsNumber(value []byte) bool {
	if n.Minimum == nil && n.Maximum == nil && n.ExclusiveMinimum == nil && n.ExclusiveMaximum == nil {
		return true
	}
	v, _ := rawjson.ParseNumber(value) // it is valid
	return (n.Minimum == nil || v.Compare(*n.Minimum) >= 0) && (n.Maximum == nil || v.Compare(*n.Maximum) <= 0) &&
		(n.ExclusiveMinimum == nil || v.Compare(*n.ExclusiveMinimum) > 0) && (n.ExclusiveMaximum == nil || v.Compare(*n.ExclusiveMaximum) < 0)
}

func (n *Node) acceptsString(value []byte) bool {
	if n.MinLength < 0 && n.MaxLength < 0 && n.Pattern == nil {
		return true
	}
	s := rawjson.AppendUnquoted(nil, value[1:len(value)-1])
	length := utf8.RuneCount(s)
	return length >= n.MinLength && (n.MaxLength < 0 || length <= n.MaxLength) && (n.Pattern == nil || n.Pattern.Match(s))
}

func (n *Node) acceptsObject(value []byte) bool {
	if len(n.Required) == 0 && len(n.Properties) == 0 && len(n.Patterns) == 0 && n.Additional == nil && n.Naming == nil && n.MinProperties <= 0 && n.MaxProperties < 0 {
		return true
	}
	count, met, ok := 0, uint64(0), true
	_ = rawjson.Object(value, func(raw, v []byte) error { // it is valid
		name := raw
		if bytes.IndexByte(raw, '\\') >= 0 {
			name = rawjson.AppendUnquoted(nil, raw)
		}
		count++
		for i, r := range n.Required {
			if r == string(name) {
				met |= 1 << i
			}
		}
		ok = ok && n.acceptsMember(name, v)
		return nil
	})
	return ok && n.has(met, value) && count >= n.MinProperties && (n.MaxProperties < 0 || count <= n.MaxProperties)
}

// has tells whether all required members are there, of which met marks the first 64.
func (n *Node) has(met uint64, object []byte) bool {
	for i, r := range n.Required {
		if i < 64 {
			if met>>i&1 == 0 {
				return false
			}
			continue
		}
		p, _ := rawjson.ParsePointer("/" + escape(r)) // it is well formed
		if _, ok, _ := p.Find(object); !ok {
			return false
		}
	}
	return true
}

func (n *Node) acceptsMember(name, v []byte) bool {
	declared := false
	if p := n.propertyNamed(name); p != nil {
		declared = true
		if !p.Accepts(v) {
			return false
		}
	}
	for _, p := range n.Patterns {
		if p.Name.Match(name) {
			declared = true
			if !p.Accepts(v) {
				return false
			}
		}
	}
	if !declared && n.Additional != nil && !n.Additional.Accepts(v) {
		return false
	}
	return n.Naming == nil || n.Naming.Accepts(rawjson.AppendQuoted(nil, name))
}

// propertyNamed is Property without a string to be made.
func (n *Node) propertyNamed(name []byte) *Node {
	if n.byName != nil {
		return n.byName[string(name)]
	}
	for i := range n.Properties {
		if n.Properties[i].Name == string(name) {
			return n.Properties[i].Node
		}
	}
	return nil
}

func (n *Node) acceptsArray(value []byte) bool {
	i, contained, ok := 0, false, true
	_ = rawjson.Array(value, func(v []byte) error { // it is valid
		switch {
		case i < len(n.Prefix):
			ok = ok && n.Prefix[i].Accepts(v)
		case n.Items != nil:
			ok = ok && n.Items.Accepts(v)
		}
		contained = contained || n.Contains != nil && n.Contains.Accepts(v)
		i++
		return nil
	})
	return ok && (n.Contains == nil || contained) && i >= n.MinItems && (n.MaxItems < 0 || i <= n.MaxItems)
}
