package columns

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/jsonschema"
)

// maxExpanded is how many digits an integer may have that was written with an exponent.
const maxExpanded = 40

func allDigits(text []byte) bool {
	for _, c := range text {
		if c-'0' > 9 {
			return false
		}
	}
	return len(text) > 0
}

// number is a JSON number, cut: -12.30e4 is 12, 30 and 4.
type number struct {
	negative       bool
	whole, decimal []byte
	hasExponent    bool
	// exponent is clipped to ±1e9.
	exponent int
}

// cutNumber cuts a text by JSON's grammar; ok is false for all other spellings of numbers.
func cutNumber(text []byte) (n number, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		n.negative, text = true, text[1:]
	}
	n.whole, text = cutDigits(text)
	if len(n.whole) == 0 || len(n.whole) > 1 && n.whole[0] == '0' {
		return n, false
	}
	if len(text) > 0 && text[0] == '.' {
		if n.decimal, text = cutDigits(text[1:]); len(n.decimal) == 0 {
			return n, false
		}
	}
	if len(text) == 0 {
		return n, true
	}
	if text[0]|0x20 != 'e' {
		return n, false
	}
	n.hasExponent, text = true, text[1:]
	sign := 1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	digits, rest := cutDigits(text)
	for _, c := range digits {
		n.exponent = min(n.exponent*10+int(c-'0'), 1e9)
	}
	n.exponent *= sign
	return n, len(digits) > 0 && len(rest) == 0
}

func cutDigits(text []byte) (digits, rest []byte) {
	for i, c := range text {
		if c-'0' > 9 {
			return text[:i], text[i:]
		}
	}
	return text, nil
}

// appendNumber appends a text that is a number of an allowed type. Its digits stay as they are: a detour over a float would round.
func (c *column) appendNumber(dst, text []byte) ([]byte, verdict) {
	n, ok := cutNumber(text)
	if c.decimalComma || !ok && c.thousands != "" { // with the comma, 1.500 is something else than in JSON
		var buffer [64]byte
		text = c.respell(buffer[:0], text)
		n, ok = cutNumber(text)
	}
	isString := c.types&jsonschema.String != 0
	switch {
	case !ok:
		return dst, wrong
	case n.hasExponent && isString:
		// Ids look like this: 12E45678. A string is right for a number, too.
		return dst, wrong
	case n.decimal == nil && !n.hasExponent:
		switch {
		case n.fits64():
			if n.negative && n.whole[0] == '0' && c.types&jsonschema.Fraction == 0 {
				return append(dst, '0'), written
			}
			return append(dst, text...), written
		case isString: // where it survives readers of floats
			return dst, wrong
		}
	case c.types&jsonschema.Fraction == 0:
		if isString {
			return dst, wrong
		}
		return n.appendInteger(dst)
	}
	if !n.finite() {
		return dst, huge
	}
	return append(dst, text...), written
}

// fits64 tells whether an integer is one of 64 bits, with a sign or without.
func (n *number) fits64() bool {
	switch d := n.whole; {
	case len(d) <= 18:
		return true
	case n.negative:
		return len(d) == 19 && string(d) <= "9223372036854775808"
	default:
		return len(d) == 19 || len(d) == 20 && string(d) <= "18446744073709551615"
	}
}

// finite tells whether the number is one of float64. Small ones are, those that are next to nothing, too.
func (n *number) finite() bool {
	whole := bytes.TrimLeft(n.whole, "0")
	size := len(whole) + n.exponent // about the decimal exponent, plus 1
	if len(whole) == 0 {
		size = n.exponent - (len(n.decimal) - len(bytes.TrimLeft(n.decimal, "0")))
	}
	switch {
	case size < 309:
		return true
	case size > 309:
		return len(whole) == 0 && len(bytes.TrimLeft(n.decimal, "0")) == 0
	}
	text := append(append(append([]byte{}, n.whole...), '.'), n.decimal...)
	text = strconv.AppendInt(append(text, '0', 'e'), int64(n.exponent), 10)
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}

// appendInteger appends a number with a fraction or exponent as an integer, if it is one: 12.0 and 120e-1 are 12, 1e5 is 100000.
func (n *number) appendInteger(dst []byte) ([]byte, verdict) {
	// The significant digits and how many zeros follow them.
	start := len(dst)
	if n.negative {
		dst = append(dst, '-')
	}
	at := len(dst)
	decimal := bytes.TrimRight(n.decimal, "0")
	dst = append(append(dst, bytes.TrimLeft(n.whole, "0")...), decimal...)
	zeros := n.exponent - len(decimal)
	if len(decimal) > 0 && at+len(decimal) == len(dst) { // 0.00012
		trimmed := bytes.TrimLeft(dst[at:], "0")
		dst = append(dst[:at], trimmed...)
	}
	for zeros < 0 && len(dst) > at && dst[len(dst)-1] == '0' {
		dst, zeros = dst[:len(dst)-1], zeros+1
	}
	digits := len(dst) - at
	switch {
	case digits == 0:
		return append(dst[:start], '0'), written
	case zeros < 0:
		return dst[:start], wrong
	case n.hasExponent && digits+zeros > maxExpanded:
		return dst[:start], wide
	case !n.finite():
		return dst[:start], huge
	}
	for range zeros {
		dst = append(dst, '0')
	}
	return dst, written
}

// respell turns a number with separated thousands or a decimal comma into JSON's form. Of a text that is none it returns something that is none either.
func (c *column) respell(dst, text []byte) []byte {
	decimal := byte('.')
	if c.decimalComma {
		decimal = ','
	}
	whole, fraction, hasFraction := bytes.Cut(text, []byte{decimal})
	if len(whole) > 0 && whole[0] == '-' {
		dst, whole = append(dst, '-'), whole[1:]
	}
	if c.thousands != "" {
		groups := 0
		for {
			group, rest, more := bytes.Cut(whole, []byte(c.thousands))
			if groups > 0 && len(group) != 3 || more && len(group) > 3 || !allDigits(group) {
				return nil
			}
			dst, whole = append(dst, group...), rest
			if groups++; !more {
				break
			}
		}
	} else {
		dst = append(dst, whole...)
	}
	if c.decimalComma && bytes.IndexByte(dst, '.') >= 0 {
		return nil
	}
	if hasFraction {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}

// trim cuts Unicode's white space off both ends.
func trim(text []byte) []byte {
	if len(text) > 0 && text[0]-'!' < 0x7f-'!' {
		if last := text[len(text)-1]; last-'!' < 0x7f-'!' {
			return text
		}
	}
	start, end := 0, len(text)
	for start < end {
		r, size := utf8.DecodeRune(text[start:end])
		if !unicode.IsSpace(r) {
			break
		}
		start += size
	}
	for start < end {
		r, size := utf8.DecodeLastRune(text[start:end])
		if !unicode.IsSpace(r) {
			break
		}
		end -= size
	}
	return text[start:end]
}
