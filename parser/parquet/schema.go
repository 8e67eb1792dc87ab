package parquet

import (
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// shape is how a node looks in JSON.
type shape uint8

const (
	scalar shape = iota // a leaf
	object              // a group: its members
	list                // its elements
	dict                // a map with text as keys: an object
	pairs               // another map: an array of {"key":…,"value":…}
)

// node is an element of the schema as JSON sees it: the groups that lists and maps are wrapped in are gone.
//
// Levels as in the Dremel paper: a value of a column has a definition level, which says how much of its path is there, and a repetition level, which says which list
// it continues; 0 begins a row.
type node struct {
	name     string
	member   []byte // the name as JSON, with a colon
	path     string // dotted, for errors
	shape    shape
	optional bool
	def      int // definition level from which on the node is not null
	children []*node
	first    int // leaves below: first ≤ i < last; a leaf's own index is first
	last     int

	// Lists and maps.
	elementDef int // definition level from which on there is an element
	rep        int // repetition level of an element that is not the first
}

// maxDepth is the deepest nesting of columns that levels of eight bits allow.
const maxDepth = 255

// schemaReader makes nodes of the flat list that a footer has.
type schemaReader struct {
	elements []format.SchemaElement
	pos      int
	leaves   []*leaf
	limits   Limits
}

// readSchema sets root and leaves.
func (f *File) readSchema(elements []format.SchemaElement) error {
	if len(elements) == 0 {
		return corrupt("it has no schema")
	}
	s := &schemaReader{elements: elements, pos: 1, limits: f.limits}
	root := &node{shape: object}
	if err := s.children(root, elements[0].NumChildren.V, levels{}, 0); err != nil {
		return err
	}
	if s.pos != len(elements) {
		return corrupt("its schema has %d elements too many", len(elements)-s.pos)
	}
	f.root, f.leaves = root, s.leaves
	return nil
}

// levels are the greatest levels on the way to an element.
type levels struct{ def, rep int }

// children reads n children of an object.
func (s *schemaReader) children(parent *node, n int32, at levels, depth int) error {
	if n < 0 || int(n) > len(s.elements)-s.pos {
		return corrupt("%s claims %d fields", pathOf(parent), n)
	}
	parent.first = len(s.leaves)
	names := make(map[string]int, n)
	for i := range int(n) {
		child, err := s.read(parent.path, at, depth+1)
		if err != nil {
			return err
		}
		if before, twice := names[child.name]; twice {
			return corrupt("%s has two fields named %q, at positions %d and %d", pathOf(parent), child.name, before+1, i+1)
		}
		names[child.name] = i
		parent.children = append(parent.children, child)
	}
	parent.last = len(s.leaves)
	return nil
}

func pathOf(n *node) string {
	if n.path == "" {
		return "the schema"
	}
	return "column " + n.path
}

// read reads an element and all below it. What repeats without saying that it is a list is one.
func (s *schemaReader) read(prefix string, at levels, depth int) (*node, error) {
	if s.pos >= len(s.elements) {
		return nil, corrupt("its schema ends early")
	}
	element := &s.elements[s.pos]
	n := &node{name: element.Name, path: element.Name}
	if prefix != "" {
		n.path = prefix + "." + element.Name
	}
	if !utf8.ValidString(element.Name) {
		return nil, corrupt("the name of column %q is not UTF-8", n.path)
	}
	if depth > maxDepth {
		return nil, corrupt("column %s nests deeper than %d", n.path, maxDepth)
	}
	if s.limits.Memory -= len(n.path) + 512; s.limits.Memory < 0 {
		return nil, tooLarge("its schema takes more memory than allowed")
	}
	n.member = append(jsontext.AppendString(nil, []byte(n.name)), ':')
	if element.RepetitionType.V != format.Repeated {
		return n, s.readInto(n, at, depth)
	}
	at.def, at.rep = at.def+1, at.rep+1
	element.RepetitionType.V = format.Required
	each := &node{name: n.name, path: n.path, member: n.member}
	if err := s.readInto(each, at, depth); err != nil {
		return nil, err
	}
	n.shape, n.children = list, []*node{each}
	n.def, n.elementDef, n.rep = at.def-1, at.def, at.rep
	n.first, n.last = each.first, each.last
	return n, counted(n)
}

// counted refuses what repeats without a column below: nothing says how often.
func counted(n *node) error {
	if n.first == n.last {
		return unsupported("column %s repeats groups without fields", n.path)
	}
	return nil
}

// readInto reads what an element is, its repetition apart.
func (s *schemaReader) readInto(n *node, at levels, depth int) error {
	element := &s.elements[s.pos]
	s.pos++
	if n.optional = element.RepetitionType.V == format.Optional; n.optional {
		at.def++
	}
	n.def = at.def
	if element.Type.Valid && element.NumChildren.V == 0 {
		return s.leaf(n, element, at)
	}
	switch element.LogicalType.Value.(type) {
	case *format.VariantType:
		return unsupported("column %s is a VARIANT", n.path)
	case *format.MapType:
		return s.mapped(n, element, at, depth)
	case *format.ListType:
		return s.listed(n, element, at, depth)
	case nil:
		if c := element.ConvertedType; c.Valid {
			switch {
			case c.V == deprecated.Map, c.V == deprecated.MapKeyValue && s.wrapsRepeated(element):
				return s.mapped(n, element, at, depth)
			case c.V == deprecated.List:
				return s.listed(n, element, at, depth)
			}
		}
	}
	n.shape = object
	return s.children(n, element.NumChildren.V, at, depth)
}

// wrapsRepeated tells the outer group of a map, which old writers annotated MAP_KEY_VALUE, from the inner one, which is annotated so by right.
func (s *schemaReader) wrapsRepeated(element *format.SchemaElement) bool {
	return element.NumChildren.V == 1 && s.pos < len(s.elements) && s.elements[s.pos].RepetitionType.V == format.Repeated
}

// inner returns the only, repeated child of a group that is annotated as list or map.
func (s *schemaReader) inner(n *node, element *format.SchemaElement, what string) (*format.SchemaElement, error) {
	if element.NumChildren.V != 1 || s.pos >= len(s.elements) || s.elements[s.pos].RepetitionType.V != format.Repeated {
		return nil, corrupt("column %s is a %s without the one repeated field that makes it", n.path, what)
	}
	return &s.elements[s.pos], nil
}

// listed reads a list by the rules for today's form and the older ones (LogicalTypes.md, "Lists", backward compatibility).
func (s *schemaReader) listed(n *node, element *format.SchemaElement, at levels, depth int) error {
	repeated, err := s.inner(n, element, "LIST")
	if err != nil {
		return err
	}
	at.def, at.rep = at.def+1, at.rep+1
	n.shape, n.elementDef, n.rep, n.first = list, at.def, at.rep, len(s.leaves)
	each := &node{name: "element", path: n.path + "." + repeated.Name}
	repeated.RepetitionType.V = format.Required
	if s.isElement(element, repeated) {
		err = s.readInto(each, at, depth+1)
	} else {
		s.pos++
		each, err = s.read(each.path, at, depth+2)
	}
	if err != nil {
		return err
	}
	n.children, n.last = []*node{each}, len(s.leaves)
	return counted(n)
}

// isElement says whether the repeated field of a list is the element itself, and not a group around it.
func (s *schemaReader) isElement(outer, repeated *format.SchemaElement) bool {
	if repeated.NumChildren.V != 1 || s.pos+1 >= len(s.elements) {
		return true
	}
	return repeated.Name == "array" || repeated.Name == outer.Name+"_tuple" || s.elements[s.pos+1].RepetitionType.V == format.Repeated
}

// mapped reads a map (LogicalTypes.md, "Maps").
func (s *schemaReader) mapped(n *node, element *format.SchemaElement, at levels, depth int) error {
	repeated, err := s.inner(n, element, "MAP")
	if err != nil {
		return err
	}
	if k := repeated.NumChildren.V; k != 1 && k != 2 {
		return corrupt("column %s is a MAP of %d fields instead of key and value", n.path, k)
	}
	at.def, at.rep = at.def+1, at.rep+1
	n.elementDef, n.rep = at.def, at.rep
	s.pos++
	entry := &node{path: n.path + "." + repeated.Name}
	if err := s.children(entry, repeated.NumChildren.V, at, depth+2); err != nil {
		return err
	}
	n.children, n.first, n.last = entry.children, entry.first, entry.last
	n.shape = pairs
	if key := n.children[0]; key.shape == scalar && s.leaves[key.first].text {
		n.shape = dict
	}
	return counted(n)
}

// leaf makes the column that a leaf stands for.
func (s *schemaReader) leaf(n *node, element *format.SchemaElement, at levels) error {
	if len(s.leaves) >= s.limits.Columns {
		return tooLarge("it has more than %d columns", s.limits.Columns)
	}
	l := &leaf{path: n.path, physical: element.Type.V, maxDef: at.def, maxRep: at.rep}
	if err := l.interpret(element); err != nil {
		return err
	}
	n.first, n.last = len(s.leaves), len(s.leaves)+1
	s.leaves = append(s.leaves, l)
	return nil
}
