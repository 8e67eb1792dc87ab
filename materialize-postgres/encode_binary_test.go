package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/sqlsink"
)

// valuesOfAllKinds are JSON values, each of which is tried with each type.
func valuesOfAllKinds(rng *rand.Rand, n int) []string {
	var list []string
	for _, x := range samples {
		list = append(list, x.json)
	}
	list = append(list,
		`1`, `-1`, `9`, `10`, `9999`, `10000`, `10001`, `-10000`, `99999999`, `100000000`, `100000000.00010000`, `0.0001`, `0.00001`, `0.00010`, `-0.5`, `10000.5000`, `1234567890123456`,
		`999999999999999999`, `1000000000000000000`, `32767`, `32768`, `-32768`, `2147483647`, `2147483648`, `-2147483648`, `1e5`, `1.5E-7`, `3.4e38`, `1e39`, `1e-46`, `0.0`, `-0.0`, `1e309`,
		`"0"`, `"-0"`, `"-0.00"`, `"007"`, `"000000000000.5"`, `"+5"`, `" 5"`, `"5."`, `".5"`, `"1_000"`, `"0x10"`, `"1e3"`, `"-"`, `"12a"`, `"١"`, `true`, `false`, `"t"`, `"true"`, `[]`, `{}`,
		`"0001-01-01"`, `"1999-12-31"`, `"2000-01-01"`, `"2000-02-29"`, `"1900-02-28"`, `"1900-02-29"`, `"2023-02-29"`, `"2024-13-01"`, `"2024-00-01"`, `"2024-01-00"`, `"2024-1-1"`, `"20240101"`, `"2024-01-01 "`,
		`"now"`, `"infinity"`, `"-0044-03-15"`, `"0044-03-15 BC"`, `"0001-01-01T00:00:00+14:00"`, `"9999-12-31T23:59:59.999999-12:00"`, `"1999-12-31T23:59:59.9Z"`, `"1999-12-31T23:59:59.000001Z"`,
		`"2024-01-01T00:00:00.1234567Z"`, `"2024-01-01T24:00:00Z"`, `"2024-01-01T00:00:00.Z"`, `"2024-01-01T00:00:00+15:59"`, `"2024-01-01T00:00:00+16:00"`, `"2024-01-01T00:00:00+0100"`, `"2024-01-01T00:00Z"`,
		`"00:00:00"`, `"23:59:59.5-08:00"`, `"24:00:00"`, `"12:60:00"`, `"12:30:00.1234567Z"`, `"12:30:00 PM"`,
		`"{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"`, `"a0eebc999c0b4ef8bb6d6bb9bd380a11"`, `"g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1"`,
		`"AA=="`, `"AA"`, `"AA\n=="`, `"A==="`, `"-_-_"`, `"\u0041A=="`, `"\ud83d\ude00\u0000"`, "\"\xff\"", "{\"a\":\"\xff\"}", `{"a":"\\u0000 \\\u0000"}`, `["\ud800","\ud83d\ude00"]`, `"\\u0041"`,
	)
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + rng.IntN(10))
			if rng.IntN(3) == 0 {
				b[i] = '0'
			}
		}
		return string(b)
	}
	for range n {
		number := digits(1 + rng.IntN(12))
		if number[0] == '0' {
			number = "0"
		}
		if rng.IntN(2) == 0 {
			number = "-" + number
		}
		if rng.IntN(2) == 0 {
			number += "." + digits(1+rng.IntN(12))
		}
		at := time.Unix(rng.Int64N(315_500_000_000)-62_135_000_000, rng.Int64N(1_000_000)*1000).UTC()
		text, _ := json.Marshal(strings.Repeat(string(rune(rng.IntN(0x3000))), rng.IntN(9)) + "\t\\\"é" + digits(3)) //nolint:errchkjson // a string
		list = append(list, number, `"`+number+`"`, strconv.FormatFloat(math.Float64frombits(rng.Uint64()&^(1<<62)), 'g', -1, 64), strconv.FormatFloat(rng.NormFloat64(), 'f', -1, 64), string(text),
			at.Format(`"2006-01-02"`), at.Format(`"2006-01-02T15:04:05.999999Z"`), at.In(time.FixedZone("", (rng.IntN(1800)-900)*60)).Format(`"2006-01-02T15:04:05.000Z07:00"`), at.Format(`"15:04:05.999999Z"`))
	}
	return list
}

// What goes in binary form is stored as the same value in text form is, in every type; and the values that are common do go so.
func TestBinary_StoresWhatTextFormDoes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	values := valuesOfAllKinds(rand.New(rand.NewPCG(seed, 1)), 300) //nolint:gosec // repeatable on purpose
	s := newSite(t, 15)
	b := bind("any", 1, "id integer!")
	s.apply(nil, b)
	session := s.open(b).tr.session
	for i, x := range []struct {
		live  string
		shape sqlsink.Shape
		least int // how many values go in binary form
	}{
		{"boolean", sqlsink.Boolean, 2},
		{"bigint", sqlsink.Integer, 150},
		{"integer", sqlsink.Integer, 50},
		{"smallint", sqlsink.Integer, 20},
		{"numeric", sqlsink.DecimalString, 600},
		{"numeric", sqlsink.IntegerString, 200},
		{"numeric(400,5)", sqlsink.DecimalString, 600},
		{"double precision", sqlsink.Number, 600},
		{"real", sqlsink.Number, 400},
		{"date", sqlsink.Date, 300},
		{"timestamp with time zone", sqlsink.DateTime, 550},
		{"timestamp(3) with time zone", sqlsink.DateTime, 550},
		{"timestamp without time zone", sqlsink.DateTime, 550},
		{"time without time zone", sqlsink.Time, 300},
		{"time(2) without time zone", sqlsink.Time, 300},
		{"bytea", sqlsink.Binary, 2},
		{"uuid", sqlsink.UUID, 1},
		{"json", sqlsink.Multiple, 2000},
		{"jsonb", sqlsink.Multiple, 2000},
		{"text", sqlsink.Text, 2000},
		{"character varying(100)", sqlsink.Text, 2000},
	} {
		t.Run(x.live, func(t *testing.T) {
			e := newEncoder(sqlsink.Column{Name: "c", Shape: x.shape}, x.live, "t", true)
			n := &binding{columns: []sqlsink.Column{{Name: "c"}, {Name: "id"}}, encoders: []*encoder{e, newEncoder(sqlsink.Column{}, "integer", "t", true)}}
			var text, inBinary []byte
			count := 0
			for at, v := range values {
				if strings.HasPrefix(x.live, "char") && len(v) > 100 {
					continue
				}
				head := len(inBinary)
				row, ok := n.appendBinary(append(inBinary, 0, 2), 0, []byte(v))
				if !ok {
					inBinary = row[:head]
					continue
				}
				count++
				id := fmt.Appendf(nil, "%d", at)
				if inBinary, ok = n.appendBinary(row, 1, id); !ok {
					t.Fatal("no row number")
				}
				line := len(text)
				var err error
				if text, err = n.appendValue(text, 0, []byte(v)); err != nil {
					t.Fatalf("%s goes in binary form, but the text form refuses it: %v", v, err)
				}
				text = endRow(append(append(text, id...), '\t'), line)
			}
			if count < x.least {
				t.Errorf("%d values went in binary form, want at least %d", count, x.least)
			}
			for name, c := range map[string]chunk{"text": {rows: text}, "binary": {rows: inBinary, binary: true}} {
				table := fmt.Sprintf("%s_%d", name, i)
				s.exec(fmt.Sprintf("CREATE TABLE lake.%s (c %s, id int)", table, x.live), fmt.Sprintf("ALTER TABLE lake.%s OWNER TO $role", table))
				if _, err := session.copyIn(t.Context(), fmt.Sprintf("COPY lake.%s FROM STDIN", table), c); err != nil {
					t.Fatalf("the server refuses the %s form: %v", name, err)
				}
			}
			different := s.query(fmt.Sprintf(`SELECT coalesce(string_agg(concat_ws(' ', id, a.c::text, 'and', b.c::text), '; '), '') FROM lake.text_%d a FULL JOIN lake.binary_%[1]d b USING (id)
				WHERE a.c::text IS DISTINCT FROM b.c::text`, i))
			if different != "" {
				t.Errorf("text form and binary form differ: %s", shorten(different, 500))
			}
		})
	}
}

// A value that has no binary form of ours goes in text form, and its row with it; rows before and after it come, too, and each once.
func TestBinary_OddValuesGoInTextForm(t *testing.T) {
	s := newSite(t, 15)
	b := bind("odd", 1, "id integer!", "at string:date-time", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	var docs []string
	for id := range 100 {
		at := "2024-01-01T00:00:00Z"
		if id == 50 {
			at = "2024-01-01T00:00:00.1234567Z"
		}
		docs = append(docs, fmt.Sprintf(`{"id":%d,"at":%q}`, id, at))
	}
	r.commit(`{"n":1}`, docs...)
	if got := s.query("SELECT count(*) || ' ' || max(at) || ' ' || string_agg(id::text, '') FROM (SELECT * FROM lake.odd ORDER BY id) o"); !strings.HasPrefix(got, "100 2024-01-01 00:00:00.123457+00 012345") {
		t.Errorf("the table holds %s", got)
	}
}

// The row that the server refuses is named by its key, in binary form, too.
func TestBinary_RefusedRowIsNamed(t *testing.T) {
	for live, key := range map[string]string{"bigint": "4711", "text": `"k 4711"`, "numeric": `"-0.0471"`, "uuid": `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`} {
		e := newEncoder(sqlsink.Column{Name: "id"}, live, "t", true)
		n := &binding{columns: []sqlsink.Column{{Name: "id"}}, keys: 1, encoders: []*encoder{e}}
		rows, ok := n.appendBinary([]byte{0, 1}, 0, []byte(map[string]string{"bigint": "1", "text": `"x"`, "numeric": "1.5", "uuid": `"00000000-0000-0000-0000-000000000000"`}[live]))
		if ok {
			rows, ok = n.appendBinary(append(rows, 0, 1), 0, []byte(key))
		}
		if !ok {
			t.Fatalf("%s does not go in binary form", live)
		}
		if got, want := (chunk{b: n, binary: true, rows: rows}).row(2), " (its key is "+strings.Trim(key, `"`)+")"; got != want {
			t.Errorf("%s: the row is named%s, want%s", live, got, want)
		}
		if got := (chunk{b: n, binary: true, rows: rows}).row(3); got != "" {
			t.Errorf("%s: a row that is not there is named%s", live, got)
		}
	}
}
