package rows

import (
	"encoding/binary"
	"math/bits"
)

const (
	everyByte = 0x0101010101010101
	lowBits   = 0x7f * everyByte
	highBits  = 0x80 * everyByte
)

// cutPlain cuts the row at the start of b, of which end bytes are data; padding bytes behind them may be written to. It is for dialects of one ASCII delimiter
// whose rows end with LF or one other byte, without an escape; a row with text behind a closing quote is left to cutGeneral. eof: nothing follows the data.
//
// Eight bytes are looked at together. Adding 0x7f to the low bits of a byte sets its high bit unless they are all zero: after an exclusive or with the byte
// that is searched for, a clear high bit marks it. The sums never carry into the next byte, so that each mark is exact and a word is loaded once for all
// fields that end in it.
func (s *Scanner) cutPlain(b []byte, end int, eof bool) cut {
	delimiter, eol, quote := s.dialect.Delimiter[0], s.dialect.End.byte(), s.dialect.Quote
	if quote == 0 {
		quote = delimiter // is never asked for: the delimiter comes first
	}
	// Sentinels: each search ends, in a quoted field, too.
	b[end], b[end+1] = eol, quote
	delimiters, eols, quotes := uint64(delimiter)*everyByte, uint64(eol)*everyByte, uint64(quote)*everyByte
	fields, n := s.fields, 0
	start := 0          // of the field
	inside := uint64(0) // high bits: line ends were seen where quoted fields are
	for i := 0; ; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		low := x & lowBits
		marks := ^(((low^delimiters)+lowBits)&((low^eols)+lowBits)&((low^quotes)+lowBits) | x) & highBits
		for marks != 0 {
			k := i + bits.TrailingZeros64(marks)/8
			marks &= marks - 1
			if n == len(fields) {
				if fields = s.widen(); n == len(fields) {
					return cut{state: tooWide}
				}
			}
			switch c := b[k]; {
			case c == delimiter:
				fields[n] = Field{Start: int32(start), End: int32(k)}
				n++
				start = k + 1
				continue
			case c == eol:
				text, next := k, k+1
				switch {
				case k >= end && !eof:
					return cut{state: partial}
				case k >= end:
					next = end
				case k > start && b[k-1] == '\r' && s.dialect.End == LineEnd:
					text--
				}
				if text == 0 {
					return cut{state: blank, next: next}
				}
				fields[n] = Field{Start: int32(start), End: int32(text)}
				return cut{text: text, next: next, fields: n + 1, lines: inside&highBits != 0}
			case k > start:
				continue // a quote inside a field is text
			}

			// A quoted field: j becomes its closing quote.
			j, flags := k+1, Quoted
			for {
				x := binary.LittleEndian.Uint64(b[j:])
				q, l := x^quotes, x^eols
				inside |= (l - everyByte) &^ l
				if found := (q - everyByte) &^ q & highBits; found != 0 {
					if j += bits.TrailingZeros64(found) / 8; j >= end {
						return cut{state: unclosed, quote: k}
					}
					if b[j+1] != quote {
						break
					}
					flags |= Escaped
					j += 2
					continue
				}
				j += 8
			}
			fields[n] = Field{Start: int32(k + 1), End: int32(j), Flags: flags}
			n++
			switch c := b[j+1]; {
			case c == delimiter:
				start = j + 2
				i = start - 8
				marks = 0
			case c == eol && j+1 < end:
				return cut{text: j + 1, next: j + 2, fields: n, lines: inside&highBits != 0}
			case c == eol && eof:
				return cut{text: end, next: end, fields: n, lines: inside&highBits != 0}
			case c == eol:
				return cut{state: partial}
			case c == '\r' && s.dialect.End == LineEnd && j+2 < end && b[j+2] == '\n':
				return cut{text: j + 1, next: j + 3, fields: n, lines: inside&highBits != 0}
			default:
				return s.cutGeneral(b, end, eof)
			}
		}
	}
}

// widen gives fields more room, up to MaxColumns.
func (s *Scanner) widen() []Field {
	more := make([]Field, min(2*len(s.fields), s.options.MaxColumns))
	copy(more, s.fields)
	s.fields = more
	return more
}
