package jsontext

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// padding is how many zero bytes follow the text that a checker is given. They stand for its end: no value may contain them, so each loop stops there
// without comparing places, and words of eight bytes can be read anywhere.
const padding = 8

// verdict is what a checker finds.
type verdict uint8

const (
	complete   verdict = iota
	incomplete         // the text ends inside the value
	malformed          // a syntax error
	tooDeep            // more than maxDepth containers inside each other
)

// checker checks one value by the grammar of RFC 8259, in one pass and without recursion.
type checker struct {
	names    names
	maxDepth int
	closers  []byte // of the containers around the place, outermost first
	high     uint64 // all words of strings, or-ed: bytes that are not ASCII leave a high bit
	blank    bool   // there are some between the tokens
	lineEnd  bool   // one of them is
	lines    bool   // one of them is, or is a carriage return
	unicode  bool   // a string has an escape \u
	reason   string // of malformed
}

// check checks the value that begins at b[0]; the text is b[:n], followed by padding. It returns the place behind the value, or the place of what is
// wrong. Escapes of lone surrogates, which stand for no character, become \ufffd in b.
func (c *checker) check(b []byte, n int) (int, verdict) {
	c.closers, c.high, c.blank, c.lineEnd = c.closers[:0], 0, false, false
	c.lines, c.unicode = false, false
	c.names.begin()
	i, found := c.value(b)
	if found == malformed && (i >= n || !utf8.FullRune(b[i:n])) {
		found = incomplete // or it will be when the character is there that the error names
	}
	if found != incomplete && c.high&highBits != 0 {
		if bad := invalidUTF8(b[:i]); bad >= 0 {
			c.reason = fmt.Sprintf("the byte 0x%02x is no UTF-8", b[bad])
			return bad, malformed
		}
	}
	return i, found
}

// value does the work of check for everything but UTF-8. A text that ends too early is malformed, with the padding's place.
func (c *checker) value(b []byte) (int, verdict) {
	var i int
	var closer byte // of the innermost container; 0 outside of all
	for {
		// Here a value begins.
		char := b[i]
		if char <= ' ' {
			i = c.skipBlanks(b, i)
			char = b[i]
		}
		switch char {
		case '"':
			if i = c.string(b, i+1); i < 0 {
				return ^i, malformed
			}
		case '{', '[':
			if len(c.closers) == c.maxDepth {
				return i, tooDeep
			}
			c.closers = append(c.closers, closer)
			closer = char + 2
			i = c.skipBlanks(b, i+1)
			if b[i] != closer {
				if closer == ']' {
					continue
				}
				if i = c.name(b, i); i < 0 {
					return ^i, malformed
				}
				continue
			}
			i++
			closer, c.closers = c.closers[len(c.closers)-1], c.closers[:len(c.closers)-1]
			if closer == 0 {
				return i, complete
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if i = c.number(b, i); i < 0 {
				return ^i, malformed
			}
		default:
			if i = c.literal(b, i); i < 0 {
				return ^i, malformed
			}
		}
		if closer == 0 {
			return i, complete
		}
		// Behind a value: a comma, or the ends of some containers.
		for {
			char = b[i]
			if char <= ' ' {
				i = c.skipBlanks(b, i)
				char = b[i]
			}
			if char == ',' {
				i++
				break
			}
			if char != closer {
				return ^c.expected(b, i, fmt.Sprintf("\",\" or %q", string(closer))), malformed
			}
			i++
			closer, c.closers = c.closers[len(c.closers)-1], c.closers[:len(c.closers)-1]
			if closer == 0 {
				return i, complete
			}
		}
		if closer == '}' {
			if b[i] <= ' ' {
				i = c.skipBlanks(b, i)
			}
			if i = c.name(b, i); i < 0 {
				return ^i, malformed
			}
		}
	}
}

// name passes over a member's name and its colon, and returns the place where the value may begin; if that fails, the complement of the place that is
// wrong.
func (c *checker) name(b []byte, i int) int {
	if end := c.names.next(b, i); end > 0 {
		return end
	}
	before := c.high
	c.high = 0
	end := c.newName(b, i)
	if end > 0 {
		c.names.add(b[i:end], c.high&highBits == 0)
	}
	c.high |= before
	return end
}

// newName is name for one that was not expected.
func (c *checker) newName(b []byte, i int) int {
	if b[i] != '"' {
		return c.expected(b, i, "the name of a member, in double quotes,")
	}
	if i = c.string(b, i+1); i < 0 {
		return i
	}
	if b[i] <= ' ' {
		i = c.skipBlanks(b, i)
	}
	if b[i] != ':' {
		return c.expected(b, i, `":"`)
	}
	return i + 1
}

// string passes over the inside of a string and its closing quote.
func (c *checker) string(b []byte, i int) int {
	for {
		high := uint64(0)
		x := binary.LittleEndian.Uint64(b[i:])
		stop := escapes(x)
		for stop == 0 {
			high |= x
			i += 8
			x = binary.LittleEndian.Uint64(b[i:])
			stop = escapes(x)
		}
		c.high |= high | x
		i += bits.TrailingZeros64(stop) / 8
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = c.escape(b, i); i < 0 {
				return i
			}
		default:
			c.reason = fmt.Sprintf("a control character, 0x%02x, stands in a string without escape", b[i])
			return ^i
		}
	}
}

// number passes over a number.
func (c *checker) number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch digit := b[i] - '0'; {
	case digit == 0:
		i++
		if b[i]-'0' <= 9 {
			c.reason = "a number begins with a zero that is not alone"
			return ^i
		}
	case digit <= 9:
		i = skipDigits(b, i+1)
	default:
		return c.expected(b, i, "a digit")
	}
	if b[i] == '.' {
		i++
		if b[i]-'0' > 9 {
			return c.expected(b, i, "a digit behind the decimal point")
		}
		i = skipDigits(b, i+1)
	}
	if b[i]|0x20 == 'e' {
		i++
		if b[i] == '+' || b[i] == '-' {
			i++
		}
		if b[i]-'0' > 9 {
			return c.expected(b, i, "a digit of the exponent")
		}
		i = skipDigits(b, i+1)
	}
	return i
}

// literal passes over true, false and null.
func (c *checker) literal(b []byte, i int) int {
	word := ""
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		return c.expected(b, i, "a value")
	}
	for k := range len(word) {
		if b[i+k] != word[k] {
			return c.expected(b, i+k, fmt.Sprintf("%q", word))
		}
	}
	return i + len(word)
}

// expected sets the reason and returns the complement of the place.
func (c *checker) expected(b []byte, i int, what string) int {
	c.reason = fmt.Sprintf("%s was expected, not %s", what, character(b[i:]))
	return ^i
}

func (c *checker) skipBlanks(b []byte, i int) int {
	for {
		switch b[i] {
		case ' ', '\t':
		case '\r':
			c.lines = true
		case '\n':
			c.lineEnd, c.lines = true, true
		default:
			return i
		}
		c.blank = true
		i++
	}
}

func skipDigits(b []byte, i int) int {
	for b[i]-'0' <= 9 {
		i++
	}
	return i
}
