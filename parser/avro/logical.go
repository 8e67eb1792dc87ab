package avro

import "math"

// logical is a logical type; plain is none.
type logical uint8

const (
	plain logical = iota
	decimal
	uuid // of a fixed; in a string it is a string
	uuidString
	date
	timeMillis
	timeMicros
	timestampMillis
	timestampMicros
	timestampNanos
	localMillis
	localMicros
	localNanos
	duration
)

// setLogical sets the logical type that the attributes tell. One that is unknown, does not fit its type or has invalid attributes is ignored, as the
// specification wants.
func (n *node) setLogical(attributes map[string]any) {
	name, _ := attributes["logicalType"].(string)
	switch n.kind {
	case kindBytes:
		if name == "decimal" {
			n.setDecimal(attributes, math.MaxInt32)
		}
	case kindFixed:
		switch {
		case name == "decimal":
			// The most digits that any number of so many bits has, its sign aside.
			n.setDecimal(attributes, int(math.Floor(math.Log10(2)*(8*float64(n.size)-1))))
		case name == "uuid" && n.size == 16:
			n.logical = uuid
		case name == "duration" && n.size == 12:
			n.logical = duration
		}
	case kindString:
		if name == "uuid" {
			n.logical = uuidString
		}
	case kindInt:
		switch name {
		case "date":
			n.logical = date
		case "time-millis":
			n.logical = timeMillis
		}
	case kindLong:
		switch name {
		case "time-micros":
			n.logical = timeMicros
		case "timestamp-millis":
			n.logical = timestampMillis
		case "timestamp-micros":
			n.logical = timestampMicros
		case "timestamp-nanos":
			n.logical = timestampNanos
		case "local-timestamp-millis":
			n.logical = localMillis
		case "local-timestamp-micros":
			n.logical = localMicros
		case "local-timestamp-nanos":
			n.logical = localNanos
		}
	default:
	}
}

// maxScale bounds the digits that a decimal of a few bytes may make.
const maxScale = 1 << 16

func (n *node) setDecimal(attributes map[string]any, most int) {
	precision, ok := integer(attributes["precision"])
	if !ok || precision < 1 || precision > most {
		return
	}
	scale := 0
	if text, given := attributes["scale"]; given {
		if scale, ok = integer(text); !ok || scale < 0 || scale > precision || scale > maxScale {
			return
		}
	}
	n.logical, n.scale = decimal, scale
}
