package jsonkey

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// maxDepth is how many tuples may stand inside each other.
const maxDepth = 100

var errCut = errors.New("a packed key ends in the middle of an element")

// Unpack returns the elements of a tuple as JSON values. Doubles that JSON has no number for come as "NaN", "Infinity" and "-Infinity".
func Unpack(packed []byte) ([][]byte, error) {
	values, _, err := AppendUnpacked(nil, nil, packed)
	return values, err
}

// AppendUnpacked is Unpack for buffers that are used again: values that it appends are views of the text that it appends.
func AppendUnpacked(values [][]byte, text, packed []byte) (_ [][]byte, _ []byte, err error) {
	for len(packed) > 0 {
		begin := len(text)
		if text, packed, err = unpackElement(text, packed, 0); err != nil {
			return values, text, err
		}
		values = append(values, text[begin:len(text):len(text)])
	}
	return values, text, nil
}

// unpackElement appends the first element as JSON, and returns the rest of the tuple.
func unpackElement(text, packed []byte, depth int) (_, rest []byte, err error) {
	code := packed[0]
	packed = packed[1:]
	switch {
	case code == codeNull:
		return append(text, "null"...), packed, nil
	case code == codeFalse:
		return append(text, "false"...), packed, nil
	case code == codeTrue:
		return append(text, "true"...), packed, nil
	case code == codeString:
		s, rest, err := unpackBytes(packed)
		return rawjson.AppendQuoted(text, s), rest, err
	case code == codeBytes:
		doc, rest, err := unpackBytes(packed)
		if err == nil {
			err = rawjson.Valid(doc)
		}
		return append(text, doc...), rest, err
	case code == codeTuple:
		return unpackTuple(text, packed, depth+1)
	case code == codeDouble:
		return unpackDouble(text, packed)
	case code >= codeNegative && code <= codePositive:
		return unpackInt(text, packed, code)
	}
	return text, packed, fmt.Errorf("a packed key has an element of the unknown type 0x%02x", code)
}

// unpackBytes reads up to a zero that no 0xff follows. The result is a view where no zero is escaped.
func unpackBytes(packed []byte) (content, rest []byte, err error) {
	escaped := false
	for i := 0; i < len(packed); i++ {
		switch {
		case packed[i] != 0:
		case i+1 < len(packed) && packed[i+1] == escape:
			escaped = true
			i++
		default:
			content = packed[:i]
			if escaped {
				content = bytes.ReplaceAll(content, []byte{0, escape}, []byte{0})
			}
			return content, packed[i+1:], nil
		}
	}
	return nil, nil, errCut
}

// unpackTuple reads a nested tuple: its nulls are escaped, since a zero ends it.
func unpackTuple(text, packed []byte, depth int) (_, rest []byte, err error) {
	if depth > maxDepth {
		return text, nil, fmt.Errorf("a packed key has tuples nested more than %d deep", maxDepth)
	}
	text = append(text, '[')
	for first := true; len(packed) > 0; first = false {
		null := packed[0] == codeNull
		if null && (len(packed) < 2 || packed[1] != escape) {
			return append(text, ']'), packed[1:], nil
		}
		if !first {
			text = append(text, ',')
		}
		if null {
			text, packed = append(text, "null"...), packed[2:]
			continue
		}
		if text, packed, err = unpackElement(text, packed, depth); err != nil {
			return text, nil, err
		}
	}
	return text, nil, errCut
}

func unpackDouble(text, packed []byte) (_, rest []byte, err error) {
	if len(packed) < 8 {
		return text, nil, errCut
	}
	u := binary.BigEndian.Uint64(packed)
	if u>>63 != 0 {
		u &^= 1 << 63
	} else {
		u = ^u
	}
	return appendFloat(text, math.Float64frombits(u)), packed[8:], nil
}

// appendFloat writes the shortest text that reads back as f.
func appendFloat(text []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(text, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(text, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(text, `"-Infinity"`...)
	case f != 0 && (math.Abs(f) < 1e-6 || math.Abs(f) >= 1e21):
		return strconv.AppendFloat(text, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(text, f, 'f', -1, 64)
}

func unpackInt(text, packed []byte, code byte) (_, rest []byte, err error) {
	negative := code < codeZero
	n := int(code) - codeZero
	if negative {
		n = -n
	}
	if code == codeNegative || code == codePositive {
		if len(packed) == 0 {
			return text, nil, errCut
		}
		n = int(packed[0])
		if negative {
			n = maxBytes - n
		}
		packed = packed[1:]
	}
	if len(packed) < n {
		return text, nil, errCut
	}
	magnitude := packed[:n]
	if negative {
		magnitude = slices.Clone(magnitude)
		complement(magnitude)
		text = append(text, '-')
	}
	if n > 8 {
		return new(big.Int).SetBytes(magnitude).Append(text, 10), packed[n:], nil
	}
	var u uint64
	for _, b := range magnitude {
		u = u<<8 | uint64(b)
	}
	return strconv.AppendUint(text, u, 10), packed[n:], nil
}
