package parquet

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/scalars"
)

// writer appends a value's JSON. The value is as PLAIN has it, without a count before bytes. False: the value has no JSON form, dst is as it was.
type writer func(dst, value []byte, l *leaf) ([]byte, bool)

var le = binary.LittleEndian

// setWriter chooses by kind and width.
func (l *leaf) setWriter() {
	switch l.kind {
	case boolean:
		l.write = writeBoolean
	case integer:
		l.write = writeInt32
		if l.width == 8 {
			l.write = writeInt64
		}
	case unsigned:
		l.write = writeUint32
		if l.width == 8 {
			l.write = writeUint64
		}
	case float16:
		l.write = writeFloat16
	case float32Kind:
		l.write = writeFloat32
	case float64Kind:
		l.write = writeFloat64
	case decimal:
		l.setDecimalWriter()
	case date:
		l.write, l.reason = writeDate, "is outside years 0 to 9999"
	case clock:
		l.write, l.reason = writeClock64, "is no time of a day"
		if l.width == 4 {
			l.write = writeClock32
		}
	case timestamp:
		l.reason = "is outside years 0 to 9999"
		switch l.unit {
		case time.Millisecond:
			l.write = writeMillis
		case time.Microsecond:
			l.write = writeMicros
		default:
			l.write = writeNanos
		}
	case int96:
		l.write, l.reason = writeInt96, "is outside years 0 to 9999"
	case interval:
		l.write = writeInterval
	case uuid:
		l.write = writeUUID
	case text:
		l.write, l.reason, l.text = writeText, "is not UTF-8", true
	case embedded:
		l.write, l.reason = writeJSON, "is not valid JSON"
	case null:
		l.write = writeNull
	default:
		l.write = writeBinary
	}
}

func (l *leaf) setDecimalWriter() {
	switch {
	case l.physical == format.Int32:
		l.write = writeDecimal32
	case l.physical == format.Int64:
		l.write = writeDecimal64
	default:
		l.write, l.reason = writeDecimal, "has too many bytes for a decimal"
	}
}

func writeNull(dst, _ []byte, _ *leaf) ([]byte, bool) { return append(dst, "null"...), true }

func writeBoolean(dst, v []byte, _ *leaf) ([]byte, bool) {
	return strconv.AppendBool(dst, v[0] != 0), true
}

func writeInt32(dst, v []byte, _ *leaf) ([]byte, bool) {
	return strconv.AppendInt(dst, int64(int32(le.Uint32(v))), 10), true
}

func writeInt64(dst, v []byte, _ *leaf) ([]byte, bool) {
	return strconv.AppendInt(dst, int64(le.Uint64(v)), 10), true
}

func writeUint32(dst, v []byte, _ *leaf) ([]byte, bool) {
	return strconv.AppendUint(dst, uint64(le.Uint32(v)), 10), true
}

func writeUint64(dst, v []byte, _ *leaf) ([]byte, bool) {
	return strconv.AppendUint(dst, le.Uint64(v), 10), true
}

func writeFloat16(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendFloat16(dst, le.Uint16(v)), true
}

func writeFloat32(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendFloat32(dst, math.Float32frombits(le.Uint32(v))), true
}

func writeFloat64(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendFloat64(dst, math.Float64frombits(le.Uint64(v))), true
}

func writeDecimal32(dst, v []byte, l *leaf) ([]byte, bool) {
	return scalars.AppendDecimalInt(dst, int64(int32(le.Uint32(v))), l.scale), true
}

func writeDecimal64(dst, v []byte, l *leaf) ([]byte, bool) {
	return scalars.AppendDecimalInt(dst, int64(le.Uint64(v)), l.scale), true
}

func writeDecimal(dst, v []byte, l *leaf) ([]byte, bool) {
	if len(v) > maxDecimalBytes {
		return dst, false
	}
	return scalars.AppendDecimal(dst, v, l.scale), true
}

func writeDate(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendDate(dst, int64(int32(le.Uint32(v))))
}

func writeClock32(dst, v []byte, l *leaf) ([]byte, bool) {
	return scalars.AppendTime(dst, int64(int32(le.Uint32(v)))*int64(l.unit))
}

func writeClock64(dst, v []byte, l *leaf) ([]byte, bool) {
	n := int64(le.Uint64(v))
	if n < 0 || n > int64(24*time.Hour/l.unit) {
		return dst, false
	}
	return scalars.AppendTime(dst, n*int64(l.unit))
}

func writeMillis(dst, v []byte, l *leaf) ([]byte, bool) {
	seconds, rest := floored(int64(le.Uint64(v)), 1e3)
	return scalars.AppendTimestamp(dst, seconds, rest*1e6, l.utc)
}

func writeMicros(dst, v []byte, l *leaf) ([]byte, bool) {
	seconds, rest := floored(int64(le.Uint64(v)), 1e6)
	return scalars.AppendTimestamp(dst, seconds, rest*1e3, l.utc)
}

func writeNanos(dst, v []byte, l *leaf) ([]byte, bool) {
	seconds, rest := floored(int64(le.Uint64(v)), 1e9)
	return scalars.AppendTimestamp(dst, seconds, rest, l.utc)
}

// floored divides towards minus infinity, so that the rest is not negative.
func floored(n, by int64) (int64, uint32) {
	quotient, rest := n/by, n%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, uint32(rest)
}

// writeInt96 writes the timestamps of Impala, Hive and Spark: nanoseconds of a day and its Julian number. Nothing in a file says of which zone they are; the writers of
// today mean UTC.
func writeInt96(dst, v []byte, _ *leaf) ([]byte, bool) {
	const julianDayOf1970 = 2440588
	seconds, rest := floored(int64(le.Uint64(v)), 1e9)
	return scalars.AppendTimestamp(dst, (int64(int32(le.Uint32(v[8:])))-julianDayOf1970)*86400+seconds, rest, true)
}

func writeInterval(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendInterval(dst, le.Uint32(v), le.Uint32(v[4:]), le.Uint32(v[8:])), true
}

func writeUUID(dst, v []byte, _ *leaf) ([]byte, bool) {
	return scalars.AppendUUID(dst, (*[16]byte)(v)), true
}

func writeText(dst, v []byte, _ *leaf) ([]byte, bool) { return jsontext.AppendStringStrict(dst, v) }

func writeBinary(dst, v []byte, _ *leaf) ([]byte, bool) { return scalars.AppendBase64(dst, v), true }

func writeJSON(dst, v []byte, _ *leaf) ([]byte, bool) {
	return jsontext.AppendValue(dst, v, jsontext.Options{})
}
