package avro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
)

const rideSchema = `{"type":"record","name":"Ride","fields":[{"name":"ride_id","type":"string"},{"name":"rideable_type","type":{"type":"enum","name":"Kind","symbols":["classic_bike","electric_bike"]}},` +
	`{"name":"started_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"ended_at","type":{"type":"long","logicalType":"timestamp-millis"}},` +
	`{"name":"start_station_name","type":["null","string"]},{"name":"start_station_id","type":["null","string"]},{"name":"end_station_name","type":["null","string"]},` +
	`{"name":"end_station_id","type":["null","string"]},{"name":"start_lat","type":"double"},{"name":"start_lng","type":"double"},{"name":"end_lat","type":["null","double"]},` +
	`{"name":"end_lng","type":["null","double"]},{"name":"member","type":"boolean"},{"name":"duration","type":"int"},{"name":"fare","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}}]}`

// rides makes a file of bike rides, 15 fields each, as goavro writes it.
func rides(b *testing.B, codec string, n int) []byte {
	b.Helper()
	var file bytes.Buffer
	w, err := goavro.NewOCFWriter(goavro.OCFConfig{W: &file, Schema: rideSchema, CompressionName: codec})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	stations := []string{"Clark St & Elm St", "Square de l'Égalité / Rue Sébastien", "Pier 39 \"South\"", "8 Ave & W 31 St", "Köpenicker Straße"}
	text := func(s string) any { return map[string]any{"string": s} }
	for range n / 1000 {
		var block []any
		for range 1000 {
			block = append(block, map[string]any{
				"ride_id": fmt.Sprintf("%016X", random.Uint64()), "rideable_type": "classic_bike", "started_at": time.UnixMilli(1650000000000 + random.Int64N(1e9)), "ended_at": time.UnixMilli(1650000000000 + random.Int64N(1e9)),
				"start_station_name": text(stations[random.IntN(5)]), "start_station_id": text(fmt.Sprint(random.IntN(9999))), "end_station_name": text(stations[random.IntN(5)]), "end_station_id": nil,
				"start_lat": float64(random.IntN(1e8)) / 1e6, "start_lng": -87 - float64(random.IntN(1e6))/1e6, "end_lat": map[string]any{"double": float64(random.IntN(1e8)) / 1e6}, "end_lng": nil,
				"member": random.IntN(2) == 0, "duration": int32(random.IntN(7200)), "fare": big.NewRat(random.Int64N(10000), 100),
			})
		}
		if err := w.Append(block); err != nil {
			b.Fatal(err)
		}
	}
	return file.Bytes()
}

// This package beside goavro and json.Marshal over the same file: issue 5 wants at most 0.4 of their time with deflate.
func BenchmarkFile(b *testing.B) {
	for _, codec := range []string{"null", "deflate", "snappy"} {
		text := rides(b, codec, 20_000)
		b.Run(codec+"/goavro", func(b *testing.B) {
			for b.Loop() {
				r, err := goavro.NewOCFReader(bytes.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for ; r.Scan(); n++ {
					value, err := r.Read()
					if err != nil {
						b.Fatal(err)
					}
					if _, err := json.Marshal(value); err != nil {
						b.Fatal(err)
					}
				}
				if n != 20_000 {
					b.Fatalf("%d records", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/record")
		})
		b.Run(codec+"/File", func(b *testing.B) {
			var out []byte
			for b.Loop() {
				f, err := NewFile(bytes.NewReader(text), Limits{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for ; f.Next() == nil; n++ {
					if out, err = planned(out[:0], f); err != nil {
						b.Fatal(err)
					}
				}
				if n != 20_000 {
					b.Fatalf("%d records", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/record")
		})
	}
}

// planned is document without its allocations: the plan of the fields is made once elsewhere.
func planned(dst []byte, f *File) ([]byte, error) {
	fields := f.schema.root.fields
	for i := range fields {
		var err error
		if dst, _, err = f.AppendField(append(dst, fields[i].prefix...), i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
