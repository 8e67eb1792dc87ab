package columns

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/estuary/connectors/parser/internal/rows"
)

const (
	rideHeader = "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual,duration,paid"
	rideSchema = `{"type":"object","properties":{"ride_id":{"type":"string"},"start_station_id":{"type":["integer","null"]},"start_lat":{"type":"number"},"start_lng":{"type":"number"},"end_lat":{"type":["number","null"]},"end_lng":{"type":["number","null"]},"duration":{"type":"integer"},"paid":{"type":"boolean"}},"required":["ride_id"]}`
)

// rides are rows of 15 columns, 7 of them with a type.
func rides(n int) (list []*rows.Row, size int64) {
	var all []byte
	for i := range n {
		line := fmt.Sprintf(`%016X,classic_bike,2022-04-%02d 10:%02d:07.123,2022-04-%02d 11:%02d:59,"Columbus Ave & W 72 St, ""north""",%d,"Broadway & W 58 St",6948.10,40.7%05d,-73.9%05d,40.7669%d,-73.98%03d,"member",%d,true`,
			i*2654435761, i%28+1, i%60, i%28+1, i%60, 7000+i%900, i%100000, i%99991, i%10, i%1000, i%5000)
		r := row(line)
		list = append(list, r)
		all = append(append(all, line...), '\n')
	}
	at := 0
	for _, r := range list { // as in a scanner's buffer
		end := at + len(r.Text)
		r.Text, at = all[at:end], end+1
	}
	return list, int64(len(all))
}

func BenchmarkText_Rides(b *testing.B) {
	list, size := rides(100)
	for _, c := range []struct{ name, schema string }{{"typed", rideSchema}, {"strings", ""}} {
		b.Run(c.name, func(b *testing.B) {
			o := Options{Schema: schema(b, c.schema), AddValues: values("/_meta/file", `"trips/2022-04.csv"`, "/_meta/version", `"d41d8cd98f00b204e9800998ecf8427e"`), OffsetAt: "/_meta/offset"}
			r := row(rideHeader)
			names := make([]string, len(r.Fields))
			for i, f := range r.Fields {
				names[i] = string(r.Raw(f))
			}
			p, _, err := ForText(names, o)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]byte, 0, 1<<20)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				for n, one := range list {
					if dst, err = p.Append(dst, one, &dialect, int64(n)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkText_File cuts the rows, too.
func BenchmarkText_File(b *testing.B) {
	list, size := rides(2000)
	var file []byte
	for _, r := range list {
		file = append(append(file, r.Text...), '\n')
	}
	r := row(rideHeader)
	names := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		names[i] = string(r.Raw(f))
	}
	p, _, err := ForText(names, Options{Schema: schema(b, rideSchema), AddValues: values("/_meta/file", `"trips/2022-04.csv"`), OffsetAt: "/_meta/offset"})
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 1<<20)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		s := rows.NewScanner(bytes.NewReader(file), dialect, rows.Options{}, 0, 1)
		count := int64(0)
		for ; ; count++ {
			one, err := s.Next()
			if err != nil {
				break
			}
			if len(dst) > 1<<18 {
				dst = dst[:0]
			}
			if dst, err = p.Append(dst, one, &dialect, count); err != nil {
				b.Fatal(err)
			}
		}
		if count != int64(len(list)) {
			b.Fatalf("%d rows", count)
		}
	}
}

func BenchmarkJSON_Splice(b *testing.B) {
	o := Options{AddValues: values("/_meta/file", `"trips/2022-04.json"`, "/_meta/version", `"d41d8cd98f00b204e9800998ecf8427e"`), OffsetAt: "/_meta/offset"}
	doc := []byte(`{"ride_id":"00000000DEADBEEF","rideable_type":"classic_bike","started_at":"2022-04-01 10:00:07.123","start_station_name":"Columbus Ave & W 72 St, \"north\"","start_station_id":7123,"start_lat":40.712345,"start_lng":-73.912345,"member_casual":"member","duration":1234,"paid":true}`)
	for _, c := range []struct {
		name        string
		projections map[string]string
	}{{"nothing moves", nil}, {"own places", map[string]string{"ride_id": "/ride_id", "paid": "/paid"}}, {"one moves", map[string]string{"start_lat": "/start/lat"}}} {
		b.Run(c.name, func(b *testing.B) {
			o.Projections = c.projections
			p, err := ForJSON(o)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]byte, 0, 1<<20)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = p.Append(dst[:0], valueOf(doc), 7); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkForText is what each small file costs before its first row.
func BenchmarkForText(b *testing.B) {
	r := row(rideHeader)
	names := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		names[i] = string(r.Raw(f))
	}
	o := Options{Schema: schema(b, rideSchema), AddValues: values("/_meta/file", `"trips/2022-04.csv"`), OffsetAt: "/_meta/offset"}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ForText(names, o); err != nil {
			b.Fatal(err)
		}
	}
}
