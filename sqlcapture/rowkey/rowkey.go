// Package rowkey packs the key of a row into bytes whose order is the order of the values. The form is FoundationDB's tuple encoding
// (https://github.com/apple/foundationdb/blob/main/design/tuple.md): elements stand one after the other, each can be told from its first byte, and
// none is a prefix of another. Decimal numbers and ranked texts, which FoundationDB lacks, are nested tuples.
package rowkey

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Key is a packed key: the elements of all key columns in order. nil is no key at all.
type Key []byte

// First bytes of the elements.
const (
	codeNull   = 0x00
	codeBytes  = 0x01
	codeText   = 0x02
	codeNested = 0x05
	codeZero   = 0x14 // integers of n bytes: codeZero±n
	codeDouble = 0x21
	codeUUID   = 0x30
)

// Compare returns -1, 0 or 1 as a comes before, equals or comes after b.
func Compare(a, b Key) int { return bytes.Compare(a, b) }

// MarshalText returns the key in base64, the form in which it is kept in a state.
func (k Key) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, k), nil
}

// UnmarshalText reads what MarshalText wrote and checks that it is a key. Empty text is the nil key.
func (k *Key) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*k = nil
		return nil
	}
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("decoding row key %q: %w", text, err)
	}
	if _, err := Literals(b); err != nil {
		return err
	}
	*k = b
	return nil
}

// AppendNull appends NULL, which comes before every value.
func AppendNull(dst []byte) []byte { return append(dst, codeNull) }

// AppendBytes appends binary data, ordered byte by byte.
func AppendBytes(dst, v []byte) []byte {
	return appendEscaped(append(dst, codeBytes), v)
}

// AppendText appends text, ordered byte by byte.
func AppendText(dst, v []byte) []byte {
	return appendEscaped(append(dst, codeText), v)
}

// appendEscaped appends v with each 00 made 00 FF, and the closing 00.
func appendEscaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, 0)
		if i < 0 {
			return append(append(dst, v...), 0)
		}
		dst = append(append(dst, v[:i]...), 0, 0xFF)
		v = v[i+1:]
	}
}

// AppendInt appends a signed integer.
func AppendInt(dst []byte, v int64) []byte {
	if v >= 0 {
		return AppendUint(dst, uint64(v))
	}
	// A negative number of n bytes is 2^8n-1 less its magnitude.
	m := uint64(-(v + 1)) + 1
	n := (bits.Len64(m) + 7) / 8
	dst = append(dst, byte(codeZero-n), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint64(dst[len(dst)-8:], ^m<<(64-8*n))
	return dst[:len(dst)-8+n]
}

// AppendUint appends an unsigned integer; it mixes with AppendInt's in one order.
func AppendUint(dst []byte, v uint64) []byte {
	n := (bits.Len64(v) + 7) / 8
	dst = append(dst, byte(codeZero+n), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint64(dst[len(dst)-8:], v<<(64-8*n))
	return dst[:len(dst)-8+n]
}

// AppendBool appends a truth value as the integer 0 or 1.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, codeZero+1, 1)
	}
	return append(dst, codeZero)
}

// AppendFloat64 appends a floating-point number in SQL's order: both zeros are equal, NaN equals itself and comes last.
func AppendFloat64(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		v = 0 // drops the sign of -0
	case v != v:
		v = math.Float64frombits(0x7FF8 << 48)
	}
	u := math.Float64bits(v)
	if u>>63 != 0 {
		u = ^u
	} else {
		u |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(append(dst, codeDouble), u)
}

// AppendUUID appends a UUID given as text: 32 hexadecimal digits in any case, with or without hyphens.
func AppendUUID(dst, text []byte) ([]byte, error) {
	n := len(dst)
	dst = append(dst, codeUUID)
	var pair byte
	digits := 0
	for _, c := range text {
		d := hexDigits[c]
		if d > 15 {
			if c == '-' {
				continue
			}
			return dst[:n], fmt.Errorf("packing %q as UUID: unexpected %q", text, c)
		}
		pair = pair<<4 | d
		if digits++; digits%2 == 0 {
			dst = append(dst, pair)
		}
	}
	if digits != 32 {
		return dst[:n], fmt.Errorf("packing %q as UUID: %d digits instead of 32", text, digits)
	}
	return dst, nil
}

// hexDigits gives the value of a hexadecimal digit, 255 for other bytes.
var hexDigits = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range byte(16) {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = i, i
	}
	return t
}()

// AppendRanked appends a text whose order is that of its rank, and among equal ranks its own, byte by byte: a date with its year, an enum label with
// its index. The element is the nested tuple (rank, text).
func AppendRanked(dst []byte, rank int64, text []byte) []byte {
	dst = AppendInt(append(dst, codeNested), rank)
	return append(AppendText(dst, text), 0)
}
