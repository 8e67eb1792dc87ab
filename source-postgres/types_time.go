package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Dates and times are printed as RFC 3339, which ends at the year 9999 and has no 24th hour. What lies outside, the infinities and the years before
// Christ become the nearest value that RFC 3339 can write.
const (
	minDate      = `"0000-01-01"`
	maxDate      = `"9999-12-31"`
	minTimestamp = `"0000-01-01T00:00:00Z"`
	maxTimestamp = `"9999-12-31T23:59:59Z"`
	maxTime      = `"23:59:59.999999Z"`
)

var (
	errDate     = errors.New("rendering a date: it is not in the form 2006-01-02 (datestyle = ISO)")
	errStamp    = errors.New("rendering a timestamp: it is not in the form 2006-01-02 15:04:05.999999 (datestyle = ISO)")
	errStampTZ  = errors.New("rendering a timestamp with time zone: it is not in the form 2006-01-02 15:04:05.999999+00 (datestyle = ISO, timezone = UTC)")
	errTime     = errors.New("rendering a time: it is not in the form 15:04:05.999999")
	errTimeZone = errors.New("rendering a time with time zone: it is not in the form 15:04:05.999999+00:00")
)

// beyond tells on which side of the years 0001 to 9999 a date or timestamp lies, by the forms that only those outside have.
func beyond(value []byte) (before, after bool) {
	switch {
	case bytes.HasSuffix(value, []byte("BC")), string(value) == "-infinity":
		return true, false
	case string(value) == "infinity":
		return false, true
	}
	i := bytes.IndexByte(value, '-')
	return false, i > 4 && i < 8 && digits(value[:i])
}

// What a word of eight characters may be: pattern has 0 for a digit, and limits what has to be added to a byte of the word, XORed with the pattern, to
// set its highest bit when it is none of '0' to '9' or not the separator.
const (
	digit     = 0x76
	separator = 0x7F

	eightPattern = '0' * everyByte
	eightLimits  = digit * everyByte
	// 2006-01-
	datePattern = eightPattern ^ ('0'^'-')<<32 ^ ('0'^'-')<<56
	dateLimits  = eightLimits + (separator-digit)<<32 + (separator-digit)<<56
	// 15:04:05
	timePattern = eightPattern ^ ('0'^':')<<16 ^ ('0'^':')<<40
	timeLimits  = eightLimits + (separator-digit)<<16 + (separator-digit)<<40
)

func matches(text []byte, pattern, limits uint64) bool {
	y := binary.LittleEndian.Uint64(text) ^ pattern
	return (y|(y+limits))&highBits == 0
}

// isDate tells whether value starts with 2006-01-02.
func isDate(value []byte) bool {
	return len(value) >= 10 && matches(value, datePattern, dateLimits) && value[8]-'0' <= 9 && value[9]-'0' <= 9
}

// isTime tells whether value is 15:04:05 or 15:04:05.999999.
func isTime(value []byte) bool {
	return len(value) >= 8 && matches(value, timePattern, timeLimits) && (len(value) == 8 || len(value) > 9 && value[8] == '.' && digits(value[9:]))
}

func digits(text []byte) bool {
	for len(text) > 8 {
		if !matches(text, eightPattern, eightLimits) {
			return false
		}
		text = text[min(8, len(text)-8):] // the last eight overlap
	}
	if len(text) == 8 {
		return matches(text, eightPattern, eightLimits)
	}
	other := byte(0)
	for _, c := range text {
		c ^= '0'
		other |= c | (c + digit)
	}
	return other&0x80 == 0
}

func appendDate(dst, value []byte) ([]byte, error) {
	if len(value) == 10 && isDate(value) {
		return appendPlain(dst, value)
	}
	switch before, after := beyond(value); {
	case before:
		return append(dst, minDate...), nil
	case after:
		return append(dst, maxDate...), nil
	}
	return dst, errDate
}

func appendTimestamp(dst, value []byte) ([]byte, error) {
	if out, ok := appendMoment(dst, value); ok {
		return out, nil
	}
	return appendFarTimestamp(dst, value, errStamp)
}

// appendTimestampTZ takes nothing but UTC, which both sessions ask the server for: with another zone the same value would have two forms.
func appendTimestampTZ(dst, value []byte) ([]byte, error) {
	if n := len(value) - 3; n > 0 && value[n] == '+' && value[n+1] == '0' && value[n+2] == '0' {
		if out, ok := appendMoment(dst, value[:n]); ok {
			return out, nil
		}
	}
	return appendFarTimestamp(dst, value, errStampTZ)
}

// appendMoment appends "2006-01-02 15:04:05.999999" with T and Z.
func appendMoment(dst, value []byte) ([]byte, bool) {
	if len(value) < 19 || value[10] != ' ' || !isDate(value) || !isTime(value[11:]) {
		return dst, false
	}
	n := len(dst) + 11
	dst = append(append(dst, '"'), value...)
	dst[n] = 'T'
	return append(dst, 'Z', '"'), true
}

func appendFarTimestamp(dst, value []byte, otherwise error) ([]byte, error) {
	switch before, after := beyond(value); {
	case before:
		return append(dst, minTimestamp...), nil
	case after:
		return append(dst, maxTimestamp...), nil
	}
	return dst, otherwise
}

func appendTime(dst, value []byte) ([]byte, error) {
	if !isTime(value) {
		return dst, errTime
	}
	if value[0] == '2' && value[1] == '4' {
		return append(dst, maxTime...), nil
	}
	return append(append(append(dst, '"'), value...), 'Z', '"'), nil
}

// appendTimeTZ keeps the zone, which PostgreSQL shortens to hours where it can. RFC 3339 has no seconds in it, so they are dropped.
func appendTimeTZ(dst, value []byte) ([]byte, error) {
	i := bytes.IndexAny(value, "+-")
	if i < 0 || !isTime(value[:i]) {
		return dst, errTimeZone
	}
	clock, zone := value[:i], value[i:]
	if clock[0] == '2' && clock[1] == '4' {
		clock = []byte("23:59:59.999999")
	}
	dst = append(append(dst, '"'), clock...)
	switch {
	case len(zone) == 3 && digits(zone[1:]) && string(zone[1:]) != "00":
		dst = append(append(dst, zone...), ":00"...)
	case len(zone) == 3 && digits(zone[1:]), len(zone) >= 6 && string(zone[1:6]) == "00:00":
		dst = append(dst, 'Z')
	case (len(zone) == 6 || len(zone) == 9) && digits(zone[1:3]) && zone[3] == ':' && digits(zone[4:6]):
		dst = append(dst, zone[:6]...)
	default:
		return dst, errTimeZone
	}
	return append(dst, '"'), nil
}
