package jsonschema

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// Join returns a schema that takes what either of two takes, for documents as they are in practice: a property that one schema does not declare is
// taken as absent there, so that a property which only one declares keeps its schema and is not required. Nothing is dropped: properties, annotations
// (reduce, x-…) and conditions stay, those of a first. The result has no references; combinations become the plain schema that covers them.
func Join(a, b []byte) ([]byte, error) {
	x, err := Parse(a)
	if err != nil {
		return nil, err
	}
	y, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return appendJoin(nil, x, y, nil), nil
}

// pairs are the joins that are being written around one: a schema that contains itself is cut there.
type pairs struct {
	a, b *Node
	up   *pairs
}

func (p *pairs) met(a, b *Node) bool {
	for ; p != nil; p = p.up {
		if p.a == a && p.b == b {
			return true
		}
	}
	return false
}

// appendJoin writes the join of two nodes; b may be a itself.
func appendJoin(dst []byte, a, b *Node, up *pairs) []byte {
	if up.met(a, b) {
		return append(dst, "{}"...)
	}
	if a.selfContained() && (a == b || bytes.Equal(a.Text, b.Text)) {
		return rawjson.AppendCompact(dst, a.Text)
	}
	up = &pairs{a, b, up}
	sa, sb := a.Shape(), b.Shape()
	s := sa.or(sb)
	if s.Types == 0 {
		return append(dst, "false"...)
	}
	o := object{dst: append(dst, '{')}
	s.render(&o)
	if s.Types&Object != 0 {
		joinObjects(&o, onlyIf(a, sa.Types&Object), onlyIf(b, sb.Types&Object), up)
	}
	if s.Types&Array != 0 {
		joinItems(&o, onlyIf(a, sa.Types&Array), onlyIf(b, sb.Types&Array), up)
	}
	if a != b {
		joinAnnotations(&o, annotations(a), annotations(b))
	} else {
		joinAnnotations(&o, annotations(a), nil)
	}
	return append(o.dst, '}')
}

// onlyIf returns n; nil: it takes no value of the kind.
func onlyIf(n *Node, kind Types) *Node {
	if kind == 0 {
		return nil
	}
	return n
}

// selfContained tells whether a node's text means the same at another place.
func (n *Node) selfContained() bool { return n.Text != nil && !bytes.Contains(n.Text, []byte("$")) }

func (s *Shape) render(o *object) {
	if s.Types != AnyTypes {
		if names := s.Types.Names(); len(names) == 1 {
			o.text("type", names[0])
		} else {
			o.texts("type", names)
		}
	}
	o.textIf("title", s.Title)
	o.textIf("description", s.Description)
	if s.Default != nil {
		o.raw("default", string(rawjson.AppendCompact(nil, s.Default)))
	}
	if s.Types&String != 0 {
		o.textIf("format", s.Format)
		o.textIf("contentEncoding", s.ContentEncoding)
		if s.MaxLength >= 0 {
			o.raw("maxLength", strconv.Itoa(s.MaxLength))
		}
	}
	if s.Types&Number != 0 {
		if s.Minimum != nil {
			o.raw("minimum", s.Minimum.String())
		}
		if s.Maximum != nil {
			o.raw("maximum", s.Maximum.String())
		}
	}
	if s.Values != nil {
		o.raw("enum", "["+string(rawjson.AppendCompact(nil, bytes.Join(s.Values, []byte(","))))+"]")
	}
}

// joinObjects writes what is said of members; a nil side takes no objects.
func joinObjects(o *object, a, b *Node, up *pairs) {
	if a == nil {
		a = b
	}
	if b == nil {
		b = a
	}
	inA, inB := a.PropertyNames(), b.PropertyNames()
	names := slices.Clone(inA)
	known := map[string]bool{}
	for _, name := range inA {
		known[name] = true
	}
	for _, name := range inB {
		if !known[name] {
			names = append(names, name)
		}
	}
	here := map[string]bool{}
	for _, name := range inB {
		here[name] = true
	}
	var required []string
	if len(names) > 0 {
		o.name("properties")
		inner := object{dst: append(o.dst, '{')}
		for _, name := range names {
			x, y := declared(a, name, known[name]), declared(b, name, here[name])
			if x == nil {
				x = y
			}
			if y == nil {
				y = x
			}
			inner.name(name)
			inner.dst = appendJoin(inner.dst, x, y, up)
		}
		o.dst = append(inner.dst, '}')
	}
	for _, name := range slices.Concat(names, a.requiredNames()) {
		if a.Requires(name) && b.Requires(name) && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if required != nil {
		o.texts("required", required)
	}
	joinAdditional(o, a.others(nil), b.others(nil), up)
}

// declared returns what a schema says of a member, also where it means it among the additional ones; nil: it is taken as absent.
func declared(n *Node, name string, byName bool) *Node {
	child := n.Child(name)
	if byName || child.Text != nil && !child.False && string(child.Text) != "true" && string(child.Text) != "{}" {
		return child
	}
	return nil
}

// requiredNames lists required members that may not be declared.
func (n *Node) requiredNames() []string {
	names := slices.Clone(n.Required)
	if n.Ref != nil && n.Ref != n {
		names = append(names, n.Ref.Required...)
	}
	for _, part := range n.AllOf {
		names = append(names, part.Required...)
	}
	return names
}

// others returns what is said of undeclared members; nil: anything may be.
func (n *Node) others(way *trail) *Node {
	if way.met(n) {
		return nil
	}
	way = &trail{n, way}
	if n.Additional != nil {
		return n.Additional
	}
	for _, part := range append([]*Node{n.Ref}, n.AllOf...) {
		if part != nil {
			if found := part.others(way); found != nil {
				return found
			}
		}
	}
	return nil
}

func joinAdditional(o *object, a, b *Node, up *pairs) {
	switch {
	case a == nil || b == nil:
	case a.False && b.False:
		o.raw("additionalProperties", "false")
	default:
		o.name("additionalProperties")
		o.dst = appendJoin(o.dst, a, b, up)
	}
}

// joinItems writes what is said of elements; a nil side takes no arrays.
func joinItems(o *object, a, b *Node, up *pairs) {
	if a == nil {
		a = b
	}
	if b == nil {
		b = a
	}
	x, y := a.Elements(), b.Elements()
	if x.silent() || y.silent() {
		return
	}
	o.name("items")
	o.dst = appendJoin(o.dst, x, y, up)
}

// annotation is a keyword that says nothing of single values, or a condition.
type annotation struct {
	name  string
	value []byte
}

// annotations lists what the node, its $ref and its allOf have besides what Shape and Child tell. Conditions are kept as they are, one of them.
func annotations(n *Node) []annotation {
	var list []annotation
	met := map[*Node]bool{}
	var visit func(*Node)
	visit = func(part *Node) {
		if part == nil || met[part] {
			return
		}
		met[part] = true
		if part.Text != nil && part.Text[0] == '{' {
			_ = rawjson.Object(part.Text, func(raw, value []byte) error { // it is valid
				if name := unquote(raw); kept(name, value) {
					list = append(list, annotation{name, value})
				}
				return nil
			})
		}
		visit(part.Ref)
		for _, p := range part.AllOf {
			visit(p)
		}
	}
	visit(n)
	return list
}

// kept tells which keywords are copied.
func kept(name string, value []byte) bool {
	switch name {
	case "reduce", "redact", "secret", "contentMediaType", "order":
		return true
	case "if", "then", "else":
		return !bytes.Contains(value, []byte(`"$`))
	}
	return len(name) > 2 && (name[:2] == "x-" || name[:2] == "X-")
}

// joinAnnotations writes those of both, the first of each name; a condition stays together with its branches.
func joinAnnotations(o *object, a, b []annotation) {
	written := map[string]bool{}
	write := func(list []annotation) {
		condition := written["if"]
		for _, an := range list {
			branch := an.name == "if" || an.name == "then" || an.name == "else"
			if written[an.name] || branch && condition {
				continue
			}
			written[an.name] = true
			o.raw(an.name, string(rawjson.AppendCompact(nil, an.value)))
		}
	}
	write(a)
	write(b)
}
