package jsonschema

import "github.com/estuary/connectors/internal/rawjson"

// Shape is what a schema says of a value as a whole, its combinations resolved: those of allOf hold together, of anyOf, oneOf, then and else any may. What
// cannot be told is wider than the schema.
type Shape struct {
	Types  Types    // 0: no value is valid
	Values [][]byte // all that is allowed; nil: not limited
	// Of strings; MaxLength in characters, negative: no bound.
	Format, ContentEncoding string
	MaxLength               int
	// Of numbers; nil: no bound.
	Minimum, Maximum *rawjson.Number

	Title, Description string
	Default            []byte
}

// Shape returns what the schema says of a value.
func (n *Node) Shape() Shape { return n.shape(nil) }

func (n *Node) shape(way *trail) Shape {
	switch {
	case n.False:
		return Shape{MaxLength: -1}
	case way.met(n):
		return anything().own()
	}
	way = &trail{n, way}
	s := n.own()
	if n.Ref != nil {
		s = s.and(n.Ref.shape(way))
	}
	for _, part := range n.AllOf {
		s = s.and(part.shape(way))
	}
	for _, branches := range n.branches() {
		either := Shape{MaxLength: -1}
		for _, part := range branches {
			either = either.or(part.shape(way))
		}
		s = s.and(either)
	}
	return s
}

// branches returns the lists of parts of which any may hold.
func (n *Node) branches() (lists [][]*Node) {
	if n.AnyOf != nil {
		lists = append(lists, n.AnyOf)
	}
	if n.OneOf != nil {
		lists = append(lists, n.OneOf)
	}
	if n.If != nil && n.Then != nil && n.Else != nil { // without one of them, anything may be
		lists = append(lists, []*Node{n.Then, n.Else})
	}
	return lists
}

// own is what the keywords of the node itself say.
func (n *Node) own() Shape {
	s := Shape{
		Types: n.Types, Values: n.Values, Format: n.Format, ContentEncoding: n.ContentEncoding, MaxLength: n.MaxLength, Title: n.Title, Description: n.Description, Default: n.Default,
		Minimum: n.Minimum, Maximum: n.Maximum,
	}
	if s.Types == 0 {
		s.Types = AnyTypes
	}
	if n.Values != nil {
		var of Types
		for _, v := range n.Values {
			of |= TypeOf(v)
		}
		s.Types &= of
	}
	s.Minimum = bound(s.Minimum, exclusive(n.ExclusiveMinimum, s.Types, 1), 1)
	s.Maximum = bound(s.Maximum, exclusive(n.ExclusiveMaximum, s.Types, -1), -1)
	return s
}

// exclusive makes a bound that is excluded itself an ordinary one: for integers it is the next.
func exclusive(limit *rawjson.Number, types Types, step int) *rawjson.Number {
	if limit == nil || types&Fraction != 0 || !limit.Integer() {
		return limit
	}
	one := rawjson.Number{Digits: []byte("1"), Negative: step < 0}
	next, ok := limit.Add(one)
	if !ok {
		return limit
	}
	return &next
}

// bound returns the greater of two bounds for sign 1, the smaller for -1; nil: no bound.
func bound(a, b *rawjson.Number, sign int) *rawjson.Number {
	if a == nil || b != nil && b.Compare(*a)*sign > 0 {
		return b
	}
	return a
}

// and is what both say.
func (s Shape) and(t Shape) Shape {
	s.Types &= t.Types
	s.Values = intersect(s.Values, t.Values)
	if s.Format == "" {
		s.Format = t.Format
	}
	if s.ContentEncoding == "" {
		s.ContentEncoding = t.ContentEncoding
	}
	if s.MaxLength < 0 || t.MaxLength >= 0 && t.MaxLength < s.MaxLength {
		s.MaxLength = t.MaxLength
	}
	s.Minimum, s.Maximum = bound(s.Minimum, t.Minimum, 1), bound(s.Maximum, t.Maximum, -1)
	return s.described(t)
}

// or is what one of both says.
func (s Shape) or(t Shape) Shape {
	switch {
	case s.Types == 0:
		return t.described(s)
	case t.Types == 0:
		return s.described(t)
	}
	s.Values = unite(s.Values, t.Values)
	switch a, b := s.Types&String != 0, t.Types&String != 0; {
	case !a:
		s.Format, s.ContentEncoding, s.MaxLength = t.Format, t.ContentEncoding, t.MaxLength
	case b:
		s.Format = commonFormat(s.Format, t.Format)
		if s.ContentEncoding != t.ContentEncoding {
			s.ContentEncoding = ""
		}
		if s.MaxLength >= 0 && (t.MaxLength < 0 || t.MaxLength > s.MaxLength) {
			s.MaxLength = t.MaxLength
		}
	}
	switch a, b := s.Types&Number != 0, t.Types&Number != 0; {
	case !a:
		s.Minimum, s.Maximum = t.Minimum, t.Maximum
	case b:
		s.Minimum, s.Maximum = outer(s.Minimum, t.Minimum, -1), outer(s.Maximum, t.Maximum, 1)
	}
	s.Types |= t.Types
	return s.described(t)
}

// outer returns the bound that holds for both sides.
func outer(a, b *rawjson.Number, sign int) *rawjson.Number {
	if a == nil || b == nil {
		return nil
	}
	return bound(a, b, sign)
}

// commonFormat is a format that holds for strings of both; empty: there is none.
func commonFormat(a, b string) string {
	switch {
	case a == b:
		return a
	case a == "integer" && b == "number", a == "number" && b == "integer":
		return "number"
	}
	return ""
}

// unite returns the values that one of two lists allows; a nil list allows all.
func unite(a, b [][]byte) [][]byte {
	if a == nil || b == nil {
		return nil
	}
	for _, v := range b {
		if !contains(a, v) {
			a = append(a[:len(a):len(a)], v)
		}
	}
	return a
}

// described takes over what t has for people and s lacks.
func (s Shape) described(t Shape) Shape {
	if s.Title == "" {
		s.Title = t.Title
	}
	if s.Description == "" {
		s.Description = t.Description
	}
	if s.Default == nil {
		s.Default = t.Default
	}
	return s
}
