package sqlsink

import (
	"math/big"
	"slices"

	"github.com/estuary/connectors/protocol"
)

// Shape is what a schema says of a location, as far as it decides upon a column's type.
type Shape int

// The shapes. The zero value has no column.
const (
	Never         Shape = iota // nothing but null is valid
	Boolean                    // true or false
	Integer                    // within 64 bits, or without bounds
	BigInteger                 // bounds beyond 64 bits
	Number                     // any JSON number
	Float                      // a number, or one of the strings NaN, Infinity and -Infinity
	IntegerString              // a string that spells an integer, or an integer
	DecimalString              // a string that spells a number of any precision, or an integer
	Text                       // any other string
	Date
	DateTime
	Time
	Duration
	UUID
	IP
	MAC
	MAC8
	Binary // base64
	Object
	Array
	Multiple // several types, or any
)

// ShapeOf reduces an inference to a shape. Null does not count: nullability is a column's own property.
func ShapeOf(i *protocol.Inference) Shape {
	has := func(t string) bool { return slices.Contains(i.Types, t) }
	n := len(i.Types)
	if has("null") {
		n--
	}
	integer, number, text := has("integer"), has("number"), has("string")
	switch {
	case n == 0 || i.Exists == protocol.Cannot:
		return Never
	case n == 1 && has("boolean"):
		return Boolean
	case n == 1 && integer:
		if beyond64(i.Minimum) || beyond64(i.Maximum) {
			return BigInteger
		}
		return Integer
	case n == 1 && number, n == 2 && number && integer:
		return Number
	case n == 1 && text:
		return stringShape(i)
	case n == 1 && has("object"):
		return Object
	case n == 1 && has("array"):
		return Array
	case i.Format == "integer" && n == 2 && text && integer:
		return IntegerString
	case i.Format == "number" && text && integer && n == 2: // an integer that has become a number of any precision
		return DecimalString
	case i.Format == "number" && text && (n == 2 && number || n == 3 && number && integer):
		return Float
	default:
		return Multiple
	}
}

func stringShape(i *protocol.Inference) Shape {
	if i.ContentEncoding == "base64" {
		return Binary
	}
	switch i.Format {
	case "integer":
		return IntegerString
	case "number":
		return DecimalString
	case "date":
		return Date
	case "date-time":
		return DateTime
	case "time":
		return Time
	case "duration":
		return Duration
	case "uuid":
		return UUID
	case "ipv4", "ipv6":
		return IP
	case "macaddr":
		return MAC
	case "macaddr8":
		return MAC8
	default:
		return Text
	}
}

// beyond64 tells whether a bound lies outside of 64-bit integers. Inference yields bounds such as 1e19.
func beyond64(bound string) bool {
	if bound == "" {
		return false
	}
	f, _, err := big.ParseFloat(bound, 10, 128, big.ToZero)
	if err != nil {
		return false // no number: the schema's author meant no bound that we understand
	}
	return f.Cmp(minInt64) < 0 || f.Cmp(maxInt64) > 0
}

var (
	minInt64 = big.NewFloat(0).SetInt64(-1 << 63)
	maxInt64 = big.NewFloat(0).SetPrec(64).SetInt64(1<<63 - 1)
)

// IsString tells whether each value is a JSON string, so that a text column can hold it.
func (s Shape) IsString() bool {
	switch s {
	case DecimalString, Text, Date, DateTime, Time, Duration, UUID, IP, MAC, MAC8, Binary:
		return true
	default:
		return false
	}
}
