package jsontext

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// escapes finds the bytes that cannot stand for themselves in a JSON string (RFC 8259 section 7): its high bits mark bytes of x below 0x20, quotes and
// backslashes. Only the lowest mark is exact: the borrow may run into the bytes above it.
func escapes(x uint64) uint64 {
	quote, backslash := x^'"'*everyByte, x^'\\'*everyByte
	return ((x - 0x20*everyByte) | (quote - everyByte) | (backslash - everyByte)) &^ x & highBits
}

// AppendString appends s as a JSON string, with its quotes. Each byte that is not part of valid UTF-8 becomes U+FFFD. Only what JSON demands is escaped:
// control characters, the quote and the backslash.
func AppendString(dst, s []byte) []byte {
	dst = append(slices.Grow(dst, len(s)+10), '"')
	dst, n := unchecked.copy(dst, s)
	if n < len(s) {
		dst, _ = appendRest(dst, s[n:], false)
	}
	return append(dst, '"')
}

// AppendStringStrict is AppendString for text whose encoding has been promised: when s is not UTF-8 it returns dst as it was, and false.
func AppendStringStrict(dst, s []byte) ([]byte, bool) {
	start := len(dst)
	dst = append(slices.Grow(dst, len(s)+10), '"')
	dst, n := unchecked.copy(dst, s)
	if n < len(s) {
		var ok bool
		if dst, ok = appendRest(dst, s[n:], true); !ok {
			return dst[:start], false
		}
	}
	return append(dst, '"'), true
}

// appendRest appends text as the inside of a JSON string. If strict, it gives up at text that is not UTF-8 and returns false.
func appendRest(dst, text []byte, strict bool) ([]byte, bool) {
	var enc encoding
	for {
		var n int
		dst, n = enc.copy(dst, text)
		if text = text[n:]; len(text) == 0 {
			return dst, true
		}
		if text[0] < utf8.RuneSelf {
			dst, text = appendEscape(dst, text[0]), text[1:]
			continue
		}
		if enc == unchecked {
			enc = invalid
			if utf8.Valid(text) {
				enc = valid
				continue
			}
			if strict {
				return dst, false
			}
		}
		r, size := utf8.DecodeRune(text)
		dst, text = utf8.AppendRune(dst, r), text[size:]
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
	if i == 0 && len(text) >= 4 {
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
		if c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf && high != 0 {
			break
		}
		to[i] = c
	}
	return dst[:w+i], i
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
