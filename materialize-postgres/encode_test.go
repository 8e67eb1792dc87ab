package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/sqlsink"
)

// uncopy undoes the escapes that values of ours have in COPY text.
var uncopy = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

func encoded(t *testing.T, s sqlsink.Shape, live, value string) (string, error) {
	t.Helper()
	e := newEncoder(sqlsink.Column{Name: "c", Shape: s}, live, "t", false)
	out, err := e.append(e, []byte("before"), []byte(value))
	text, ok := strings.CutPrefix(string(out), "before")
	if !ok {
		t.Fatalf("what stood before %q is gone: %q", value, out)
	}
	if strings.ContainsAny(text, "\t\n\r") {
		t.Fatalf("%q breaks the row: %q", value, text)
	}
	return uncopy.Replace(text), err
}

func FuzzEncode_Text(f *testing.F) {
	for _, seed := range []string{`""`, `"a"`, `"\u0000"`, `"\ud800"`, `"\ud83d\ude00"`, `"\\N"`, `"tab\tnew\nline"`, "\"\xff\"", `"1234567\\"`, `"12345678\""`, `17`, `{"a":"\t"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var want any
		if json.Unmarshal([]byte(value), &want) != nil {
			return
		}
		value = strings.TrimSpace(value)
		got, err := encoded(t, sqlsink.Text, "text", value)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := want.(string); ok {
			if text = strings.ReplaceAll(text, "\x00", ""); got != text {
				t.Errorf("%q became %q, want %q", value, got, text)
			}
		} else if !utf8.ValidString(got) || utf8.ValidString(value) && got != value {
			t.Errorf("%q became %q", value, got)
		}
	})
}

func FuzzEncode_JSON(f *testing.F) {
	for _, seed := range []string{`{}`, `["\u0000"]`, `"\\u0000"`, `"\\\u0000"`, `"\ud800\ud800\udc00"`, `"\udc00"`, "[1,\n2]", `"\uD83D\uDE00"`, "\"\xff\\u0000\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			return
		}
		got, err := encoded(t, sqlsink.Object, "json", value)
		if err != nil || got != string([]rune(value)) {
			t.Errorf("%q became %q, %v", value, got, err)
		}
		clean, err := encoded(t, sqlsink.Object, "jsonb", value)
		if err != nil || !json.Valid([]byte(clean)) || !utf8.ValidString(clean) {
			t.Fatalf("%q became %q, %v", value, clean, err)
		}
		var was, is any
		if json.Unmarshal([]byte(value), &was) != nil {
			return // a number that encoding/json has no place for
		}
		if err := json.Unmarshal([]byte(clean), &is); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(was)
		b, _ := json.Marshal(is)
		if !bytes.Equal(bytes.ReplaceAll(a, []byte(`\u0000`), nil), b) && !bytes.Contains(a, []byte(`\\u0000`)) {
			t.Errorf("%q became %q", value, clean)
		}
	})
}

func FuzzEncode_Integer(f *testing.F) {
	for _, seed := range []string{"0", "-0", "1.0", "1e3", "12e-1", "120e-1", "-5.50e1", "0.0e-9", "1e-400", "123456789012345678901234567890e-10", "1E+2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) || value == "" || !strings.Contains("-0123456789", value[:1]) || len(value) > 100 {
			return
		}
		if i := strings.IndexAny(value, "eE"); i >= 0 && len(value)-i > 5 {
			return // exact arithmetic takes too long
		}
		want, ok := new(big.Rat).SetString(value)
		if !ok {
			return
		}
		got, err := encoded(t, sqlsink.IntegerString, "numeric", value)
		if !want.IsInt() {
			if err == nil {
				t.Errorf("%s became %s", value, got)
			}
			return
		}
		if n, ok := new(big.Int).SetString(got, 10); err != nil || !ok || n.Cmp(want.Num()) != 0 {
			t.Errorf("%s became %s, %v", value, got, err)
		}
	})
}

// What a column holds becomes the JSON that it was made of, whatever a user has put there.
func TestDecode_WhatUsersPutThere(t *testing.T) {
	for _, c := range []struct {
		shape      sqlsink.Shape
		live, text string
		want       string
	}{
		{sqlsink.Date, "date", "infinity", `"9999-12-31"`},
		{sqlsink.Date, "date", "-infinity", `"0000-01-01"`},
		{sqlsink.Date, "date", "0044-03-15 BC", `"0000-01-01"`},
		{sqlsink.Date, "date", "10000-01-01", `"9999-12-31"`},
		{sqlsink.DateTime, "timestamp(3) with time zone", "2024-01-15 09:00:00.123+00", `"2024-01-15T09:00:00.123Z"`},
		{sqlsink.DateTime, "timestamp with time zone", "infinity", `"9999-12-31T23:59:59Z"`},
		{sqlsink.DateTime, "timestamp with time zone", "0001-01-01 00:00:00+00 BC", `"0000-01-01T00:00:00Z"`},
		{sqlsink.IP, "inet", "10.0.0.0/8", `"10.0.0.0/8"`},
		{sqlsink.IP, "inet", "::1/128", `"::1"`},
		{sqlsink.Number, "numeric(10,2)", "NaN", `"NaN"`},
		{sqlsink.DecimalString, "numeric", "1.50", `"1.50"`},
		{sqlsink.Text, "character varying(5)", "q\"\x01", `"q\"\u0001"`},
	} {
		got, err := newDecoder(c.shape, c.live)(nil, []byte(c.text))
		if err != nil || string(got) != c.want {
			t.Errorf("%s %s: got %s, %v, want %s", c.live, c.text, got, err, c.want)
		}
	}
}

func TestRebuild_NestedPlaces(t *testing.T) {
	columns := []sqlsink.Column{
		{Name: "id", Shape: sqlsink.Integer, Pointer: "/id", Must: true},
		{Name: "city", Shape: sqlsink.Text, Pointer: "/address/city"},
		{Name: "zip", Shape: sqlsink.Text, Pointer: "/address/post/zip"},
		{Name: "op", Shape: sqlsink.Text, Pointer: "/_meta/op"},
		{Name: "meta", Shape: sqlsink.Object, Pointer: "/_meta"},
		{Name: "odd", Shape: sqlsink.Text, Pointer: "/a~1b ~0\"", Must: true},
	}
	b, err := newBuilder(columns, []string{"bigint", "text", "text", "text", "json", "text"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fields [][]byte
		want   string
	}{
		{[][]byte{[]byte("1"), []byte("x"), []byte("y"), []byte("d"), []byte(`{"op":"u","n":1}`), []byte("z")}, `{"id":1,"_meta":{"op":"u","n":1},"a/b ~\"":"z","address":{"city":"x","post":{"zip":"y"}}}`},
		{[][]byte{[]byte("1"), nil, []byte("y"), nil, nil, nil}, `{"id":1,"a/b ~\"":null,"address":{"post":{"zip":"y"}}}`},
		{[][]byte{[]byte("1"), nil, nil, nil, nil, nil}, `{"id":1,"a/b ~\"":null}`},
	} {
		got, err := b.append(nil, c.fields)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}
