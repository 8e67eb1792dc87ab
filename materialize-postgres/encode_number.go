package main

import (
	"bytes"
	"math"
	"strconv"
)

// appendInteger appends an integer, also where it is written as 1.0 or 1e3.
func appendInteger(_ *encoder, dst, value []byte) ([]byte, error) {
	digits := value
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	for _, b := range digits {
		if b < '0' || b > '9' {
			return appendIntegral(dst, value)
		}
	}
	return append(dst, value...), nil
}

// appendBigint is appendInteger for columns of at most 64 bits; the server tells what is only just too large.
func appendBigint(e *encoder, dst, value []byte) ([]byte, error) {
	start := len(dst)
	dst, err := appendInteger(e, dst, value)
	if err == nil && len(dst)-start > len("-9223372036854775808") {
		err = valueError("it is beyond 64 bits")
	}
	return dst, err
}

// appendIntegerString takes integers and strings that spell one.
func appendIntegerString(e *encoder, dst, value []byte) ([]byte, error) {
	if raw, ok := inside(value); ok {
		if plain(raw) != len(raw) {
			return appendText(e, dst, value)
		}
		value = raw
	}
	return appendInteger(e, dst, value)
}

// maxIntegralDigits bounds what an exponent may blow up; the numeric type holds no more digits before the point.
const maxIntegralDigits = 131072

// appendIntegral appends a number whose fraction is zero, without it.
func appendIntegral(dst, number []byte) ([]byte, error) {
	notIntegral := valueError("it is no integer")
	mantissa, exponent := number, 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(string(number[i+1:])); err != nil || exponent > maxIntegralDigits || exponent < -maxIntegralDigits {
			return dst, notIntegral
		}
		mantissa = number[:i]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	negative := len(whole) > 0 && whole[0] == '-'
	if negative {
		whole = whole[1:]
	}
	digits := append(append(make([]byte, 0, len(whole)+len(fraction)+max(exponent, 0)), whole...), fraction...)
	for _, b := range digits {
		if b < '0' || b > '9' {
			return dst, notIntegral
		}
	}
	point := len(whole) + exponent // how many digits stand before it
	for len(digits) < point {
		digits = append(digits, '0')
	}
	if point < 0 {
		point = 0
	}
	if len(digits) == 0 || len(bytes.Trim(digits[point:], "0")) > 0 {
		return dst, notIntegral
	}
	digits = bytes.TrimLeft(digits[:point], "0")
	if len(digits) == 0 {
		return append(dst, '0'), nil
	}
	if negative {
		dst = append(dst, '-')
	}
	return append(dst, digits...), nil
}

// appendNumeric takes numbers, and strings that spell one or NaN, Infinity, -Infinity.
func appendNumeric(e *encoder, dst, value []byte) ([]byte, error) {
	if raw, ok := inside(value); ok && plain(raw) != len(raw) {
		return appendText(e, dst, value) // no number; the server says so
	} else if ok {
		value = raw
	}
	return append(dst, value...), nil
}

// appendFloat is appendNumeric for binary floating point, in which a number too small to tell from zero is zero.
func appendFloat(e *encoder, dst, value []byte) ([]byte, error) {
	if value[0] == '"' {
		return appendNumeric(e, dst, value)
	}
	if len(value) > 300 || bytes.IndexByte(value, 'e') >= 0 || bytes.IndexByte(value, 'E') >= 0 {
		f, err := strconv.ParseFloat(string(value), 64)
		switch {
		case err != nil:
			return dst, valueError("it is beyond the range of double precision")
		case f == 0 && math.Signbit(f):
			return append(dst, "-0"...), nil
		case math.Abs(f) < 1e-300: // the server refuses what it cannot hold exactly enough
			return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
		}
	}
	return append(dst, value...), nil
}
