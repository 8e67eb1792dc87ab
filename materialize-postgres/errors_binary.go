package main

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/jackc/pgtype"
)

// binaryRow is row for a chunk in binary form.
func (k chunk) binaryRow(line int) string {
	rows := k.rows
	for ; line > 1; line-- {
		_, rows = nextBinaryRow(rows)
	}
	values, _ := nextBinaryRow(rows)
	if line != 1 || len(values) == 0 {
		return ""
	}
	var key []string
	for i, v := range values[:min(max(k.b.keys, 1), len(values))] {
		key = append(key, k.b.encoders[i].legible(v))
	}
	return " (its key is " + shorten(strings.Join(key, ", "), 100) + ")"
}

// nextBinaryRow cuts the first row off; no values: there is none.
func nextBinaryRow(rows []byte) (values [][]byte, rest []byte) {
	if len(rows) < 2 {
		return nil, nil
	}
	n := int(binary.BigEndian.Uint16(rows))
	rows = rows[2:]
	for range n {
		size := int(int32(binary.BigEndian.Uint32(rows))) //nolint:gosec // two's complement
		rows = rows[4:]
		if size < 0 {
			values = append(values, nil)
			continue
		}
		values, rows = append(values, rows[:size]), rows[size:]
	}
	return values, rows
}

// legible renders a value in binary form for people.
func (e *encoder) legible(value []byte) string {
	if value == nil {
		return "NULL"
	}
	switch e.live {
	case "bigint":
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(value)), 10) //nolint:gosec // two's complement
	case "integer":
		return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(value))), 10) //nolint:gosec // two's complement
	case "smallint":
		return strconv.FormatInt(int64(int16(binary.BigEndian.Uint16(value))), 10) //nolint:gosec // two's complement
	case "text", "character varying", "json":
		return string(value)
	case "jsonb":
		return string(value[1:])
	case "numeric":
		var n pgtype.Numeric
		if n.DecodeBinary(nil, value) == nil {
			return decimal(n.Int.String(), int(n.Exp))
		}
	case "uuid":
		var u pgtype.UUID
		if u.DecodeBinary(nil, value) == nil {
			if text, err := u.EncodeText(nil, nil); err == nil {
				return string(text)
			}
		}
	}
	return hex.EncodeToString(value)
}

// decimal writes digits times a power of ten without an exponent.
func decimal(digits string, exponent int) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if exponent >= 0 {
		return sign + digits + strings.Repeat("0", exponent)
	}
	if missing := 1 - exponent - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + exponent
	return sign + digits[:point] + "." + digits[point:]
}
