package parser

import (
	"strings"
	"testing"
)

// A small file costs what opening it costs.
func BenchmarkOpen_SmallFile(b *testing.B) {
	text := []byte("bike_id,name,at\n" + strings.Repeat("12,a name,2022-04-01 10:00:00\n", 30))
	c := configOf(b, `{"addRecordOffset":"/_meta/offset","addValues":{"/_meta/file":"b/k.csv","/_meta/version":"v"},"schema":{"type":"object","properties":{"bike_id":{"type":"integer"}}}}`)
	b.ReportAllocs()
	var doc []byte
	for b.Loop() {
		r, err := Open(b.Context(), c, inputOf("a.csv", text, 65536), Cursor{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			doc, err = r.Next(doc[:0])
		}
	}
}

func BenchmarkNext_CSV(b *testing.B) {
	row := "12,\"a \"\"name\"\"\",2022-04-01 10:00:00,40.712776,-74.005974,member,classic_bike,\"E 47 St, 2 Ave\",6001\n"
	text := []byte("bike_id,name,at,lat,lng,kind,type,station,station_id\n" + strings.Repeat(row, 100000))
	c := configOf(b, `{"addRecordOffset":"/_meta/offset","addValues":{"/_meta/file":"b/k.csv","/_meta/version":"v"},"schema":{"type":"object","properties":{"bike_id":{"type":"integer"},"lat":{"type":"number"},"lng":{"type":"number"}}}}`)
	b.SetBytes(int64(len(text)))
	var doc []byte
	for b.Loop() {
		r, err := Open(b.Context(), c, inputOf("a.csv", text, 65536), Cursor{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			doc, err = r.Next(doc[:0])
		}
	}
}
