package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// MalformedError tells where bytes mean nothing in an encoding.
type MalformedError struct {
	Encoding string
	Byte     int64 // of the encoded file, from its start
	Bytes    []byte
	End      bool // the file ends inside a character
}

// Error is one sentence.
func (e *MalformedError) Error() string {
	if e.End {
		return fmt.Sprintf("the text ends inside a %s character (% x)", e.Encoding, e.Bytes)
	}
	return fmt.Sprintf("the bytes % x are no %s text", e.Bytes, e.Encoding)
}

// NewReader decodes r to UTF-8. at is the position of r's first byte in the file, for errors. UTF-8 comes back as r itself. A byte order mark at the start
// is the caller's to skip.
func NewReader(r io.Reader, e Encoding, at int64) io.Reader {
	if e.IsUTF8() {
		return r
	}
	d := &reader{in: r, at: at, name: e.name}
	switch e.family {
	case utf16Family:
		d.decode = decodeUTF16(e.big)
	case utf32Family:
		d.decode = decodeUTF32(e.big)
	case singleByte:
		d.decode = decodeSingle(e.full)
	default:
		d.decode = decodeMulti(e.full)
	}
	d.src, d.dst = make([]byte, 0, readBytes), make([]byte, 0, readBytes*maxGrowth)
	return d
}

const (
	readBytes = 32 << 10
	// maxGrowth is how many bytes of UTF-8 one byte may become: three in a single-byte encoding.
	maxGrowth = 3
)

// decoder appends the text of src to dst, as far as characters are whole, and returns how many bytes of src it took. bad is the length of a malformed
// sequence that begins there; 0: none. end: nothing follows src.
type decoder func(dst, src []byte, end bool) (out []byte, took, bad int)

type reader struct {
	in     io.Reader
	name   string
	decode decoder
	at     int64  // position of src[0] in the file
	src    []byte // encoded, not decoded yet
	dst    []byte // decoded, not handed out yet
	out    int    // from where
	err    error
}

func (d *reader) Read(p []byte) (int, error) {
	for d.out == len(d.dst) {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.dst[d.out:])
	d.out += n
	return n, nil
}

func (d *reader) fill() {
	d.dst, d.out = d.dst[:0], 0
	n, err := d.in.Read(d.src[len(d.src):cap(d.src)])
	d.src = d.src[:len(d.src)+n]
	ended := err != nil && errors.Is(err, io.EOF)
	var took, bad int
	d.dst, took, bad = d.decode(d.dst, d.src, ended)
	rest := d.src[took:]
	switch {
	case bad > 0:
		d.err = d.malformed(took, rest[:min(bad, len(rest))], false)
	case ended && len(rest) > 0:
		d.err = d.malformed(took, rest, true)
	case err != nil:
		d.err = err
	case n == 0 && len(d.src) == cap(d.src):
		d.err = io.ErrNoProgress
	}
	d.at += int64(took)
	d.src = append(d.src[:0], rest...)
}

func (d *reader) malformed(took int, sequence []byte, end bool) error {
	return &MalformedError{Encoding: d.name, Byte: d.at + int64(took), Bytes: bytes.Clone(sequence[:min(len(sequence), 8)]), End: end}
}

// decodeUTF16 refuses surrogates that stand alone.
func decodeUTF16(big bool) decoder {
	hi, lo := 1, 0
	if big {
		hi, lo = 0, 1
	}
	return func(dst, src []byte, _ bool) ([]byte, int, int) {
		i := 0
		for ; i+2 <= len(src); i += 2 {
			r := rune(src[i+hi])<<8 | rune(src[i+lo])
			switch {
			case r < utf8.RuneSelf:
				dst = append(dst, byte(r))
			case !utf16.IsSurrogate(r):
				dst = utf8.AppendRune(dst, r)
			case r >= 0xdc00:
				return dst, i, 2
			case i+4 > len(src):
				return dst, i, 0
			default:
				pair := utf16.DecodeRune(r, rune(src[i+2+hi])<<8|rune(src[i+2+lo]))
				if pair == utf8.RuneError {
					return dst, i, 2
				}
				dst = utf8.AppendRune(dst, pair)
				i += 2
			}
		}
		return dst, i, 0
	}
}

func decodeUTF32(big bool) decoder {
	return func(dst, src []byte, _ bool) ([]byte, int, int) {
		i := 0
		for ; i+4 <= len(src); i += 4 {
			b := src[i : i+4]
			r := rune(b[3])<<24 | rune(b[2])<<16 | rune(b[1])<<8 | rune(b[0])
			if big {
				r = rune(b[0])<<24 | rune(b[1])<<16 | rune(b[2])<<8 | rune(b[3])
			}
			if !utf8.ValidRune(r) {
				return dst, i, 4
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, i, 0
	}
}

// decodeSingle makes a table of 256 entries. What an encoding leaves undefined is an error, but for the bytes from 80 to 9f: the WHATWG's tables have the C1
// controls of the same number where the ISO and Microsoft have nothing (https://encoding.spec.whatwg.org/index-windows-1252.txt and its neighbours).
func decodeSingle(e encoding.Encoding) decoder {
	var table [256]string
	for b := range 256 {
		out, err := e.NewDecoder().Bytes([]byte{byte(b)})
		if err == nil && string(out) != string(utf8.RuneError) {
			table[b] = string(out)
		} else if b >= 0x80 && b < 0xa0 {
			table[b] = string(rune(b))
		}
	}
	return func(dst, src []byte, _ bool) ([]byte, int, int) {
		for i, b := range src {
			if b < utf8.RuneSelf && len(table[b]) == 1 {
				dst = append(dst, table[b][0])
				continue
			}
			if table[b] == "" {
				return dst, i, 1
			}
			dst = append(dst, table[b]...)
		}
		return dst, len(src), 0
	}
}

// decodeMulti drives a decoder that replaces what it cannot read. Of these encodings only GB 18030 can write U+FFFD itself; so its appearance tells, and
// where it came from is looked for then.
func decodeMulti(e encoding.Encoding) decoder {
	t := e.NewDecoder()
	// behind is at the start of what t decodes next: ISO-2022-JP has states.
	var behind *encoding.Decoder
	if e == japanese.ISO2022JP {
		behind = e.NewDecoder()
	}
	return func(dst, src []byte, end bool) ([]byte, int, int) {
		took := 0
		for took < len(src) || end {
			from := len(dst)
			n, m, err := t.Transform(dst[from:cap(dst)], src[took:], end)
			dst = dst[:from+n]
			if bytes.Contains(dst[from:], replacement) {
				from := behind
				if from == nil {
					from = e.NewDecoder()
				}
				out, good, bad := appendGood(dst[:len(dst)-n], from, src[took:took+m], end && took+m == len(src))
				if bad > 0 {
					return out, took + good, bad
				}
			} else if behind != nil && m > 0 {
				_, _, _ = behind.Transform(make([]byte, n), src[took:took+m], false)
			}
			took += m
			if !errors.Is(err, transform.ErrShortDst) {
				return dst, took, 0
			}
			dst = append(dst, make([]byte, readBytes)...)[:len(dst)]
		}
		return dst, took, 0
	}
}

// replacement as UTF-8, and as GB 18030.
var (
	replacement   = []byte(string(utf8.RuneError))
	replacementGB = []byte("\x84\x31\xa4\x37")
)

// appendGood appends the text before the first malformed sequence of src, decoding a character at a time, and returns where and how long that is; bad is 0
// when there is none.
func appendGood(dst []byte, t *encoding.Decoder, src []byte, end bool) (out []byte, good, bad int) {
	var text [64]byte
	for good < len(src) {
		n, took := 0, 0
		for size := 1; took == 0 && good+size <= len(src); size++ {
			n, took, _ = t.Transform(text[:], src[good:good+size], end && good+size == len(src))
		}
		if sequence := src[good : good+took]; took == 0 || bytes.Contains(text[:n], replacement) && !bytes.Equal(sequence, replacementGB) {
			return dst, good, max(1, took)
		}
		dst = append(dst, text[:n]...)
		good += took
	}
	return dst, good, 0
}
