package rowkey

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Element is one element of a key as text.
type Element struct {
	Null bool
	// Text is the value again when it is cast to its column's type: binary data are \x and hexadecimal digits, truth values 0 or 1.
	Text string
}

// Literals unpacks a key. It fails on bytes that no function of this package wrote.
func Literals(k Key) ([]Element, error) {
	var list []Element
	rest := []byte(k)
	for len(rest) > 0 {
		e, after, err := literal(rest)
		if err != nil {
			return nil, fmt.Errorf("unpacking element %d of row key %x: %w", len(list), []byte(k), err)
		}
		list = append(list, e)
		rest = after
	}
	return list, nil
}

var errCut = errors.New("it ends too early")

// literal unpacks the first element of b, which is not empty.
func literal(b []byte) (Element, []byte, error) {
	code, rest := b[0], b[1:]
	switch {
	case code == codeNull:
		return Element{Null: true}, rest, nil
	case code == codeBytes || code == codeText:
		v, after, err := unescape(rest)
		if code == codeBytes {
			return Element{Text: `\x` + hex.EncodeToString(v)}, after, err
		}
		return Element{Text: string(v)}, after, err
	case code >= codeZero-8 && code <= codeZero+8:
		return integer(code, rest)
	case code == codeDouble:
		if len(rest) < 8 {
			return Element{}, nil, errCut
		}
		return Element{Text: float(binary.BigEndian.Uint64(rest))}, rest[8:], nil
	case code == codeUUID:
		if len(rest) < 16 {
			return Element{}, nil, errCut
		}
		h := hex.EncodeToString(rest[:16])
		return Element{Text: h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]}, rest[16:], nil
	case code == codeNested:
		return nested(rest)
	}
	return Element{}, nil, fmt.Errorf("unknown first byte %#02x", code)
}

// unescape undoes appendEscaped.
func unescape(b []byte) (v, rest []byte, err error) {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return nil, nil, errCut
		}
		v = append(v, b[:i]...)
		b = b[i+1:]
		if len(b) == 0 || b[0] != 0xFF {
			return v, b, nil
		}
		v = append(v, 0)
		b = b[1:]
	}
}

func integer(code byte, b []byte) (Element, []byte, error) {
	n := int(code) - codeZero
	negative := n < 0
	if negative {
		n = -n
	}
	if len(b) < n {
		return Element{}, nil, errCut
	}
	var u uint64
	for _, c := range b[:n] {
		if negative {
			c = ^c
		}
		u = u<<8 | uint64(c)
	}
	text := strconv.FormatUint(u, 10)
	if negative {
		text = "-" + text
	}
	return Element{Text: text}, b[n:], nil
}

func float(u uint64) string {
	if u>>63 != 0 {
		u &^= 1 << 63
	} else {
		u = ^u
	}
	switch v := math.Float64frombits(u); {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// nested unpacks what follows the first byte of a ranked text (rank, text) or of a decimal number (class) or (class, exponent, digits).
func nested(b []byte) (Element, []byte, error) {
	var part [3]string
	n := 0
	for ; len(b) > 0 && b[0] != 0; n++ {
		if n == len(part) || b[0] == codeNested {
			return Element{}, nil, errors.New("its nested tuple is unknown")
		}
		e, rest, err := literal(b)
		if err != nil {
			return Element{}, nil, err
		}
		part[n], b = e.Text, rest
	}
	if len(b) == 0 {
		return Element{}, nil, errCut
	}
	switch n {
	case 1:
		text, ok := specials[part[0]]
		if ok {
			return Element{Text: text}, b[1:], nil
		}
	case 2:
		return Element{Text: part[1]}, b[1:], nil
	case 3:
		text, ok := decimal(part[0], part[1], part[2])
		if ok {
			return Element{Text: text}, b[1:], nil
		}
	}
	return Element{}, nil, errors.New("its nested tuple is unknown")
}

var specials = map[string]string{"-2": "-Infinity", "0": "0", "2": "Infinity", "3": "NaN"}

// decimal renders a number; far exponents, which would take many zeros, in the form with E.
func decimal(class, exponent, digits string) (string, bool) {
	const plain = 64
	sign := ""
	exp, err := strconv.Atoi(exponent)
	if err != nil || exp > 2*maxExponent || exp < -2*maxExponent {
		return "", false
	}
	switch class {
	case "1":
	case "-1":
		cut, ok := strings.CutSuffix(digits, string(rune(endOfNegative)))
		if !ok || !allDigits([]byte(cut)) {
			return "", false
		}
		sign, digits, exp = "-", string(complement(nil, []byte(cut))), -exp
	default:
		return "", false
	}
	if digits == "" || !allDigits([]byte(digits)) {
		return "", false
	}
	switch {
	case exp > len(digits)+plain || exp < -plain:
		return fmt.Sprintf("%s%sE%d", sign, digits, exp-len(digits)), true
	case exp >= len(digits):
		return sign + digits + strings.Repeat("0", exp-len(digits)), true
	case exp > 0:
		return sign + digits[:exp] + "." + digits[exp:], true
	}
	return sign + "0." + strings.Repeat("0", -exp) + digits, true
}
