package rowkey

import (
	"bytes"
	"fmt"
)

// A decimal number is the nested tuple (class, exponent, digits); zero and the special values are (class) alone. The value is 0.digits × 10^exponent
// with neither leading nor trailing zeros, so that 1.0 and 1.00 are one key. For negative numbers the exponent is negated and the digits are
// complemented to nine and closed by a byte above '9', which turns the order around.
const (
	classNegInfinity = -2
	classNegative    = -1
	classZero        = 0
	classPositive    = 1
	classInfinity    = 2
	classNaN         = 3

	endOfNegative = '9' + 1
	maxExponent   = 1 << 30
)

// AppendNumeric appends a decimal number given as text: an optional sign, digits with an optional point, an optional exponent; or Infinity, -Infinity
// or NaN, which comes last.
func AppendNumeric(dst, text []byte) ([]byte, error) {
	n := len(dst)
	out, ok := appendNumeric(append(dst, codeNested), text)
	if !ok {
		return dst[:n], fmt.Errorf("packing %q as decimal number: not a number", text)
	}
	return append(out, 0), nil
}

func appendNumeric(dst, text []byte) ([]byte, bool) {
	negative := false
	rest := text
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		negative = rest[0] == '-'
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] > '9' {
		return appendSpecial(dst, rest, negative, len(rest) < len(text))
	}
	mantissa, exponent, ok := splitExponent(rest)
	if !ok {
		return dst, false
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	if len(whole)+len(fraction) == 0 || !allDigits(whole) || !allDigits(fraction) {
		return dst, false
	}
	fraction = bytes.TrimRight(fraction, "0")
	if len(fraction) == 0 {
		trimmed := bytes.TrimRight(whole, "0")
		exponent += len(whole) - len(trimmed)
		whole = trimmed
	}
	leading := bytes.TrimLeft(whole, "0")
	whole = leading
	if len(whole) == 0 {
		trimmed := bytes.TrimLeft(fraction, "0")
		exponent -= len(fraction) - len(trimmed)
		fraction = trimmed
	}
	if len(whole)+len(fraction) == 0 {
		return AppendInt(dst, classZero), true
	}
	exponent += len(whole)
	if !negative {
		dst = AppendInt(AppendInt(dst, classPositive), int64(exponent))
		dst = append(append(append(dst, codeText), whole...), fraction...)
		return append(dst, 0), true
	}
	dst = AppendInt(AppendInt(dst, classNegative), int64(-exponent))
	dst = complement(complement(append(dst, codeText), whole), fraction)
	return append(dst, endOfNegative, 0), true
}

func appendSpecial(dst, name []byte, negative, signed bool) ([]byte, bool) {
	switch {
	case bytes.EqualFold(name, []byte("NaN")) && !signed:
		return AppendInt(dst, classNaN), true
	case !bytes.EqualFold(name, []byte("Infinity")):
		return dst, false
	case negative:
		return AppendInt(dst, classNegInfinity), true
	}
	return AppendInt(dst, classInfinity), true
}

// splitExponent cuts "12.5e-3" into "12.5" and -3.
func splitExponent(text []byte) (mantissa []byte, exponent int, ok bool) {
	i := bytes.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, true
	}
	mantissa, text = text[:i], text[i+1:]
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if len(text) == 0 || !allDigits(text) {
		return nil, 0, false
	}
	for _, c := range text {
		if exponent = exponent*10 + int(c-'0'); exponent > maxExponent {
			return nil, 0, false
		}
	}
	if negative {
		exponent = -exponent
	}
	return mantissa, exponent, true
}

func complement(dst, digits []byte) []byte {
	for _, c := range digits {
		dst = append(dst, '0'+'9'-c)
	}
	return dst
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
