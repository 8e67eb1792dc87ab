package pgwire

import (
	"bytes"
	"fmt"
)

// splitRow appends the values of a row in COPY text form to fields. It changes row: escapes are undone in place, which never lengthens a value.
// https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
func splitRow(fields [][]byte, row []byte, columns int) ([][]byte, error) {
	if columns == 0 { // else an empty row is one empty value
		if len(row) != 0 {
			return nil, rowError(row, columns)
		}
		return fields, nil
	}
	escape := nextEscape(row, 0)
	start := 0
	for start <= len(row) {
		end := len(row)
		if i := bytes.IndexByte(row[start:], '\t'); i >= 0 {
			end = start + i
		}
		field := row[start:end:end]
		if escape < end {
			escape = nextEscape(row, end)
			if len(field) == 2 && field[1] == 'N' {
				field = nil
			} else {
				field = unescape(field)
			}
		}
		fields = append(fields, field)
		start = end + 1
	}
	if len(fields) != columns {
		return nil, rowError(row, columns)
	}
	return fields, nil
}

// nextEscape returns the place of the first backslash at or after from, len(row) when there is none.
func nextEscape(row []byte, from int) int {
	if i := bytes.IndexByte(row[from:], '\\'); i >= 0 {
		return from + i
	}
	return len(row)
}

func rowError(row []byte, columns int) error {
	return &ProtocolError{Detail: fmt.Sprintf("a row of a COPY has %d values where %d were announced", bytes.Count(row, []byte{'\t'})+1, columns)}
}

// unescape undoes the escapes of a value, in place. A backslash before any other character stands for that character; one at the very end, which no
// server sends, for itself.
func unescape(field []byte) []byte {
	w := bytes.IndexByte(field, '\\')
	for r := w; r < len(field); {
		if field[r] != '\\' || r+1 == len(field) {
			// Up to the next escape nothing changes but the place.
			n := bytes.IndexByte(field[r+1:], '\\') + 1
			if n == 0 {
				n = len(field) - r
			}
			w += copy(field[w:], field[r:r+n])
			r += n
			continue
		}
		b, n := escaped(field[r+1:])
		field[w] = b
		w++
		r += 1 + n
	}
	return field[:w:w]
}

// escaped returns the byte that an escape stands for, and how many bytes follow the backslash. A server sends only the letters; octal and hexadecimal
// forms belong to the format, too.
func escaped(p []byte) (b byte, n int) {
	switch c := p[0]; c {
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'v':
		return '\v', 1
	case 'x':
		for n = 1; n < len(p) && n <= 2 && isHex(p[n]); n++ {
			b = b<<4 | hexValue(p[n])
		}
		if n == 1 {
			return 'x', 1
		}
		return b, n
	case '0', '1', '2', '3', '4', '5', '6', '7':
		for n = 0; n < len(p) && n < 3 && '0' <= p[n] && p[n] <= '7'; n++ {
			b = b<<3 | (p[n] - '0')
		}
		return b, n
	default:
		return c, 1
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
