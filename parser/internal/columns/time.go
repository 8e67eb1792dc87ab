package columns

import (
	"time"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// isOffset tells whether a text is Z or like +01:30.
func isOffset(text string) bool {
	return text == "Z" || len(text) == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
		allDigits([]byte(text[1:3])) && allDigits([]byte(text[4:])) && text[1:3] <= "23" && text[4:] <= "59"
}

// appendTime appends a date and a time, with a blank or a T between them, as RFC 3339. One without a zone gets the offset. ok is false for all other text.
func appendTime(dst, text []byte, offset string) (out []byte, ok bool) {
	const clock = "2006-01-02T15:04:05"
	if len(text) < len(clock) || len(text) > len(clock)+len(".123456789 +00:00") {
		return dst, false
	}
	var buffer [48]byte
	b := append(buffer[:0], text[:len(clock)]...)
	if c := b[10]; c != ' ' && c != 'T' && c != 't' {
		return dst, false
	}
	b[10] = 'T'
	rest := text[len(clock):]
	if len(rest) > 0 && rest[0] == '.' {
		digits, zone := cutDigits(rest[1:])
		if len(digits) == 0 || len(digits) > 9 {
			return dst, false
		}
		b, rest = append(append(b, '.'), digits...), zone
	}
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	switch zone := string(rest); {
	case zone == "":
		b = append(b, offset...)
	case zone == "Z", zone == "z", zone == "UTC":
		b = append(b, 'Z')
	case len(zone) == 5 && isOffset(zone[:3]+":"+zone[3:]): // +0130
		b = append(append(append(b, zone[:3]...), ':'), zone[3:]...)
	case len(zone) == 3 && isOffset(zone+":00"):
		b = append(append(b, zone...), ":00"...)
	case isOffset(zone):
		b = append(b, zone...)
	default:
		return dst, false
	}
	if _, err := time.Parse(time.RFC3339Nano, string(b)); err != nil {
		return dst, false
	}
	return jsontext.AppendString(dst, b), true
}
