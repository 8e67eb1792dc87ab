package main

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
)

// appendDocument appends a json or jsonb value without white space between its tokens. Numbers, the order of members and repeated members stay as they
// are. Inside strings only what no JSON reader would take is replaced by U+FFFD: halves of surrogate pairs, which the type json lets in, and invalid UTF-8.
func appendDocument(dst, value []byte) ([]byte, error) {
	var enc encoding
	for len(value) > 0 {
		w := len(dst)
		to := slices.Grow(dst, len(value)+8)[:w+len(value)+8]
		i := 0
		inString := false
		for i < len(value) && !inString {
			if c := value[i]; c != '"' {
				to[w] = c
				if c > ' ' {
					w++
				}
				i++
				continue
			}
			to[w] = '"'
			i++
			w++
			// Most strings are short and plain. The others, and what stands in the last eight bytes, are left to copyQuoted.
			for inString = true; i+8 <= len(value); i, w = i+8, w+8 {
				x := binary.LittleEndian.Uint64(value[i:])
				binary.LittleEndian.PutUint64(to[w:], x)
				if stop := escapes(x) | x&enc.high(); stop != 0 {
					n := bits.TrailingZeros64(stop) / 8
					i, w = i+n, w+n
					if value[i] == '"' {
						i++
						w++ // the quote has been copied
						inString = false
					}
					break
				}
			}
		}
		dst, value = to[:w], value[i:]
		if inString {
			dst, value = enc.copyQuoted(dst, value)
		}
	}
	return dst, nil
}

// copyQuoted copies the rest of a JSON string, with its closing quote, and returns what follows.
func (e *encoding) copyQuoted(dst, text []byte) (_, rest []byte) {
	for {
		var n int
		dst, n = e.copy(dst, text)
		if text = text[n:]; len(text) == 0 {
			return dst, nil
		}
		switch c := text[0]; {
		case c == '"':
			return append(dst, '"'), text[1:]
		case c == '\\':
			dst, n = copyEscape(dst, text)
		case c < 0x20:
			dst, n = appendEscape(dst, c), 1
		default:
			dst, n = e.copyHigh(dst, text)
		}
		text = text[n:]
	}
}

// copyEscape copies the escape sequence that text starts with and returns its length.
func copyEscape(dst, text []byte) ([]byte, int) {
	n := min(2, len(text))
	if r, ok := escapedUnit(text); ok {
		n = 6
		if utf16.IsSurrogate(r) {
			second, ok := escapedUnit(text[6:])
			if !ok || utf16.DecodeRune(r, second) == '\uFFFD' {
				return append(dst, `\ufffd`...), 6
			}
			n = 12
		}
	}
	return append(dst, text[:n]...), n
}

// escapedUnit reads \uXXXX at the start of text.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
