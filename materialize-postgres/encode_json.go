package main

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/pgwire"
)

// appendJSON appends a value as it is.
func appendJSON(_ *encoder, dst, value []byte) ([]byte, error) {
	i := plain(value)
	if i == len(value) {
		return append(dst, value...), nil
	}
	rest := value[i:]
	if !utf8.Valid(rest) {
		rest = []byte(string([]rune(string(rest)))) // U+FFFD for each byte that is none, as in text
	}
	return pgwire.AppendCopyText(append(dst, value[:i]...), rest), nil
}

// appendJSONB does so without what jsonb refuses: the escape of U+0000, and halves of surrogate pairs.
func appendJSONB(e *encoder, dst, value []byte) ([]byte, error) {
	if bytes.Contains(value, []byte(`\u`)) {
		var found bool
		if e.scratch, found = appendCleanEscapes(e.scratch[:0], value); found {
			if err := e.nul(); err != nil {
				return dst, err
			}
		}
		value = e.scratch
	}
	return appendJSON(e, dst, value)
}

// appendCleanEscapes copies JSON without the escape of U+0000, and with U+FFFD for halves of surrogate pairs. It tells whether U+0000 was there.
func appendCleanEscapes(dst, value []byte) (out []byte, nul bool) {
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' || i+1 >= len(value) {
			dst = append(dst, value[i])
			continue
		}
		if value[i+1] != 'u' || i+6 > len(value) {
			dst = append(dst, value[i], value[i+1])
			i++
			continue
		}
		unit := codeUnit(value[i+2 : i+6])
		switch {
		case unit == 0:
			nul = true
		case unit >= 0xD800 && unit < 0xDC00 && i+12 <= len(value) && value[i+6] == '\\' && value[i+7] == 'u' && codeUnit(value[i+8:i+12])&0xFC00 == 0xDC00:
			dst = append(dst, value[i:i+12]...)
			i += 6
		case unit&0xF800 == 0xD800:
			dst = append(dst, "\uFFFD"...)
		default:
			dst = append(dst, value[i:i+6]...)
		}
		i += 5
	}
	return dst, nul
}

// codeUnit reads four hexadecimal digits.
func codeUnit(digits []byte) int {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil {
		return 0xFFFF // the document was checked; a noncharacter passes unchanged
	}
	return int(n)
}
