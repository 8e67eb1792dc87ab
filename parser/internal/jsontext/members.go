package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Members calls f for each member of raw, an object that a Scanner has returned, until f returns false. Both name and value are as written: the name with
// its quotes and escapes, which [AppendText] undoes.
func Members(raw []byte, f func(name, value []byte) bool) {
	i := next(raw, 1)
	for i < len(raw) && raw[i] == '"' {
		nameEnd := skipString(raw, i)
		start := next(raw, next(raw, nameEnd)+1)
		end := skipValue(raw, start)
		if !f(raw[i:nameEnd], raw[start:end]) {
			return
		}
		if i = next(raw, end); i >= len(raw) || raw[i] != ',' {
			return
		}
		i = next(raw, i+1)
	}
}

// next returns the place of the first byte from i on that is not blank.
func next(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the place behind the string whose quote is raw[i].
func skipString(raw []byte, i int) int {
	for i++; i < len(raw); {
		if i+8 <= len(raw) {
			stop := escapes(binary.LittleEndian.Uint64(raw[i:]))
			if stop == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(stop) / 8
		}
		switch raw[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
	return len(raw)
}

// skipValue returns the place behind the value at i.
func skipValue(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // behind a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// AppendText appends what a JSON string says, quotes and escapes undone. The string must come from a Scanner.
func AppendText(dst, quoted []byte) []byte {
	for i := 1; i < len(quoted)-1; i++ {
		c := quoted[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		i++
		switch c = quoted[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hexUnit(quoted, i+1)
			i += 4
			if r >= 0xd800 && r < 0xdc00 {
				low, _ := hexUnit(quoted, i+3)
				r = (r-0xd800)<<10 + low - 0xdc00 + 0x10000
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
