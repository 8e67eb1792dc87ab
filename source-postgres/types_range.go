package main

import (
	"errors"
)

// timeRange prints ranges and multiranges of dates and timestamps: their bounds follow the rule of the bound's type, without quotes. All other ranges
// are printed as PostgreSQL prints them.
type timeRange struct {
	// bound prints a JSON string that needs no escaping.
	bound appender
}

var errRange = errors.New("rendering a range: it is not in the form [lower,upper)")

func (r timeRange) appendRange(dst, value []byte) ([]byte, error) {
	dst, rest, err := r.appendOne(append(dst, '"'), value)
	if err == nil && len(rest) > 0 {
		err = errRange
	}
	return append(dst, '"'), err
}

// appendMultirange prints {[1,2),[3,4)}.
func (r timeRange) appendMultirange(dst, value []byte) ([]byte, error) {
	if len(value) < 2 || value[0] != '{' {
		return dst, errRange
	}
	dst = append(dst, '"', '{')
	for rest := value[1:]; ; rest = rest[1:] {
		if len(rest) == 1 && rest[0] == '}' && len(value) == 2 {
			return append(dst, '}', '"'), nil
		}
		var err error
		if dst, rest, err = r.appendOne(dst, rest); err != nil {
			return dst, err
		}
		switch {
		case len(rest) > 1 && rest[0] == ',':
			dst = append(dst, ',')
		case len(rest) == 1 && rest[0] == '}':
			return append(dst, '}', '"'), nil
		default:
			return dst, errRange
		}
	}
}

// appendOne prints the range at the start of value and returns what follows.
func (r timeRange) appendOne(dst, value []byte) (_, rest []byte, err error) {
	if len(value) >= 5 && string(value[:5]) == "empty" {
		return append(dst, "empty"...), value[5:], nil
	}
	if len(value) == 0 || value[0] != '[' && value[0] != '(' {
		return dst, nil, errRange
	}
	dst = append(dst, value[0])
	if dst, rest, err = r.appendBound(dst, value[1:]); err != nil {
		return dst, nil, err
	}
	if len(rest) == 0 || rest[0] != ',' {
		return dst, nil, errRange
	}
	if dst, rest, err = r.appendBound(append(dst, ','), rest[1:]); err != nil {
		return dst, nil, err
	}
	if len(rest) == 0 || rest[0] != ']' && rest[0] != ')' {
		return dst, nil, errRange
	}
	return append(dst, rest[0]), rest[1:], nil
}

// appendBound prints a bound; one that is missing stays missing.
func (r timeRange) appendBound(dst, value []byte) (_, rest []byte, err error) {
	var bound []byte
	if len(value) > 0 && value[0] == '"' {
		text, next, ok := unquote(value, 1)
		if !ok {
			return dst, nil, errRange
		}
		bound, rest = text, value[next:]
	} else {
		i := 0
		for i < len(value) && value[i] != ',' && value[i] != ']' && value[i] != ')' {
			i++
		}
		if bound, rest = value[:i], value[i:]; i == 0 {
			return dst, rest, nil
		}
	}
	start := len(dst)
	if dst, err = r.bound(dst, bound); err != nil {
		return dst, nil, err
	}
	n := copy(dst[start:], dst[start+1:len(dst)-1]) // takes the quotes off
	return dst[:start+n], rest, nil
}
