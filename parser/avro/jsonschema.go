package avro

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// maxSchemaNodes bounds a JSON schema: types that are used many times are written as often. What is beyond becomes the schema of anything.
const maxSchemaNodes = 100_000

// JSONSchema renders the schema as a JSON schema of the documents that are made of its records: all fields are required, null is a type. A record that
// stands inside itself is a definition under $defs, or with cutRecursion the schema of anything where it comes again.
func (s *Schema) JSONSchema(cutRecursion bool) []byte {
	r := renderer{cut: cutRecursion, open: map[*node]bool{}, root: s.root, budget: maxSchemaNodes}
	text := r.render(s.root).text()
	if len(r.defs) == 0 {
		return text
	}
	dst := append(text[:len(text)-1], `,"$defs":{`...)
	for i, d := range r.defs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, []byte(d.name)), ':')
		dst = append(dst, d.text...)
	}
	return append(dst, "}}"...)
}

type renderer struct {
	cut     bool
	open    map[*node]bool
	root    *node
	budget  int
	defs    []definition
	defined map[*node]bool
}

type definition struct {
	name string
	text []byte
}

// rendering is a JSON schema: its types, and what else it says.
type rendering struct {
	types   []string
	rest    []byte // further keywords, each after a comma
	whole   []byte // instead: a schema that cannot be merged with another
	enum    bool   // rest names the values, so that another type needs its own among them
	comment string
}

func (r rendering) text() []byte {
	var dst []byte
	if r.whole != nil {
		dst = append(dst, r.whole...)
	} else {
		dst = append(dst, `{"type":`...)
		if len(r.types) == 1 {
			dst = jsontext.AppendString(dst, []byte(r.types[0]))
		} else {
			dst = append(append(append(dst, `["`...), strings.Join(r.types, `","`)...), `"]`...)
		}
		dst = append(append(dst, r.rest...), '}')
	}
	if r.comment == "" || len(dst) < 3 || bytes.HasPrefix(dst, []byte(`{"$ref"`)) {
		return dst
	}
	dst = append(dst[:len(dst)-1], `,"description":`...)
	return append(jsontext.AppendString(dst, []byte(r.comment)), '}')
}

var anything = rendering{whole: []byte("{}")}

// described adds a comment, unless the type has one of its own.
func (r rendering) described(doc string) rendering {
	if doc != "" {
		r.comment = doc
	}
	return r
}

func (r *renderer) render(n *node) rendering {
	if r.budget--; r.budget < 0 {
		return anything
	}
	switch n.kind {
	case kindNull:
		return rendering{types: []string{"null"}}
	case kindBoolean:
		return rendering{types: []string{"boolean"}}
	case kindFloat, kindDouble:
		return rendering{types: []string{"number", "string"}} // NaN and the infinities are strings
	case kindInt, kindLong:
		return r.integer(n)
	case kindBytes, kindFixed:
		return r.bytes(n)
	case kindString:
		if n.logical == uuidString {
			return rendering{types: []string{"string"}, rest: []byte(`,"format":"uuid"`)}
		}
		return rendering{types: []string{"string"}}
	case kindEnum:
		return rendering{types: []string{"string"}, rest: append(append([]byte(`,"enum":[`), bytes.Join(n.quoted, []byte{','})...), ']'), enum: true, comment: n.doc}
	case kindArray:
		return rendering{types: []string{"array"}, rest: append([]byte(`,"items":`), r.render(n.item).text()...)}
	case kindMap:
		return rendering{types: []string{"object"}, rest: append([]byte(`,"additionalProperties":`), r.render(n.item).text()...)}
	case kindUnion:
		return r.union(n)
	case kindRecord:
		return r.record(n)
	}
	return anything
}

func (r *renderer) integer(n *node) rendering {
	switch n.logical {
	case plain:
		return rendering{types: []string{"integer"}}
	case date:
		return rendering{types: []string{"string"}, rest: []byte(`,"format":"date"`)}
	case timestampMillis, timestampMicros, timestampNanos:
		return rendering{types: []string{"string"}, rest: []byte(`,"format":"date-time"`)}
	default:
		// The formats for times want a zone.
		return rendering{types: []string{"string"}}
	}
}

func (r *renderer) bytes(n *node) rendering {
	rest := `,"contentEncoding":"base64"`
	switch n.logical {
	case decimal:
		rest = `,"format":"number"`
	case uuid:
		rest = `,"format":"uuid"`
	case duration:
		rest = "" // the format for durations knows no fractions of seconds
	default:
	}
	return rendering{types: []string{"string"}, rest: []byte(rest)}
}

// union merges branches while that says the same: keywords speak of one type only, so those of branches with different types do not meet. Otherwise it is
// an anyOf.
func (r *renderer) union(n *node) rendering {
	branches := make([]rendering, len(n.branches))
	merged := rendering{}
	mergeable := true
	for i, b := range n.branches {
		branches[i] = r.render(b)
		mergeable = mergeable && merged.merge(branches[i])
	}
	if mergeable {
		return merged
	}
	whole := []byte(`{"anyOf":[`)
	for i, b := range branches {
		if i > 0 {
			whole = append(whole, ',')
		}
		whole = append(whole, b.text()...)
	}
	return rendering{whole: append(whole, "]}"...)}
}

// merge adds the types of another schema if the two together mean either.
func (r *rendering) merge(other rendering) bool {
	if other.whole != nil {
		return false
	}
	for _, t := range other.types {
		for _, have := range r.types {
			if t == have {
				return false
			}
		}
	}
	null := func(x *rendering) bool { return len(x.types) == 0 || len(x.types) == 1 && x.types[0] == "null" }
	switch {
	case r.enum && other.enum, r.enum && !null(&other), other.enum && !null(r):
		return false
	case r.enum || other.enum && len(r.types) > 0:
		values := r.rest
		if other.enum {
			values = other.rest
		}
		values = append(bytes.TrimSuffix(bytes.Clone(values), []byte{']'}), ",null]"...)
		r.rest, r.enum = values, true
	default:
		r.rest = append(bytes.Clone(r.rest), other.rest...)
		r.enum = other.enum
	}
	r.types = append(r.types, other.types...)
	if r.comment == "" {
		r.comment = other.comment
	}
	return true
}

func (r *renderer) record(n *node) rendering {
	if r.open[n] {
		if r.cut {
			return anything
		}
		return r.reference(n)
	}
	r.open[n] = true
	defer delete(r.open, n)
	if n.recurs && n != r.root && !r.cut {
		// It is written once, where it is defined; what is open around it stays so for references to it.
		if !r.defined[n] {
			if r.defined == nil {
				r.defined = map[*node]bool{}
			}
			r.defined[n] = true
			at := len(r.defs)
			r.defs = append(r.defs, definition{name: n.name})
			r.defs[at].text = r.object(n).text()
		}
		return r.reference(n)
	}
	return r.object(n)
}

// reference points at the definition of a record that stands inside itself.
func (r *renderer) reference(n *node) rendering {
	if n == r.root {
		return rendering{whole: []byte(`{"$ref":"#"}`)}
	}
	pointer := "#/$defs/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(n.name))
	return rendering{whole: append(jsontext.AppendString([]byte(`{"$ref":`), []byte(pointer)), '}')}
}

func (r *renderer) object(n *node) rendering {
	rest := []byte(`,"properties":{`)
	for i, f := range n.fields {
		if i > 0 {
			rest = append(rest, ',')
		}
		rest = append(jsontext.AppendString(rest, []byte(f.name)), ':')
		rest = append(rest, r.render(f.node).described(f.doc).text()...)
	}
	rest = append(rest, '}')
	for i, f := range n.fields {
		if i == 0 {
			rest = append(rest, `,"required":`...)
		}
		rest = jsontext.AppendString(append(rest, "[,"[min(i, 1)]), []byte(f.name))
	}
	if len(n.fields) > 0 {
		rest = append(rest, ']')
	}
	return rendering{types: []string{"object"}, rest: rest, comment: n.doc}
}
