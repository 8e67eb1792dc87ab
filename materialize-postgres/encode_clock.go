package main

import "bytes"

// appendDate maps what the server has no date for: the year 0 to the year 1, years beyond 9999 to the last day before them.
func appendDate(e *encoder, dst, value []byte) ([]byte, error) {
	return appendClock(e, dst, value, "9999-12-31")
}

// appendTimestamp does the same for timestamps. One without an offset is taken as UTC, the session's time zone.
func appendTimestamp(e *encoder, dst, value []byte) ([]byte, error) {
	return appendClock(e, dst, value, "9999-12-31T23:59:59Z")
}

// appendTime takes times; the server drops their offsets.
func appendTime(e *encoder, dst, value []byte) ([]byte, error) {
	return appendClock(e, dst, value, "")
}

// appendClock takes dates and times; last stands for years beyond 9999. The server would read words, too: "now", "yesterday", whatever surrounds them.
func appendClock(e *encoder, dst, value []byte, last string) ([]byte, error) {
	start := len(dst)
	dst, err := appendText(e, dst, value)
	if err != nil {
		return dst, err
	}
	text := dst[start:]
	for _, b := range text {
		if !ofClocks[b] {
			return dst, valueError("it is no date or time of RFC 3339")
		}
	}
	yearZero, beyond := bytes.HasPrefix(text, []byte("0000-")), last != "" && beyondYear9999(text)
	switch {
	case e.key && (yearZero || beyond): // somebody has given the column this type
		return dst, valueError("it is beyond the years 1 to 9999, and the nearest date would be another key")
	case yearZero:
		fixYearZero(text)
	case beyond:
		dst = append(dst[:start], last...)
	}
	return dst, nil
}

var ofClocks = func() (set [256]bool) {
	for _, b := range []byte("0123456789-+:.TtZz ") {
		set[b] = true
	}
	return set
}()

// fixYearZero makes 0001 of 0000; the year 1 is no leap year.
func fixYearZero(text []byte) {
	text[3] = '1'
	if len(text) >= 10 && bytes.HasPrefix(text[5:], []byte("02-29")) {
		text[9] = '8'
	}
}

// beyondYear9999 tells whether a date starts with five digits or more.
func beyondYear9999(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("+"))
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n > 4 && n < len(text) && text[n] == '-'
}
