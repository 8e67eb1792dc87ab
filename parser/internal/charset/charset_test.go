package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

func lookup(t testing.TB, label string) *Encoding {
	t.Helper()
	if label == "" {
		return nil
	}
	e, err := Lookup(label)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// bug streams-files-parser 20: predecessor, the configured encoding is not used
// bug streams-files-parser 23: predecessor, a byte order mark stays in the text
func TestDetect(t *testing.T) {
	latin := strings.Repeat("caf\xe9, ", 10)
	for _, c := range []struct {
		name, sample, explicit, hint string
		whole                        bool
		want                         string
		mark                         int
		guessed                      bool
	}{
		{"nothing", "", "", "", true, "utf-8", 0, false},
		{"ASCII", "a,b\n", "", "", true, "utf-8", 0, false},
		{"UTF-8", "é", "", "", true, "utf-8", 0, false},
		{"a rune cut by the sample", "caf\xc3", "", "", false, "utf-8", 0, false},
		{"a rune of four cut by the sample", "a\xf0\x9f\x98", "", "", false, "utf-8", 0, false},
		{"a rune cut by the end of the file", "caf\xc3", "", "", true, "windows-1252", 0, true},
		{"Latin-1", latin, "", "", true, "windows-1252", 0, true},
		{"explicit", latin, "iso-8859-2", "utf-8", true, "iso-8859-2", 0, false},
		{"explicit beats valid UTF-8", "é", "iso-8859-15", "", true, "iso-8859-15", 0, false},
		{"hint", latin, "", "iso-8859-2", true, "iso-8859-2", 0, false},
		{"mark of UTF-8", "\xef\xbb\xbfa", "", "", true, "utf-8", 3, false},
		{"a mark beats explicit utf-8", "\xff\xfea\x00", "utf-8", "", true, "utf-16le", 2, false},
		{"a mark beats an explicit order", "\xfe\xff\x00a", "utf-16le", "", true, "utf-16be", 2, false},
		{"utf-16 follows the mark", "\xfe\xff\x00a", "utf-16", "", true, "utf-16be", 2, false},
		{"utf-16 without a mark", "a\x00", "utf-16", "", true, "utf-16le", 0, false},
		{"utf-16le keeps no mark", "\xff\xfea\x00", "utf-16le", "", true, "utf-16le", 2, false},
		{"mark of UTF-32LE", "\xff\xfe\x00\x00a\x00\x00\x00", "", "", true, "utf-32le", 4, false},
		{"mark of UTF-32BE", "\x00\x00\xfe\xff\x00\x00\x00a", "", "", true, "utf-32be", 4, false},
		{"UTF-16LE by its zeros", "a\x00,\x00b\x00\n\x00", "", "", true, "utf-16le", 0, false},
		{"UTF-16BE by its zeros", "\x00a\x00,\x00b\x00\n", "", "", true, "utf-16be", 0, false},
		{"UTF-16LE with some other letters", "a\x00,\x00\x3d\xd8\x00\xdeb\x00\n\x00c\x00,\x00d\x00\n\x00", "", "", true, "utf-16le", 0, false},
		{"UTF-32LE by its zeros", "a\x00\x00\x00\n\x00\x00\x00", "", "", true, "utf-32le", 0, false},
		{"UTF-32BE by its zeros", "\x00\x00\x00a\x00\x00\x00\n", "", "", true, "utf-32be", 0, false},
		{"some NUL bytes in a text", "a,b\x00,c\nd,e,f\n", "", "", true, "utf-8", 0, false},
		{"half of it NUL bytes", "\x00\x00\x00\x00abcd\x00\x00\x00\x00abcd", "", "", true, "utf-8", 0, false},
	} {
		got := Detect([]byte(c.sample), c.whole, lookup(t, c.explicit), lookup(t, c.hint))
		if got.Name() != c.want || got.Mark != c.mark || got.Guessed != c.guessed {
			t.Errorf("%s: got %s, mark %d, guessed %v", c.name, got.Name(), got.Mark, got.Guessed)
		}
	}
}

func decode(in []byte, e Encoding, split func(io.Reader) io.Reader) (string, error) {
	all, err := io.ReadAll(NewReader(split(bytes.NewReader(in)), e, 0))
	return string(all), err
}

var splits = map[string]func(io.Reader) io.Reader{
	"whole":             func(r io.Reader) io.Reader { return r },
	"bytes":             iotest.OneByteReader,
	"sevens":            func(r io.Reader) io.Reader { return &sevens{r} },
	"data with the end": iotest.DataErrReader,
}

type sevens struct{ r io.Reader }

func (s *sevens) Read(p []byte) (int, error) { return s.r.Read(p[:min(7, len(p))]) }

func TestReader_Decodes(t *testing.T) {
	for _, c := range []struct{ label, in, want string }{
		{"windows-1252", "caf\xe9 \x80", "café €"},
		{"windows-1252", "\x81\x8d\x8f\x90\x9d", "\u0081\u008d\u008f\u0090\u009d"},
		{"windows-1250", "\x81\x83\x88\x90\x98", "\u0081\u0083\u0088\u0090\u0098"},
		{"windows-874", "\x80\x81\x9f", "€\u0081\u009f"},
		{"iso-8859-2", "\x80\x9f\xb1", "\u0080\u009fą"},
		{"iso-8859-15", "\x85\xa4", "\u0085€"},
		{"iso-8859-8-i", "\x8a\xe0", "\u008aא"},
		{"latin1", "\xe9\x80", "é€"}, // to the WHATWG a name of windows-1252
		{"iso-8859-15", "\xa4", "€"},
		{"cp437", "\x80\xe1\xb0", "Çß░"},
		{"cp850", "\x9b", "ø"},
		{"koi8-r", "\xcd\xc9\xd2", "мир"},
		{"macintosh", "\x8e", "é"},
		{"utf-16le", "a\x00\xac\x20\x3d\xd8\x00\xde", "a€😀"},
		{"utf-16be", "\x00a\x20\xac\xd8\x3d\xde\x00", "a€😀"},
		{"utf-32le", "a\x00\x00\x00\x00\xf6\x01\x00", "a😀"},
		{"utf-32be", "\x00\x00\x00a\x00\x01\xf6\x00", "a😀"},
		{"utf-32", "a\x00\x00\x00", "a"},
		{"shift_jis", "\x93\xfa\x96{", "日本"},
		{"euc-jp", "\xc6\xfc\xcb\xdc", "日本"},
		{"iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本"},
		{"gbk", "\xc4\xe3\xba\xc3", "你好"},
		{"gb18030", "\xc4\xe3\x84\x31\xa4\x37\x81\x30\x81\x30", "你\ufffd\u0080"},
		{"big5", "\xa7A\xa6n", "你好"},
		{"euc-kr", "\xc7\xd1", "한"},
		{" UTF-8 ", "é\xff", "é\xff"},
	} {
		for name, split := range splits {
			if got, err := decode([]byte(c.in), *lookup(t, c.label), split); got != c.want || err != nil {
				t.Errorf("%s in %s: got %q, %v, want %q", c.label, name, got, err, c.want)
			}
		}
		long := strings.Repeat(c.in, 20000) // over several buffers
		if got, err := decode([]byte(long), *lookup(t, c.label), splits["whole"]); got != strings.Repeat(c.want, 20000) || err != nil {
			t.Errorf("%s, repeated: %d bytes, %v", c.label, len(got), err)
		}
	}
}

func TestReader_RefusesWhatMeansNothing(t *testing.T) {
	for _, c := range []struct {
		label, in, good string
		at              int64
		want            string
	}{
		{"utf-16le", "a\x00\x00\xdcb\x00", "a", 2, "the bytes 00 dc are no utf-16le text"},
		{"utf-16le", "a\x00\x3d\xd8b\x00", "a", 2, "the bytes 3d d8 are no utf-16le text"},
		{"utf-16le", "a\x00b", "a", 2, "the text ends inside a utf-16le character (62)"},
		{"utf-16be", "\x00a\xd8\x3d", "a", 2, "the text ends inside a utf-16be character (d8 3d)"},
		{"utf-32le", "a\x00\x00\x00\x00\xd8\x00\x00", "a", 4, "the bytes 00 d8 00 00 are no utf-32le text"},
		{"utf-32le", "a\x00\x00\x00\x00\x00\x11\x00", "a", 4, "the bytes 00 00 11 00 are no utf-32le text"},
		{"utf-32be", "\x00\x00\x00a\xff", "a", 4, "the text ends inside a utf-32be character (ff)"},
		{"iso-8859-3", "a\xa5", "a", 1, "the bytes a5 are no iso-8859-3 text"},
		{"shift_jis", "\x93\xfa\xff\x93\xfa", "日", 2, "the bytes ff are no shift_jis text"},
		{"shift_jis", "\x93\xfa\x93", "日", 2, "the bytes 93 are no shift_jis text"},
		{"gb18030", "\xc4\xe3\x84\x31\xa4\x37\xff", "你\ufffd", 6, "the bytes ff are no gb18030 text"},
		{"euc-kr", "\xc7\xd1\xfe\x20", "한", 2, "are no euc-kr text"},
	} {
		for name, split := range splits {
			got, err := decode([]byte(c.in), *lookup(t, c.label), split)
			malformed, ok := errors.AsType[*MalformedError](err)
			if !ok || got != c.good || malformed.Byte != c.at || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %q in %s: got %q, %v at %+v", c.label, c.in, name, got, err, malformed)
			}
		}
	}
}

func TestLookup_Refuses(t *testing.T) {
	for _, label := range []string{"iso-2022-kr", "replacement", "utf-7", "", "ebcdic"} {
		if e, err := Lookup(label); err == nil {
			t.Errorf("%q: got %s", label, e.Name())
		}
	}
}

// Every label that a browser knows is known, and its encoding decodes ASCII.
func TestLookup_KnowsTheWHATWGsLabels(t *testing.T) {
	for _, label := range []string{
		"utf-8", "ibm866", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-8-i", "iso-8859-10",
		"iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u", "macintosh", "windows-874", "windows-1250", "windows-1251", "windows-1252",
		"windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic", "gbk", "gb18030", "big5", "euc-jp",
		"iso-2022-jp", "shift_jis", "euc-kr", "x-user-defined", "us-ascii", "l1", "cp1251", "sjis", "ks_c_5601-1987", "x-sjis", "Latin1", "ascii",
	} {
		if _, err := htmlindex.Get(label); err != nil {
			t.Fatalf("the test's own label %q: %v", label, err)
		}
		if got, err := decode([]byte("a,b\n"), *lookup(t, label), splits["bytes"]); got != "a,b\n" || err != nil {
			t.Errorf("%s: got %q, %v", label, got, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	labels := []string{"windows-1252", "utf-16le", "utf-16be", "utf-32le", "shift_jis", "gb18030", "iso-2022-jp", "euc-kr", "big5", "euc-jp"}
	for i := range labels {
		f.Add(uint8(i), []byte("a\x00\x93\xfa\x84\x31\xa4\x37\x1b$BF|\xff"))
	}
	f.Fuzz(func(t *testing.T, label uint8, in []byte) {
		e := *lookup(t, labels[int(label)%len(labels)])
		Detect(in, true, nil, nil)
		one, errOne := decode(in, e, splits["whole"])
		two, errTwo := decode(in, e, splits["bytes"])
		if !utf8.ValidString(one) || one != two || (errOne == nil) != (errTwo == nil) {
			t.Errorf("%s: at once %q, %v; byte by byte %q, %v", e.Name(), one, errOne, two, errTwo)
		}
	})
}
