package jsontext

import "slices"

// AppendValue checks raw, which must be one JSON value of any kind with blanks around it, and appends it on one line: without blanks between its tokens,
// escapes of lone surrogates as \ufffd. When raw is no JSON or beyond the options it returns dst as it was, and false.
func AppendValue(dst, raw []byte, o Options) ([]byte, bool) {
	o = o.withDefaults()
	raw = raw[next(raw, 0):]
	start, n := len(dst), len(raw)
	if n > o.MaxValue {
		return dst, false
	}
	dst = slices.Grow(dst, n+padding)[:start+n+padding]
	text := dst[start:]
	copy(text, raw)
	clear(text[n:])
	c := checker{maxDepth: o.MaxDepth}
	end, found := c.check(text, n)
	if found != complete || next(text[:n], end) != n {
		return dst[:start], false
	}
	if c.blank {
		end = compact(text[:end])
	}
	return dst[:start+end], true
}

// compact removes what is blank between the tokens of valid JSON, in place, and returns how much is left.
func compact(text []byte) int {
	to := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			end := skipString(text, i)
			to += copy(text[to:], text[i:end])
			i = end
		default:
			text[to] = text[i]
			to++
			i++
		}
	}
	return to
}
