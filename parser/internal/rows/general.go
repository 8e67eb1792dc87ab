package rows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// cutGeneral cuts the row at the start of b[:end] under any dialect. eof: nothing follows. It never looks behind end.
func (s *Scanner) cutGeneral(b []byte, end int, eof bool) cut {
	d := &s.dialect
	c := cut{lines: true}
	b = b[:end]
	for i := 0; ; {
		if c.fields == len(s.fields) && c.fields == len(s.widen()) {
			c.state = tooWide
			return c
		}
		f := &s.fields[c.fields]
		*f = Field{Start: int32(i)}
		quote := i
		if d.Quote != 0 && i < end && b[i] == d.Quote {
			f.Start, f.Flags = int32(i+1), Quoted
			if i = s.closing(b, i+1, &f.Flags); i >= end {
				c.state, c.quote = unclosed, quote
				return c
			}
			f.End = int32(i)
			i++
		}
		found, length := d.separator(b, i, eof)
		if found == data {
			if f.Flags&Quoted != 0 {
				if b[i] == ctrlZ && i+1 == end && !eof && !s.keepZ {
					c.state = partial // at the end of the text it is nothing
					return c
				}
				if b[i] != ' ' && b[i] != '\t' && d.runsOver(b[quote:i]) {
					c.state, c.quote, c.text, c.next = runOver, quote, i, min(end, i+max(len(d.Delimiter), 2))
					return c
				}
				f.Flags |= Escaped | Lenient
				c.lenient++
			}
			i, found, length = s.unquoted(b, i, eof, &f.Flags)
		}
		if f.Flags&Quoted == 0 || f.Flags&Lenient != 0 {
			f.End = int32(i)
		}
		if found == undecided {
			c.state = partial
			return c
		}
		c.fields++
		if found == rowEnd {
			if c.text, c.next = i, i+length; i == 0 {
				c.state = blank
			}
			return c
		}
		i += length
	}
}

// runsOver tells of a quoted field, from its quote to the one that closes it and has text behind, that it was never closed: the last quote stands where a
// field of a later line begins, and opens that one. Taken for the end, it would make values of the rows between.
func (d *Dialect) runsOver(field []byte) bool {
	before := bytes.TrimRight(field, string(rune(d.Quote)))
	if lineEnd(before, d.End) < 0 {
		return false
	}
	last := before[len(before)-1]
	return last == d.End.byte() || last == '\r' && d.End == AnyEnd || bytes.HasSuffix(before, []byte(d.Delimiter))
}

// closing finds the quote that closes the field whose text begins at i; len(b) or more: there is none.
func (s *Scanner) closing(b []byte, i int, flags *uint8) int {
	quote, escape := s.dialect.Quote, s.dialect.Escape
	if escape == 0 {
		escape = quote
	}
	for {
		i = next(b, i, uint64(quote)*everyByte, uint64(escape)*everyByte, uint64(quote)*everyByte, uint64(quote)*everyByte)
		switch {
		case i >= len(b):
			return i
		case b[i] != quote: // an escape
		case i+1 < len(b) && b[i+1] == quote:
		default:
			return i
		}
		*flags |= Escaped
		i += 2
	}
}

// unquoted finds where the text that begins at i ends, and what ends it.
func (s *Scanner) unquoted(b []byte, i int, eof bool, flags *uint8) (at int, found separator, length int) {
	d := &s.dialect
	delimiter, eol := uint64(d.Delimiter[0])*everyByte, uint64(d.End.byte())*everyByte
	cr, escape := eol, eol
	if d.End == LineEnd || d.End == AnyEnd {
		cr = '\r' * everyByte
	}
	if d.Escape != 0 {
		escape = uint64(d.Escape) * everyByte
	}
	for {
		i = next(b, i, delimiter, eol, cr, escape)
		if found, length = d.separator(b, i, eof); found != data {
			return i, found, length
		}
		if d.Escape == 0 || b[i] != d.Escape {
			i++
			continue
		}
		// The next byte is text. A CRLF counts as one, so that copies of a file with either line end read the same.
		*flags |= Escaped
		pair := i+1 < len(b) && b[i+1] == '\r' && (d.End == LineEnd || d.End == AnyEnd)
		switch {
		case !eof && (i+1 >= len(b) || pair && i+2 >= len(b)):
			return i, undecided, 0
		case pair && i+2 < len(b) && b[i+2] == '\n':
			i += 3
		default:
			i = min(i+2, len(b))
		}
	}
}

// separator is what stands between fields.
type separator uint8

const (
	data      separator = iota // nothing
	delimiter                  // the row goes on
	rowEnd                     // it does not
	undecided                  // it depends on bytes that are still to be read
)

// separator tells what stands at b[i], and its length.
func (d *Dialect) separator(b []byte, i int, eof bool) (separator, int) {
	if i >= len(b) {
		if eof {
			return rowEnd, 0
		}
		return undecided, 0
	}
	lacking := func() separator {
		if eof {
			return data
		}
		return undecided
	}
	switch c := b[i]; {
	case c == d.Delimiter[0]:
		rest := b[i:]
		if len(rest) >= len(d.Delimiter) {
			if string(rest[:len(d.Delimiter)]) == d.Delimiter {
				return delimiter, len(d.Delimiter)
			}
		} else if strings.HasPrefix(d.Delimiter, string(rest)) {
			return lacking(), 0
		}
	case c == d.End.byte():
		return rowEnd, 1
	case c != '\r':
	case d.End == LineEnd:
		if i+1 == len(b) {
			return lacking(), 0
		}
		if b[i+1] == '\n' {
			return rowEnd, 2
		}
	case d.End == AnyEnd:
		if i+1 < len(b) && b[i+1] == '\n' {
			return rowEnd, 2
		}
		if i+1 == len(b) && !eof {
			return undecided, 0
		}
		return rowEnd, 1
	}
	return data, 0
}

// next finds the first of four bytes at i or behind it, each given eight times; len(b): there is none.
func next(b []byte, i int, w, x, y, z uint64) int {
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		p, q, r, t := v^w, v^x, v^y, v^z
		if found := ((p-everyByte)&^p | (q-everyByte)&^q | (r-everyByte)&^r | (t-everyByte)&^t) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == byte(w) || c == byte(x) || c == byte(y) || c == byte(z) {
			return i
		}
	}
	return len(b)
}
