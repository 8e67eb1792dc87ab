package parsertest

import (
	"bytes"
	"testing"

	library "github.com/parquet-go/parquet-go"

	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/parser/parquet"
)

// parquetTypes are those of Parquet's specification that hold values of their own.
func parquetTypes(tb testing.TB) (rows []typed) {
	tb.Helper()
	one := func(v any) library.Row { return library.Row{library.ValueOf(v).Level(0, 0, 0)} }
	for _, t := range []struct {
		name string
		node library.Node
		row  library.Row
	}{
		{"boolean", library.Leaf(library.BooleanType), one(true)},
		{"int8 to int64, uint8 to uint64", library.Uint(64), one(int64(-1))},
		{"float16, float, double", library.Leaf(library.DoubleType), one(1.5)},
		{"string, enum", library.String(), one([]byte("a"))},
		{"bytes, fixed, bson", library.Leaf(library.ByteArrayType), one([]byte{255, 254})},
		{"json", library.JSON(), one([]byte(`{"a":1}`))},
		{"uuid", library.UUID(), one([16]byte([]byte("0123456789abcdef")))},
		{"decimal", library.Decimal(2, 9, library.Int32Type), one(int32(1230))},
		{"date", library.Date(), one(int32(day))},
		{"time", library.Time(library.Millisecond), one(int32(clock))},
		{"timestamp in UTC, int96", library.Timestamp(library.Millisecond), one(at)},
		{"timestamp without zone", library.TimestampAdjusted(library.Millisecond, false), one(at)},
		{"optional", library.Optional(library.Int(32)), library.Row{library.ValueOf(nil).Level(0, 0, 0)}},
		{"list", library.List(library.Int(32)), library.Row{library.ValueOf(int32(12)).Level(0, 1, 0)}},
		{"map", library.Map(library.String(), library.Int(32)), library.Row{library.ValueOf([]byte("a")).Level(0, 1, 0), library.ValueOf(int32(12)).Level(0, 1, 1)}},
		{"map whose keys are no strings", library.Map(library.Int(32), library.Int(32)), library.Row{library.ValueOf(int32(1)).Level(0, 1, 0), library.ValueOf(int32(12)).Level(0, 1, 1)}},
	} {
		var file bytes.Buffer
		w := library.NewWriter(&file, library.NewSchema("r", library.Group{"v": t.node}))
		if _, err := w.WriteRows([]library.Row{t.row}); err != nil {
			tb.Fatalf("%s: %v", t.name, err)
		}
		if err := w.Close(); err != nil {
			tb.Fatalf("%s: %v", t.name, err)
		}
		read, err := parquet.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), parquet.Limits{})
		if err != nil {
			tb.Fatalf("%s: %v", t.name, err)
		}
		rows = append(rows, typed{t.name, of(tb, read.JSONSchema()), parser.Config{Format: parser.Format{Parquet: &parser.ParquetFormat{}}}, file.Bytes()})
	}
	return rows
}
