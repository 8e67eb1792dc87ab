package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestValid_SaysWhatIsWrongAndWhere(t *testing.T) {
	for doc, want := range map[string]string{
		``:                "invalid JSON at byte 0: the text ends in the middle of a value",
		`{"a":1`:          "invalid JSON at byte 6: the text ends in the middle of a value",
		`{"a":1,}`:        `invalid JSON at byte 7: a member's name must be a string, found "}"`,
		`{"a" 1}`:         `invalid JSON at byte 5: a colon must follow a member's name, found "1"`,
		`{"a":1 "b":2}`:   `invalid JSON at byte 7: a comma or } must follow a member, found "\""`,
		`[1 2]`:           `invalid JSON at byte 3: a comma or ] must follow an element, found "2"`,
		`[1,]`:            `invalid JSON at byte 3: no value starts like this, found "]"`,
		`NaN`:             `invalid JSON at byte 0: no value starts like this, found "N"`,
		`01`:              `invalid JSON at byte 1: something follows the value, found "1"`,
		`-x`:              `invalid JSON at byte 1: a digit is missing in this number, found "x"`,
		`1.e3`:            `invalid JSON at byte 2: a digit is missing in this number, found "e"`,
		"\"a\nb\"":        `invalid JSON at byte 2: a control character must be escaped inside a string, found "\n"`,
		`"12345678\q"`:    `invalid JSON at byte 9: no such escape, found "\\"`,
		`"\u12g4"`:        `invalid JSON at byte 5: four hexadecimal digits must follow \u, found "g"`,
		` {"a":[1]} {}`:   `invalid JSON at byte 11: something follows the value, found "{"`,
		`{"a":tru}`:       `invalid JSON at byte 5: no value starts like this, found "t"`,
		"\xef\xbb\xbf{}":  `invalid JSON at byte 0: no value starts like this, found "\xef"`,
		`{"a":"unclosed}`: "invalid JSON at byte 15: the text ends in the middle of a value",
	} {
		err := Valid([]byte(doc))
		if err == nil || err.Error() != want {
			t.Errorf("Valid(%q) = %v, want %s", doc, err, want)
		}
		if json.Valid([]byte(doc)) {
			t.Errorf("encoding/json takes %q", doc)
		}
	}
}

func TestValid_BoundsDepth(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if err := Valid(deep(MaxDepth)); err != nil {
		t.Error(err)
	}
	if err := Valid(deep(MaxDepth + 1)); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("one level more: %v", err)
	}
	objects := func(n int) []byte { return []byte(strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1)) }
	if err := Valid(objects(MaxDepth)); err != nil {
		t.Error(err)
	}
	if err := Valid(objects(MaxDepth + 1)); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("one level of objects more: %v", err)
	}
	// Walking adds no level and takes none away.
	in := slices.Concat([]byte(`{"a":`), deep(MaxDepth-1), []byte("}"))
	if err := Object(in, func(_, v []byte) error { return nil }); err != nil {
		t.Error(err)
	}
	e, _ := NewExtractor([]string{"/a/0/0"})
	if err := e.Extract(in, make([][]byte, 1)); err != nil {
		t.Error(err)
	}
	in = slices.Concat([]byte(`{"a":`), deep(MaxDepth), []byte("}"))
	if err := Object(in, func(_, v []byte) error { return nil }); err == nil {
		t.Error("Object takes a level too many")
	}
	if err := e.Extract(in, make([][]byte, 1)); err == nil {
		t.Error("Extract takes a level too many")
	}
}

func TestSkip_StopsAtTheValuesEnd(t *testing.T) {
	doc := []byte(`{"a":{"b":"}\""} , "c":-1.5e+3,"d":[]}`)
	for from, want := range map[int]string{0: string(doc), 5: `{"b":"}\""}`, 10: `"}\""`, 23: "-1.5e+3", 35: "[]"} {
		end, err := Skip(doc, from)
		if err != nil || string(doc[from:end]) != want {
			t.Errorf("from %d: %q, %v, want %q", from, doc[from:end], err, want)
		}
	}
}

func TestObject_ShowsRawNamesAndTrimmedValues(t *testing.T) {
	var got []string
	err := Object([]byte(" { \"a\" :\n1 ,\"\\u0062\": { \"x\" : 2 } , \"\":\"\"\t} "), func(name, value []byte) error {
		got = append(got, string(name)+"="+string(value))
		return nil
	})
	if want := []string{"a=1", `\u0062={ "x" : 2 }`, `=""`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if !NameIs([]byte(`\u0062`), "b") || NameIs([]byte(`\u0062`), "c") || !NameIs([]byte("b"), "b") || NameIs([]byte(`b`), `\u0062`) {
		t.Error("NameIs does not compare what a name spells")
	}
}

func TestWalk_RefusesOtherKindsAndReturnsTheCallersError(t *testing.T) {
	nothing2 := func(_, _ []byte) error { return nil }
	nothing1 := func(_ []byte) error { return nil }
	for _, doc := range []string{`[]`, `null`, ``, `{} x`, `{,}`, `{"a":1,}`, `{"a":1}}`, `{`} {
		if Object([]byte(doc), nothing2) == nil {
			t.Errorf("Object takes %q", doc)
		}
	}
	for _, doc := range []string{`{}`, `1`, ``, `[] x`, `[,]`, `[1,]`, `[1]]`, `[`} {
		if Array([]byte(doc), nothing1) == nil {
			t.Errorf("Array takes %q", doc)
		}
	}
	if Object([]byte(" { } "), nothing2) != nil || Array([]byte("\n[ ]"), nothing1) != nil {
		t.Error("an empty one is refused")
	}
	stop, calls := errors.New("stop"), 0
	if err := Object([]byte(`{"a":1,"b":2}`), func(_, _ []byte) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	if err := Array([]byte(`[1,2]`), func(_ []byte) error { calls++; return stop }); err != stop || calls != 2 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestAppendQuoted_EscapesWhatItMust(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `""`,
		"plain <&>":                 `"plain <&>"`,
		"a\"b\\c\b\f\n\r\t\x00/":    `"a\"b\\c\b\f\n\r\t\u0000/"`,
		"\x1f\x7fü\u2028\U0001f600": "\"\\u001f\x7fü\u2028\U0001f600\"",
		"a\xffb":                    "\"a\ufffdb\"",
	} {
		if got := AppendQuoted([]byte("x"), []byte(text)); string(got) != "x"+want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", text, got[1:], want)
		}
	}
}

func TestPointer_Finds(t *testing.T) {
	doc := []byte(` {"a":{"b":[10,{"c":null}]},"x/y":{"m~n":"v"},"":{"":7},"\u0061\n":1,"d":1,"d":2,"k":{"0":5}} `)
	for text, want := range map[string]string{
		"": strings.TrimSpace(string(doc)), "/a/b/0": "10", "/a/b/1/c": "null", "/x~1y/m~0n": `"v"`, "//": "7", "/": `{"":7}`, "/a\n": "1", "/d": "2", "/k/0": "5",
		"/a/b/2": "-", "/a/b/00": "-", "/a/b/-1": "-", "/a/b/-": "-", "/a/c": "-", "/d/x": "-", "/zz": "-",
	} {
		p, err := ParsePointer(text)
		if err != nil || p.String() != text {
			t.Fatalf("%q: %v, %v", text, p, err)
		}
		v, ok, err := p.Find(doc)
		if err != nil || ok != (want != "-") || ok && string(v) != want {
			t.Errorf("%q: %q, %v, %v, want %q", text, v, ok, err, want)
		}
		e, err := NewExtractor([]string{"/zzz", text})
		if err != nil {
			t.Fatal(err)
		}
		into := [][]byte{{1}, {1}}
		if err = e.Extract(doc, into); err != nil || into[0] != nil || (into[1] != nil) != ok || ok && string(into[1]) != want {
			t.Errorf("Extract %q: %q, %v, want %q", text, into, err, want)
		}
	}
	for _, text := range []string{"a", "/~", "/~2", "/a~"} {
		if _, err := ParsePointer(text); err == nil {
			t.Errorf("ParsePointer takes %q", text)
		}
		if _, err := NewExtractor([]string{text}); err == nil {
			t.Errorf("NewExtractor takes %q", text)
		}
	}
}

func TestExtract_ManyPointersInOnePass(t *testing.T) {
	e, err := NewExtractor([]string{"/b", "/a", "/a/x", "", "/a", "/c", "/d", "/e/1", "/\"q\"", "/f"})
	if err != nil {
		t.Fatal(err)
	}
	into := make([][]byte, 10)
	check := func(doc string, want ...string) {
		t.Helper()
		if err := e.Extract([]byte(doc), into); err != nil {
			t.Error(err)
		}
		for i, w := range want {
			if (into[i] == nil) != (w == "-") || w != "-" && string(into[i]) != w {
				t.Errorf("%s: %d is %q, want %q", doc, i, into[i], w)
			}
		}
	}
	all := `{"a":{"x":1},"b":"two","u":0,"d":null,"c":[],"e":[1,{"y":2}],"\"q\"":3}`
	check(all, `"two"`, `{"x":1}`, "1", all, `{"x":1}`, "[]", "null", `{"y":2}`, "3", "-")
	// Of members with one name the last counts, and nothing of the first stays.
	twice := `{"a":{"x":1},"a":{}, "b":1,"b":2}`
	check(twice, "2", "{}", "-", twice, "{}", "-", "-", "-", "-", "-")
	check(`[1]`, "-", "-", "-", "[1]", "-", "-", "-", "-", "-", "-")
	if err := e.Extract([]byte(`{"a":1}}`), into); err == nil || into[1] != nil {
		t.Errorf("a document with something behind it gives %q, %v", into, err)
	}
}

func TestAllocatesNothing(t *testing.T) {
	doc := []byte(`{"id":17,"name":"Bolt \"M8\"","tags":["a","b"],"nested":{"a":{"b":1.5e3}},"_meta":{"op":"c","source":{"loc":[1,2,3]}}}`)
	e, _ := NewExtractor([]string{"/id", "/name", "/_meta/op", "/nested/a", "/tags/1", "/none"})
	p, _ := ParsePointer("/_meta/op")
	into, buf := make([][]byte, 6), make([]byte, 0, 1024)
	members := 0
	if n := testing.AllocsPerRun(100, func() {
		_ = Valid(doc)
		_ = e.Extract(doc, into)
		_, _, _ = p.Find(doc)
		_ = Object(doc, func(_, _ []byte) error { members++; return nil })
		buf = AppendCompact(AppendUnquoted(AppendQuoted(buf[:0], doc), doc), doc)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var seeds = []string{
	`{}`, `[]`, `null`, ` {"a" : [1, 2.5e-3, true, false, null, "\u00e9\n"] } `, `{"a":{"b":[{"c":"d"}]}}`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d\ud83d\ude00"`,
	`"\ud83d\u0041"`, "\"\xff\xc3\"", `-0`, `1e400`, `123456789012345678901234567890`, `"12345678"`, `"1234567\\"`, `[1,]`, `{"a":1,}`, `nul`, `"a`, `{"a"`, "\"\x7f\"", `"\`, `"\u12`,
	"\"\u00a0 \u3000\"", `{"x":1,"x":2}`, `[[[[]]]]`, `1 2`, "[\"\x1f\"]", "\"aaaaaaa\x80\x1f\"", `0.5`, `-`, `1.`, `1e`, `1e+`, `tru`, `falsey`,
}

func FuzzValid_AgreesWithEncodingJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := Valid(doc)
		if want := json.Valid(doc); (err == nil) != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", doc, err, want)
		}
		e, _ := NewExtractor([]string{"", "/a", "/a/b/0/c", "/0", "/x"})
		into := make([][]byte, 5)
		if got := e.Extract(doc, into); (got == nil) != (err == nil) {
			t.Fatalf("Extract(%q) = %v, Valid = %v", doc, got, err)
		}
		if err != nil {
			AppendCompact(nil, doc)
			AppendUnquoted(nil, doc)
			return
		}
		var want bytes.Buffer
		if err = json.Compact(&want, doc); err != nil {
			t.Fatal(err)
		}
		if got := AppendCompact(nil, doc); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("AppendCompact(%q) = %q, want %q", doc, got, want.Bytes())
		}
		for i, text := range []string{"", "/a", "/a/b/0/c", "/0", "/x"} {
			p, _ := ParsePointer(text)
			v, ok, wrong := p.Find(doc)
			if wrong != nil || ok != (into[i] != nil) || !bytes.Equal(v, into[i]) {
				t.Fatalf("Find(%q, %s) = %q, %v, Extract = %q", doc, text, v, wrong, into[i])
			}
		}
		switch first(doc) {
		case '{':
			checkObject(t, doc)
		case '[':
			checkArray(t, doc)
		case '"':
			var text string
			raw := bytes.TrimSpace(doc)
			if err = json.Unmarshal(raw, &text); err != nil {
				t.Fatal(err)
			}
			if got := AppendUnquoted(nil, raw[1:len(raw)-1]); string(got) != text {
				t.Fatalf("AppendUnquoted(%q) = %q, want %q", raw, got, text)
			}
		}
	})
}

func checkObject(t *testing.T, doc []byte) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(doc, &want); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := Object(doc, func(name, value []byte) error {
		got[string(AppendUnquoted(nil, name))] = string(value)
		return nil
	}); err != nil || len(got) != len(want) {
		t.Fatalf("Object(%q): %d members, %v, want %d", doc, len(got), err, len(want))
	}
	for name, value := range want {
		if got[name] != string(value) {
			t.Fatalf("%q: %q is %q, want %q", doc, name, got[name], value)
		}
	}
}

func checkArray(t *testing.T, doc []byte) {
	var want []json.RawMessage
	if err := json.Unmarshal(doc, &want); err != nil {
		t.Fatal(err)
	}
	i := 0
	if err := Array(doc, func(value []byte) error {
		if i >= len(want) || !bytes.Equal(value, want[i]) {
			t.Fatalf("%q: element %d is %q", doc, i, value)
		}
		i++
		return nil
	}); err != nil || i != len(want) {
		t.Fatalf("Array(%q): %d elements, %v, want %d", doc, i, err, len(want))
	}
}

func FuzzQuoted_ReadsBack(f *testing.F) {
	for _, s := range append(seeds, "\x00\x1f\"\\/", "1234567\n", "12345678\u2028") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quoted := AppendQuoted(nil, text)
		var got string
		// Map writes U+FFFD for each byte that is no UTF-8.
		if err := json.Unmarshal(quoted, &got); err != nil || got != strings.Map(func(r rune) rune { return r }, string(text)) {
			t.Fatalf("AppendQuoted(%q) = %s, %v", text, quoted, err)
		}
		if back := AppendUnquoted(nil, quoted[1:len(quoted)-1]); string(back) != got {
			t.Fatalf("AppendUnquoted(%s) = %q, want %q", quoted, back, got)
		}
	})
}

func benchmarkDoc() []byte {
	return []byte(`{"id":1234567,"customer":"Acme Incorporated","note":"the quick brown fox jumps over the lazy dog, again and again","total":"1234.50","placed_at":"2026-11-29T12:34:56.789Z","paid":true,"items":[{"sku":"A-1","n":3},{"sku":"B-22","n":1}],"_meta":{"op":"c","source":{"ts_ms":1700000000000,"schema":"public","table":"orders","loc":[100,200,300]}}}`)
}

func BenchmarkValid(b *testing.B) {
	doc := benchmarkDoc()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		_ = Valid(doc)
	}
}

func BenchmarkExtract(b *testing.B) {
	doc := benchmarkDoc()
	e, _ := NewExtractor([]string{"/id", "/customer", "/note", "/total", "/placed_at", "/paid", "/items", "/_meta/op"})
	into := make([][]byte, 8)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		_ = e.Extract(doc, into)
	}
}

func BenchmarkCompact(b *testing.B) {
	doc := benchmarkDoc()
	var buf []byte
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		buf = AppendCompact(buf[:0], doc)
	}
}
