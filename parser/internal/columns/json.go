package columns

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// JSONPlan makes documents of JSON objects: it passes their bytes on and puts what is added in front of the closing brace. Only where a member is projected to
// another place, or one is there of the name of what is added, it is written anew.
type JSONPlan struct {
	options Options
	added   *added
	tail    []instruction // what is added, and the closing brace
	needles []needle
	shapes  *shapes // nil: no projections
	line    []byte  // an object whose line ends are taken out
	free    bool    // the object before had no name that a needle finds
}

// needle finds objects that may have a member of a name.
type needle struct {
	text    []byte // `name"`
	special bool   // it can be spelled in so many ways, not all of them by \u, that each object may have it
}

// ForJSON plans objects. An error concerns the configuration.
func ForJSON(o Options) (*JSONPlan, error) {
	added, err := parseAdded(o.AddValues, o.OffsetAt)
	if err != nil {
		return nil, err
	}
	projections, err := parseProjections(o.Projections, added)
	if err != nil {
		return nil, err
	}
	p := &JSONPlan{options: o, added: added}
	var c compiler
	for _, child := range added.children {
		c.constant(child.text)
		c.addedValue(child)
		p.needles = append(p.needles, newNeedle(child.name))
	}
	c.constant([]byte{'}'})
	p.tail = c.list
	if projections.mayMove() {
		p.shapes = &shapes{options: o, added: added, projections: projections}
	}
	return p, nil
}

// mayMove tells whether a member of some name would not stay where it is. One that a field's name leads to its own place may: its name may be another's that
// differs in case only.
func (p *projections) mayMove() bool { return len(p.exact) > 0 }

func newNeedle(name string) needle {
	quoted := jsontext.AppendString(nil, []byte(name))
	n := needle{text: quoted[1:]}
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == '/' || c == 0x7f {
			n.special = true
		}
	}
	return n
}

// in tells whether an object may have a member of the name; false is certain.
func (n *needle) in(v *jsontext.Value) bool {
	return n.special || v.Unicode || bytes.Contains(v.Raw, n.text)
}

// Append appends the document of a valid JSON object without blanks around it, as a jsontext.Scanner returns it, the n-th, counted from 0. Its error is a
// *FieldError, and then dst is as long as it was.
func (p *JSONPlan) Append(dst []byte, v *jsontext.Value, n int64) ([]byte, error) {
	raw := v.Raw
	if len(raw) < 2 || raw[0] != '{' || raw[len(raw)-1] != '}' {
		return dst, &FieldError{Reason: fmt.Sprintf("the value %s is not a JSON object", clip(raw))}
	}
	if v.Lines {
		p.line = appendLine(p.line[:0], raw)
		raw = p.line
	}
	if p.shapes != nil {
		s := p.shapes.of(raw)
		if s.plan != nil || s.err != nil {
			p.free = false // the next one's names may be as here
			return s.append(dst, p.shapes, n)
		}
	}
	if p.hasAdded(v) {
		return p.added.append(dst, raw, n), nil
	}
	return p.splice(dst, raw, n), nil
}

// Warnings are those about the objects so far, the first hundred: members that keep their names because another one has the place.
func (p *JSONPlan) Warnings() []string {
	if p.shapes == nil {
		return nil
	}
	return p.shapes.warnings
}

// hasAdded tells whether an object has a member in which or over which something is added.
func (p *JSONPlan) hasAdded(v *jsontext.Value) (has bool) {
	if p.free && v.Same {
		return false
	}
	p.free = false
	for i := range p.needles {
		if p.needles[i].in(v) {
			jsontext.Members(v.Raw, func(name, _ []byte) bool {
				has = p.added.named(name) >= 0
				return !has
			})
			return has
		}
	}
	p.free = true
	return false
}

// splice appends an object with what is added behind its members.
func (p *JSONPlan) splice(dst, raw []byte, n int64) []byte {
	dst = append(dst, bytes.TrimRight(raw[:len(raw)-1], " \t")...)
	for i := range p.tail {
		if in := &p.tail[i]; in.kind == offset {
			dst = strconv.AppendInt(dst, n, 10)
		} else {
			dst = appendConstant(dst, in.text)
		}
	}
	return dst
}

// appendLine appends JSON without its line ends, which strings cannot contain, and what is indented behind them.
func appendLine(dst, raw []byte) []byte {
	for len(raw) > 0 {
		i := bytes.IndexAny(raw, "\n\r")
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		raw = bytes.TrimLeft(raw[i:], "\n\r\t ")
	}
	return dst
}
