package proto

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/scalars"
)

// AppendField appends the JSON of field i of the message that was decoded last. False: it is not set, and can tell that from its default.
func (d *Decoder) AppendField(dst []byte, i int) ([]byte, bool, error) {
	// A call that failed left its message in the stacks.
	d.depth, d.path = 1, d.path[:0]
	start := len(dst)
	d.start = start
	f := &d.plan.fields[i]
	c := d.lists[d.top.lists+i]
	if c.first < 0 && f.presence {
		return dst, false, nil
	}
	dst, err := d.appendField(dst, f, c)
	if err != nil {
		return dst[:start], false, err
	}
	return dst, true, nil
}

// Append appends the whole message as an object.
func (d *Decoder) Append(dst []byte) ([]byte, error) {
	start := len(dst)
	d.depth, d.path, d.start = 1, d.path[:0], start
	dst, err := d.appendFields(dst, d.top)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// appendMessage appends a message that lies inside another.
func (d *Decoder) appendMessage(dst []byte, m *plan, message []byte) ([]byte, error) {
	if len(dst)-d.start > d.limits.Document {
		return dst, d.failed("the document takes more than %d bytes", d.limits.Document)
	}
	f, err := d.open(m, message)
	if err != nil {
		return dst, err
	}
	if m.write != nil {
		dst, err = m.write(d, dst, f)
	} else {
		dst, err = d.appendFields(dst, f)
	}
	if err != nil {
		return dst, err
	}
	d.close(f)
	return dst, nil
}

func (d *Decoder) appendFields(dst []byte, in frame) ([]byte, error) {
	dst = append(dst, '{')
	comma := false
	for i := range in.plan.fields {
		f := &in.plan.fields[i]
		c := d.lists[in.lists+i]
		if c.first < 0 && f.presence {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(dst, f.member...)
		var err error
		if dst, err = d.appendField(dst, f, c); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (d *Decoder) appendField(dst []byte, f *field, c chain) ([]byte, error) {
	d.path = append(d.path, f)
	var err error
	switch {
	case f.dict:
		dst, err = d.appendMap(dst, f, c)
	case f.list:
		dst, err = d.appendList(dst, f, c)
	default:
		dst, err = d.appendSingle(dst, f, c)
	}
	if err == nil {
		d.path = d.path[:len(d.path)-1]
	}
	return dst, err
}

// appendSingle appends the last of a field's values, or its default. Messages are merged, which is what reading them behind each other does.
func (d *Decoder) appendSingle(dst []byte, f *field, c chain) ([]byte, error) {
	if c.first < 0 {
		return d.appendScalar(dst, f, 0, nil)
	}
	last := &d.found[c.last]
	if f.message == nil {
		return d.appendScalar(dst, f, last.bits, last.bytes)
	}
	if c.first == c.last {
		return d.appendMessage(dst, f.message, last.bytes)
	}
	at := len(d.merged)
	for i := c.first; i >= 0; i = d.found[i].next {
		d.merged = append(d.merged, d.found[i].bytes...)
		if len(d.merged) > d.limits.Message {
			return dst, d.failed("parts of messages take more than %d bytes", d.limits.Message)
		}
	}
	dst, err := d.appendMessage(dst, f.message, d.merged[at:])
	d.merged = d.merged[:at]
	return dst, err
}

// appendList appends all of a field's values. Numbers may stand alone or packed, and both at once.
func (d *Decoder) appendList(dst []byte, f *field, c chain) ([]byte, error) {
	dst = append(dst, '[')
	wire := wireOf(f.kind)
	empty := true
	next := func() {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
	}
	for i := c.first; i >= 0; i = d.found[i].next {
		o := d.found[i]
		var err error
		switch {
		case f.message != nil:
			next()
			dst, err = d.appendMessage(dst, f.message, o.bytes)
		case o.wire == wire:
			next()
			dst, err = d.appendScalar(dst, f, o.bits, o.bytes)
		default:
			for packed := o.bytes; len(packed) > 0 && err == nil; {
				bits, n := consume(wire, packed)
				if n < 0 {
					return dst, d.failed("its packed numbers end early")
				}
				packed = packed[n:]
				next()
				dst, err = d.appendScalar(dst, f, bits, nil)
			}
		}
		if err != nil {
			return dst, err
		}
		if len(dst)-d.start > d.limits.Document {
			return dst, d.failed("the document takes more than %d bytes", d.limits.Document)
		}
	}
	return append(dst, ']'), nil
}

// consume reads a number.
func consume(wire protowire.Type, b []byte) (uint64, int) {
	switch wire {
	case protowire.Fixed32Type:
		v, n := protowire.ConsumeFixed32(b)
		return uint64(v), n
	case protowire.Fixed64Type:
		return protowire.ConsumeFixed64(b)
	default:
		return protowire.ConsumeVarint(b)
	}
}

// appendScalar appends a value of bits, or of bytes. No bits and no bytes are the default of every kind.
func (d *Decoder) appendScalar(dst []byte, f *field, bits uint64, bytes []byte) ([]byte, error) {
	switch f.kind {
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, bits != 0), nil
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind:
		return strconv.AppendInt(dst, int64(int32(bits)), 10), nil
	case protoreflect.Sint32Kind:
		return strconv.AppendInt(dst, int64(int32(protowire.DecodeZigZag(bits&math.MaxUint32))), 10), nil
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return strconv.AppendUint(dst, bits&math.MaxUint32, 10), nil
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return append(strconv.AppendInt(append(dst, '"'), int64(bits), 10), '"'), nil
	case protoreflect.Sint64Kind:
		return append(strconv.AppendInt(append(dst, '"'), protowire.DecodeZigZag(bits), 10), '"'), nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return append(strconv.AppendUint(append(dst, '"'), bits, 10), '"'), nil
	case protoreflect.FloatKind:
		return scalars.AppendFloat32(dst, math.Float32frombits(uint32(bits))), nil
	case protoreflect.DoubleKind:
		return scalars.AppendFloat64(dst, math.Float64frombits(bits)), nil
	case protoreflect.StringKind:
		text, ok := jsontext.AppendStringStrict(dst, bytes)
		if !ok {
			return dst, d.failed("its text is not UTF-8")
		}
		return text, nil
	case protoreflect.BytesKind:
		return scalars.AppendBase64(dst, bytes), nil
	case protoreflect.EnumKind:
		number := int32(bits)
		if f.enum.null {
			return append(dst, "null"...), nil
		}
		if name := f.enum.name(number); name != nil {
			return append(dst, name...), nil
		}
		return strconv.AppendInt(dst, int64(number), 10), nil
	default: // messages and groups are not scalars
		return dst, d.failed("kind %s has no value", f.kind)
	}
}
