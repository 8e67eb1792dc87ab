package jsonkey

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/rawjson"
)

// The vectors of Flow's wire: a JSON array of values and its tuple in base64.
func TestVectors(t *testing.T) {
	for doc, want := range map[string]string{
		`[1]`: "FQE=", `[0]`: "FA==", `[-1]`: "E/4=", `[300]`: "FgEs", `["a"]`: "AmEA", `[42,"hi"]`: "FSoCaGkA", `[12.5]`: "IcApAAAAAAAA", `[2]`: "FQI=",
		`["Acme",12.5,true]`: "AkFjbWUAIcApAAAAAAAAJw==", `["Bolt",7.5,null]`: "AkJvbHQAIcAeAAAAAAAAAA==", `[{"a":1}]`: "AXsiYSI6MX0A", `["Bolt",3.0]`: "AkJvbHQAIcAIAAAAAAAA",
	} {
		var packed []byte
		if err := rawjson.Array([]byte(doc), func(v []byte) (err error) {
			packed, err = AppendValue(packed, v)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got := base64.StdEncoding.EncodeToString(packed); got != want {
			t.Errorf("%s packs as %s, want %s", doc, got, want)
		}
		values, err := Unpack(packed)
		if back := "[" + string(bytes.Join(values, []byte(","))) + "]"; err != nil || back != strings.Replace(doc, "3.0", "3", 1) {
			t.Errorf("%s unpacks as %s, %v, want %s", want, back, err, doc)
		}
	}
}

func TestAppendPacked(t *testing.T) {
	for value, want := range map[string]string{
		"": "00", "null": "00", "false": "26", "true": "27", `"a\u0000b"`: "026100ff6200", `"\u0000\u0000"`: "0200ff00ff00", `""`: "0200", `"ü\n"`: "02c3bc0a00",
		"255": "15ff", "256": "160100", "-255": "1300", "-256": "12feff", "-0": "14", "0.0": "14", "-0e7": "14", "0e99999999999999999999": "14",
		"1.0": "1501", "1e3": "1603e8", "1.25E2": "157d", "1000e-3": "1501", "0.001e+3": "1501", "-1.50e1": "13f0", "12345678901234567890.000": "1cab54a98ceb1f0ad2",
		"9223372036854775807": "1c7fffffffffffffff", "-9223372036854775808": "0c7fffffffffffffff", "18446744073709551615": "1cffffffffffffffff",
		"-18446744073709551615": "0c0000000000000000", "18446744073709551616": "1d09010000000000000000", "-18446744073709551616": "0bf6feffffffffffffffff",
		"1e19": "1c8ac7230489e80000", "1e20": "1d09056bc75e2d63100000", "[1, {\"a\" : 2}]": "015b312c7b2261223a327d5d00",
	} {
		got, err := AppendPacked([]byte{9}, []byte(value))
		if err != nil || got[0] != 9 || hex.EncodeToString(got[1:]) != want {
			t.Errorf("%s packs as %x, %v, want %s", value, got[1:], err, want)
		}
	}
}

func TestAppendPacked_RefusesOtherNumbersWithASentence(t *testing.T) {
	for value, want := range map[string]string{
		"1.5": "1.5 is no integer", "1e-1": "1e-1 is no integer", "-0.000001": "-0.000001 is no integer", "1.5e-99999999999999999999": "1.5e-99999999999999999999 is no integer",
		"1e615": "1e615 is too large", "1e99999999999999999999": "1e99999999999999999999 is too large", strings.Repeat("9", 615): strings.Repeat("9", 40) + "… is too large",
		"12x": "12x is no number", "-": "- is no number", "x": "x is no number", "1e": "1e is no number", "1.5ex": "1.5ex is no number", `"`: "a key's value must be JSON",
	} {
		got, err := AppendPacked(nil, []byte(value))
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(got) > 0 {
			t.Errorf("%.50s: %x, %v, want %s", value, got, err, want)
		}
	}
	limit := new(big.Int).Lsh(big.NewInt(1), 2040)
	limit.Sub(limit, big.NewInt(1))
	for _, text := range []string{limit.String(), "-" + limit.String()} {
		packed, err := AppendPacked(nil, []byte(text))
		if err != nil || len(packed) != 257 {
			t.Errorf("the largest integer packs as %x, %v", packed, err)
		}
		if back, err := Unpack(packed); err != nil || string(back[0]) != text {
			t.Errorf("the largest integer comes back as %s, %v", back, err)
		}
	}
	if _, err := AppendPacked(nil, []byte(limit.Add(limit, big.NewInt(1)).String())); err == nil {
		t.Error("one more is taken")
	}
}

func TestUnpack_Doubles(t *testing.T) {
	for value, want := range map[string]string{
		"1.0": "1", "-2.5": "-2.5", "1e21": "1e+21", "1e-7": "1e-07", "-0.0": "-0", "1e999": `"Infinity"`, "-1e999": `"-Infinity"`, "0.1": "0.1",
	} {
		packed, err := AppendValue(nil, []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unpack(packed); err != nil || string(got[0]) != want {
			t.Errorf("%s comes back as %s, %v, want %s", value, got, err, want)
		}
	}
	if got, err := Unpack([]byte{codeDouble, 0xff, 0xf8, 0, 0, 0, 0, 0, 0}); err != nil || string(got[0]) != `"NaN"` {
		t.Errorf("NaN: %s, %v", got, err)
	}
}

func TestUnpack_NestedTuplesAndBrokenKeys(t *testing.T) {
	for packed, want := range map[string]string{
		"05150100ff02610000": `[1,null,"a"]`, "0500": "[]", "05050000": "[[]]", "05001501": "[] 1", "": "",
	} {
		b, _ := hex.DecodeString(packed)
		values, err := Unpack(b)
		if got := string(bytes.Join(values, []byte(" "))); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", packed, got, err, want)
		}
	}
	for _, packed := range []string{"15", "1601", "0261", "0100", "017b00", "21ff", "05", "0515", "1d", "1d09", "0bf6", "03", "ff", "02ff00ff", strings.Repeat("05", 200)} {
		b, _ := hex.DecodeString(packed)
		if values, err := Unpack(b); err == nil {
			t.Errorf("%s unpacks as %s", packed, values)
		}
	}
}

// The order of the tuples is the order of the values, and equal values have equal tuples, however they are spelled.
func TestOrder_OfTuplesIsThatOfValues(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pairs := map[int]int{}
	for range 200_000 {
		a, b := randomKey(r), randomKey(r)
		pa, pb := pack(t, a), pack(t, b)
		want := 0
		for i := 0; want == 0 && i < len(a) && i < len(b); i++ {
			want = a[i].compare(b[i])
		}
		if want == 0 {
			want = len(a) - len(b)
		}
		want = min(max(want, -1), 1)
		if got := bytes.Compare(pa, pb); got != want {
			t.Fatalf("%v (%x) and %v (%x) compare as %d, want %d", a, pa, b, pb, got, want)
		}
		pairs[want]++
		back, err := Unpack(pa)
		if err != nil || len(back) != len(a) {
			t.Fatalf("%v (%x) comes back as %s, %v", a, pa, back, err)
		}
		for i := range a {
			again, err := AppendPacked(nil, back[i])
			if one := pack(t, a[i:i+1]); err != nil || !bytes.Equal(again, one) {
				t.Fatalf("%v comes back as %s (%x), %v", a[i], back[i], again, err)
			}
		}
	}
	if pairs[-1] < 1000 || pairs[0] < 1000 || pairs[1] < 1000 {
		t.Errorf("too few pairs of one kind: %v", pairs)
	}
}

// scalar is a key's value as the test understands it.
type scalar struct {
	kind int // null, string, integer, false, true
	s    string
	n    *big.Int
	json string
}

func (a scalar) compare(b scalar) int {
	switch {
	case a.kind != b.kind:
		return a.kind - b.kind
	case a.kind == 1:
		return strings.Compare(a.s, b.s)
	case a.kind == 2:
		return a.n.Cmp(b.n)
	}
	return 0
}

func pack(t *testing.T, key []scalar) (packed []byte) {
	t.Helper()
	var err error
	for _, v := range key {
		if packed, err = AppendPacked(packed, []byte(v.json)); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

func randomKey(r *rand.Rand) []scalar {
	key := make([]scalar, 1+r.IntN(2))
	for i := range key {
		key[i] = randomScalar(r)
	}
	return key
}

func randomScalar(r *rand.Rand) scalar {
	switch kind := r.IntN(7); kind {
	case 0:
		return scalar{kind: 0, json: "null"}
	case 1, 2:
		const letters = "\x00\x01ab\"ü\uffff\U0001f600"
		var s []rune
		for range r.IntN(4) {
			all := []rune(letters)
			s = append(s, all[r.IntN(len(all))])
		}
		return scalar{kind: 1, s: string(s), json: string(rawjson.AppendQuoted(nil, []byte(string(s))))}
	case 3:
		return scalar{kind: 3, json: "false"}
	case 4:
		return scalar{kind: 4, json: "true"}
	}
	n := big.NewInt(int64(r.IntN(5) - 2))
	n.Lsh(n, uint(r.IntN(3)*r.IntN(40)))
	n.Add(n, big.NewInt(int64(r.IntN(3)-1)))
	text := n.String()
	switch r.IntN(4) {
	case 0:
		text += ".00"
	case 1:
		text += "e0"
	case 2:
		if n.Sign() != 0 {
			text += "000e-3"
		}
	}
	return scalar{kind: 2, n: n, json: text}
}

func TestAppend_AllocatesNothing(t *testing.T) {
	values := [][]byte{[]byte(`"ab\u0000c"`), []byte("-12345"), []byte("true"), []byte("9223372036854775807"), nil}
	dst, text, views := make([]byte, 0, 256), make([]byte, 0, 256), make([][]byte, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		dst = dst[:0]
		for _, v := range values {
			dst, _ = AppendPacked(dst, v)
		}
	}); n != 0 {
		t.Errorf("%v allocations to pack", n)
	}
	packed, _ := AppendPacked(nil, []byte(`"abc"`))
	packed, _ = AppendPacked(packed, []byte("7"))
	if n := testing.AllocsPerRun(100, func() { _, _, _ = AppendUnpacked(views[:0], text[:0], packed) }); n != 0 {
		t.Errorf("%v allocations to unpack", n)
	}
}

func FuzzUnpack_NeverPanicsAndPacksBack(f *testing.F) {
	for _, s := range []string{"15ff", "0bf6feffffffffffffffff", "0200ff00ff00", "05150100ff02610000", "21c029000000000000", "017b7d00", "0015012627"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		values, err := Unpack(packed)
		if err != nil {
			return
		}
		for _, v := range values {
			if err = rawjson.Valid(v); err != nil {
				t.Fatalf("%x gives %q: %v", packed, v, err)
			}
		}
	})
}
