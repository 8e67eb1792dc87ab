package jsonkey

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// The type codes of tuple elements.
const (
	codeNull     = 0x00
	codeBytes    = 0x01 // JSON text of an object or array
	codeString   = 0x02
	codeTuple    = 0x05
	codeNegative = 0x0b // an integer below -(2^64-1): length complemented, then the one's complement
	codeZero     = 0x14 // integers: 0x0c … 0x1c, by the sign and the number of bytes
	codePositive = 0x1d // an integer above 2^64-1: length, then big-endian bytes
	codeDouble   = 0x21
	codeFalse    = 0x26
	codeTrue     = 0x27

	escape = 0xff // follows a zero byte that belongs to a string
)

var errValue = errors.New("a key's value must be JSON")

// AppendPacked appends one JSON value, without space around it, as an element of a key. A nil value is an absent one and packs as null.
// The error is for people, and starts with the value.
func AppendPacked(dst, value []byte) ([]byte, error) { return appendValue(dst, value, true) }

// AppendValue is AppendPacked for values that are not part of a key: other numbers than integers pack as doubles, also integral ones that are spelled
// with a point or an exponent. Flow sends the fields of a document so.
func AppendValue(dst, value []byte) ([]byte, error) { return appendValue(dst, value, false) }

func appendValue(dst, value []byte, key bool) ([]byte, error) {
	if len(value) == 0 {
		return append(dst, codeNull), nil
	}
	switch value[0] {
	case 'n':
		return append(dst, codeNull), nil
	case 'f':
		return append(dst, codeFalse), nil
	case 't':
		return append(dst, codeTrue), nil
	case '"':
		if len(value) < 2 {
			return dst, errValue
		}
		return appendString(dst, value[1:len(value)-1]), nil
	case '{', '[':
		// JSON text has no zero bytes.
		return append(rawjson.AppendCompact(append(dst, codeBytes), value), 0), nil
	}
	if !key && bytes.ContainsAny(value, ".eE") {
		return appendDouble(dst, value)
	}
	return appendNumber(dst, value)
}

// appendString packs the inside of a JSON string.
func appendString(dst, raw []byte) []byte {
	dst = append(dst, codeString)
	begin := len(dst)
	dst = rawjson.AppendUnquoted(dst, raw)
	for i := begin; ; i += 2 {
		zero := bytes.IndexByte(dst[i:], 0)
		if zero < 0 {
			return append(dst, 0)
		}
		i += zero
		dst = append(dst, 0)
		copy(dst[i+2:], dst[i+1:])
		dst[i+1] = escape
	}
}

func appendNumber(dst, text []byte) ([]byte, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	if u, ok := d.uint64(); ok {
		return appendInt(dst, u, d.negative), nil
	}
	magnitude, err := d.big()
	if err != nil {
		return dst, err
	}
	if len(magnitude) <= 8 {
		var b [8]byte
		copy(b[8-len(magnitude):], magnitude)
		return appendInt(dst, binary.BigEndian.Uint64(b[:]), d.negative), nil
	}
	dst = append(dst, codePositive, byte(len(magnitude)))
	begin := len(dst)
	dst = append(dst, magnitude...)
	if d.negative {
		dst[begin-2] = codeNegative
		complement(dst[begin-1:])
	}
	return dst, nil
}

// appendInt packs an integer of up to 64 bits and its sign.
func appendInt(dst []byte, magnitude uint64, negative bool) []byte {
	n := (bits.Len64(magnitude) + 7) / 8
	if !negative || n == 0 {
		dst = append(dst, codeZero+byte(n))
	} else {
		dst = append(dst, codeZero-byte(n))
		magnitude = ^magnitude
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], magnitude)
	return append(dst, b[8-n:]...)
}

func complement(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func appendDouble(dst, text []byte) ([]byte, error) {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(f, 0) {
		return dst, fmt.Errorf("%s is no number", shorten(text))
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		u = ^u
	} else {
		u |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(append(dst, codeDouble), u), nil
}

// shorten keeps the start of a value that goes into a sentence.
func shorten(value []byte) []byte {
	if len(value) <= 40 {
		return value
	}
	return append(bytes.ToValidUTF8(bytes.Clone(value[:40]), nil), "…"...)
}
