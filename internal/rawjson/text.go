package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends what the inside of a JSON string spells: escapes undone, U+FFFD for lone surrogates and for bytes that are no UTF-8.
func AppendUnquoted(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return appendUTF8(dst, raw)
		}
		dst = appendUTF8(dst, raw[:i])
		if raw = raw[i+1:]; len(raw) == 0 {
			return append(dst, '\\')
		}
		c := raw[0]
		switch c {
		case 'u':
			var r rune
			r, raw = unescape(raw)
			dst = utf8.AppendRune(dst, r)
			continue
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		}
		dst = append(dst, c)
		raw = raw[1:]
	}
}

// unescape reads the escape whose backslash stood before raw: "u" and four digits, and the second half of a surrogate pair.
func unescape(raw []byte) (rune, []byte) {
	r := unit(raw)
	if r < 0 {
		return utf8.RuneError, raw[1:]
	}
	raw = raw[5:]
	if !utf16.IsSurrogate(r) {
		return r, raw
	}
	if len(raw) > 0 && raw[0] == '\\' {
		if pair := utf16.DecodeRune(r, unit(raw[1:])); pair != utf8.RuneError {
			return pair, raw[6:]
		}
	}
	return utf8.RuneError, raw
}

// unit reads "u" and four hexadecimal digits; negative: they are not there.
func unit(raw []byte) rune {
	if len(raw) < 5 || raw[0] != 'u' {
		return -1
	}
	a, b, c, d := hex(raw[1]), hex(raw[2]), hex(raw[3]), hex(raw[4])
	if a < 0 || b < 0 || c < 0 || d < 0 {
		return -1
	}
	return a<<12 | b<<8 | c<<4 | d
}

func appendUTF8(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// AppendQuoted appends a text as a JSON string, U+FFFD for bytes that are no UTF-8.
func AppendQuoted(dst, text []byte) []byte {
	if !utf8.Valid(text) {
		text = appendUTF8(nil, text)
	}
	dst = append(dst, '"')
	for len(text) > 0 {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			break
		}
		dst = appendEscape(dst, text[n])
		text = text[n+1:]
	}
	return append(dst, '"')
}

// plain counts the bytes at the start of a text that stand for themselves in a JSON string.
func plain(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		if m := special(binary.LittleEndian.Uint64(text[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digit = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digit[c>>4], digit[c&15])
}

// AppendCompact appends a valid JSON text without the space outside its strings. Of a text that is not valid it appends what it can.
func AppendCompact(dst, doc []byte) []byte {
	from := 0
	for i := 0; i < len(doc); {
		switch doc[i] {
		case '"':
			i, _ = skipString(doc, i+1)
		case ' ', '\n', '\r', '\t':
			dst = append(dst, doc[from:i]...)
			i = space(doc, i)
			from = i
		default:
			i++
		}
	}
	return append(dst, doc[from:]...)
}
