package jsontext

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestMembers_GivesThemAsWritten(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want []string
	}{
		{`{}`, nil},
		{"{ \n\t}", nil},
		{`{"a":1}`, []string{`"a"`, `1`}},
		{
			`{"a":1.50,"b":"x,}\"","c":{"d":[1,{"e":"]}"}]},"f":[],"g":true}`,
			[]string{`"a"`, `1.50`, `"b"`, `"x,}\""`, `"c"`, `{"d":[1,{"e":"]}"}]}`, `"f"`, `[]`, `"g"`, `true`},
		},
		{
			"{\r\n \"a\" : null ,\t\"a\" : -1e5 , \"long name of a member\" : \"0123456789abcdef\" }",
			[]string{`"a"`, `null`, `"a"`, `-1e5`, `"long name of a member"`, `"0123456789abcdef"`},
		},
		{`{"\u005fmeta":"\\"}`, []string{`"\u005fmeta"`, `"\\"`}},
	} {
		var got []string
		Members([]byte(test.raw), func(name, value []byte) bool {
			got = append(got, string(name), string(value))
			return true
		})
		if !slices.Equal(got, test.want) {
			t.Errorf("Members(%s) = %q", test.raw, got)
		}
	}
}

func TestMembers_EndsWhenToldSo(t *testing.T) {
	n := 0
	Members([]byte(`{"a":1,"b":2,"c":3}`), func(name, _ []byte) bool {
		n++
		return string(name) != `"b"`
	})
	if n != 2 {
		t.Errorf("%d members after an end at the second", n)
	}
}

func TestAppendText_UndoesEscapes(t *testing.T) {
	for _, quoted := range []string{`""`, `"a"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9é\u20AC\ud83d\ude00😀"`, `"\ufffd\u0000"`} {
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendText([]byte("x"), []byte(quoted))); got != "x"+want {
			t.Errorf("AppendText(%s) = %q, want %q", quoted, got, "x"+want)
		}
	}
}
