package rawjson

import "testing"

func TestCompare_OrdersByMeaning(t *testing.T) {
	ascending := [][]string{
		{"null"},
		{"false"},
		{"true"},
		{"-1e30"},
		{"-2", "-2.0", "-20e-1"},
		{"0", "-0", "0.0"},
		{"9007199254740992"},
		{"9007199254740993"},
		{"1e400"},
		{`""`},
		{`"Z"`, `"\u005a"`},
		{`"a"`},
		{`"ab"`},
		{`"\uffff"`},
		{`"\ud83d\ude00"`, "\"\U0001f600\""},
		{"[]", "[ ]"},
		{"[1]", "[ 1.0 ]"},
		{"[1,null]"},
		{"[2]"},
		{"{}"},
		{`{"a":1}`, `{"a":2,"a":1.0}`, `{"\u0061" : 1}`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`},
		{`{"a":2}`},
		{`{"b":0}`},
	}
	for i, equal := range ascending {
		for j, others := range ascending {
			for _, a := range equal {
				for _, b := range others {
					if got := Compare([]byte(a), []byte(b)); got != order(i, j) {
						t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, order(i, j))
					}
				}
			}
		}
	}
}
