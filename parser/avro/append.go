package avro

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/scalars"
)

// AppendField appends the JSON of the field i of a datum that Cut has cut. Its errors are *ValueError, and *Error for a value that is too large; dst is
// then returned as it was.
func (s *Schema) AppendField(dst, datum []byte, spans []Span, i int) ([]byte, error) {
	limits := Limits{}.withDefaults()
	return s.appendField(&walk{limits: limits}, dst, datum, spans[i], i, limits.Value)
}

// appendField is AppendField on a walk that is used again and again, for a record whose other fields have left so much room, in bytes of JSON.
func (s *Schema) appendField(w *walk, dst, datum []byte, span Span, i, room int) ([]byte, error) {
	w.b, w.i, w.depth, w.fault, w.end = datum[:span.End], int(span.Start), 1, none, len(dst)+room
	start := len(dst)
	dst, ok := w.append(dst, s.root.fields[i].node)
	switch {
	case ok && len(dst) <= w.end:
		return dst, nil
	case !ok && w.fault == faultValue:
		return dst[:start], &ValueError{Column: s.root.fields[i].name, Reason: w.reason, Value: w.value}
	case ok:
		w.tooLarge()
	}
	return dst[:start], w.err(int64(w.i))
}

// AppendRecord appends the JSON of a whole datum, which may be followed by more, and returns how long the datum is.
func (s *Schema) AppendRecord(dst, datum []byte) ([]byte, int, error) {
	spans, n, err := s.Cut(datum, nil)
	if err != nil {
		return dst, 0, err
	}
	start, w := len(dst), walk{limits: Limits{}.withDefaults()}
	for i := range spans {
		dst = append(dst, s.root.fields[i].prefix...)
		if dst, err = s.appendField(&w, dst, datum, spans[i], i, w.limits.Value-len(dst)+start); err != nil {
			return dst[:start], n, err
		}
	}
	if len(spans) == 0 {
		dst = append(dst, '{')
	}
	return append(dst, '}'), n, nil
}

func (w *walk) tooLarge() bool {
	return w.fail(faultLimit, "the JSON of the record is larger than %d bytes", w.limits.Value)
}

// append appends a value.
func (w *walk) append(dst []byte, n *node) ([]byte, bool) {
	switch n.kind {
	case kindNull:
		return append(dst, "null"...), true
	case kindBoolean:
		return w.appendBoolean(dst)
	case kindInt, kindLong:
		v, ok := w.long()
		if !ok {
			return dst, false
		}
		if n.logical == plain {
			return strconv.AppendInt(dst, v, 10), true
		}
		return w.appendTime(dst, n.logical, v)
	case kindFloat:
		b, ok := w.fixed(4)
		if !ok {
			return dst, false
		}
		return scalars.AppendFloat32(dst, math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case kindDouble:
		b, ok := w.fixed(8)
		if !ok {
			return dst, false
		}
		return scalars.AppendFloat64(dst, math.Float64frombits(binary.LittleEndian.Uint64(b))), true
	case kindBytes:
		b, ok := w.bytes()
		if !ok {
			return dst, false
		}
		return w.appendBytes(dst, n, b)
	case kindFixed:
		b, ok := w.fixed(n.size)
		if !ok {
			return dst, false
		}
		return w.appendBytes(dst, n, b)
	case kindString:
		b, ok := w.bytes()
		if !ok {
			return dst, false
		}
		return w.appendText(dst, b)
	case kindEnum:
		symbol, ok := w.symbol(n)
		return append(dst, symbol...), ok
	case kindUnion:
		branch, ok := w.branch(n)
		if !ok {
			return dst, false
		}
		return w.append(dst, branch)
	case kindRecord:
		return w.appendRecord(dst, n)
	case kindArray, kindMap:
		return w.appendItems(dst, n)
	}
	return dst, false
}

func (w *walk) appendBoolean(dst []byte) ([]byte, bool) {
	b, ok := w.fixed(1)
	switch {
	case !ok:
		return dst, false
	case b[0] == 0:
		return append(dst, "false"...), true
	case b[0] == 1:
		return append(dst, "true"...), true
	}
	return dst, w.noForm("a boolean is neither 0 nor 1", int64(b[0]))
}

func (w *walk) appendText(dst, b []byte) ([]byte, bool) {
	dst, ok := jsontext.AppendStringStrict(dst, b)
	if !ok {
		w.value = clipText(b)
		return dst, w.fail(faultValue, "a string is not valid UTF-8")
	}
	return dst, true
}

// clipText renders text for an error, at most 100 bytes of it.
func clipText(b []byte) string {
	return strconv.Quote(string(b[:min(len(b), 100)]))
}

// noForm tells that a number has no JSON form as its logical type.
func (w *walk) noForm(reason string, v int64) bool {
	w.value = strconv.FormatInt(v, 10)
	return w.fail(faultValue, "%s", reason)
}

func (w *walk) appendBytes(dst []byte, n *node, b []byte) ([]byte, bool) {
	switch n.logical {
	case decimal:
		if len(b) > maxDecimal {
			w.value = strconv.Itoa(len(b)) + " bytes"
			return dst, w.fail(faultValue, "a decimal has more than %d bytes", maxDecimal)
		}
		return scalars.AppendDecimal(dst, b, n.scale), true
	case uuid:
		return scalars.AppendUUID(dst, (*[16]byte)(b)), true
	case duration:
		word := binary.LittleEndian.Uint32
		return scalars.AppendInterval(dst, word(b), word(b[4:]), word(b[8:])), true
	default:
		return scalars.AppendBase64(dst, b), true
	}
}

// maxDecimal bounds the bytes of a decimal, for the time to render it grows with their square: about 10,000 digits.
const maxDecimal = 4096

// appendTime appends a number that counts something.
func (w *walk) appendTime(dst []byte, l logical, v int64) ([]byte, bool) {
	ok := false
	reason := "a time is outside of the years 0 to 9999"
	switch l {
	case date:
		dst, ok = scalars.AppendDate(dst, v)
	case timeMillis:
		reason = "a time is outside of the 24 hours of a day"
		if v >= 0 && v <= 86_400_000 {
			dst, ok = scalars.AppendTime(dst, v*1e6)
		}
	case timeMicros:
		reason = "a time is outside of the 24 hours of a day"
		if v >= 0 && v <= 86_400_000_000 {
			dst, ok = scalars.AppendTime(dst, v*1e3)
		}
	case timestampMillis, localMillis:
		seconds, rest := split(v, 1e3)
		dst, ok = scalars.AppendTimestamp(dst, seconds, rest*1e6, l == timestampMillis)
	case timestampMicros, localMicros:
		seconds, rest := split(v, 1e6)
		dst, ok = scalars.AppendTimestamp(dst, seconds, rest*1e3, l == timestampMicros)
	case timestampNanos, localNanos:
		seconds, rest := split(v, 1e9)
		dst, ok = scalars.AppendTimestamp(dst, seconds, rest, l == timestampNanos)
	default:
	}
	if !ok {
		return dst, w.noForm(reason, v)
	}
	return dst, true
}

// split divides into whole units, downwards, and what is left.
func split(v, unit int64) (int64, uint32) {
	whole, rest := v/unit, v%unit
	if rest < 0 {
		whole, rest = whole-1, rest+unit
	}
	return whole, uint32(rest)
}

func (w *walk) appendRecord(dst []byte, n *node) ([]byte, bool) {
	if n.constant != nil {
		return append(dst, n.constant...), true
	}
	if !w.enter() {
		return dst, false
	}
	for i := range n.fields {
		f := &n.fields[i]
		var ok bool
		if dst, ok = w.append(append(dst, f.prefix...), f.node); !ok {
			return dst, false
		}
		// A short datum may make much JSON of it: names are written again and again.
		if len(dst) > w.end {
			return dst, w.tooLarge()
		}
	}
	w.leave()
	return append(dst, '}'), true
}

func (w *walk) appendItems(dst []byte, n *node) ([]byte, bool) {
	if !w.enter() {
		return dst, false
	}
	open, closing := byte('['), byte(']')
	if n.kind == kindMap {
		open, closing = '{', '}'
	}
	dst = append(dst, open)
	first := true
	for {
		count, ok := w.items(n)
		if !ok {
			return dst, false
		}
		if count == 0 {
			w.leave()
			return append(dst, closing), true
		}
		for ; count > 0; count-- {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if n.kind == kindMap {
				var key []byte
				if key, ok = w.bytes(); !ok {
					return dst, false
				}
				if dst, ok = w.appendText(dst, key); !ok {
					return dst, false
				}
				dst = append(dst, ':')
			}
			if dst, ok = w.append(dst, n.item); !ok {
				return dst, false
			}
			if len(dst) > w.end {
				return dst, w.tooLarge()
			}
		}
	}
}
