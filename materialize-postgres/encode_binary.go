package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol/materialize"
)

// binaryForm appends a JSON value as COPY's binary form has it, without its length. It takes values in the form that they most often have; not ok: the text
// form's encoder has to take the value, and to say what is wrong with it. So only the text form's rules count, and a value that both take is stored alike.
//
// The server takes a third less time for rows in binary form: it neither looks for the ends of lines and values nor parses dates and numbers.
type binaryForm func(e *encoder, dst, value []byte) (out []byte, ok bool)

// binaryFormOf is nil for types that go in text form only.
func binaryFormOf(c sqlsink.Column, live string) binaryForm {
	switch base(live) {
	case "boolean":
		return binaryBoolean
	case "bigint":
		return binaryBigint
	case "integer":
		return binaryInteger
	case "smallint":
		return binarySmallint
	case "numeric":
		if c.Shape == sqlsink.IntegerString {
			return binaryIntegral
		}
		return binaryNumeric
	case "double precision":
		return binaryDouble
	case "real":
		return binaryReal
	case "date":
		return binaryDate
	case "timestamp with time zone":
		return binaryTimestamptz
	case "timestamp without time zone":
		return binaryTimestamp
	case "time without time zone":
		return binaryTime
	case "bytea":
		return binaryBytes
	case "uuid":
		return binaryUUID
	case "json":
		return binaryJSON
	case "jsonb":
		return binaryJSONB
	case "text", "character varying":
		return binaryText
	}
	return nil
}

// appendBinaryRow appends a document as a row in binary form; with keyOnly only its key. Not ok: it has to go in text form.
// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
func (b *binding) appendBinaryRow(dst []byte, d *materialize.Doc, keyOnly bool) (out []byte, ok bool) {
	if len(d.Key) != b.keys || len(d.Values) != len(b.columns)-b.keys-b.documents() {
		return dst, false
	}
	start, fields := len(dst), len(b.columns)
	if keyOnly {
		fields = b.keys
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(fields)) //nolint:gosec // a table has at most 1,600 columns
	ok = true
	for i := 0; ok && i < fields; i++ {
		var v []byte
		switch {
		case i < b.keys:
			if v = d.Key[i]; isNull(v) && !b.delta {
				return dst[:start], false
			}
		case i < b.keys+len(d.Values):
			v = d.Values[i-b.keys]
		default:
			v = d.JSON
		}
		dst, ok = b.appendBinary(dst, i, v)
	}
	if !ok {
		return dst[:start], false
	}
	return dst, true
}

// appendBinary appends a value after its length; -1 is NULL.
func (b *binding) appendBinary(dst []byte, i int, v []byte) (out []byte, ok bool) {
	if isNull(v) {
		return append(dst, 0xFF, 0xFF, 0xFF, 0xFF), true
	}
	e := b.encoders[i]
	at := len(dst)
	if dst, ok = e.binary(e, append(dst, 0, 0, 0, 0), v); !ok {
		return dst, false
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4)) //nolint:gosec // a line is shorter
	return dst, true
}

func binaryBoolean(_ *encoder, dst, value []byte) ([]byte, bool) {
	switch string(value) {
	case "true":
		return append(dst, 1), true
	case "false":
		return append(dst, 0), true
	}
	return dst, false
}

// parseInteger reads an integer that surely fits.
func parseInteger(value []byte) (n int64, ok bool) {
	const surely = 18
	digits := value
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > surely {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	if value[0] == '-' {
		n = -n
	}
	return n, true
}

func binaryBigint(_ *encoder, dst, value []byte) ([]byte, bool) {
	n, ok := parseInteger(value)
	return binary.BigEndian.AppendUint64(dst, uint64(n)), ok //nolint:gosec // two's complement
}

func binaryInteger(_ *encoder, dst, value []byte) ([]byte, bool) {
	n, ok := parseInteger(value)
	return binary.BigEndian.AppendUint32(dst, uint32(n)), ok && n == int64(int32(n)) //nolint:gosec // two's complement
}

func binarySmallint(_ *encoder, dst, value []byte) ([]byte, bool) {
	n, ok := parseInteger(value)
	return binary.BigEndian.AppendUint16(dst, uint16(n)), ok && n == int64(int16(n)) //nolint:gosec // two's complement
}

func binaryDouble(_ *encoder, dst, value []byte) ([]byte, bool) {
	f, ok := parseFloat(value, 64)
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(f)), ok
}

func binaryReal(_ *encoder, dst, value []byte) ([]byte, bool) {
	f, ok := parseFloat(value, 32)
	return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(f))), ok && (f != 0 || string(value) == "0")
}

// parseFloat reads a JSON number.
func parseFloat(value []byte, size int) (float64, bool) {
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), size)
	return f, err == nil
}

// binaryUUID takes the form that RFC 9562 writes, in either case.
func binaryUUID(_ *encoder, dst, value []byte) ([]byte, bool) {
	raw, ok := inside(value)
	if !ok || len(raw) != 36 || raw[8] != '-' || raw[13] != '-' || raw[18] != '-' || raw[23] != '-' {
		return dst, false
	}
	for _, part := range [...][]byte{raw[:8], raw[9:13], raw[14:18], raw[19:23], raw[24:]} {
		for i := 0; i < len(part); i += 2 {
			high, low := nibbles[part[i]], nibbles[part[i+1]]
			if high|low > 0xF {
				return dst, false
			}
			dst = append(dst, high<<4|low)
		}
	}
	return dst, true
}

// nibbles are the values of hexadecimal digits, 0xFF of everything else.
var nibbles = func() (list [256]byte) {
	for i := range list {
		list[i] = 0xFF
	}
	for i := range byte(10) {
		list['0'+i] = i
	}
	for i := range byte(6) {
		list['a'+i], list['A'+i] = 10+i, 10+i
	}
	return list
}()

func binaryBytes(_ *encoder, dst, value []byte) ([]byte, bool) {
	raw, ok := inside(value)
	if !ok {
		return dst, false
	}
	dst = slices.Grow(dst, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(dst[len(dst):cap(dst)], raw)
	return dst[:len(dst)+n], err == nil && bytes.IndexByte(raw, '\\') < 0 // the decoder skips line ends, not escapes
}

func binaryJSON(_ *encoder, dst, value []byte) ([]byte, bool) {
	i := plain(value)
	return append(dst, value...), i == len(value) || utf8.Valid(value[i:])
}

func binaryJSONB(e *encoder, dst, value []byte) ([]byte, bool) {
	if bytes.Contains(value, []byte(`\u`)) {
		var nul bool
		if e.scratch, nul = appendCleanEscapes(e.scratch[:0], value); nul {
			return dst, false
		}
		value = e.scratch
	}
	const version = 1
	return binaryJSON(e, append(dst, version), value)
}

func binaryText(e *encoder, dst, value []byte) ([]byte, bool) {
	raw, ok := inside(value)
	if !ok {
		return binaryJSON(e, dst, value)
	}
	i := plain(raw)
	dst = append(dst, raw[:i]...)
	if i == len(raw) {
		return dst, true
	}
	start := len(dst)
	dst = rawjson.AppendUnquoted(dst, raw[i:])
	return dst, bytes.IndexByte(dst[start:], 0) < 0
}
