package proto

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Limits bound what one message may take. A field that is 0 stands for its default.
type Limits struct {
	Message  int // bytes of a message; 64 MiB
	Document int // bytes of its JSON; 64 MiB
	Depth    int // messages inside each other; 100, as other implementations allow
	Fields   int // values at a time; 2,097,152, which take 100 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Message == 0 {
		l.Message = 64 << 20
	}
	if l.Document == 0 {
		l.Document = 64 << 20
	}
	if l.Depth == 0 {
		l.Depth = 100
	}
	if l.Fields == 0 {
		l.Fields = 2 << 20
	}
	return l
}

// Decoder takes messages of one type apart. It belongs to one goroutine.
type Decoder struct {
	plan   *plan
	limits Limits
	top    frame

	// Stacks: what messages inside each other need, the outermost first.
	lists   []chain
	found   []occurrence
	oneofs  []int32
	merged  []byte
	entries []entry
	keys    []byte

	depth int
	start int // of the document in dst
	path  []*field
}

// frame is a message that is taken apart: where its parts of the stacks begin.
type frame struct {
	plan  *plan
	lists int
	found int
	merge int
}

// chain holds the occurrences of a field, in their order; -1: none.
type chain struct{ first, last int32 }

// occurrence is a field's value in the bytes.
type occurrence struct {
	next  int32
	wire  protowire.Type
	bits  uint64 // varints and fixed numbers
	bytes []byte // the rest: what follows the length, or is inside the group
}

// NewDecoder makes a decoder of messages of this type.
func (m *Message) NewDecoder(limits Limits) *Decoder {
	return &Decoder{plan: m.plan, limits: limits.withDefaults()}
}

// Decode takes a message apart, which must stay as it is until the next call. Errors are *MessageError, here and below.
func (d *Decoder) Decode(message []byte) error {
	d.lists, d.found, d.oneofs = d.lists[:0], d.found[:0], d.oneofs[:0]
	d.merged, d.entries, d.keys, d.path, d.depth = d.merged[:0], d.entries[:0], d.keys[:0], d.path[:0], 0
	if len(message) > d.limits.Message {
		return &MessageError{Reason: fmt.Sprintf("its %d bytes exceed %d", len(message), d.limits.Message)}
	}
	var err error
	d.top, err = d.open(d.plan, message)
	return err
}

// open scans a message on the level of its fields.
func (d *Decoder) open(m *plan, message []byte) (frame, error) {
	f := frame{plan: m, lists: len(d.lists), found: len(d.found), merge: len(d.merged)}
	if d.depth++; d.depth > d.limits.Depth {
		return f, d.failed("messages nest deeper than %d", d.limits.Depth)
	}
	for range m.fields {
		d.lists = append(d.lists, chain{-1, -1})
	}
	oneofs := len(d.oneofs)
	for range m.oneofs {
		d.oneofs = append(d.oneofs, -1)
	}
	err := d.scan(f, oneofs, message)
	d.oneofs = d.oneofs[:oneofs]
	return f, err
}

// scan chains the values of a message. Which member of a oneof is set stands in oneofs from a place on.
func (d *Decoder) scan(f frame, oneofs int, message []byte) error {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return d.failed("its bytes are no message: %v", protowire.ParseError(n))
		}
		message = message[n:]
		o := occurrence{next: -1, wire: wire}
		switch wire {
		case protowire.VarintType:
			o.bits, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(message)
			o.bits = uint64(v)
		case protowire.Fixed64Type:
			o.bits, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			o.bytes, n = protowire.ConsumeBytes(message)
		case protowire.StartGroupType:
			o.bytes, n = protowire.ConsumeGroup(number, message)
		case protowire.EndGroupType:
			return d.failed("its bytes are no message: the end of group %d, which did not begin", number)
		default:
			return d.failed("its bytes are no message: wire type %d of field %d", wire, number)
		}
		if n < 0 {
			return d.failed("its bytes are no message: field %d: %v", number, protowire.ParseError(n))
		}
		message = message[n:]
		if i := f.plan.index(number); i >= 0 && f.plan.fields[i].accepts(wire) {
			if len(d.found) >= d.limits.Fields {
				return d.failed("it has more than %d values", d.limits.Fields)
			}
			d.add(f, oneofs, i, o)
		}
	}
	for i := range f.plan.fields {
		if f.plan.fields[i].required && d.lists[f.lists+i].first < 0 {
			return d.failed("its required field %s is missing", f.plan.fields[i].name)
		}
	}
	return nil
}

// add chains an occurrence. A member of a oneof drops the others.
func (d *Decoder) add(f frame, oneofs int, i int32, o occurrence) {
	if k := f.plan.fields[i].oneof; k >= 0 {
		set := &d.oneofs[oneofs+int(k)]
		if *set >= 0 && *set != i {
			d.lists[f.lists+int(*set)] = chain{-1, -1}
		}
		*set = i
	}
	at := int32(len(d.found))
	d.found = append(d.found, o)
	c := &d.lists[f.lists+int(i)]
	if c.first < 0 {
		c.first = at
	} else {
		d.found[c.last].next = at
	}
	c.last = at
}

// close gives a frame's parts of the stacks back.
func (d *Decoder) close(f frame) {
	clear(d.found[f.found:]) // they hold on to bytes
	d.lists, d.found, d.merged = d.lists[:f.lists], d.found[:f.found], d.merged[:f.merge]
	d.depth--
}

// accepts says whether a field may come in a wire type. What may not is as unknown as other numbers.
func (f *field) accepts(wire protowire.Type) bool {
	own := wireOf(f.kind)
	return wire == own || f.list && wire == protowire.BytesType && own != protowire.StartGroupType
}

func wireOf(kind protoreflect.Kind) protowire.Type {
	switch kind {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	default:
		return protowire.VarintType
	}
}

// failed is an error at the field that is being written.
func (d *Decoder) failed(format string, args ...any) error {
	e := &MessageError{Reason: fmt.Sprintf(format, args...)}
	for i, f := range d.path {
		if i > 0 {
			e.Field += "."
		}
		e.Field += f.name
	}
	return e
}
