package rawjson

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseNumber_IsExact(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00e5": "0", "1.50": "1.5", "100": "100", "1e3": "1000", "-12.5E-2": "-0.125", "0.001e+3": "1", "123456789012345678901234567890.10": "123456789012345678901234567890.1",
		"1e19": "10000000000000000000", "9.223372036854775807e+18": "9223372036854775807", "1e-7": "0.0000001", "1e99999999999999999999": "1e1099511627776", "12.0": "12", "-7e-20000": "-7e-20000",
	} {
		n, ok := ParseNumber([]byte(text))
		if !ok || n.String() != want {
			t.Errorf("%s is %s, %v, want %s", text, n, ok, want)
		}
		if back, ok := ParseNumber([]byte(n.String())); !ok || back.Compare(n) != 0 {
			t.Errorf("%s comes back as %s, %v", n, back, ok)
		}
	}
	for _, text := range []string{"", "-", "01", "1.", ".5", "1e", "1x", "NaN", "+1", " 1", "1 "} {
		if n, ok := ParseNumber([]byte(text)); ok {
			t.Errorf("%q is taken as %s", text, n)
		}
	}
	for text, want := range map[string]bool{"1.0": true, "1e3": true, "15e-1": false, "0.0": true, "-0.5": false, "1": true} {
		if n, _ := ParseNumber([]byte(text)); n.Integer() != want {
			t.Errorf("%s: Integer is %v", text, n.Integer())
		}
	}
}

func TestNumber_ComparesAndAddsAsRationalsDo(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	random := func() string {
		text := fmt.Sprint(r.IntN(2000) - 1000)
		if r.IntN(2) == 0 {
			text += fmt.Sprintf(".%0*d", 1+r.IntN(4), r.IntN(100))
		}
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("e%d", r.IntN(50)-25)
		}
		return text
	}
	for range 50_000 {
		a, b := random(), random()
		x, _ := ParseNumber([]byte(a))
		y, _ := ParseNumber([]byte(b))
		rx, _ := new(big.Rat).SetString(a)
		ry, _ := new(big.Rat).SetString(b)
		if got, want := x.Compare(y), rx.Cmp(ry); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
		sum, ok := x.Add(y)
		if got, _ := new(big.Rat).SetString(sum.String()); !ok || got.Cmp(new(big.Rat).Add(rx, ry)) != 0 {
			t.Fatalf("%s + %s = %s, %v", a, b, sum, ok)
		}
	}
}

func TestNumber_AddIsBounded(t *testing.T) {
	small, _ := ParseNumber([]byte("1"))
	for _, text := range []string{"1e10000", "1e999999999999", "1e-10000", strings.Repeat("9", 10_001)} {
		large, _ := ParseNumber([]byte(text))
		if _, ok := large.Add(small); ok {
			t.Errorf("%.20s + 1 is taken", text)
		}
		if _, ok := small.Add(large); ok {
			t.Errorf("1 + %.20s is taken", text)
		}
	}
	limit, _ := ParseNumber([]byte("1e9999"))
	if sum, ok := limit.Add(small); !ok || len(sum.String()) != 10_000 {
		t.Error("10,000 digits are refused")
	}
}
