package compress

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func packed(t testing.TB, format Format, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch format {
	case Gzip:
		w = gzip.NewWriter(&out)
	case Zstd:
		w, err = zstd.NewWriter(&out)
	case LZ4:
		w = lz4.NewWriter(&out)
	case "legacy":
		z := lz4.NewWriter(&out)
		err = z.Apply(lz4.LegacyOption(true))
		w = z
	case Snappy:
		w = s2.NewWriter(&out, s2.WriterSnappyCompat())
	case XZ:
		w, err = xz.NewWriter(&out)
	default: // Bzip2
		// What the bzip2 tool makes of "a,b\n1,2\n"; the standard library only reads.
		raw, _ := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWb+HQH8AAANZAAAQAAQwADAAIAAwwAhpsogjJ4u5IpwoSF/DoD+A")
		if text != "a,b\n1,2\n" {
			t.Fatalf("no bzip2 of %q is known", text)
		}
		return raw
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(raw []byte) (text string, layers []Format, warnings []string, err error) {
	s, err := Open(iotest.OneByteReader(bytes.NewReader(raw)), false, func(w string) { warnings = append(warnings, w) })
	if err != nil {
		return "", nil, warnings, err
	}
	defer s.Close()
	all, err := io.ReadAll(s)
	return string(all), s.Layers, warnings, err
}

var streamed = []Format{Gzip, Zstd, LZ4, "legacy", Snappy, XZ, Bzip2}

const small = "a,b\n1,2\n"

func TestOpen_ReadsEveryFormatAndSeveralInARow(t *testing.T) {
	for _, format := range streamed {
		one := packed(t, format, small)
		for n := 1; n <= 3; n++ {
			got, layers, warnings, err := unpack(bytes.Repeat(one, n))
			if err != nil || got != strings.Repeat(small, n) || len(layers) != 1 || warnings != nil {
				t.Errorf("%s, %d in a row: got %q, layers %v, warnings %q, %v", format, n, got, layers, warnings, err)
			}
		}
	}
}

// A file that was cut anywhere never looks whole. Where one frame ends and the next begins nobody can see a cut, so the text must be whole there.
func TestOpen_NeverTakesAPartForTheWhole(t *testing.T) {
	for _, format := range streamed {
		one := packed(t, format, small)
		for n := 10; n < len(one); n++ {
			got, _, _, err := unpack(one[:n])
			whole := format == Snappy && n == magicBytes || got == small && (format == Snappy || format == "legacy")
			if err == nil && !whole {
				t.Errorf("%s cut after %d of %d bytes: got %q and no error", format, n, len(one), got)
			}
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut after %d of %d bytes: %v is no early end", format, n, len(one), err)
			}
		}
	}
}

func TestOpen_RefusesBrokenBytes(t *testing.T) {
	for _, format := range []Format{Gzip, Zstd, XZ, Bzip2, LZ4, Snappy} {
		one := packed(t, format, small)
		found := 0
		for i := 10; i < len(one); i++ {
			broken := bytes.Clone(one)
			broken[i] ^= 0x55
			if got, _, _, err := unpack(broken); err != nil {
				found++
			} else if got != small {
				t.Errorf("%s with byte %d changed gives %q and no error", format, i, got)
			}
		}
		if found == 0 {
			t.Errorf("%s: no change was found", format)
		}
	}
}

// A source's own error is not the codec's: the one is tried again, the other is in the file.
func TestOpen_PassesTheSourcesErrorThrough(t *testing.T) {
	gone := errors.New("connection reset")
	for _, format := range streamed {
		one := packed(t, format, small)
		for _, n := range []int{0, 2, 10, len(one) / 2, len(one) - 1} {
			s, err := Open(io.MultiReader(bytes.NewReader(one[:n]), iotest.ErrReader(gone)), false, nil)
			if err == nil {
				_, err = io.ReadAll(s)
			}
			if !errors.Is(err, gone) {
				t.Errorf("%s after %d bytes: got %v", format, n, err)
			}
		}
	}
}

// An error that codecs would take for the end, between two frames or behind a layer, does not make a part of a file the whole; nor does a stuck reader.
func TestOpen_AFailureIsNoEnd(t *testing.T) {
	for _, format := range streamed {
		one := packed(t, format, small)
		all := map[string][]byte{"": one}
		for _, outer := range []Format{Gzip, Zstd, LZ4, Snappy, XZ} {
			all[" in "+string(outer)] = packed(t, outer, string(one))
		}
		for in, raw := range all {
			for _, gone := range []error{io.ErrUnexpectedEOF, fmt.Errorf("broken: %w", io.EOF)} {
				step := 1 + min(len(in), 10) // inside of another layer some of the places must do
				for n := len(raw); n >= magicBytes; n -= step {
					s, err := Open(io.MultiReader(bytes.NewReader(raw[:n]), iotest.ErrReader(gone)), false, nil)
					if err == nil {
						_, err = io.ReadAll(s)
					}
					if !errors.Is(err, gone) {
						t.Errorf("%s%s, %v after %d bytes of %d: got %v", format, in, gone, n, len(raw), err)
					}
				}
			}
			s, err := Open(io.MultiReader(bytes.NewReader(raw[:len(raw)-1]), stuck{}), false, nil)
			if err == nil {
				_, err = io.ReadAll(s)
			}
			if err != io.ErrNoProgress {
				t.Errorf("%s%s, stuck: got %v", format, in, err)
			}
		}
	}
}

// stuck gives nothing, and no end.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// bug streams-files-parser 12: Vector #7061, only the first gzip member is read
// bug streams-files-parser 41: Go #47809 and #61797, garbage behind a gzip member is "invalid header"
func TestGzip_MembersAndTails(t *testing.T) {
	a, b := packed(t, Gzip, "a,b\n1,2\n"), packed(t, Gzip, "3,4\n")
	both := string(a) + string(b)
	for _, c := range []struct{ name, in, want, warning, err string }{
		{"two members", both, "a,b\n1,2\n3,4\n", "", ""},
		{"an empty member between", string(a) + string(packed(t, Gzip, "")) + string(b), "a,b\n1,2\n3,4\n", "", ""},
		{"a member of nothing", string(packed(t, Gzip, "")), "", "", ""},
		{"one zero", both + "\x00", "a,b\n1,2\n3,4\n", "1 zero bytes", ""},
		{"nine zeros", both + strings.Repeat("\x00", 9), "a,b\n1,2\n3,4\n", "9 zero bytes", ""},
		{"a block of zeros", both + strings.Repeat("\x00", 100000), "a,b\n1,2\n3,4\n", "100000 zero bytes", ""},
		{"zeros between members", string(a) + strings.Repeat("\x00", 300) + string(b), "a,b\n1,2\n3,4\n", "", ""},
		{"junk", both + "junk and more junk", "a,b\n1,2\n3,4\n", fmt.Sprintf("what follows member 2 in byte %d is no gzip", len(both)), ""},
		{"one byte of junk", both + "j", "a,b\n1,2\n3,4\n", "what follows member 2", ""},
		{"zeros, then junk", both + "\x00\x00junk", "a,b\n1,2\n3,4\n", "what follows member 2", ""},
		{"the second member cut", both[:len(both)-5], "a,b\n1,2\n3,4\n", "", "member 2: unexpected EOF"},
		{"its header cut", both[:len(a)+5], "a,b\n1,2\n", "", "member 2: unexpected EOF"},
		{"its magic cut", both[:len(a)+2], "a,b\n1,2\n", "", "too early"},
		{"its first byte", both[:len(a)+1], "a,b\n1,2\n", "", "too early"},
		{"another method", string(a) + "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00\x00", "a,b\n1,2\n", "", "gzip: the compressed bytes are broken: member 2: gzip: invalid header"},
		{"a wrong checksum", both[:len(both)-8] + "\x00" + both[len(both)-7:], "a,b\n1,2\n3,4\n", "", "member 2: gzip: invalid checksum"},
	} {
		got, _, warnings, err := unpack([]byte(c.in))
		if got != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
		if all := strings.Join(warnings, "; "); !strings.Contains(all, c.warning) || c.warning == "" && all != "" {
			t.Errorf("%s: got the warning %q, want %q", c.name, all, c.warning)
		}
		if text := fmt.Sprint(err); (err != nil) != (c.err != "") || err != nil && !strings.Contains(text, c.err) {
			t.Errorf("%s: got the error %q, want %q", c.name, text, c.err)
		}
	}
}

func TestOpen_RefusesTailsBehindOtherFormats(t *testing.T) {
	for _, format := range []Format{Zstd, LZ4, Bzip2, XZ} {
		for _, tail := range []string{strings.Repeat("\x00", 10), "junk and more junk"} {
			if got, _, _, err := unpack([]byte(string(packed(t, format, small)) + tail)); err == nil {
				t.Errorf("%s with the tail %q: got %q and no error", format, tail, got)
			}
		}
	}
	if got, _, _, err := unpack([]byte(string(packed(t, XZ, small)) + "\x00\x00\x00\x00" + string(packed(t, XZ, small)) + "\x00\x00\x00\x00\x00\x00\x00\x00")); got != small+small || err != nil {
		t.Errorf("xz with stream padding: got %q, %v", got, err)
	}
}

func TestOpen_TakesOffThreeLayersAndNoMore(t *testing.T) {
	inside := []byte(small)
	for n := 1; n <= 4; n++ {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(inside)
		w.Close()
		inside = out.Bytes()
		got, layers, _, err := unpack(inside)
		if n <= 3 && (err != nil || got != small || len(layers) != n) {
			t.Errorf("%d layers: got %q, %v, %v", n, got, layers, err)
		}
		if limit, ok := errors.AsType[*Error](err); n == 4 && (!ok || !limit.Limit || err.Error() != "gzip: the file is compressed more than 3 times") {
			t.Errorf("4 layers: got %v", err)
		}
	}
	got, layers, _, err := unpack(packed(t, Gzip, string(packed(t, Zstd, string(packed(t, XZ, small))))))
	if err != nil || got != small || fmt.Sprint(layers) != "[gzip zstd xz]" {
		t.Errorf("got %q, %v, %v", got, layers, err)
	}
}

func TestOpen_LeavesPlainBytesAndArchivesAlone(t *testing.T) {
	for _, c := range []struct {
		in  string
		zip bool
	}{{"", false}, {"a", false}, {"BZh9 is how bzip2 files begin\n", false}, {"PK\x03\x04…", true}, {"PK\x05\x06" + strings.Repeat("\x00", 18), true}} {
		s, err := Open(strings.NewReader(c.in), false, nil)
		if err != nil || s.Zip != c.zip || s.Layers != nil {
			t.Fatalf("%q: got %+v, %v", c.in, s, err)
		}
		if got, err := io.ReadAll(s); string(got) != c.in || err != nil {
			t.Errorf("%q: got %q, %v", c.in, got, err)
		}
	}
	s, err := Open(bytes.NewReader(packed(t, Gzip, small)), true, nil)
	if got, _ := io.ReadAll(s); err != nil || !bytes.Equal(got, packed(t, Gzip, small)) {
		t.Errorf("never: got %q, %v", got, err)
	}
}

func TestDetect_WantsTheExactMagic(t *testing.T) {
	for _, c := range []struct {
		head string
		want Format
	}{
		{"\x1f\x8b\x08", Gzip},
		{"\x1f\x8b\x07", None},
		{"\x1f\x8b", None},
		{"BZh91AY&SY", Bzip2},
		{"BZh1\x17\x72\x45\x38\x50\x90", Bzip2},
		{"BZh01AY&SY", None},
		{"BZh9,header", None},
		{"BZh91AY&S", None},
		{"\xfd7zXZ\x00", XZ},
		{"\xfd7zXZ", None},
		{"\x28\xb5\x2f\xfd", Zstd},
		{"\x50\x2a\x4d\x18", Zstd},
		{"\x5f\x2a\x4d\x18", Zstd},
		{"\x60\x2a\x4d\x18", None},
		{"\x04\x22\x4d\x18", LZ4},
		{"\x02\x21\x4c\x18", LZ4},
		{"\x03\x21\x4c\x18", None},
		{"\xff\x06\x00\x00sNaPpY", Snappy},
		{"\xff\x06\x00\x00S2sTwO", None},
		{"PK\x03\x04", Zip},
		{"PK\x05\x06", Zip},
		{"PK\x07\x08", None},
		{"PKoo", None},
		{"PAR1", None},
		{"", None},
	} {
		if got := Detect([]byte(c.head)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.head, got, c.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	tar := append(make([]byte, 257), "ustar\x0000"...)
	gnu := append(make([]byte, 257), "ustar  \x00"...)
	for _, c := range []struct{ head, want string }{
		{string(tar), "tar archive"},
		{string(gnu), "tar archive"},
		{strings.Repeat("x", 257) + "ustar is a word", ""},
		{"\x1f\x9d\x90", ".Z"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel"},
		{"7z\xbc\xaf\x27\x1c", "7z"},
		{"\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff", ".lzma"},
		{"]\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"], 1, 2, 3, 4, 5, 6", ""},
		{"a,b\n", ""},
		{"", ""},
	} {
		if got := Refuse([]byte(c.head)); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%.20q: got %q, want %q", c.head, got, c.want)
		}
	}
	for _, c := range []struct{ extension, encoding, head, want string }{
		{".br", "", "\x8b\x02\x80a,b\n", "brotli"},
		{"", "br", "\x8b\x02\x80a,b\n", "brotli"},
		{".br", "", "a,b\n", ""},
		{".snappy", "", "\x08\x1ca,b\n1,2\n\x00", "snappy"},
		{".SNAPPY", "", "\x00\x00\x00\x08", "snappy"},
		{".lz4", "", "\x00\x00\x00\x08", "lz4"},
		{".csv", "", "\x00", ""},
	} {
		if got := RefuseNamed(c.extension, c.encoding, []byte(c.head)); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s %q: got %q, want %q", c.extension, c.encoding, c.head, got, c.want)
		}
	}
}

// header is an .xz stream up to the header of its first block, with a filter.
func header(filter ...byte) []byte {
	block := append([]byte{0, 0}, filter...)
	for len(block)%4 != 0 {
		block = append(block, 0)
	}
	block[0] = byte(len(block) / 4)
	return append(append(append([]byte{}, "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46"...), block...), make([]byte, 100)...)
}

func TestOpen_RefusesTooLargeWindows(t *testing.T) {
	var flat bytes.Buffer
	w, _ := flate.NewWriter(&flat, 1)
	w.Close()
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"xz of 1.5 GiB", header(0x21, 1, 37), "xz: it declares a dictionary of 1536 MiB; at most 64 MiB are allowed (xz -9)"},
		{"xz of 4 GiB", header(0x21, 1, 40), "at most 64 MiB"},
		{"xz of 96 MiB", header(0x21, 1, 29), "xz: it declares a dictionary of 96 MiB; at most 64 MiB are allowed (xz -9)"},
		{"xz behind a filter", append(header(4, 0, 0x21, 1, 37)[:13], 1, 4, 0, 0x21, 1, 37, 0, 0, 0, 0, 0, 0, 0, 0), "xz: the filter 0x4 is not supported"},
		{"zstd of 2 GiB", []byte("\x28\xb5\x2f\xfd\x00\xa8" + "\x01\x00\x00"), "zstd: the frame needs a window of more than 128 MiB"},
	} {
		_, _, _, err := unpack(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, format := range streamed {
		f.Add(packed(f, format, small))
	}
	f.Add(header(0x21, 1, 22))
	f.Add([]byte(small))
	zeros := packed(f, Gzip, strings.Repeat("0", 2<<20)) // more than is read without a goroutine
	f.Add(zeros)
	f.Add(append(zeros, "junk"...))
	f.Add(zeros[:len(zeros)-5])
	f.Add(append(make([]byte, 257), "ustar\x0000"...))
	f.Add([]byte("]\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if sentence := Refuse(raw) + RefuseNamed(".br", "", raw); len(sentence) > 300 {
			t.Error(sentence)
		}
		m := Member(Detect(raw), bytes.NewReader(raw))
		_, _ = io.Copy(io.Discard, io.LimitReader(m, 64<<20)) // it may fail, but not otherwise
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		s, err := Open(bytes.NewReader(raw), false, nil)
		if err != nil {
			return
		}
		defer s.Close()
		if n, err := io.Copy(io.Discard, io.LimitReader(s, 64<<20)); err == nil && s.Layers == nil && n != int64(len(raw)) {
			t.Errorf("%d of %d plain bytes came back", n, len(raw))
		}
	})
}
