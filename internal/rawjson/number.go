package rawjson

import (
	"bytes"
	"math/big"
	"strconv"
)

// Number is the exact value of a JSON number: Digits × 10^Exponent. Two numbers are equal when all fields are.
type Number struct {
	Negative bool
	Digits   []byte // decimal digits without zeros at either end; empty: zero
	Exponent int
}

const (
	// maxExponent is where exponents stop growing: no document has as many digits, and sums of them do not overflow.
	maxExponent = 1 << 40
	// maxDigits is how many digits a sum may have.
	maxDigits = 10_000
)

// ParseNumber reads a JSON number; not ok: it is none. Digits may be a view of the text.
func ParseNumber(text []byte) (n Number, ok bool) {
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return Number{}, false
	}
	if end, f := skipNumber(text, 0); f != 0 || end != len(text) {
		return Number{}, false
	}
	if text[0] == '-' {
		n.Negative, text = true, text[1:]
	}
	point := digits(text, 0)
	n.Digits = text[:point:point]
	if text = text[point:]; len(text) > 0 && text[0] == '.' {
		end := digits(text, 1)
		n.Digits = append(n.Digits, text[1:end]...)
		n.Exponent, text = 1-end, text[end:]
	}
	if len(text) > 0 {
		n.Exponent += exponent(text[1:])
	}
	trimmed := bytes.TrimRight(n.Digits, "0")
	n.Exponent += len(n.Digits) - len(trimmed)
	if n.Digits = bytes.TrimLeft(trimmed, "0"); len(n.Digits) == 0 {
		return Number{}, true
	}
	return n, true
}

// exponent reads what follows an e.
func exponent(text []byte) int {
	sign, e := 1, 0
	for _, c := range text {
		switch {
		case c == '-':
			sign = -1
		case c >= '0' && c <= '9' && e < maxExponent:
			e = e*10 + int(c-'0')
		}
	}
	return sign * min(e, maxExponent)
}

// Integer tells whether the value is a whole number, however it is spelled.
func (n Number) Integer() bool { return n.Exponent >= 0 }

// Compare returns -1, 0 or 1.
func (n Number) Compare(m Number) int {
	switch a, b := n.sign(), m.sign(); {
	case a != b:
		return order(a, b)
	case a == 0:
		return 0
	case a < 0:
		n, m = m, n
	}
	// The first digit's place decides, then the digits: those of the shorter one are followed by zeros.
	if c := order(len(n.Digits)+n.Exponent, len(m.Digits)+m.Exponent); c != 0 {
		return c
	}
	return bytes.Compare(n.Digits, m.Digits)
}

func (n Number) sign() int {
	switch {
	case len(n.Digits) == 0:
		return 0
	case n.Negative:
		return -1
	}
	return 1
}

func order(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Add returns the exact sum; not ok: it would have more than 10,000 digits.
func (n Number) Add(m Number) (sum Number, ok bool) {
	switch {
	case len(n.Digits) == 0:
		return m, true
	case len(m.Digits) == 0:
		return n, true
	case n.Exponent < m.Exponent:
		n, m = m, n
	}
	if n.Exponent-m.Exponent+max(len(n.Digits), len(m.Digits)) > maxDigits {
		return Number{}, false
	}
	a, b := n.integer(), m.integer()
	a.Mul(a, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Exponent-m.Exponent)), nil))
	sum, _ = ParseNumber(a.Add(a, b).Append(nil, 10))
	if len(sum.Digits) > 0 {
		sum.Exponent += m.Exponent
	}
	return sum, true
}

// integer is the value without its exponent.
func (n Number) integer() *big.Int {
	i, _ := new(big.Int).SetString(string(n.Digits), 10)
	if n.Negative {
		i.Neg(i)
	}
	return i
}

// Append writes the number without an exponent, 0.01 and 1000, unless that needs more than 10,000 zeros.
func (n Number) Append(dst []byte) []byte {
	if len(n.Digits) == 0 {
		return append(dst, '0')
	}
	if n.Negative {
		dst = append(dst, '-')
	}
	point := len(n.Digits) + n.Exponent // digits in front of it
	switch {
	case n.Exponent > maxDigits || point < -maxDigits:
		return strconv.AppendInt(append(append(dst, n.Digits...), 'e'), int64(n.Exponent), 10)
	case n.Exponent >= 0:
		return append(append(dst, n.Digits...), bytes.Repeat([]byte{'0'}, n.Exponent)...)
	case point > 0:
		return append(append(append(dst, n.Digits[:point]...), '.'), n.Digits[point:]...)
	}
	return append(append(append(dst, "0."...), bytes.Repeat([]byte{'0'}, -point)...), n.Digits...)
}

// String is what Append writes.
func (n Number) String() string { return string(n.Append(nil)) }
