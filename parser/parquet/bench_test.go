package parquet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"
)

// ride is a row of a bike-share table: fifteen columns, three of them of few values.
type ride struct {
	RideID     string    `parquet:"ride_id"`
	Type       string    `parquet:"rideable_type,dict"`
	StartedAt  time.Time `parquet:"started_at,timestamp(microsecond)"`
	EndedAt    time.Time `parquet:"ended_at,timestamp(microsecond)"`
	StartName  string    `parquet:"start_station_name,dict"`
	StartID    int32     `parquet:"start_station_id"`
	EndName    *string   `parquet:"end_station_name,dict,optional"`
	EndID      int32     `parquet:"end_station_id"`
	StartLat   float64   `parquet:"start_lat"`
	StartLng   float64   `parquet:"start_lng"`
	EndLat     float64   `parquet:"end_lat"`
	EndLng     float64   `parquet:"end_lng"`
	Member     bool      `parquet:"member"`
	PriceCents int64     `parquet:"price,decimal(2:18)"`
	BikeMeters int64     `parquet:"bike_meters"`
}

func rides(b *testing.B, n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "0123456789ABCDEF"
	stations := make([]string, 800)
	for i := range stations {
		stations[i] = "Station " + string(letters[i%16]) + string(letters[i/16%16]) + ` & "Main" St`
	}
	var out bytes.Buffer
	w := parquetgo.NewGenericWriter[ride](&out, parquetgo.Compression(&parquetgo.Snappy))
	for i := range n {
		id := make([]byte, 16)
		for k := range id {
			id[k] = letters[random.IntN(16)]
		}
		at := time.Unix(1_650_000_000+int64(i), int64(i%1000)*1_000_000)
		r := ride{
			RideID: string(id), Type: []string{"classic_bike", "electric_bike", "docked_bike"}[i%3], StartedAt: at, EndedAt: at.Add(10 * time.Minute),
			StartName: stations[random.IntN(800)], StartID: random.Int32N(800), EndID: random.Int32N(800), Member: i%5 < 3, PriceCents: random.Int64N(10_000), BikeMeters: int64(i),
			StartLat: 40.7 + float64(random.IntN(100_000))/1e6, StartLng: -74 + float64(random.IntN(100_000))/1e6, EndLat: 40.7 + random.Float64()/10, EndLng: -74 + random.Float64()/10,
		}
		if i%20 > 0 {
			r.EndName = &stations[random.IntN(800)]
		}
		if _, err := w.Write([]ride{r}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkRows writes rows of fifteen columns as objects.
func BenchmarkRows(b *testing.B) {
	const n = 20_000
	data := rides(b, n)
	var dst []byte
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := f.Rows(0, 0)
		if err != nil {
			b.Fatal(err)
		}
		for {
			err = r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if dst, err = appendRow(dst[:0], f, r); err != nil {
				b.Fatal(err)
			}
			rows++
		}
		r.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}
