package compress

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// refusal is a kind of file that is recognised to be told, not to be read.
type refusal struct {
	is       func(head []byte) bool
	sentence string
}

// RefuseBytes is how many bytes of a file Refuse looks at: a tar archive tells its name in byte 257.
const RefuseBytes = 512

var refused = []refusal{
	{prefix("\x1f\x9d"), "it is compressed by compress (.Z), which is not supported: compress it with gzip or zstd"},
	{isLZMA, "it is a bare .lzma stream, which is not supported: compress it with xz"},
	{prefix("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "it is an Excel workbook (.xls), which is not supported: save it as CSV"},
	{isTar, "it is a tar archive, which is not supported: upload its members, or a zip archive of them"},
	{prefix("7z\xbc\xaf\x27\x1c"), "it is a 7z archive, which is not supported: upload its members, or a zip archive of them"},
}

// Refuse returns the sentence for a kind of file that its bytes tell and that cannot be read; empty: none of these.
func Refuse(head []byte) string {
	for _, r := range refused {
		if r.is(head) {
			return r.sentence
		}
	}
	return ""
}

// byName are compressions without a magic of their own. What bears such a name, or is declared so, and is no text is refused.
var byName = []struct{ endings, sentence string }{
	{".br br", "it is compressed with brotli, which no magic number tells and which is not supported: compress it with gzip or zstd"},
	{".snappy .sz snappy x-snappy-raw", "it is compressed with snappy without its framing (as raw and Hadoop files are), which is not supported: compress it with gzip or zstd"},
	{".lz4 lz4", "it is compressed with lz4 without its frames (as Hadoop files are), which is not supported: compress it with the lz4 tool"},
	{".lzma lzma", "it is a bare .lzma stream, which is not supported: compress it with xz"},
	{".lzo .zz .deflate deflate", "its compression has no magic number and is not supported: compress it with gzip or zstd"},
}

// RefuseNamed returns the sentence for bytes that are no text under a name's last extension (with its dot) or a content encoding that promises a
// compression which Detect cannot know; empty: read them as they are.
func RefuseNamed(extension, encoding string, head []byte) string {
	if Text(head) {
		return ""
	}
	for _, n := range byName {
		for word := range strings.FieldsSeq(n.endings) {
			if strings.EqualFold(word, extension) || strings.EqualFold(word, encoding) {
				return n.sentence
			}
		}
	}
	return ""
}

// Text tells whether head could begin a text file: valid UTF-8, but for a rune cut at the end, without control bytes other than blanks.
func Text(head []byte) bool {
	for i := 0; i < len(head); {
		c := head[i]
		if c < utf8.RuneSelf {
			if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a\x1b\x1e\x1f\x01", rune(c)) || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head[i:])
		}
		i += n
	}
	return true
}

func prefix(magic string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// isTar looks for "ustar" and what follows it: a NUL and a version in POSIX archives, blanks in GNU's. The word alone may stand in a text.
func isTar(head []byte) bool {
	return len(head) >= 265 && (bytes.Equal(head[257:265], []byte("ustar\x0000")) || bytes.Equal(head[257:265], []byte("ustar  \x00")))
}

// isLZMA goes by the properties that every tool writes, a dictionary size of 2^n or 2^n + 2^(n-1), and a length that is unknown or plausible.
func isLZMA(head []byte) bool {
	if len(head) < 13 || head[0] != 0x5d {
		return false
	}
	dictionary, size := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint64(head[5:])
	for n := uint(12); n < 32; n++ {
		if dictionary == 1<<n || dictionary == 1<<n+1<<(n-1) || dictionary == 1<<32-1 {
			return size == 1<<64-1 || size < 1<<48
		}
	}
	return false
}
