package columns

import (
	"strconv"
)

// kind is what an instruction does.
type kind uint8

const (
	field    kind = iota // a column's value, as a member
	element              // a column's value, as an element of an array: null when it is absent
	constant             // text that is the same in each document
	offset               // the row's number
	open                 // the start of an object or array that is left out if nothing is in it
	closing              // its end
	merge                // a column's value, joined with what is added in it
)

// instruction is one step of writing a document.
type instruction struct {
	kind   kind
	column int32
	// The next ones are for fields of rows of text, see plain.go: blocks is text, of which size bytes count.
	shortcut shortcut
	point    bool // numbers may have fractions
	doubled  bool // no text with a quote in it is null
	lengths  lengths
	size     int
	blocks   []byte
	// text comes before the value: `,"name":`. Its comma is not written at the start of an object or array.
	text []byte
	// container is what is opened or closed.
	container container
	added     *added
}

// container is an object or an array.
type container struct {
	opening, closing byte
	inList           bool // it is an element of an array: null when nothing is in it
	required         bool // it is written when nothing is in it, too
}

// compile makes the instructions that write documents of a layout.
func compile(root *node) []instruction {
	c := compiler{}
	c.children(root)
	c.constant([]byte{'}'}) // the start is a row's first byte
	return c.list
}

type compiler struct{ list []instruction }

func (c *compiler) children(n *node) {
	for _, child := range n.children {
		text := []byte{','}
		if !n.list {
			text = memberText(child.name)
		}
		c.node(child, text, n.list)
	}
}

func (c *compiler) node(n *node, text []byte, inList bool) {
	switch {
	case n.added != nil && n.column >= 0:
		c.list = append(c.list, instruction{kind: merge, column: int32(n.column), text: text, added: n.added})
	case n.added != nil:
		c.constant(text)
		c.addedValue(n.added)
	case n.null:
		c.constant(append(text, "null"...))
	case n.column >= 0 && inList:
		c.list = append(c.list, instruction{kind: element, column: int32(n.column), text: text})
	case n.column >= 0:
		c.list = append(c.list, instruction{kind: field, column: int32(n.column), text: text})
	case n.isFixed():
		c.constant(append(text, '{'))
		c.children(n)
		c.constant([]byte{'}'})
	default:
		box := container{opening: '{', closing: '}', inList: inList, required: n.required}
		if n.list {
			box.opening, box.closing = '[', ']'
		}
		c.list = append(c.list, instruction{kind: open, text: append(text, box.opening), container: box})
		c.children(n)
		c.list = append(c.list, instruction{kind: closing, container: box})
	}
}

// isFixed tells whether nothing in an object depends on the row.
func (n *node) isFixed() bool {
	for _, child := range n.children {
		if child.column >= 0 || child.added == nil && !child.null && !child.isFixed() {
			return false
		}
	}
	return true
}

// addedValue writes what is added at a location.
func (c *compiler) addedValue(a *added) {
	switch {
	case a.offset:
		c.list = append(c.list, instruction{kind: offset})
	case a.value != nil:
		c.constant(a.value)
	default:
		c.constant([]byte{'{'})
		for _, child := range a.children {
			c.constant(child.text)
			c.addedValue(child)
		}
		c.constant([]byte{'}'})
	}
}

// constant appends text to the constant before, if there is one.
func (c *compiler) constant(text []byte) {
	if last := len(c.list) - 1; last >= 0 && c.list[last].kind == constant {
		c.list[last].text = appendConstant(c.list[last].text, text)
		return
	}
	c.list = append(c.list, instruction{kind: constant, text: append([]byte{}, text...)})
}

func appendConstant(dst, text []byte) []byte {
	if text[0] == ',' {
		return appendMember(dst, text)
	}
	return append(dst, text...)
}

// frame is an open object or array.
type frame struct {
	start   int // of its text in the document
	inside  int // behind its opening bracket
	present int // behind its last member or element that is there
}

// writer runs the instructions that are not about a column's value.
type writer struct{ frames []frame }

func (w *writer) run(dst []byte, in *instruction, n int64) []byte {
	switch in.kind {
	case constant:
		return appendConstant(dst, in.text)
	case offset:
		return strconv.AppendInt(dst, n, 10)
	case open:
		start := len(dst)
		dst = appendMember(dst, in.text)
		w.frames = append(w.frames, frame{start: start, inside: len(dst), present: len(dst)})
	case closing:
		last := len(w.frames) - 1
		f := w.frames[last]
		w.frames = w.frames[:last]
		if in.container.closing == ']' {
			dst = dst[:f.present] // without nulls at the end
		}
		switch {
		case len(dst) > f.inside || in.container.required:
			dst = append(dst, in.container.closing)
			w.mark(len(dst))
		case in.container.inList:
			dst = append(appendMember(dst[:f.start], comma), "null"...)
		default:
			dst = dst[:f.start]
		}
	default: // values are the plan's
	}
	return dst
}

var comma = []byte{','}

// mark says that the innermost container holds something that ends at a place of the document.
func (w *writer) mark(end int) {
	if last := len(w.frames) - 1; last >= 0 {
		w.frames[last].present = end
	}
}
