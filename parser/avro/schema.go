package avro

// Schema is a schema whose outermost type is a record, made ready for decoding. It is not changed by use, so many may decode with it at once.
type Schema struct {
	root *node
	text []byte // canonical form
}

// Fields returns the names of the record's fields, in their order.
func (s *Schema) Fields() []string {
	names := make([]string, len(s.root.fields))
	for i, f := range s.root.fields {
		names[i] = f.name
	}
	return names
}

// Name returns the record's full name.
func (s *Schema) Name() string { return s.root.name }

// node is a type.
type node struct {
	kind    kind
	logical logical
	scale   int // of a decimal
	name    string
	doc     string

	fields   []field  // of a record
	item     *node    // of an array and a map
	branches []*node  // of a union
	symbols  []string // of an enum
	quoted   [][]byte // the symbols as JSON
	size     int      // bytes of a fixed

	// A type whose values take no bytes has one value only, whose JSON is constant; otherwise it is nil. Arrays of such a type may claim any length.
	constant []byte
	recurs   bool // a record that stands inside itself
}

type field struct {
	name   string
	doc    string
	prefix []byte // what stands before the value: {"name": for the first field, ,"name": for the others
	node   *node
}

type kind uint8

const (
	kindNull kind = iota
	kindBoolean
	kindInt
	kindLong
	kindFloat
	kindDouble
	kindBytes
	kindString
	kindRecord
	kindEnum
	kindArray
	kindMap
	kindUnion
	kindFixed
)

// primitives by name, in the order of their kinds.
var primitives = [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string"}

func primitive(name string) (kind, bool) {
	for k, p := range primitives {
		if p == name {
			return kind(k), true
		}
	}
	return 0, false
}
