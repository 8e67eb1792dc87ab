package jsontext

import (
	"fmt"
	"unicode/utf8"
)

// replacement is what an escape of a lone surrogate becomes; it is as long as what it replaces.
const replacement = `\ufffd`

// escape passes over the escape whose backslash stands at b[i], with both halves of a surrogate pair. It returns the complement of the place that is
// wrong.
func (c *checker) escape(b []byte, i int) int {
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		c.unicode = true
	default:
		c.reason = fmt.Sprintf(`\ followed by %s is no escape`, character(b[i+1:]))
		return ^(i + 1)
	}
	unit, wrong := hexUnit(b, i+2)
	if wrong >= 0 {
		return c.expected(b, wrong, `one of four hexadecimal digits behind \u`)
	}
	if unit < 0xd800 || unit > 0xdfff {
		return i + 6
	}
	if unit < 0xdc00 {
		// The second half, unless the text ends before that can be told.
		next := i + 6
		for k, want := range []byte(`\u`) {
			if b[next+k] != want {
				if b[next+k] == 0 {
					return c.expected(b, next+k, "the second half of a surrogate pair")
				}
				copy(b[i:], replacement)
				return next
			}
		}
		low, wrong := hexUnit(b, next+2)
		if wrong >= 0 {
			return c.expected(b, wrong, `one of four hexadecimal digits behind \u`)
		}
		if low >= 0xdc00 && low <= 0xdfff {
			return next + 6
		}
	}
	copy(b[i:], replacement)
	return i + 6
}

// hexUnit reads four hexadecimal digits. If they are none it returns the place of the first that is wrong, otherwise −1.
func hexUnit(b []byte, i int) (unit rune, wrong int) {
	for end := i + 4; i < end; i++ {
		digit := b[i]
		switch {
		case digit-'0' <= 9:
			digit -= '0'
		case digit|0x20-'a' <= 5:
			digit = digit | 0x20 - 'a' + 10
		default:
			return 0, i
		}
		unit = unit<<4 | rune(digit)
	}
	return unit, -1
}

// character describes the first character of text, for an error.
func character(text []byte) string {
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("the byte 0x%02x", text[0])
	}
	return fmt.Sprintf("%q", r)
}
