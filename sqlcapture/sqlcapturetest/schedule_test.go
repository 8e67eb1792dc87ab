package sqlcapturetest

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestSchedule_RoundTrip(t *testing.T) {
	for _, choices := range [][]byte{nil, {1}, {0, 0, 0, 0, 0, 0, 3}, {35, 35, 35, 35, 35, 1, 2, 1}, {1, 0, 0}} {
		s := Schedule{Seed: 7, Choices: choices}
		back, err := ParseSchedule(s.String())
		if err != nil || back.Seed != 7 || !bytes.Equal(trimmed(back.Choices), trimmed(choices)) {
			t.Errorf("%v: printed %s, read back as %v, %v", choices, s, back, err)
		}
	}
	for _, bad := range []string{"", "x.", "1", "1.(3)", "1.0(", "1.0(x)", "1.!"} {
		if _, err := ParseSchedule(bad); err == nil {
			t.Errorf("%q was read as a schedule", bad)
		}
	}
}

func TestTry_ReplaysWhatItPlayed(t *testing.T) {
	shape := Shape{Resets: true}
	for seed := uint64(1); seed <= 20; seed++ {
		a := made(seed, shape)
		if b := made(seed, shape); !bytes.Equal(a, b) || len(a) == 0 {
			t.Fatalf("seed %d: two runs made different choices", seed)
		}
	}
}

// TestFold is bug sql-cdc 145: a null deletes, and nothing of what it deletes remains (RFC 7396).
func TestFold(t *testing.T) {
	for _, x := range []struct{ doc, patch, want string }{
		{``, `{"a":{"b":1,"c":null}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{"a":{"b":2}}`, `{"a":{"b":2}}`},
		{`{"a":1}`, `[1]`, `[1]`},
	} {
		got, err := fold(json.RawMessage(x.doc), json.RawMessage(x.patch))
		if err != nil || string(got) != x.want {
			t.Errorf("%s with %s: got %s, %v; want %s", x.doc, x.patch, got, err, x.want)
		}
	}
}
