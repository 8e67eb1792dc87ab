package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is how many objects and arrays may stand inside each other.
const MaxDepth = 10_000

// Skip returns the end of the value that starts at b[i], where no space may stand. The value is checked, what follows is not.
func Skip(b []byte, i int) (end int, err error) {
	end, f := skipValue(b, i, 0)
	if f != 0 {
		return end, f.at(b, end)
	}
	return end, nil
}

// Valid returns what is wrong with a JSON text, and where; nil: it is one value, with nothing but space around it.
func Valid(doc []byte) error {
	i, f := skipValue(doc, space(doc, 0), 0)
	if f == 0 {
		if i = space(doc, i); i == len(doc) {
			return nil
		}
		f = faultTrailing
	}
	return f.at(doc, i)
}

// space returns the index of the first byte from i on that is no white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue, and all that it calls, return the value's end, or where the fault is. depth counts the objects and arrays around the value.
func skipValue(b []byte, i, depth int) (int, fault) {
	if i >= len(b) {
		return len(b), faultEnd
	}
	switch b[i] {
	case '"':
		return skipString(b, i+1)
	case '{':
		return skipObject(b, i, depth+1)
	case '[':
		return skipArray(b, i, depth+1)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return skipNumber(b, i)
	}
	return i, faultValue
}

func skipObject(b []byte, i, depth int) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, 0
	}
	for {
		_, value, f := memberName(b, i)
		if f != 0 {
			return value, f
		}
		if i, f = skipValue(b, value, depth); f != 0 {
			return i, f
		}
		var done bool
		if i, done, f = separator(b, i, '}'); f != 0 || done {
			return i, f
		}
	}
}

// memberName reads a member's name and colon: the index after the name's closing quote, and where the value starts.
func memberName(b []byte, i int) (end, value int, f fault) {
	if i >= len(b) {
		return 0, len(b), faultEnd
	}
	if b[i] != '"' {
		return 0, i, faultName
	}
	if i, f = skipString(b, i+1); f != 0 {
		return 0, i, f
	}
	end = i
	if i+1 < len(b) && b[i] == ':' && b[i+1] > ' ' { // as most writers have it
		return end, i + 1, 0
	}
	if i = space(b, i); i >= len(b) {
		return 0, len(b), faultEnd
	}
	if b[i] != ':' {
		return 0, i, faultColon
	}
	return end, space(b, i+1), 0
}

// separator reads what follows a member or element: a comma, and then i is where the next one starts, or the closing bracket, and then i is its end.
func separator(b []byte, i int, closing byte) (_ int, done bool, f fault) {
	if i+1 < len(b) && b[i] == ',' && b[i+1] > ' ' { // as most writers have it
		return i + 1, false, 0
	}
	if i = space(b, i); i >= len(b) {
		return len(b), false, faultEnd
	}
	switch b[i] {
	case ',':
		return space(b, i+1), false, 0
	case closing:
		return i + 1, true, 0
	}
	if closing == '}' {
		return i, false, faultObject
	}
	return i, false, faultArray
}

func skipArray(b []byte, i, depth int) (int, fault) {
	if depth > MaxDepth {
		return i, faultDepth
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, 0
	}
	for {
		var f fault
		if i, f = skipValue(b, i, depth); f != 0 {
			return i, f
		}
		var done bool
		if i, done, f = separator(b, i, ']'); f != 0 || done {
			return i, f
		}
	}
}

func skipWord(b []byte, i int, word string) (int, fault) {
	if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
		return i + len(word), 0
	}
	return i, faultValue
}

func skipNumber(b []byte, i int) (int, fault) {
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return len(b), faultEnd
	case b[i] == '0':
		i++
	case b[i] >= '1' && b[i] <= '9':
		i = digits(b, i+1)
	default:
		return i, faultNumber
	}
	if i < len(b) && b[i] == '.' {
		first := i + 1
		if i = digits(b, first); i == first {
			return numberFault(b, i)
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		first := i + 1
		if first < len(b) && (b[first] == '+' || b[first] == '-') {
			first++
		}
		if i = digits(b, first); i == first {
			return numberFault(b, i)
		}
	}
	return i, 0
}

func numberFault(b []byte, i int) (int, fault) {
	if i >= len(b) {
		return len(b), faultEnd
	}
	return i, faultNumber
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// special marks, in the high bits, the bytes of w that cannot stand for themselves inside a string: quotes, backslashes and controls. The lowest mark is
// exact; borrows may set wrong ones above it.
func special(w uint64) uint64 {
	quote := w ^ '"'*everyByte
	slash := w ^ '\\'*everyByte
	return ((quote - everyByte) | (slash - everyByte) | (w - ' '*everyByte)) &^ w & highBits
}

// skipString returns the index after the closing quote of a string whose inside starts at i.
func skipString(b []byte, i int) (int, fault) {
	for i+8 <= len(b) {
		m := special(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) / 8
		if b[i] == '"' {
			return i + 1, 0
		}
		if b[i] != '\\' {
			return i, faultControl
		}
		var f fault
		if i, f = skipEscape(b, i); f != 0 {
			return i, f
		}
	}
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1, 0
		case c == '\\':
			var f fault
			if i, f = skipEscape(b, i); f != 0 {
				return i, f
			}
		case c < ' ':
			return i, faultControl
		default:
			i++
		}
	}
	return len(b), faultEnd
}

func skipEscape(b []byte, i int) (int, fault) {
	if i+1 >= len(b) {
		return len(b), faultEnd
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, 0
	case 'u':
		for end := i + 6; i+2 < end; i++ {
			if i+2 >= len(b) {
				return len(b), faultEnd
			}
			if hex(b[i+2]) < 0 {
				return i + 2, faultHex
			}
		}
		return i + 2, 0
	}
	return i, faultEscape
}

// hex returns the value of a hexadecimal digit; negative: it is none.
func hex(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
