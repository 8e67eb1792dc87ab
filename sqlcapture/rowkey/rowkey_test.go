package rowkey_test

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// number and uuid pack text that is known to be good.
func number(text string) []byte {
	b, err := rowkey.AppendNumeric(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return b
}

func uuid(text string) []byte {
	b, err := rowkey.AppendUUID(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return b
}

// The bytes of the types that FoundationDB knows are those of its specification; they are kept in states, so none may change.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		key  []byte
		want string // hexadecimal
		text string
	}{
		{"null", rowkey.AppendNull(nil), "00", ""},
		{"bytes", rowkey.AppendBytes(nil, []byte("foo\x00bar")), "01666f6f00ff62617200", `\x666f6f00626172`},
		{"empty bytes", rowkey.AppendBytes(nil, nil), "0100", `\x`},
		{"text", rowkey.AppendText(nil, []byte("FÔO\x00bar")), "0246c3944f00ff62617200", "FÔO\x00bar"},
		{"abc", rowkey.AppendText(nil, []byte("abc")), "0261626300", "abc"},
		{"zero", rowkey.AppendInt(nil, 0), "14", "0"},
		{"one", rowkey.AppendInt(nil, 1), "1501", "1"},
		{"-1", rowkey.AppendInt(nil, -1), "13fe", "-1"},
		{"-255", rowkey.AppendInt(nil, -255), "1300", "-255"},
		{"-256", rowkey.AppendInt(nil, -256), "12feff", "-256"},
		{"-5551212", rowkey.AppendInt(nil, -5551212), "11ab4b93", "-5551212"},
		{"max", rowkey.AppendInt(nil, math.MaxInt64), "1c7fffffffffffffff", "9223372036854775807"},
		{"min", rowkey.AppendInt(nil, math.MinInt64), "0c7fffffffffffffff", "-9223372036854775808"},
		{"max unsigned", rowkey.AppendUint(nil, math.MaxUint64), "1cffffffffffffffff", "18446744073709551615"},
		{"false", rowkey.AppendBool(nil, false), "14", "0"},
		{"true", rowkey.AppendBool(nil, true), "1501", "1"},
		{"-42 as double", rowkey.AppendFloat64(nil, -42), "213fbaffffffffffff", "-42"},
		{"1.5", rowkey.AppendFloat64(nil, 1.5), "21bff8000000000000", "1.5"},
		{"NaN", rowkey.AppendFloat64(nil, math.NaN()), "21fff8000000000000", "NaN"},
		{"uuid", uuid("A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11"), "30a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"ranked", rowkey.AppendRanked(nil, -1, []byte("sad")), "0513fe027361640000", "sad"},
		{"numeric zero", number("-0.00"), "051400", "0"},
		{"numeric 1.50", number("1.50"), "05150115010231350000", "1.5"},
		{"numeric -1.5", number("-1.5"), "0513fe13fe0238343a0000", "-1.5"},
		{"numeric NaN", number("NaN"), "05150300", "NaN"},
		{"numeric far", number("12e100"), "05150115660231320000", "12E100"},
	} {
		if got := hex.EncodeToString(c.key); got != c.want {
			t.Errorf("%s: packed as %s, want %s", c.name, got, c.want)
		}
		list, err := rowkey.Literals(c.key)
		if err != nil || len(list) != 1 || list[0].Text != c.text || list[0].Null != (c.name == "null") {
			t.Errorf("%s: unpacked as %+v, %v, want %q", c.name, list, err, c.text)
		}
	}
}

func TestStateForm(t *testing.T) {
	for text, key := range map[string][]byte{
		"FQE=":     rowkey.AppendInt(nil, 1),
		"AmFiYwA=": rowkey.AppendText(nil, []byte("abc")),
	} {
		b, err := json.Marshal(struct {
			Scanned rowkey.Key `json:"scanned"`
		}{key})
		if err != nil || string(b) != `{"scanned":"`+text+`"}` {
			t.Errorf("marshaling %x: %s, %v", key, b, err)
		}
		var back struct {
			Scanned rowkey.Key `json:"scanned"`
		}
		if err := json.Unmarshal(b, &back); err != nil || rowkey.Compare(back.Scanned, key) != 0 {
			t.Errorf("unmarshaling %s: %x, %v", b, back.Scanned, err)
		}
	}
	k := rowkey.Key{1}
	if err := k.UnmarshalText(nil); err != nil || k != nil {
		t.Errorf("empty text gives %x, %v, want the nil key", k, err)
	}
	for _, bad := range []string{"?", "FQ==", base64.StdEncoding.EncodeToString([]byte{0xFF})} {
		if err := k.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, text := range []string{"", "-", ".", "1x", "1e", "1e9999999999", "+-1", "-NaN", "Inf", "1.2.3", "e5"} {
		if b, err := rowkey.AppendNumeric([]byte("x"), []byte(text)); err == nil || string(b) != "x" {
			t.Errorf("number %q: %x, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "a0eebc99", "a0eebc999c0b4ef8bb6d6bb9bd380a11ff", "g0eebc999c0b4ef8bb6d6bb9bd380a11"} {
		if b, err := rowkey.AppendUUID([]byte("x"), []byte(text)); err == nil || string(b) != "x" {
			t.Errorf("UUID %q: %x, %v", text, b, err)
		}
	}
	for _, key := range []string{"02", "0261", "15", "2100", "3000", "05", "0515", "051501", "05000000000000", "051500", "0505050500", "ff", "051507150102310000"} {
		b, _ := hex.DecodeString(key)
		if list, err := rowkey.Literals(b); err == nil {
			t.Errorf("key %s is unpacked as %+v", key, list)
		}
	}
}

// kind draws random values of a type and knows their order without any packing.
type kind[T any] struct {
	draw    func(*rand.Rand) T
	pack    func(T) []byte
	compare func(a, b T) int
	// parse reads the literal again.
	parse func(string) T
}

func (k kind[T]) check(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b := k.draw(r), k.draw(r)
		ka, kb := k.pack(a), k.pack(b)
		if got, want := rowkey.Compare(ka, kb), k.compare(a, b); got != want {
			t.Fatalf("keys of %v and %v compare as %d, the values as %d: %x %x", a, b, got, want, ka, kb)
		}
		// Keys of several columns: the elements in front and behind must not disturb.
		front := rowkey.AppendText(nil, []byte{0})
		ka = rowkey.AppendInt(append(slices.Clone(front), ka...), 7)
		kb = rowkey.AppendInt(append(slices.Clone(front), kb...), -7)
		want := k.compare(a, b)
		if want == 0 {
			want = 1
		}
		if got := rowkey.Compare(ka, kb); got != want {
			t.Fatalf("keys (%v, 7) and (%v, -7) compare as %d, the values as %d", a, b, got, want)
		}
		list, err := rowkey.Literals(ka)
		if err != nil || len(list) != 3 || list[0].Text != "\x00" || list[2].Text != "7" {
			t.Fatalf("unpacking %x: %+v, %v", ka, list, err)
		}
		if k.compare(k.parse(list[1].Text), a) != 0 {
			t.Fatalf("%v is unpacked as %q", a, list[1].Text)
		}
	}
}

func TestOrderAndRoundTrip(t *testing.T) {
	t.Run("int", kind[int64]{
		draw:    func(r *rand.Rand) int64 { return int64(r.Uint64()) >> r.IntN(64) },
		pack:    func(v int64) []byte { return rowkey.AppendInt(nil, v) },
		compare: cmp.Compare[int64],
		parse:   func(s string) int64 { v, _ := strconv.ParseInt(s, 10, 64); return v },
	}.check)
	t.Run("uint", kind[uint64]{
		draw:    func(r *rand.Rand) uint64 { return r.Uint64() >> r.IntN(64) },
		pack:    func(v uint64) []byte { return rowkey.AppendUint(nil, v) },
		compare: cmp.Compare[uint64],
		parse:   func(s string) uint64 { v, _ := strconv.ParseUint(s, 10, 64); return v },
	}.check)
	t.Run("text", kind[string]{
		draw:    drawText,
		pack:    func(v string) []byte { return rowkey.AppendText(nil, []byte(v)) },
		compare: strings.Compare,
		parse:   func(s string) string { return s },
	}.check)
	t.Run("bytes", kind[string]{
		draw:    drawText,
		pack:    func(v string) []byte { return rowkey.AppendBytes(nil, []byte(v)) },
		compare: strings.Compare,
		parse:   func(s string) string { b, _ := hex.DecodeString(strings.TrimPrefix(s, `\x`)); return string(b) },
	}.check)
	t.Run("float", kind[float64]{
		draw: func(r *rand.Rand) float64 {
			special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xFFF8000000000123), 1, -1}
			if i := r.IntN(20); i < len(special) {
				return special[i]
			}
			return math.Float64frombits(r.Uint64())
		},
		pack: func(v float64) []byte { return rowkey.AppendFloat64(nil, v) },
		compare: func(a, b float64) int {
			if a != a || b != b { // SQL's order: NaN last
				return cmp.Compare(b, a)
			}
			return cmp.Compare(a, b)
		},
		parse: func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v },
	}.check)
	t.Run("numeric", kind[string]{
		draw:    drawNumber,
		pack:    number,
		compare: compareNumbers,
		parse:   func(s string) string { return s },
	}.check)
	t.Run("ranked", kind[int64]{
		draw:    func(r *rand.Rand) int64 { return int64(r.Uint64()) >> r.IntN(64) },
		pack:    func(v int64) []byte { return rowkey.AppendRanked(nil, v, []byte(strconv.FormatInt(v, 10))) },
		compare: cmp.Compare[int64],
		parse:   func(s string) int64 { v, _ := strconv.ParseInt(s, 10, 64); return v },
	}.check)
}

func drawText(r *rand.Rand) string {
	b := make([]byte, r.IntN(5))
	for i := range b {
		b[i] = []byte{0, 0, 1, 'a', 0xFE, 0xFF}[r.IntN(6)]
	}
	return string(b)
}

// drawNumber writes a number in a form that PostgreSQL could print: other scales, leading zeros, exponents.
func drawNumber(r *rand.Rand) string {
	if i := r.IntN(30); i < 3 {
		return []string{"NaN", "Infinity", "-Infinity"}[i]
	}
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "001299"[r.IntN(6)]
		}
		return string(b)
	}
	s := []string{"", "-"}[r.IntN(2)] + digits(1+r.IntN(4))
	if r.IntN(2) == 0 {
		s += "." + digits(1+r.IntN(4))
	}
	if r.IntN(8) == 0 {
		s += "e" + strconv.Itoa(r.IntN(300)-150)
	}
	return s
}

func compareNumbers(a, b string) int {
	rank := map[string]int{"-Infinity": -1, "Infinity": 1, "NaN": 2}
	if c := cmp.Compare(rank[a], rank[b]); c != 0 || rank[a] != 0 {
		return c
	}
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return x.Cmp(y)
}

func FuzzLiterals(f *testing.F) {
	f.Add([]byte{0x15, 1})
	f.Add(number("-12.5e77"))
	f.Add(rowkey.AppendRanked(rowkey.AppendNull(nil), 5, []byte("x\x00y")))
	f.Add(uuid("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := rowkey.Literals(b)
		if err == nil && len(list) > len(b) {
			t.Fatalf("%d elements from %d bytes", len(list), len(b))
		}
	})
}

func FuzzNumeric(f *testing.F) {
	f.Add("1.50", "-1e3")
	f.Add("0.00012", "12E-5")
	f.Add("NaN", "-Infinity")
	f.Fuzz(func(t *testing.T, a, b string) {
		ka, errA := rowkey.AppendNumeric(nil, []byte(a))
		kb, errB := rowkey.AppendNumeric(nil, []byte(b))
		if errA != nil || errB != nil {
			return
		}
		la, err := rowkey.Literals(ka)
		if err != nil || len(la) != 1 {
			t.Fatalf("unpacking %q: %+v, %v", a, la, err)
		}
		back, err := rowkey.AppendNumeric(nil, []byte(la[0].Text))
		if err != nil || rowkey.Compare(back, ka) != 0 {
			t.Fatalf("%q is unpacked as %q, packed again as %x instead of %x", a, la[0].Text, back, ka)
		}
		if len(a) < 8 && len(b) < 8 && !strings.ContainsAny(a+b, "eEnN") {
			if got, want := rowkey.Compare(ka, kb), compareNumbers(a, b); got != want {
				t.Fatalf("%q and %q compare as %d, want %d", a, b, got, want)
			}
		}
	})
}

func BenchmarkAppendInt(b *testing.B) {
	b.ReportAllocs()
	dst := make([]byte, 0, 64)
	for i := range b.N {
		dst = rowkey.AppendInt(dst[:0], int64(i)*7919-1000000)
	}
}

func BenchmarkAppendText(b *testing.B) {
	b.ReportAllocs()
	dst, v := make([]byte, 0, 64), []byte("customer-12345")
	for range b.N {
		dst = rowkey.AppendText(dst[:0], v)
	}
}

func BenchmarkAppendUUID(b *testing.B) {
	b.ReportAllocs()
	dst, v := make([]byte, 0, 64), []byte("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
	for range b.N {
		dst, _ = rowkey.AppendUUID(dst[:0], v)
	}
}

func BenchmarkAppendNumeric(b *testing.B) {
	b.ReportAllocs()
	dst, v := make([]byte, 0, 64), []byte("-12345.6700")
	for range b.N {
		dst, _ = rowkey.AppendNumeric(dst[:0], v)
	}
}
