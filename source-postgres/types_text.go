package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// The functions of this file and its neighbours append the JSON form of a value in PostgreSQL's text form. They take dst's memory when there is
// enough and may change value's bytes; see sqlcapture.Column.

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// escapes finds the bytes that cannot stand for themselves in a JSON string: its high bits mark bytes of x below 0x20, quotes and backslashes. Only
// the lowest mark is exact: the borrow may run into the bytes above it.
func escapes(x uint64) uint64 {
	quote, backslash := x^'"'*everyByte, x^'\\'*everyByte
	return ((x - 0x20*everyByte) | (quote - everyByte) | (backslash - everyByte)) &^ x & highBits
}

// appendString appends text as a JSON string. Invalid UTF-8, which a database in the encoding SQL_ASCII may hold, becomes U+FFFD.
func appendString(dst, text []byte) ([]byte, error) {
	dst = append(slices.Grow(dst, len(text)+10), '"')
	dst, n := unchecked.copy(dst, text)
	if n < len(text) {
		dst = appendStringBody(dst, text[n:])
	}
	return append(dst, '"'), nil
}

// appendStringBody appends text as the inside of a JSON string.
func appendStringBody(dst, text []byte) []byte {
	var enc encoding
	for {
		var n int
		dst, n = enc.copy(dst, text)
		if text = text[n:]; len(text) == 0 {
			return dst
		}
		if text[0] < 0x80 {
			dst, text = appendEscape(dst, text[0]), text[1:]
			continue
		}
		dst, n = enc.copyHigh(dst, text)
		text = text[n:]
	}
}

// encoding is what is known of the bytes that are still to be copied.
type encoding uint8

const (
	unchecked encoding = iota
	valid              // all is UTF-8
	invalid            // some of it is not
)

// high are the bits that stop the copying.
func (e encoding) high() uint64 {
	if e == valid {
		return 0
	}
	return highBits
}

// copy copies from the start of text what can stand for itself in a JSON string, eight bytes at a time, and returns how much. Bytes that are not ASCII
// can once the text is known to be valid.
func (e encoding) copy(dst, text []byte) ([]byte, int) {
	high := e.high()
	w := len(dst)
	dst = slices.Grow(dst, len(text)+8)[:w+len(text)+8]
	to := dst[w:]
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		binary.LittleEndian.PutUint64(to[i:], x)
		if stop := escapes(x) | x&high; stop != 0 {
			i += bits.TrailingZeros64(stop) / 8
			return dst[:w+i], i
		}
	}
	if i > 0 && i < len(text) {
		// The last eight bytes, some of them once more.
		i = len(text) - 8
		x := binary.LittleEndian.Uint64(text[i:])
		binary.LittleEndian.PutUint64(to[i:], x)
		if stop := escapes(x) | x&high; stop != 0 {
			i += bits.TrailingZeros64(stop) / 8
			return dst[:w+i], i
		}
		return dst[:w+len(text)], len(text)
	}
	if len(text) >= 4 {
		// The first four bytes and the last four.
		first, last := binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[len(text)-4:])
		if x := uint64(first) | uint64(last)<<32; escapes(x)|x&high == 0 {
			binary.LittleEndian.PutUint32(to, first)
			binary.LittleEndian.PutUint32(to[len(text)-4:], last)
			return dst[:w+len(text)], len(text)
		}
	}
	for ; i < len(text); i++ {
		c := text[i]
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x80 && high != 0 {
			break
		}
		to[i] = c
	}
	return dst[:w+i], i
}

// copyHigh is called where copy stopped at a byte that is not ASCII. The first time it checks all that follows; in text that is not UTF-8 it copies one
// character, each invalid byte as U+FFFD.
func (e *encoding) copyHigh(dst, text []byte) ([]byte, int) {
	if *e == unchecked {
		*e = invalid
		if utf8.Valid(text) {
			*e = valid
			return dst, 0
		}
	}
	r, size := utf8.DecodeRune(text)
	return utf8.AppendRune(dst, r), size
}

// appendEscape appends an ASCII character that cannot stand for itself in a JSON string.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// appendPlain appends text that needs no escaping as a JSON string.
func appendPlain(dst, text []byte) ([]byte, error) {
	dst = append(slices.Grow(dst, len(text)+2), '"')
	return append(append(dst, text...), '"'), nil
}

func appendBool(dst, value []byte) ([]byte, error) {
	if len(value) == 1 {
		switch value[0] {
		case 't':
			return append(dst, "true"...), nil
		case 'f':
			return append(dst, "false"...), nil
		}
	}
	return dst, errors.New("rendering a boolean: it is neither t nor f")
}

// appendInteger passes the digits on as they are: a detour over a float would round beyond 2^53.
func appendInteger(dst, value []byte) ([]byte, error) {
	number := value
	if len(number) > 1 && number[0] == '-' {
		number = number[1:]
	}
	if len(number) == 0 || number[0] == '0' && len(number) > 1 || !digits(number) {
		return dst, errors.New("rendering an integer: it does not consist of digits, or starts with a zero")
	}
	return append(dst, value...), nil
}

// appendFloat passes PostgreSQL's shortest exact digits on, which are JSON; NaN and the infinities have no JSON number and become strings.
func appendFloat(dst, value []byte) ([]byte, error) {
	if len(value) > 0 && (value[0]-'0' <= 9 || value[0] == '-' && len(value) > 1 && value[1]-'0' <= 9) {
		return append(dst, value...), nil
	}
	return appendString(dst, value)
}

var errBytea = errors.New(`rendering a bytea: it is not in the form \x00ff (bytea_output = hex)`)

// decodeBytea turns \x00ff into the bytes, in value's own memory.
func decodeBytea(value []byte) ([]byte, error) {
	if len(value) < 2 || value[0] != '\\' || value[1] != 'x' {
		return nil, errBytea
	}
	n, err := hex.Decode(value, value[2:])
	if err != nil {
		return nil, errBytea
	}
	return value[:n], nil
}

func appendBytea(dst, value []byte) ([]byte, error) {
	data, err := decodeBytea(value)
	if err != nil {
		return dst, err
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), data), '"'), nil
}

// appendInet writes the network length that PostgreSQL leaves out for single hosts.
func appendInet(dst, value []byte) ([]byte, error) {
	length := "/32"
	for _, c := range value {
		switch c {
		case '/':
			return appendPlain(dst, value)
		case ':':
			length = "/128"
		}
	}
	dst = append(append(dst, '"'), value...)
	return append(append(dst, length...), '"'), nil
}
