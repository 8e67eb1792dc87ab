package main

import (
	"bytes"
	"encoding/binary"
)

func binaryNumeric(_ *encoder, dst, value []byte) ([]byte, bool) {
	if raw, ok := inside(value); ok {
		value = raw
	}
	return appendBinaryNumeric(dst, value)
}

// binaryIntegral takes integers, and strings that spell one.
func binaryIntegral(e *encoder, dst, value []byte) ([]byte, bool) {
	if bytes.IndexByte(value, '.') >= 0 {
		return dst, false
	}
	return binaryNumeric(e, dst, value)
}

// maxNumericText bounds what is taken here in bytes, far below the type's own limits.
const maxNumericText = 1000

// appendBinaryNumeric appends a number without an exponent: how many digits of base 10,000 there are, the power of the first one, sign, and how many decimals
// are shown; then those digits, without zeros at either end.
// https://github.com/postgres/postgres/blob/REL_15_STABLE/src/backend/utils/adt/numeric.c, numeric_send.
func appendBinaryNumeric(dst, text []byte) ([]byte, bool) {
	const negative = 0x4000
	sign := uint16(0)
	if len(text) > 0 && text[0] == '-' {
		sign, text = negative, text[1:]
	}
	whole, fraction, pointed := bytes.Cut(text, []byte{'.'})
	if len(whole) == 0 || pointed && len(fraction) == 0 || len(text) > maxNumericText {
		return dst, false
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	first := at + 8 // of the digits
	weight := (len(whole)+3)/4 - 1
	ok := true
	for len(whole) > 0 && ok {
		n := (len(whole)-1)%4 + 1
		dst, ok = appendBase10000(dst, whole[:n], 1)
		whole = whole[n:]
		if len(dst) == first+2 && dst[first] == 0 && dst[first+1] == 0 { // a leading zero
			dst = dst[:first]
			weight--
		}
	}
	scale := len(fraction)
	for len(fraction) > 0 && ok {
		n := min(4, len(fraction))
		dst, ok = appendBase10000(dst, fraction[:n], [...]int{0, 1000, 100, 10, 1}[n])
		fraction = fraction[n:]
		if len(dst) == first+2 && dst[first] == 0 && dst[first+1] == 0 {
			dst = dst[:first]
			weight--
		}
	}
	if !ok {
		return dst[:at], false
	}
	for len(dst) > first && dst[len(dst)-1] == 0 && dst[len(dst)-2] == 0 {
		dst = dst[:len(dst)-2]
	}
	if len(dst) == first {
		weight, sign = 0, 0 // zero
	}
	binary.BigEndian.PutUint16(dst[at:], uint16((len(dst)-first)/2)) //nolint:gosec // bounded by maxNumericText
	binary.BigEndian.PutUint16(dst[at+2:], uint16(weight))           //nolint:gosec // two's complement
	binary.BigEndian.PutUint16(dst[at+4:], sign)
	binary.BigEndian.PutUint16(dst[at+6:], uint16(scale)) //nolint:gosec // bounded by maxNumericText
	return dst, true
}

// appendBase10000 appends one digit of base 10,000 that is spelled by up to four decimal ones.
func appendBase10000(dst, decimals []byte, times int) ([]byte, bool) {
	n := 0
	for _, c := range decimals {
		if c < '0' || c > '9' {
			return dst, false
		}
		n = 10*n + int(c-'0')
	}
	n *= times
	return append(dst, byte(n>>8), byte(n)), true //nolint:gosec // below 10,000
}
