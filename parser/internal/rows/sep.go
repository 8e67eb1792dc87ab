package rows

import (
	"unicode"
	"unicode/utf8"
)

// longestSep is the length of the longest line sep=.
const longestSep = len("sep=") + utf8.UTFMax + len("\r\n")

// sepLine reads the first line that Excel writes and wants to name the delimiter: sep= and one character. n is the length of the line with its end; 0: b does
// not begin with one.
func sepLine(b []byte, e End) (delimiter string, n int) {
	if len(b) < len("sep=?") || b[0]|0x20 != 's' || b[1]|0x20 != 'e' || b[2]|0x20 != 'p' || b[3] != '=' {
		return "", 0
	}
	r, size := utf8.DecodeRune(b[4:])
	if r == utf8.RuneError || r == '"' || r == '\'' || r == '\r' || r == '\n' || r == rune(e.byte()) || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return "", 0
	}
	delimiter, n = string(b[4:4+size]), 4+size
	switch rest := b[n:]; {
	case len(rest) == 0:
	case len(rest) >= 2 && rest[0] == '\r' && rest[1] == '\n' && (e == LineEnd || e == AnyEnd):
		n += 2
	case rest[0] == e.byte() || rest[0] == '\r' && e == AnyEnd:
		n++
	default:
		return "", 0
	}
	return delimiter, n
}
