package avro

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// one is a schema of a record with the field v.
func one(t testing.TB, typ string) *Schema {
	t.Helper()
	s, err := Parse([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":` + typ + `}]}`))
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return s
}

// zigzag encodes numbers as Avro does.
func zigzag(numbers ...int64) string {
	var b []byte
	for _, v := range numbers {
		b = binary.AppendVarint(b, v)
	}
	return string(b)
}

func unhex(text string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return string(b)
}

func le32(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
func le64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

// Every conversion, from bytes written by hand.
// bug streams-files-parser 47: Airbyte, decimals become floats, and types that may be null are not merged
func TestAppendField_Values(t *testing.T) {
	const long, bytes = `{"type":"long","logicalType":`, `{"type":"bytes","logicalType":"decimal",`
	const node = `{"type":"record","name":"N","fields":[{"name":"x","type":"int"},{"name":"next","type":["null","N"]}]}`
	for _, test := range []struct{ typ, datum, want string }{
		{`"null"`, "", `null`},
		{`"boolean"`, "\x00", `false`},
		{`"boolean"`, "\x01", `true`},
		{`"int"`, zigzag(0), `0`},
		{`"int"`, zigzag(math.MinInt32), `-2147483648`},
		{`"long"`, zigzag(-64), `-64`},
		{`"long"`, zigzag(math.MaxInt64), `9223372036854775807`},
		{`"long"`, zigzag(math.MinInt64), `-9223372036854775808`},
		{`"float"`, le32(math.Float32bits(0.1)), `0.1`},
		{`"float"`, le32(math.Float32bits(float32(math.NaN()))), `"NaN"`},
		{`"double"`, le64(math.Float64bits(0.1)), `0.1`},
		{`"double"`, le64(math.Float64bits(1e300)), `1e+300`},
		{`"double"`, le64(math.Float64bits(math.Inf(1))), `"Infinity"`},
		{`"double"`, le64(math.Float64bits(math.Inf(-1))), `"-Infinity"`},
		{`"bytes"`, zigzag(3) + "\x00\xff\x10", `"AP8Q"`},
		{`"bytes"`, zigzag(0), `""`},
		{`"string"`, zigzag(4) + "a\"é", `"a\"é"`},
		{`{"type":"fixed","name":"F","size":2}`, "\x01\x02", `"AQI="`},
		{`{"type":"fixed","name":"F","size":0}`, "", `""`},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, zigzag(1), `"B"`},
		{`{"type":"array","items":"int"}`, zigzag(2, 7, 8, 1, 9, 0), `[7,8,9]`},
		{`{"type":"array","items":"int"}`, zigzag(-2, 2, 7, 8, 0), `[7,8]`}, // a negative count is followed by the block's bytes
		{`{"type":"array","items":"null"}`, zigzag(3, 0), `[null,null,null]`},
		{`{"type":"array","items":"int"}`, zigzag(0), `[]`},
		{`{"type":"map","values":"long"}`, zigzag(1, 1) + "k" + zigzag(5, -1, 4, 2) + "é" + zigzag(6, 0), `{"k":5,"é":6}`},
		{`["null","string"]`, zigzag(0), `null`},
		{`["null","string"]`, zigzag(1, 1) + "x", `"x"`},
		{`["null","int",{"type":"array","items":["null","string"]}]`, zigzag(2, 2, 0, 1, 1) + "y" + zigzag(0), `[null,"y"]`},
		{`{"type":"record","name":"I","fields":[{"name":"a","type":"int"},{"name":"b","type":"null"}]}`, zigzag(4), `{"a":4,"b":null}`},
		{`{"type":"record","name":"I","fields":[]}`, "", `{}`},
		{`{"type":"record","name":"I","fields":[{"name":"a","type":"null"}]}`, "", `{"a":null}`},
		{node, zigzag(1, 1, 2, 0), `{"x":1,"next":{"x":2,"next":null}}`},

		{bytes + `"precision":4,"scale":2}`, zigzag(2) + unhex("04d2"), `"12.34"`},
		{bytes + `"precision":4,"scale":2}`, zigzag(2) + unhex("fb2e"), `"-12.34"`},
		{bytes + `"precision":4,"scale":2}`, zigzag(2) + unhex("04ce"), `"12.30"`},
		{bytes + `"precision":4,"scale":2}`, zigzag(0), `"0.00"`},
		{bytes + `"precision":4}`, zigzag(1) + "\xff", `"-1"`},
		{bytes + `"precision":90,"scale":0}`, zigzag(17) + "\x01" + strings.Repeat("\x00", 16), `"340282366920938463463374607431768211456"`},
		{`{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":4,"scale":4}`, unhex("fb2e"), `"-0.1234"`},
		{bytes + `"precision":0}`, zigzag(2) + unhex("04d2"), `"BNI="`},                                           // invalid: bytes
		{bytes + `"precision":2,"scale":3}`, zigzag(2) + unhex("04d2"), `"BNI="`},                                 // invalid
		{bytes + `"precision":2,"scale":-1}`, zigzag(2) + unhex("04d2"), `"BNI="`},                                // invalid
		{bytes + `"scale":1}`, zigzag(2) + unhex("04d2"), `"BNI="`},                                               // invalid
		{`{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":5}`, unhex("04d2"), `"BNI="`},   // two bytes hold 4 digits
		{`{"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":7}`, unhex("0004d2"), `"AATS"`}, // three bytes hold 6
		{`{"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":6}`, unhex("0004d2"), `"1234"`},
		{`{"type":"string","logicalType":"decimal","precision":4}`, zigzag(1) + "1", `"1"`},                 // not on strings
		{`{"type":"int","logicalType":"timestamp-millis"}`, zigzag(5), `5`},                                 // not on int
		{`{"type":"long","logicalType":"date"}`, zigzag(5), `5`},                                            // not on long
		{`{"type":"long","logicalType":"made-up"}`, zigzag(5), `5`},                                         // unknown
		{`{"type":"fixed","name":"F","size":3,"logicalType":"uuid"}`, "\x01\x02\x03", `"AQID"`},             // 16 bytes have a UUID
		{`{"type":"fixed","name":"F","size":4,"logicalType":"duration"}`, "\x01\x02\x03\x04", `"AQIDBA=="`}, // 12 bytes have a duration
		{`{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}`, unhex("123e4567e89b12d3a456426614174000"), `"123e4567-e89b-12d3-a456-426614174000"`},
		{`{"type":"string","logicalType":"uuid"}`, zigzag(3) + "abc", `"abc"`},

		{`{"type":"int","logicalType":"date"}`, zigzag(0), `"1970-01-01"`},
		{`{"type":"int","logicalType":"date"}`, zigzag(23457), `"2034-03-23"`},
		{`{"type":"int","logicalType":"date"}`, zigzag(-1), `"1969-12-31"`},
		{`{"type":"int","logicalType":"date"}`, zigzag(-719528), `"0000-01-01"`},
		{`{"type":"int","logicalType":"date"}`, zigzag(2932896), `"9999-12-31"`},
		{`{"type":"int","logicalType":"time-millis"}`, zigzag(28000000), `"07:46:40"`},
		{`{"type":"int","logicalType":"time-millis"}`, zigzag(86399999), `"23:59:59.999"`},
		{long + `"time-micros"}`, zigzag(28000000001), `"07:46:40.000001"`},
		{long + `"timestamp-millis"}`, zigzag(1607483647000), `"2020-12-09T03:14:07Z"`},
		{long + `"timestamp-millis"}`, zigzag(1607483647120), `"2020-12-09T03:14:07.12Z"`},
		{long + `"timestamp-millis"}`, zigzag(-1), `"1969-12-31T23:59:59.999Z"`},
		{long + `"timestamp-micros"}`, zigzag(-1), `"1969-12-31T23:59:59.999999Z"`},
		{long + `"timestamp-nanos"}`, zigzag(1), `"1970-01-01T00:00:00.000000001Z"`},
		{long + `"timestamp-nanos"}`, zigzag(math.MinInt64), `"1677-09-21T00:12:43.145224192Z"`},
		{long + `"local-timestamp-millis"}`, zigzag(1607483647000), `"2020-12-09T03:14:07"`},
		{long + `"local-timestamp-micros"}`, zigzag(1), `"1970-01-01T00:00:00.000001"`},
		{long + `"local-timestamp-nanos"}`, zigzag(-1), `"1969-12-31T23:59:59.999999999"`},
		{`{"type":"fixed","name":"F","size":12,"logicalType":"duration"}`, le32(6) + le32(14) + le32(20500), `"P6M14DT20.5S"`},
		{`{"type":"fixed","name":"F","size":12,"logicalType":"duration"}`, le32(0) + le32(0) + le32(0), `"PT0S"`},
		{`["null",` + long + `"timestamp-millis"}]`, zigzag(1, 0), `"1970-01-01T00:00:00Z"`},
		{`{"type":"map","values":{"type":"int","logicalType":"date"}}`, zigzag(1, 1) + "d" + zigzag(0, 0), `{"d":"1970-01-01"}`},
	} {
		s := one(t, test.typ)
		text := test.datum + "what follows"
		spans, n, err := s.Cut([]byte(text), nil)
		if err != nil || n != len(test.datum) || !slices.Equal(spans, []Span{{0, int32(n)}}) {
			t.Errorf("%s of %x: %d bytes, %v, %v", test.typ, test.datum, n, spans, err)
			continue
		}
		if got, err := s.AppendField([]byte("="), []byte(text), spans, 0); err != nil || string(got) != "="+test.want {
			t.Errorf("%s of %x: %s, %v, want %s", test.typ, test.datum, got, err, test.want)
		}
		if got, n, err := s.AppendRecord([]byte("="), []byte(text)); err != nil || n != len(test.datum) || string(got) != `={"v":`+test.want+"}" {
			t.Errorf("the record of %s of %x: %s, %d, %v", test.typ, test.datum, got, n, err)
		}
		// Each shorter datum is one that ends too early, never a panic.
		for cut := range test.datum {
			if _, _, err := s.Cut([]byte(test.datum[:cut]), nil); err == nil || !strings.Contains(err.Error(), "a value needs") {
				t.Errorf("%s of %x, cut after %d bytes: %v", test.typ, test.datum, cut, err)
			}
		}
	}
}

// A value without a form in JSON spoils its record alone: where it ends is known.
func TestAppendField_ValuesWithoutForm(t *testing.T) {
	for _, test := range []struct{ typ, datum, want string }{
		{`"string"`, zigzag(2) + "a\xff", `writing the field v: a string is not valid UTF-8: "a\xff"`},
		{`{"type":"map","values":"null"}`, zigzag(1, 1) + "\xff" + zigzag(0), `writing the field v: a string is not valid UTF-8: "\xff"`},
		{`"boolean"`, "\x02", `writing the field v: a boolean is neither 0 nor 1: 2`},
		{`{"type":"int","logicalType":"date"}`, zigzag(2932897), `writing the field v: a time is outside of the years 0 to 9999: 2932897`},
		{`{"type":"int","logicalType":"date"}`, zigzag(math.MinInt32), `writing the field v: a time is outside of the years 0 to 9999: -2147483648`},
		{`{"type":"int","logicalType":"time-millis"}`, zigzag(86400001), `writing the field v: a time is outside of the 24 hours of a day: 86400001`},
		{`{"type":"long","logicalType":"time-micros"}`, zigzag(math.MaxInt64), `writing the field v: a time is outside of the 24 hours of a day: 9223372036854775807`},
		{`{"type":"long","logicalType":"timestamp-millis"}`, zigzag(253402300800000), `writing the field v: a time is outside of the years 0 to 9999: 253402300800000`},
		{`{"type":"long","logicalType":"timestamp-micros"}`, zigzag(math.MinInt64), `writing the field v: a time is outside of the years 0 to 9999: -9223372036854775808`},
		{`{"type":"bytes","logicalType":"decimal","precision":1}`, zigzag(5000) + strings.Repeat("x", 5000), `writing the field v: a decimal has more than 4096 bytes: 5000 bytes`},
	} {
		s := one(t, test.typ)
		spans, n, err := s.Cut([]byte(test.datum), nil)
		if err != nil || n != len(test.datum) {
			t.Errorf("%s: %d bytes, %v", test.typ, n, err)
			continue
		}
		got, err := s.AppendField([]byte("="), []byte(test.datum), spans, 0)
		var value *ValueError
		if string(got) != "=" || !errors.As(err, &value) || err.Error() != test.want {
			t.Errorf("%s: %s, %v", test.typ, got, err)
		}
	}
}

// Bytes that no writer writes, and those that would take much memory or time.
func TestCut_HostileBytes(t *testing.T) {
	nested := `{"type":"record","name":"N","fields":[{"name":"next","type":["null","N"]}]}`
	for _, test := range []struct {
		typ, datum, want string
		limit            bool
	}{
		{`"long"`, strings.Repeat("\xff", 11), "an integer has more than 64 bits", false},
		{`"long"`, strings.Repeat("\xff", 9) + "\x02", "an integer has more than 64 bits", false},
		{`"long"`, strings.Repeat("\x80", 1000), "an integer has more than 64 bits", false},
		{`"string"`, zigzag(-1), "a string has the length -1", false},
		{`"bytes"`, zigzag(math.MinInt64), "a string has the length -9223372036854775808", false},
		{`"bytes"`, zigzag(1 << 31), "a string declares 2147483648 bytes; at most 67108864 are allowed", true},
		{`"string"`, zigzag(math.MaxInt64), "a string declares 9223372036854775807 bytes; at most 67108864 are allowed", true},
		{`"string"`, zigzag(5) + "abc", "a value needs 5 bytes, of which only 3 are there", false},
		{`{"type":"fixed","name":"F","size":2000000000}`, "abc", "a value needs 2000000000 bytes, of which only 3 are there", false},
		{`["null","int"]`, zigzag(2), "a union of 2 types names the type 2", false},
		{`["null","int"]`, zigzag(-1), "a union of 2 types names the type -1", false},
		{`{"type":"enum","name":"E","symbols":["A"]}`, zigzag(1), "the enum E of 1 symbols names the symbol 1", false},
		{`{"type":"enum","name":"E","symbols":["A"]}`, zigzag(-1), "the enum E of 1 symbols names the symbol -1", false},
		{`{"type":"array","items":"int"}`, zigzag(math.MinInt64, 0), "an array has a block of -9223372036854775808 items and 0 bytes", false},
		{`{"type":"array","items":"int"}`, zigzag(-1, -1), "an array has a block of 1 items and -1 bytes", false},
		{`{"type":"array","items":"int"}`, zigzag(math.MaxInt64, 1), "a value needs 1 bytes, of which only 0 are there", false},
		{`{"type":"map","values":"null"}`, zigzag(math.MaxInt64, 0), "a value needs 1 bytes, of which only 0 are there", false},
		{`{"type":"array","items":"null"}`, zigzag(1 << 31), "an array declares 2147483648 items without content, more than 67108864 bytes of JSON", true},
		{`{"type":"array","items":"null"}`, zigzag(-1<<40, 0), "an array declares 1099511627776 items without content, more than 67108864 bytes of JSON", true},
		{`{"type":"array","items":"null"}`, strings.Repeat(zigzag(1<<20), 20), "an array declares 13631488 items without content, more than 67108864 bytes of JSON", true},
		{nested, strings.Repeat("\x02", 1000), "more than 512 records, arrays and maps stand inside each other", true},
		{`{"type":"record","name":"N","fields":[{"name":"a","type":"N"},{"name":"b","type":"N"}]}`, "", "more than 512 records, arrays and maps stand inside each other", true},
	} {
		_, _, err := one(t, test.typ).Cut([]byte(test.datum), nil)
		var e *Error
		if !errors.As(err, &e) || e.Reason != test.want || e.Limit != test.limit {
			t.Errorf("%s: %v", test.typ, err)
		}
	}
}

// A small datum cannot make much JSON by long names.
func TestAppendField_BoundsItsJSON(t *testing.T) {
	name := strings.Repeat("n", 1<<20)
	s := one(t, `{"type":"array","items":{"type":"record","name":"I","fields":[{"name":"`+name+`","type":"boolean"}]}}`)
	datum := []byte(zigzag(1000) + strings.Repeat("\x00", 1000) + zigzag(0))
	spans, _, err := s.Cut(datum, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.AppendField(nil, datum, spans, 0)
	var e *Error
	if len(got) != 0 || cap(got) > 200<<20 || !errors.As(err, &e) || !e.Limit {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// All fields of a record share what its JSON may take, and each record has that anew.
func TestFile_BoundsTheJSONOfARecord(t *testing.T) {
	const schema = `{"type":"record","name":"R","fields":[{"name":"a","type":"string"},{"name":"b","type":"string"}]}`
	text := func(n int) string { return zigzag(int64(n)) + strings.Repeat("x", n) }
	good := text(40) + text(40)
	f, err := NewFile(strings.NewReader(container("null", schema, block(4, good+good+good+text(40)+text(60)))), Limits{Value: 100})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := f.Next(); err != nil {
			t.Fatal(err)
		}
		if got, err := document(nil, f); err != nil || len(got) != 2*42+len(`{"a":,"b":}`) {
			t.Errorf("%s, %v", got, err)
		}
	}
	if err := f.Next(); err != nil {
		t.Fatal(err)
	}
	first, _, err := f.AppendField(nil, 0)
	if err != nil || len(first) != 42 {
		t.Errorf("%s, %v", first, err)
	}
	second, _, err := f.AppendField(first, 1)
	var e *Error
	if len(second) != 42 || !errors.As(err, &e) || !e.Limit || e.Reason != "the JSON of the record is larger than 100 bytes" {
		t.Errorf("%s, %v", second, err)
	}
}
