package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendString_EscapesWhatJSONDemands(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", `""`},
		{"a", `"a"`},
		{"abcd", `"abcd"`},
		{"abcdefg", `"abcdefg"`},
		{"abcdefgh", `"abcdefgh"`},
		{"abcdefghi", `"abcdefghi"`},
		{`say "hi"`, `"say \"hi\""`},
		{`c:\temp`, `"c:\\temp"`},
		{"a\tb\nc\rd", `"a\tb\nc\rd"`},
		{"\x00\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\x7f\""},
		{"<&>\u2028", "\"<&>\u2028\""},
		{"naïve €uro 😀 ok", `"naïve €uro 😀 ok"`},
		{"12345678\"", `"12345678\""`},
		{"\xff", "\"\uFFFD\""},
		{"abcdefgh\xe2\x82ijkl", "\"abcdefgh\uFFFD\uFFFDijkl\""},
		{"é\xc0\x80\"é", "\"é\uFFFD\uFFFD\\\"é\""},
		{"\xed\xa0\x80", "\"\uFFFD\uFFFD\uFFFD\""},
	} {
		if got := string(AppendString([]byte("x"), []byte(test.in))); got != "x"+test.want {
			t.Errorf("AppendString(%q) = %s, want x%s", test.in, got, test.want)
		}
		got, ok := AppendStringStrict([]byte("x"), []byte(test.in))
		switch {
		case ok != utf8.ValidString(test.in):
			t.Errorf("AppendStringStrict(%q) = %v", test.in, ok)
		case ok && string(got) != "x"+test.want:
			t.Errorf("AppendStringStrict(%q) = %s, want x%s", test.in, got, test.want)
		case !ok && string(got) != "x":
			t.Errorf("AppendStringStrict(%q) left %q behind", test.in, got)
		}
	}
}

// Every special character at every place of texts of every length about the width of a word.
func TestAppendString_FindsAByteAnywhere(t *testing.T) {
	for _, special := range []string{"\"", "\\", "\x00", "\x1f", "é", "\xff", " ", "\x7f"} {
		for before := range 20 {
			for after := range 20 {
				in := strings.Repeat("a", before) + special + strings.Repeat("b", after)
				var out string
				text := AppendString(nil, []byte(in))
				if err := json.Unmarshal(text, &out); err != nil || out != strings.ToValidUTF8(in, "\uFFFD") {
					t.Fatalf("AppendString(%q) = %s: %q, %v", in, text, out, err)
				}
			}
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", "é\xff\"\\", "12345678\n90", "\xed\xa0\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text := AppendString(nil, in)
		var out string
		if err := json.Unmarshal(text, &out); err != nil || out != string([]rune(string(in))) {
			t.Fatalf("AppendString(%q) = %s: %q, %v", in, text, out, err)
		}
		if strict, ok := AppendStringStrict(nil, in); ok != utf8.Valid(in) || ok && string(strict) != string(text) {
			t.Fatalf("AppendStringStrict(%q) = %s, %v", in, strict, ok)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	for name, text := range map[string]string{
		"short": "Alice", "ascii": strings.Repeat("The quick brown fox. ", 5), "latin": strings.Repeat("Füchse höhnen über. ", 5),
		"quotes": strings.Repeat(`say "hi" to all `, 6),
	} {
		b.Run(name, func(b *testing.B) {
			in, dst := []byte(text), []byte(nil)
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				dst = AppendString(dst[:0], in)
			}
		})
	}
}
