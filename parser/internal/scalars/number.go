package scalars

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// AppendFloat64 appends the shortest decimal that reads back as v, without an exponent between 1e-6 and 1e21; "NaN", "Infinity" and "-Infinity" as strings.
func AppendFloat64(dst []byte, v float64) []byte {
	// Up to six decimals and fifteen digits in all: two such numbers never share a double, and the division rounds as reading does, so a quotient that
	// gives v back is the shortest text. Prices and coordinates go this way, at a third of the price.
	const scale = 1e6
	if v != 0 && v > -1e9 && v < 1e9 {
		if n := int64(math.Round(v * scale)); float64(n)/scale == v {
			return appendMillionths(dst, n)
		}
	}
	return appendFloat(dst, v, 64)
}

// AppendFloat32 is AppendFloat64 for the shortest decimal that reads back as a 32-bit float.
func AppendFloat32(dst []byte, v float32) []byte {
	const scale = 1e3
	if v != 0 && v > -1e3 && v < 1e3 {
		if n := int64(math.Round(float64(v) * scale)); n != 0 && float32(float64(n)/scale) == v {
			return appendMillionths(dst, n*1e3)
		}
	}
	return appendFloat(dst, float64(v), 32)
}

// AppendFloat16 is AppendFloat64 for the shortest decimal that reads back as the IEEE 754 half with these bits.
func AppendFloat16(dst []byte, half uint16) []byte {
	v := fromHalf(half)
	if v != v || math.IsInf(v, 0) || v == 0 {
		return appendFloat(dst, v, 64)
	}
	var text [32]byte
	for digits := 1; digits <= 5; digits++ {
		short := strconv.AppendFloat(text[:0], v, 'e', digits-1, 64)
		if near, err := strconv.ParseFloat(string(short), 64); err == nil && toHalf(near) == half {
			return appendFloat(dst, near, 64)
		}
	}
	return appendFloat(dst, v, 64)
}

// appendMillionths appends n/1e6 without zeros at its end.
func appendMillionths(dst []byte, n int64) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	whole, fraction := uint64(n)/1e6, uint32(uint64(n)%1e6)
	dst = strconv.AppendUint(dst, whole, 10)
	if fraction == 0 {
		return dst
	}
	return appendFraction(dst, fraction*1000)
}

// appendFloat follows ECMAScript's rules for numbers, as encoding/json does.
func appendFloat(dst []byte, v float64, size int) []byte {
	switch {
	case v != v:
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, size)
}

// fromHalf widens an IEEE 754 half.
func fromHalf(h uint16) float64 {
	sign, exponent, fraction := float64(1), int(h>>10&0x1f), float64(h&0x3ff)
	if h&0x8000 != 0 {
		sign = math.Copysign(1, -1)
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(fraction+1024, exponent-25)
}

// toHalf rounds to the nearest half, ties to even.
func toHalf(v float64) uint16 {
	sign := uint16(0)
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	// Numbers below 2^-14 have a fixed step of 2^-24; above, eleven bits are kept.
	_, exponent := math.Frexp(v)
	exponent = max(exponent, -13)
	n := math.RoundToEven(math.Ldexp(v, 11-exponent))
	if n == 2048 {
		n, exponent = 1024, exponent+1
	}
	switch {
	case exponent > 16:
		return sign | 0x7c00
	case n < 1024:
		return sign | uint16(n)
	}
	return sign | uint16(exponent+14)<<10 | (uint16(n) - 1024)
}

// AppendDecimalInt appends unscaled / 10^scale as a string with all scale digits. Scale is not negative.
func AppendDecimalInt(dst []byte, unscaled int64, scale int) []byte {
	magnitude := uint64(unscaled)
	if unscaled < 0 {
		magnitude = -magnitude
	}
	var text [20]byte
	return appendDecimal(dst, strconv.AppendUint(text[:0], magnitude, 10), unscaled < 0, scale)
}

// AppendDecimal is AppendDecimalInt for a two's complement number of any length, most significant byte first, as Avro and Parquet keep it. Its time grows
// with the square of the length, which the caller bounds.
func AppendDecimal(dst, unscaled []byte, scale int) []byte {
	negative := len(unscaled) > 0 && unscaled[0]&0x80 != 0
	if len(unscaled) > 16 {
		n := new(big.Int).SetBytes(unscaled)
		if negative {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(unscaled))))
			n.Neg(n)
		}
		return appendDecimal(dst, n.Append(nil, 10), negative, scale)
	}
	var high, low uint64
	if negative {
		high, low = math.MaxUint64, math.MaxUint64
	}
	for _, b := range unscaled {
		high, low = high<<8|low>>56, low<<8|uint64(b)
	}
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	// 128 bits are less than 10^39: two digits and twice nineteen.
	const group = 1e19
	var text [40]byte
	digits := text[:0]
	if high == 0 {
		digits = strconv.AppendUint(digits, low, 10)
		return appendDecimal(dst, digits, negative, scale)
	}
	top, rest := bits.Div64(high%group, low, group)
	if high >= group {
		digits = strconv.AppendUint(digits, high/group, 10)
		digits = appendPadded(digits, top)
	} else {
		digits = strconv.AppendUint(digits, top, 10)
	}
	digits = appendPadded(digits, rest)
	return appendDecimal(dst, digits, negative, scale)
}

// appendPadded appends n with nineteen digits.
func appendPadded(dst []byte, n uint64) []byte {
	var text [20]byte
	digits := strconv.AppendUint(text[:0], n, 10)
	for range 19 - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// appendDecimal puts the point into digits.
func appendDecimal(dst, digits []byte, negative bool, scale int) []byte {
	dst = append(dst, '"')
	if negative {
		dst = append(dst, '-')
	}
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0', '.')
		for range -whole {
			dst = append(dst, '0')
		}
		return append(append(dst, digits...), '"')
	}
	dst = append(dst, digits[:whole]...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[whole:]...)
	}
	return append(dst, '"')
}
