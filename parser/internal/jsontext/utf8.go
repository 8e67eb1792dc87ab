package jsontext

import (
	"encoding/binary"
	"unicode/utf8"
)

// invalidUTF8 returns the place of the first byte of text that is no part of UTF-8, −1 if there is none. Unlike utf8.Valid it takes ASCII eight bytes at
// a time again after a character that is not.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&highBits == 0 {
			i += 8
		}
		// To the end of a run of others.
		for limit := min(i+8, len(text)); i < limit; {
			if text[i] < utf8.RuneSelf {
				i++
				continue
			}
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				return i
			}
			i += size
		}
	}
	return -1
}
