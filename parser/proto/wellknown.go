package proto

import (
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/scalars"
)

// wellKnown writes a message of google.protobuf in its own form. The frame is that of the message.
type wellKnown func(d *Decoder, dst []byte, f frame) ([]byte, error)

func wellKnownOf(name protoreflect.FullName) wellKnown {
	switch name {
	case "google.protobuf.Timestamp":
		return writeTimestamp
	case "google.protobuf.Duration":
		return writeDuration
	case "google.protobuf.FieldMask":
		return writeFieldMask
	case "google.protobuf.Any":
		return writeAny
	case "google.protobuf.Struct":
		return writeStruct
	case "google.protobuf.ListValue":
		return writeListValue
	case "google.protobuf.Value":
		return writeValue
	case "google.protobuf.BoolValue", "google.protobuf.Int32Value", "google.protobuf.UInt32Value", "google.protobuf.Int64Value", "google.protobuf.UInt64Value",
		"google.protobuf.FloatValue", "google.protobuf.DoubleValue", "google.protobuf.StringValue", "google.protobuf.BytesValue":
		return writeWrapper
	}
	return nil
}

// The fields of these messages are taken by their place in google's declarations, which cannot change.

// last is the last value of field i, or none.
func (d *Decoder) last(f frame, i int) occurrence {
	if c := d.lists[f.lists+i]; c.first >= 0 {
		return d.found[c.last]
	}
	return occurrence{}
}

// writeTimestamp writes years 1 to 9999 as RFC 3339, with no, three, six or nine decimals.
func writeTimestamp(d *Decoder, dst []byte, f frame) ([]byte, error) {
	seconds, nanos := int64(d.last(f, 0).bits), int32(d.last(f, 1).bits)
	const first, behind = -62135596800, 253402300800 // 0001-01-01 and 10000-01-01
	if seconds < first || seconds >= behind || nanos < 0 || nanos > 999_999_999 {
		return dst, d.failed("a time of %d seconds and %d nanoseconds is outside years 1 to 9999", seconds, nanos)
	}
	dst, _ = scalars.AppendTimestamp(dst, seconds, 0, false)
	dst = appendNanos(dst[:len(dst)-1], nanos)
	return append(dst, 'Z', '"'), nil
}

// writeDuration writes seconds with no, three, six or nine decimals.
func writeDuration(d *Decoder, dst []byte, f frame) ([]byte, error) {
	seconds, nanos := int64(d.last(f, 0).bits), int32(d.last(f, 1).bits)
	const most = 315576000000 // ten thousand years
	if seconds < -most || seconds > most || nanos <= -1e9 || nanos >= 1e9 || seconds < 0 && nanos > 0 || seconds > 0 && nanos < 0 {
		return dst, d.failed("%d seconds and %d nanoseconds are no duration", seconds, nanos)
	}
	dst = append(dst, '"')
	if seconds < 0 || nanos < 0 {
		dst, seconds, nanos = append(dst, '-'), -seconds, -nanos
	}
	dst = appendNanos(strconv.AppendInt(dst, seconds, 10), nanos)
	return append(dst, 's', '"'), nil
}

func appendNanos(dst []byte, nanos int32) []byte {
	if nanos == 0 {
		return dst
	}
	digits, n := 9, nanos
	for n%1000 == 0 {
		n, digits = n/1000, digits-3
	}
	dst = append(dst, '.')
	at := len(dst)
	for range digits {
		dst = append(dst, '0')
	}
	for i := at + digits - 1; i >= at; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// writeFieldMask writes paths in one string, in the JSON form of names: camel case.
func writeFieldMask(d *Decoder, dst []byte, f frame) ([]byte, error) {
	var text []byte
	for i := d.lists[f.lists].first; i >= 0; i = d.found[i].next {
		if len(text) > 0 {
			text = append(text, ',')
		}
		upper := false
		for _, c := range d.found[i].bytes {
			switch {
			case c == '_':
				upper = true
				continue
			case upper && c >= 'a' && c <= 'z':
				c -= 'a' - 'A'
			}
			upper = false
			text = append(text, c)
		}
	}
	if !utf8.Valid(text) {
		return dst, d.failed("its text is not UTF-8")
	}
	return jsontext.AppendString(dst, text), nil
}

// writeAny writes the name of a type and the bytes of a message of it, because the type is not known.
func writeAny(d *Decoder, dst []byte, f frame) ([]byte, error) {
	name, value := d.last(f, 0).bytes, d.last(f, 1).bytes
	if len(name) == 0 && len(value) == 0 {
		return append(dst, "{}"...), nil
	}
	dst, ok := jsontext.AppendStringStrict(append(dst, `{"@type":`...), name)
	if !ok {
		return dst, d.failed("its text is not UTF-8")
	}
	return append(scalars.AppendBase64(append(dst, `,"value":`...), value), '}'), nil
}

func writeStruct(d *Decoder, dst []byte, f frame) ([]byte, error) {
	return d.appendMap(dst, &f.plan.fields[0], d.lists[f.lists])
}

func writeListValue(d *Decoder, dst []byte, f frame) ([]byte, error) {
	return d.appendList(dst, &f.plan.fields[0], d.lists[f.lists])
}

// writeValue writes the one member that is set.
func writeValue(d *Decoder, dst []byte, f frame) ([]byte, error) {
	for i := range f.plan.fields {
		c := d.lists[f.lists+i]
		if c.first < 0 {
			continue
		}
		member := &f.plan.fields[i]
		if v := math.Float64frombits(d.found[c.last].bits); member.kind == protoreflect.DoubleKind && (v != v || math.IsInf(v, 0)) {
			return dst, d.failed("%v is no number of JSON", v)
		}
		return d.appendSingle(dst, member, c)
	}
	return append(dst, "null"...), nil
}

func writeWrapper(d *Decoder, dst []byte, f frame) ([]byte, error) {
	return d.appendSingle(dst, &f.plan.fields[0], d.lists[f.lists])
}
