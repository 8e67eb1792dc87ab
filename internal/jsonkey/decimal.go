package jsonkey

import (
	"fmt"
	"math/big"

	"github.com/estuary/connectors/internal/rawjson"
)

const (
	// maxBytes is how many bytes the encoding gives to an integer.
	maxBytes = 255
	// maxDigits is how many decimal digits an integer of maxBytes has at most.
	maxDigits = 615
)

// decimal is an integer: its digits, with zeros behind them.
type decimal struct {
	text     []byte // the number as it was written, for sentences
	negative bool
	digits   []byte // without zeros in front; empty: zero
	zeros    int
}

// parseDecimal reads a JSON number that is an integer by value.
func parseDecimal(text []byte) (decimal, error) {
	d := decimal{text: text, digits: text}
	if d.digits[0] == '-' {
		d.negative, d.digits = true, d.digits[1:]
	}
	for _, c := range d.digits {
		if c < '0' || c > '9' {
			n, ok := rawjson.ParseNumber(text)
			if !ok {
				return d, fmt.Errorf("%s is no number", shorten(text))
			}
			d.digits, d.zeros = n.Digits, n.Exponent
			break
		}
	}
	if len(text) == 1 && d.negative {
		return d, fmt.Errorf("%s is no number", shorten(text))
	}
	for len(d.digits) > 0 && d.digits[0] == '0' {
		d.digits = d.digits[1:]
	}
	switch {
	case d.zeros < 0:
		return d, fmt.Errorf("%s is no integer, and other numbers cannot be keys, since equal ones may be rounded differently: make it a string or an integer, or choose another key", shorten(text))
	case d.zeros > maxDigits || len(d.digits)+d.zeros > maxDigits:
		return d, tooLarge(text)
	}
	return d, nil
}

func tooLarge(text []byte) error {
	return fmt.Errorf("%s is too large for a key: integers may have %d bytes, make it a string or choose another key", shorten(text), maxBytes)
}

// uint64 returns the magnitude where it has no more than 19 digits, which always fit.
func (d *decimal) uint64() (u uint64, ok bool) {
	if len(d.digits)+d.zeros > 19 {
		return 0, false
	}
	for _, c := range d.digits {
		u = u*10 + uint64(c-'0')
	}
	for range d.zeros {
		u *= 10
	}
	return u, true
}

// big returns the magnitude's bytes, big-endian, without zeros in front.
func (d *decimal) big() ([]byte, error) {
	b, _ := new(big.Int).SetString(string(d.digits), 10)
	b.Mul(b, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.zeros)), nil))
	if bytes := b.Bytes(); len(bytes) <= maxBytes {
		return bytes, nil
	}
	return nil, tooLarge(d.text)
}
