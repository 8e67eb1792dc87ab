package scalars

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAppendFloat(t *testing.T) {
	for _, test := range []struct {
		in             float64
		want, narrowed string
	}{
		{0, "0", "0"},
		{math.Copysign(0, -1), "-0", "-0"},
		{1.1, "1.1", "1.1"},
		{-12.5, "-12.5", "-12.5"},
		{100, "100", "100"},
		{52.520008, "52.520008", "52.520008"},
		{0.30000000000000004, "0.30000000000000004", "0.3"},
		{1e-7, "1e-07", "1e-07"},
		{1e21, "1e+21", "1e+21"},
		{123456789.125, "123456789.125", "123456790"},
		{math.MaxFloat64, "1.7976931348623157e+308", `"Infinity"`},
		{5e-324, "5e-324", "0"},
		{math.NaN(), `"NaN"`, `"NaN"`},
		{math.Inf(1), `"Infinity"`, `"Infinity"`},
		{math.Inf(-1), `"-Infinity"`, `"-Infinity"`},
	} {
		if got := string(AppendFloat64(nil, test.in)); got != test.want {
			t.Errorf("AppendFloat64(%v) = %s, want %s", test.in, got, test.want)
		}
		if got := string(AppendFloat32(nil, float32(test.in))); got != test.narrowed {
			t.Errorf("AppendFloat32(%v) = %s, want %s", test.in, got, test.narrowed)
		}
	}
}

// The quick way must write what strconv writes.
func TestAppendFloat_IsTheShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		v := float64(random.Int64N(2e15)-1e15) / math.Pow10(random.IntN(9))
		if got, want := string(AppendFloat64(nil, v)), string(appendFloat(nil, v, 64)); got != want {
			t.Fatalf("AppendFloat64(%v) = %s, want %s", v, got, want)
		}
		narrow := float32(random.Int64N(2e6)-1e6) / float32(math.Pow10(random.IntN(6)))
		if got, want := string(AppendFloat32(nil, narrow)), string(appendFloat(nil, float64(narrow), 32)); got != want {
			t.Fatalf("AppendFloat32(%v) = %s, want %s", narrow, got, want)
		}
	}
}

func TestAppendFloat16(t *testing.T) {
	for half, want := range map[uint16]string{
		0x0000: "0", 0x8000: "-0", 0x3c00: "1", 0xbc00: "-1", 0x2e66: "0.1", 0x3555: "0.3333", 0x7bff: "65500", 0x0001: "6e-08", 0x0400: "0.00006104",
		0x7c00: `"Infinity"`, 0xfc00: `"-Infinity"`, 0x7e00: `"NaN"`, 0x4248: "3.14",
	} {
		if got := string(AppendFloat16(nil, half)); got != want {
			t.Errorf("AppendFloat16(%#04x) = %s, want %s", half, got, want)
		}
	}
	for half := range 0x10000 {
		v := fromHalf(uint16(half))
		if v != v || math.IsInf(v, 0) {
			continue
		}
		if toHalf(v) != uint16(half) {
			t.Fatalf("%#04x is %v, which is %#04x", half, v, toHalf(v))
		}
		text := string(AppendFloat16(nil, uint16(half)))
		if read, err := strconv.ParseFloat(strings.Trim(text, `"`), 64); err != nil || toHalf(read) != uint16(half) {
			t.Fatalf("%#04x is written %s", half, text)
		}
	}
}

func TestAppendDecimal(t *testing.T) {
	for _, test := range []struct {
		unscaled string
		scale    int
		want     string
	}{
		{"\x04\xd2", 2, `"12.34"`},
		{"\xfb\x2e", 2, `"-12.34"`},
		{"\x04\xce", 2, `"12.30"`},
		{"\x00", 2, `"0.00"`},
		{"", 2, `"0.00"`},
		{"\x05", 3, `"0.005"`},
		{"\xff", 0, `"-1"`},
		{"\x80", 0, `"-128"`},
		{"\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9, `"170141183460469231731687303715.884105727"`},
		{"\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 0, `"-170141183460469231731687303715884105728"`},
		{"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 1, `"17014118346046923173168730371588410572.8"`},
	} {
		if got := string(AppendDecimal(nil, []byte(test.unscaled), test.scale)); got != test.want {
			t.Errorf("AppendDecimal(%x, %d) = %s, want %s", test.unscaled, test.scale, got, test.want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := make([]byte, random.IntN(20))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] > 0x7f {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		if got, want := string(AppendDecimal(nil, b, 0)), `"`+n.String()+`"`; got != want {
			t.Fatalf("AppendDecimal(%x, 0) = %s, want %s", b, got, want)
		}
		if n.IsInt64() {
			if got, want := string(AppendDecimalInt(nil, n.Int64(), 4)), string(AppendDecimal(nil, b, 4)); got != want {
				t.Fatalf("AppendDecimalInt(%d, 4) = %s, want %s", n, got, want)
			}
		}
	}
}

func TestAppendTimestamp_AgreesWithTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	seconds := []int64{first, last, 0, -1, 1607483647, 951782400, 951868800, -62135596800}
	for range 200_000 {
		seconds = append(seconds, first+random.Int64N(last-first))
	}
	nanos := []uint32{0, 1, 999_999_999, 500_000_000, 123_456_000}
	for i, s := range seconds {
		n := nanos[i%len(nanos)]
		at := time.Unix(s, int64(n)).UTC()
		if got, ok := AppendTimestamp(nil, s, n, true); !ok || string(got) != at.Format(`"`+time.RFC3339Nano+`"`) {
			t.Fatalf("%d s, %d ns = %s, want %s", s, n, got, at.Format(time.RFC3339Nano))
		}
		days := (s - first) / 86400
		if got, ok := AppendDate(nil, days+first/86400); !ok || string(got) != at.Format(`"`+time.DateOnly+`"`) {
			t.Fatalf("day of %s = %s", at, got)
		}
	}
	for _, s := range []int64{first - 1, last + 1, math.MaxInt64, math.MinInt64} {
		if got, ok := AppendTimestamp([]byte("x"), s, 0, true); ok || string(got) != "x" {
			t.Errorf("%d s = %s, want none", s, got)
		}
	}
	for _, d := range []int64{firstDay - 1, endDay, math.MaxInt64, math.MinInt64} {
		if got, ok := AppendDate([]byte("x"), d); ok || string(got) != "x" {
			t.Errorf("day %d = %s, want none", d, got)
		}
	}
}

func TestAppend_OtherKinds(t *testing.T) {
	id := [16]byte{0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x00}
	clock := func(nanos int64) string {
		dst, ok := AppendTime(nil, nanos)
		if !ok {
			return "none"
		}
		return string(dst)
	}
	local, _ := AppendTimestamp(nil, 1607483647, 0, false)
	for got, want := range map[string]string{
		string(AppendUUID(nil, &id)):                  `"123e4567-e89b-12d3-a456-426614174000"`,
		string(AppendBase64(nil, []byte{0xff, 0xfe})): `"//4="`,
		string(AppendBase64(nil, nil)):                `""`,
		string(AppendInterval(nil, 6, 14, 20500)):     `"P6M14DT20.5S"`,
		string(AppendInterval(nil, 0, 0, 0)):          `"PT0S"`,
		string(AppendInterval(nil, 0, 1, 0)):          `"P1D"`,
		string(AppendInterval(nil, 4294967295, 0, 1)): `"P4294967295MT0.001S"`,
		clock(0):                  `"00:00:00"`,
		clock(27_400_000_000_000): `"07:36:40"`,
		clock(27_400_123_000_000): `"07:36:40.123"`,
		clock(86_399_999_999_999): `"23:59:59.999999999"`,
		clock(86_400_000_000_000): `"24:00:00"`,
		clock(86_400_000_000_001): "none",
		string(local):             `"2020-12-09T03:14:07"`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := clock(-1); got != "none" {
		t.Errorf("a negative time is %s", got)
	}
}

func FuzzAppendFloat64(f *testing.F) {
	for _, seed := range []float64{0, 1.1, 1e21, 5e-324, 123456.789, -0.000001} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		text := AppendFloat64(nil, v)
		if v != v || math.IsInf(v, 0) {
			return
		}
		var read float64
		if err := json.Unmarshal(text, &read); err != nil || read != v {
			t.Fatalf("%v is written %s: %v", v, text, err)
		}
	})
}

func BenchmarkAppendFloat64(b *testing.B) {
	for name, v := range map[string]float64{"price": 17.35, "coordinate": 40.758896, "random": math.Pi * 1000} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst = AppendFloat64(dst[:0], v)
			}
		})
	}
}
