package parsertest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/parser/avro"
)

// day is 2024-01-02, in days, and at is 03:04:05.678 of it, in milliseconds.
const (
	day   = 19724
	clock = ((3*60+4)*60+5)*1000 + 678
	at    = int64(day)*24*60*60*1000 + clock
)

// avroTypes are those of Avro's specification.
func avroTypes(tb testing.TB) (rows []typed) {
	tb.Helper()
	long := func(n int64) []byte { return binary.AppendVarint(nil, n) }
	counted := func(b ...byte) []byte { return append(long(int64(len(b))), b...) }
	logical := func(of, name string) string { return `{"type":"` + of + `","logicalType":"` + name + `"}` }
	for _, t := range []struct {
		name, schema string
		datum        []byte
	}{
		{"null", `"null"`, nil},
		{"boolean", `"boolean"`, []byte{1}},
		{"int, long", `"long"`, long(12)},
		{"float, double", `"double"`, binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5))},
		{"float, double", `"double"`, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))},
		{"string", `"string"`, counted('a')},
		{"bytes, fixed", `"bytes"`, counted(255, 254)},
		{"enum", `{"type":"enum","name":"e","symbols":["RED","BLUE"]}`, long(1)},
		{"array", `{"type":"array","items":"int"}`, append(append(long(1), long(12)...), 0)},
		{"map", `{"type":"map","values":"int"}`, append(append(append(long(1), counted('a')...), long(12)...), 0)},
		{"record", `{"type":"record","name":"x","fields":[{"name":"a","type":"int"}]}`, long(12)},
		{"union with null", `["null","int"]`, append(long(1), long(12)...)},
		{"union", `["int","string"]`, append(long(1), counted('a')...)},
		{"decimal", `{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`, counted(0x04, 0xce)},
		{"uuid", logical("string", "uuid"), counted([]byte("123e4567-e89b-12d3-a456-426614174000")...)},
		{"date", logical("int", "date"), long(day)},
		{"time-millis, -micros", logical("int", "time-millis"), long(clock)},
		{"timestamp-millis, -micros, -nanos", logical("long", "timestamp-millis"), long(at)},
		{"local-timestamp-…", logical("long", "local-timestamp-millis"), long(at)},
		{"duration", `{"type":"fixed","size":12,"name":"d","logicalType":"duration"}`, []byte{1, 0, 0, 0, 2, 0, 0, 0, 184, 11, 0, 0}},
	} {
		schema := `{"type":"record","name":"r","fields":[{"name":"v","type":` + t.schema + `}]}`
		parsed, err := avro.Parse([]byte(schema))
		if err != nil {
			tb.Fatalf("%s: %v", t.name, err)
		}
		config := parser.Config{Format: parser.Format{Avro: &parser.AvroFormat{Config: &parser.Avro{Schema: schema, Framing: "single"}}}}
		marker := binary.LittleEndian.AppendUint64([]byte{0xc3, 0x01}, parsed.Fingerprint()) // before an empty datum, too
		rows = append(rows, typed{t.name, of(tb, parsed.JSONSchema(false)), config, append(marker, t.datum...)})
	}
	return rows
}

// of is the schema of the property v.
func of(tb testing.TB, schema []byte) string {
	tb.Helper()
	var s struct{ Properties json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		tb.Fatal(err)
	}
	return member(tb, s.Properties, "v")
}
