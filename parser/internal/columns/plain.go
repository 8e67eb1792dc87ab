package columns

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/rows"
)

// shortcut is how most texts of a column are written, without a call of its function.
type shortcut uint8

const (
	noShortcut shortcut = iota
	textShortcut
	numberShortcut
	booleanShortcut
)

// shortcut returns the column's. It takes no text that may be null or another type.
func (c *column) shortcut() shortcut {
	if _, numeric := cutNumber(c.noValue); numeric || c.offset != "" {
		return noShortcut
	}
	switch c.types &^ jsonschema.Null {
	case jsonschema.String:
		return textShortcut
	case jsonschema.Integer, jsonschema.Number:
		if !c.nulls.any(looksNumeric) {
			return numberShortcut
		}
	case jsonschema.Boolean:
		if slices.Equal(c.trues.list, defaultTrues) && slices.Equal(c.falses.list, defaultFalses) && !c.isNoBoolean("true") && !c.isNoBoolean("false") {
			return booleanShortcut
		}
	default:
	}
	return noShortcut
}

// isNoBoolean tells whether a word is given another meaning first.
func (c *column) isNoBoolean(word string) bool {
	return c.nulls.has([]byte(word)) || string(c.noValue) == word
}

// lengths is a set of lengths of texts: bit n is n bytes, bit 63 is 63 or more.
type lengths uint64

func (l lengths) has(n int) bool { return l>>min(n, 63)&1 != 0 }

// plainLengths are those of texts that cannot be null or left out.
func (c *column) plainLengths() lengths {
	l := ^lengths(c.nulls.lengths)
	if c.unnamed {
		l &^= 1
	}
	if len(c.noValue) > 0 {
		l &^= 1 << min(len(c.noValue), 63)
	}
	return l
}

// prepare gives an instruction its column's shortcut.
func (in *instruction) prepare(c *column) {
	in.shortcut, in.lengths, in.point = c.shortcut(), c.plainLengths(), c.plainPoint
	in.doubled = in.shortcut == textShortcut && !c.nulls.any(func(word string) bool { return strings.Contains(word, `"`) }) // of NoValue, quoted text is never one
	// What is copied in blocks must have whole ones.
	in.blocks = slices.Clone(in.text)
	if in.shortcut == textShortcut {
		in.blocks = append(in.blocks, '"')
	}
	in.size = len(in.blocks)
	in.blocks = append(in.blocks, make([]byte, (block-in.size%block)%block)...)
}

const (
	block     = 16 // the compiler moves it with one register
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// stops finds the bytes that do not simply stand for themselves in a JSON string: its high bits mark bytes of x below 0x20, quotes, backslashes and what is no
// ASCII. Only the lowest mark is exact.
func stops(x uint64) uint64 {
	quote, backslash := x^'"'*everyByte, x^'\\'*everyByte
	return ((x - 0x20*everyByte) | (quote - everyByte) | (backslash - everyByte) | x) & highBits
}

// The functions below write a member to buf[w:] and return its end; negative: they do not, and nothing is changed in front of w. They read and write a few
// bytes more than they need: those are behind the field in the row's buffer, and in buf the next member overwrites them. See [instruction.room].

// slack is how many bytes must follow a field in a row's buffer.
const slack = 16

// room is how much of buf a member with a value of a length may touch.
func (in *instruction) room(length int) int { return in.size + length + 2*block }

// name writes a member's name.
func (in *instruction) name(buf []byte, w int) int {
	first := buf[w-1] == '{'
	if first {
		w-- // the comma takes the brace's place, and is replaced
	}
	to := buf[w:]
	for i := 0; i < len(in.blocks); i += block {
		*(*[block]byte)(to[i:]) = *(*[block]byte)(in.blocks[i:])
	}
	if first {
		to[0] = '{'
	}
	return w + in.size
}

// plain writes a text of a length that stands for itself.
func (in *instruction) plain(buf []byte, w int, from []byte, length int) int {
	w = in.name(buf, w)
	to := buf[w:]
	for i := 0; i < length; i += 8 {
		x := binary.LittleEndian.Uint64(from[i:])
		binary.LittleEndian.PutUint64(to[i:], x)
		if rest := length - i; rest < 8 {
			x = masked(x, rest, ' ')
		}
		if stops(x) != 0 {
			return -1
		}
	}
	to[length] = '"'
	return w + length + 1
}

// quotes writes a text in which quotes are doubled: "" is \" in JSON, and so it stays as long as it was. A single quote ends what was quoted; what follows
// then is not for here.
func (in *instruction) quotes(buf []byte, w int, from []byte, length int) int {
	w = in.name(buf, w)
	to := buf[w:]
	for i := 0; i < length; {
		x := binary.LittleEndian.Uint64(from[i:])
		binary.LittleEndian.PutUint64(to[i:], x)
		if rest := length - i; rest < 8 {
			x = masked(x, rest, ' ')
		}
		stop := stops(x)
		if stop == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(stop) / 8
		if i+1 >= length || from[i] != '"' || from[i+1] != '"' {
			return -1
		}
		to[i], to[i+1] = '\\', '"'
		i += 2
	}
	to[length] = '"'
	return w + length + 1
}

// bare writes a value that is its text, of at most 16 bytes.
func (in *instruction) bare(buf []byte, w int, from []byte, length int) int {
	w = in.name(buf, w)
	*(*[16]byte)(buf[w:]) = *(*[16]byte)(from)
	return w + length
}

// masked replaces all bytes of a word but the first n, of fewer than eight: what stands behind a text is not a part of it.
func masked(x uint64, n int, by byte) uint64 {
	return x&(1<<(8*n)-1) | uint64(by)*everyByte<<(8*n)
}

// shorten writes a field's member if the column has a shortcut that takes it. quote is the dialect's.
func (in *instruction) shorten(buf []byte, w int, text []byte, f rows.Field, quote byte) int {
	length := int(f.End - f.Start)
	from := text[f.Start:cap(text)]
	if len(from) < length+slack {
		return -1
	}
	switch {
	case f.Flags&rows.Escaped != 0:
		if in.doubled && quote == '"' {
			return in.quotes(buf, w, from, length)
		}
	case in.shortcut == textShortcut:
		if in.lengths.has(length) {
			return in.plain(buf, w, from, length)
		}
	case in.shortcut == numberShortcut:
		if isPlain(from, length, in.point) {
			return in.bare(buf, w, from, length)
		}
	case in.shortcut == booleanShortcut:
		if string(from[:length]) == "true" || string(from[:length]) == "false" {
			return in.bare(buf, w, from, length)
		}
	}
	return -1
}

// isPlain tells whether the first bytes of a text of at least 16 are a JSON number that needs no second look: at most 16 characters, no exponent, no -0. With
// point, it may have a fraction.
func isPlain(text []byte, length int, point bool) bool {
	if length-1 > 15 { // or less than 1
		return false
	}
	x, y := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:16])
	if length < 8 {
		x, y = masked(x, length, '0'), '0'*everyByte
	} else if length < 16 {
		y = masked(y, length-8, '0')
	}
	start := 0
	first := byte(x)
	if first == '-' {
		start, first = 1, byte(x>>8)
		x ^= '-' ^ '0'
	}
	x, y = others(x), others(y)
	if x|y == 0 {
		return first != '0' && length > start || length == 1 && first == '0' && start == 0
	}
	if !point {
		return false
	}
	// One other character, and it is the point, between digits.
	at := 0
	switch {
	case y == 0 && x&(x-1) == 0:
		at = bits.TrailingZeros64(x) / 8
	case x == 0 && y&(y-1) == 0:
		at = 8 + bits.TrailingZeros64(y)/8
	default:
		return false
	}
	return text[at] == '.' && at > start && at < length-1 && (first != '0' || at == start+1)
}

// others marks, in the high bits, the bytes of a word that are no digits.
func others(x uint64) uint64 {
	x ^= '0' * everyByte
	return (x&^highBits + 0x76*everyByte | x) & highBits
}
