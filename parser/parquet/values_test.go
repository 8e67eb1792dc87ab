package parquet

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

func int64s(values ...int64) []byte {
	var b []byte
	for _, v := range values {
		b = le.AppendUint64(b, uint64(v))
	}
	return b
}

// Types that pyarrow and DuckDB do not write, and those of old writers.
func TestValues_OfEveryAnnotation(t *testing.T) {
	i32, i64, bytes := leafOf("c", format.Int32, must), leafOf("c", format.Int64, must), leafOf("c", format.ByteArray, must)
	fixed := func(width int32) format.SchemaElement {
		return sizedAs(leafOf("c", format.FixedLenByteArray, must), width)
	}
	decimal := func(e format.SchemaElement, precision, scale int32) format.SchemaElement {
		e = converted(e, deprecated.Decimal)
		e.Precision.V, e.Precision.Valid, e.Scale.V, e.Scale.Valid = precision, true, scale, true
		return e
	}
	nanos := format.TimeUnit{Value: new(format.NanoSeconds)}
	for _, test := range []struct {
		name   string
		column format.SchemaElement
		values []byte
		want   string
	}{
		{"decimal in bytes", logical(bytes, &format.DecimalType{Precision: 40, Scale: 2}), byteArrays("\x04\xce", "\xfb\x2e", "", "\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), `"12.30" "-12.34" "0.00" "435561429658801233233119497512663310663.67"`},
		{"decimal of old writers", decimal(i32, 5, 2), int32s(1230, -5), `"12.30" "-0.05"`},
		{"decimal of old writers in 64 bits", decimal(i64, 18, 4), int64s(math.MaxInt64, math.MinInt64), `"922337203685477.5807" "-922337203685477.5808"`},
		{"decimal of old writers in fixed bytes", decimal(fixed(3), 7, 0), []byte("\x00\x00\x07\xff\xff\xff"), `"7" "-1"`},
		{"enum", logical(bytes, new(format.EnumType)), byteArrays("RED", "é"), `"RED" "é"`},
		{"enum of old writers", converted(bytes, deprecated.Enum), byteArrays("RED"), `"RED"`},
		{"text of old writers", converted(bytes, deprecated.UTF8), byteArrays("a\"b"), `"a\"b"`},
		{"bson", logical(bytes, new(format.BsonType)), byteArrays("\x05\x00\x00\x00\x00"), `"BQAAAAA="`},
		{"bson of old writers", converted(bytes, deprecated.Bson), byteArrays("\x05\x00\x00\x00\x00"), `"BQAAAAA="`},
		{"json of old writers", converted(bytes, deprecated.Json), byteArrays(`{"a" :  [1.50, "x y"]}`), `{"a":[1.50,"x y"]}`},
		{"json with half a character", converted(bytes, deprecated.Json), byteArrays("\"\\ud800x\""), "\"\\ufffdx\""},
		{"bytes", bytes, byteArrays("text", "\xff"), `"dGV4dA==" "/w=="`},
		{"fixed bytes", fixed(2), []byte("ab\xff\x00"), `"YWI=" "/wA="`},
		{"interval", converted(fixed(12), deprecated.Interval), []byte("\x06\x00\x00\x00\x0e\x00\x00\x00\x14\x50\x00\x00"), `"P6M14DT20.5S"`},
		{"date of old writers", converted(i32, deprecated.Date), int32s(0, -1, 2932896), `"1970-01-01" "1969-12-31" "9999-12-31"`},
		{"time of old writers, milliseconds", converted(i32, deprecated.TimeMillis), int32s(0, 28000123), `"00:00:00" "07:46:40.123"`},
		{"time of old writers, microseconds", converted(i64, deprecated.TimeMicros), int64s(28000000001), `"07:46:40.000001"`},
		{"time in nanoseconds", logical(i64, &format.TimeType{Unit: nanos}), int64s(86399999999999), `"23:59:59.999999999"`},
		{"timestamp of old writers, milliseconds", converted(i64, deprecated.TimestampMillis), int64s(1607483647000, -1), `"2020-12-09T03:14:07Z" "1969-12-31T23:59:59.999Z"`},
		{"timestamp of old writers, microseconds", converted(i64, deprecated.TimestampMicros), int64s(1607483647000001), `"2020-12-09T03:14:07.000001Z"`},
		{"timestamp of a place", logical(i64, &format.TimestampType{Unit: nanos}), int64s(1), `"1970-01-01T00:00:00.000000001"`},
		{"int96", leafOf("c", format.Int96, must), append(int64s(11647000000000), int32s(2459193)...), `"2020-12-09T03:14:07Z"`},
		{"small unsigned integers of old writers", converted(i32, deprecated.Uint8), int32s(255), `255`},
		{"unsigned integers of old writers", converted(i32, deprecated.Uint32), int32s(-1), `4294967295`},
		{"large unsigned integers of old writers", converted(i64, deprecated.Uint64), int64s(-1), `18446744073709551615`},
		{"signed integers of old writers", converted(i32, deprecated.Int16), int32s(-7), `-7`},
		{"large signed integers of old writers", converted(i64, deprecated.Int64), int64s(-7), `-7`},
		{"small unsigned integers", logical(i32, &format.IntType{BitWidth: 16}), int32s(65535), `65535`},
		{"nothing", logical(i32, new(format.NullType)), int32s(1), `null`},
		{"booleans", leafOf("c", format.Boolean, must), []byte{0b10110101, 0b1}, `true false true false true true false true true`},
		{"floats", leafOf("c", format.Float, must), int32s(0x3f8ccccd, 0x7f800000, -1), `1.1 "Infinity" "NaN"`},
	} {
		n := len(strings.Fields(strings.ReplaceAll(test.want, "x y", "xy")))
		got, err := rowsOf(t, oneColumn(test.column, n, test.values).build(t))
		for i, row := range got {
			got[i] = strings.TrimSuffix(strings.TrimPrefix(row, `{"c":`), "}")
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, strings.Join(got, " "), err, test.want)
		}
	}
}

// A value without a JSON form costs its row and no other.
func TestRows_GoOnBehindValuesThatCannotBeWritten(t *testing.T) {
	text := logical(leafOf("c", format.ByteArray, must), new(format.StringType))
	nested := []format.SchemaElement{
		listOf(groupOf("c", 1, must)), groupOf("list", 2, repeated), logical(leafOf("s", format.ByteArray, must), new(format.StringType)), leafOf("n", format.Int32, must),
	}
	two := []level{{0, 1}, {1, 1}, {0, 1}, {1, 1}, {0, 1}}
	for _, test := range []struct {
		name string
		file *craft
		want []string
	}{
		{
			"text that is not UTF-8", oneColumn(text, 3, byteArrays("a", "b\xff", "c")),
			[]string{`{"c":"a"}`, `writing column c: value "b\xff" is not UTF-8`, `{"c":"c"}`},
		},
		{
			"a day of the year 10000", oneColumn(logical(leafOf("c", format.Int32, must), new(format.DateType)), 3, int32s(0, 2932897, 1)),
			[]string{`{"c":"1970-01-01"}`, `writing column c: value 2932897 is outside years 0 to 9999`, `{"c":"1970-01-02"}`},
		},
		{
			"a time of the year 10000", oneColumn(converted(leafOf("c", format.Int64, must), deprecated.TimestampMillis), 2, int64s(math.MaxInt64, 0)),
			[]string{`writing column c: value 9223372036854775807 is outside years 0 to 9999`, `{"c":"1970-01-01T00:00:00Z"}`},
		},
		{
			"a time before the day", oneColumn(converted(leafOf("c", format.Int64, must), deprecated.TimeMicros), 2, int64s(-1, math.MaxInt64)),
			[]string{`writing column c: value -1 is no time of a day`, `writing column c: value 9223372036854775807 is no time of a day`},
		},
		{
			"what is not JSON", oneColumn(logical(leafOf("c", format.ByteArray, must), new(format.JsonType)), 4, byteArrays("{", "1", "", "\"\xff\"")),
			[]string{`writing column c: value "{" is not valid JSON`, `{"c":1}`, `writing column c: value "" is not valid JSON`, `writing column c: value "\"\xff\"" is not valid JSON`},
		},
		{
			"a decimal of 513 bytes", oneColumn(logical(leafOf("c", format.ByteArray, must), &format.DecimalType{Precision: 9}), 2, byteArrays(strings.Repeat("1", 513), "1")),
			[]string{`has too many bytes for a decimal`, `{"c":"49"}`},
		},
		{
			"in the middle of a list", &craft{schema: nested, rows: 3, chunks: []craftedChunk{
				{values: 5, pages: []craftedPage{pageV1(two, 1, 1, format.Plain, byteArrays("a", "b", "\xff", "d", "e"))}},
				{values: 5, pages: []craftedPage{pageV2(two, 1, 1, format.Plain, int32s(1, 2, 3, 4, 5))}},
			}},
			[]string{`{"c":[{"s":"a","n":1},{"s":"b","n":2}]}`, `writing column c.list.s: value "\xff" is not UTF-8`, `{"c":[{"s":"e","n":5}]}`},
		},
		{
			"the missing key of a map", &craft{
				schema: []format.SchemaElement{mapOf(groupOf("c", 1, must)), groupOf("kv", 1, repeated), converted(leafOf("key", format.ByteArray, optional), deprecated.UTF8)},
				rows:   2, chunks: []craftedChunk{{values: 3, pages: []craftedPage{pageV1([]level{{0, 1}, {1, 2}, {0, 2}}, 1, 2, format.Plain, byteArrays("a", "b"))}}},
			},
			[]string{`writing column c: value null cannot be the key of a map`, `{"c":{"b":null}}`},
		},
	} {
		data := test.file.build(t)
		f := open(t, data)
		r, err := f.Rows(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if err := r.Next(); err != nil {
				t.Fatalf("%s, row %d: %v", test.name, i, err)
			}
			row, err := appendRow(nil, f, r)
			var value *ValueError
			if errors.As(err, &value) {
				row = []byte(err.Error())
			} else if err != nil {
				t.Fatalf("%s, row %d: %v", test.name, i, err)
			}
			if !strings.Contains(string(row), want) {
				t.Errorf("%s, row %d: got %s, want %s", test.name, i, row, want)
			}
		}
		if err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: behind the last row comes %v", test.name, err)
		}
	}
}

// A dictionary with a value that cannot be written serves the others.
func TestDictionary_WithAValueThatCannotBeWritten(t *testing.T) {
	text := logical(leafOf("c", format.ByteArray, must), new(format.StringType))
	dict := craftedPage{body: byteArrays("a", "\xff", "c"), header: format.PageHeader{Type: format.DictionaryPage}}
	dict.header.DictionaryPageHeader.Valid = true
	dict.header.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: 3, Encoding: plainDictionary}
	c := craft{schema: []format.SchemaElement{text}, rows: 8, chunks: []craftedChunk{{values: 8, pages: []craftedPage{
		dict, pageV1(required(8), 0, 0, plainDictionary, []byte{2, 2<<1 | 1, 0b10000100, 0b10001000, 0, 0}),
	}}}}
	data := c.build(t)
	f := open(t, data)
	r, err := f.Rows(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r.Next() == nil {
		row, err := appendRow(nil, f, r)
		if err != nil {
			row = []byte("error")
		}
		got = append(got, string(row))
	}
	want := []string{`{"c":"a"}`, "error", `{"c":"a"}`, `{"c":"c"}`, `{"c":"a"}`, `{"c":"c"}`, `{"c":"a"}`, `{"c":"c"}`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// bug streams-files-parser 29: predecessor: a Parquet file of 10 GB filled the disk of the worker. Only ranges of what is asked for are read, and nothing is put on a disk.
func TestOpen_ReadsRangesOfWhatIsAskedFor(t *testing.T) {
	const n = 200_000
	wide := func(name string) (format.SchemaElement, craftedChunk) {
		return leafOf(name, format.Int32, must), craftedChunk{values: n, pages: []craftedPage{pageV1(required(n), 0, 0, format.Plain, make([]byte, 4*n))}}
	}
	c := craft{rows: n}
	for _, name := range []string{"a", "b", "c", "d"} {
		e, chunk := wide(name)
		c.schema, c.chunks = append(c.schema, e), append(c.chunks, chunk)
	}
	data := c.build(t)
	log := &rangeLog{Reader: bytes.NewReader(data)}
	f, err := Open(log, int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if log.reads != 1 || log.bytes > firstRead {
		t.Errorf("opening took %d ranges of together %d bytes", log.reads, log.bytes)
	}
	r, err := f.Rows(0, n-1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.AppendField(nil, 2); err != nil {
		t.Fatal(err)
	}
	if log.reads > 3 || log.bytes > 4*n+2*firstRead {
		t.Errorf("one field of four took %d ranges of together %d bytes of a file of %d", log.reads, log.bytes, len(data))
	}
}
