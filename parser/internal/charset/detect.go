package charset

import (
	"bytes"
	"unicode/utf8"
)

// SampleBytes is how much of a file Detect wants to see.
const SampleBytes = 64 << 10

// nulSample is where zero bytes are counted: text without a byte order mark in UTF-16 or UTF-32 shows them at once.
const nulSample = 1024

// Detected is what was found out about a file.
type Detected struct {
	Encoding
	// Mark is the length of the byte order mark, which is no text, in bytes.
	Mark int
	// Guessed tells that nothing named the encoding and it is not UTF-8: windows-1252 is taken, in which any bytes are text.
	Guessed bool
}

var marks = []struct {
	bytes string
	is    Encoding
}{
	{"\xff\xfe\x00\x00", utf32le}, // before UTF-16LE, whose mark it begins with
	{"\x00\x00\xfe\xff", utf32be},
	{"\xef\xbb\xbf", Encoding{}},
	{"\xff\xfe", utf16le},
	{"\xfe\xff", utf16be},
}

// Detect decides how a file that begins with sample is encoded. A byte order mark counts most; then explicit, the label from the config, then hint, that of
// the content type (both may be nil), then the pattern of zero bytes, then validity as UTF-8. whole: the sample is all of the file.
func Detect(sample []byte, whole bool, explicit, hint *Encoding) Detected {
	for _, m := range marks {
		if bytes.HasPrefix(sample, []byte(m.bytes)) {
			return Detected{Encoding: m.is, Mark: len(m.bytes)}
		}
	}
	switch {
	case explicit != nil:
		return Detected{Encoding: *explicit}
	case hint != nil:
		return Detected{Encoding: *hint}
	}
	if e, ok := byZeros(sample); ok {
		return Detected{Encoding: e}
	}
	if validUTF8(sample, whole) {
		return Detected{}
	}
	return Detected{Encoding: windows1252, Guessed: true}
}

// byZeros looks in which of four places zero bytes stand: Latin letters have three in UTF-32 and one in UTF-16.
func byZeros(sample []byte) (Encoding, bool) {
	sample = sample[:min(len(sample), nulSample)&^3]
	var zeros [4]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&3]++
		}
	}
	places := len(sample) / 4
	many := func(i int) bool { return zeros[i]*10 >= places*6 } // texts with some CJK between Latin letters, too
	few := func(i int) bool { return zeros[i]*10 <= places*2 }
	switch {
	case places == 0:
		return Encoding{}, false
	case few(0) && many(2) && many(3) && zeros[3] == places:
		return utf32le, true
	case few(3) && many(0) && many(1) && zeros[0] == places:
		return utf32be, true
	case few(0) && few(2) && many(1) && many(3):
		return utf16le, true
	case many(0) && many(2) && few(1) && few(3):
		return utf16be, true
	}
	return Encoding{}, false
}

// validUTF8 forgives a rune that the end of the sample cuts.
func validUTF8(sample []byte, whole bool) bool {
	if whole {
		return utf8.Valid(sample)
	}
	for i := 1; i < utf8.UTFMax && i <= len(sample); i++ {
		if tail := sample[len(sample)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				sample = sample[:len(sample)-i]
			}
			break
		}
	}
	return utf8.Valid(sample)
}
