package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendValue_OneValueOnOneLine(t *testing.T) {
	for _, test := range []struct {
		raw, want string
		ok        bool
	}{
		{`1`, `1`, true},
		{` 12.50 `, `12.50`, true},
		{"null\n", `null`, true},
		{`"a b"`, `"a b"`, true},
		{`"\ud800 x"`, `"\ufffd x"`, true},
		{`[]`, `[]`, true},
		{"{\n  \"a b\" : [ 1 , \"x\\\" y\" ],\r\n\t\"c\":{ } }", `{"a b":[1,"x\" y"],"c":{}}`, true},
		{"", "", false},
		{"  ", "", false},
		{"1 2", "", false},
		{"[1", "", false},
		{"1]", "", false},
		{`{"a":1}}`, "", false},
		{`[1,]`, "", false},
		{"\"\xff\"", "", false},
		{"\"\x00\"", "", false},
		{"1\x00", "", false},
		{"\x00", "", false},
		{"nul", "", false},
		{`"a`, "", false},
		{`"\ud83d`, "", false},
		{strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat("[", 512) + strings.Repeat("]", 512), true},
		{strings.Repeat("[", 513) + strings.Repeat("]", 513), "", false},
	} {
		got, ok := AppendValue([]byte("x"), []byte(test.raw), Options{})
		if string(got) != "x"+test.want || ok != test.ok {
			t.Errorf("AppendValue(%.80q) = %.80q, %v", test.raw, got, ok)
		}
	}
	if got, ok := AppendValue(nil, []byte(`"12345"`), Options{MaxValue: 6}); ok {
		t.Errorf("larger than the limit: %s", got)
	}
}

func FuzzAppendValue(f *testing.F) {
	for _, seed := range []string{"1", " [1, {\"a b\": null}]\n", `"\ud800"`, "\"\xff\"", "{\"a\":", "tru", "1 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := AppendValue(nil, raw, Options{MaxDepth: 9000})
		if ok != (json.Valid(raw) && utf8.Valid(raw)) {
			t.Fatalf("%q: %v", raw, ok)
		}
		if !ok {
			return
		}
		var want bytes.Buffer
		if err := json.Compact(&want, raw); err != nil {
			t.Fatal(err)
		}
		if len(got) != want.Len() {
			t.Fatalf("%q: %q, not %q", raw, got, want.Bytes())
		}
	})
}
