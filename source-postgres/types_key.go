package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// The functions of this file pack a value in PostgreSQL's text form as an element of a row's key. The literal of the element, taken as the column's
// type, is the value again. All but keyText pack in the order of the type's btree operators; keyText does where that is the order of the bytes.

func keyText(dst, value []byte) ([]byte, error) { return rowkey.AppendText(dst, value), nil }

// keyPadded leaves out the spaces at the end, which do not count when character(n) is compared.
func keyPadded(dst, value []byte) ([]byte, error) {
	return rowkey.AppendText(dst, bytes.TrimRight(value, " ")), nil
}

func keyBool(dst, value []byte) ([]byte, error) {
	if len(value) != 1 || value[0] != 't' && value[0] != 'f' {
		return dst, errors.New("packing a boolean: it is neither t nor f")
	}
	return rowkey.AppendBool(dst, value[0] == 't'), nil
}

// keyInteger packs int2, int4, int8, oid and xid8.
func keyInteger(dst, value []byte) ([]byte, error) {
	text := value
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 20 {
		return dst, fmt.Errorf("packing %q as integer: it is none", value)
	}
	var v uint64
	for i, c := range text {
		d := uint64(c - '0')
		if d > 9 || i == 19 && (v > math.MaxUint64/10 || v == math.MaxUint64/10 && d > math.MaxUint64%10) {
			return dst, fmt.Errorf("packing %q as integer: it is none of 64 bits", value)
		}
		v = v*10 + d
	}
	switch {
	case !negative:
		return rowkey.AppendUint(dst, v), nil
	case v <= 1<<63:
		return rowkey.AppendInt(dst, int64(-v)), nil
	}
	return dst, fmt.Errorf("packing %q as integer: it is none of 64 bits", value)
}

// keyFloat packs real and double precision. The shortest digits of a real are those of the nearest double too, so the literal gives the real again.
func keyFloat(dst, value []byte) ([]byte, error) {
	v, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return dst, fmt.Errorf("packing a floating-point number: %w", err)
	}
	return rowkey.AppendFloat64(dst, v), nil
}

func keyBytea(dst, value []byte) ([]byte, error) {
	data, err := decodeBytea(bytes.Clone(value)) // the value is still to be rendered
	if err != nil {
		return dst, err
	}
	return rowkey.AppendBytes(dst, data), nil
}

// keyDate packs dates and timestamps. Within a year, also before Christ, the order is that of the text: 2024-01-15 14:30:00+00 comes before
// 2024-01-15 14:30:00.5+00, since the digits are of fixed width and a space and a plus sign come before the point of a fraction.
//
// bug sql-cdc 12: without a fixed width a fraction's trailing zeros vanish and 12:00:00.5Z sorted before 12:00:00Z.
func keyDate(dst, value []byte) ([]byte, error) {
	switch string(value) {
	case "infinity":
		return rowkey.AppendRanked(dst, math.MaxInt64, value), nil
	case "-infinity":
		return rowkey.AppendRanked(dst, math.MinInt64, value), nil
	}
	year := int64(0)
	i := 0
	for ; i < len(value) && i < 8 && value[i]-'0' <= 9; i++ {
		year = year*10 + int64(value[i]-'0')
	}
	if i < 4 || i == len(value) || value[i] != '-' {
		return dst, fmt.Errorf("packing %q as date or timestamp: it starts with no year", value)
	}
	if bytes.HasSuffix(value, []byte(" BC")) {
		year = -year
	}
	return rowkey.AppendRanked(dst, year, value), nil
}

func keyNumeric(dst, value []byte) ([]byte, error) { return rowkey.AppendNumeric(dst, value) }

func keyUUID(dst, value []byte) ([]byte, error) { return rowkey.AppendUUID(dst, value) }
