package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// rides are lines as a bike share publishes them: 15 members, among them numbers, text with escapes, text that is not ASCII, an object.
func rides(lines int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	stations := []string{"Clark St & Elm St", "Square de l'Égalité / Rue Sébastien", `Pier 39 \"South\"`, "8 Ave & W 31 St", "Köpenicker Straße"}
	out := make([][]byte, lines)
	for i := range out {
		out[i] = fmt.Appendf(nil, `{"ride_id":"%016X","rideable_type":"classic_bike","started_at":"2022-04-%02d %02d:14:07","ended_at":"2022-04-%02d %02d:44:59",`+
			`"start_station_name":"%s","start_station_id":"%d","end_station_name":"%s","end_station_id":"%d","start_lat":%.6f,"start_lng":%.6f,`+
			`"end_lat":%.6f,"end_lng":%.6f,"member_casual":"member","duration":%d,"fare":{"amount":%.2f,"currency":"USD","free":%v}}`,
			random.Uint64(), random.IntN(30)+1, random.IntN(24), random.IntN(30)+1, random.IntN(24), stations[random.IntN(5)], random.IntN(9999),
			stations[random.IntN(5)], random.IntN(9999), 41+random.Float64(), -87-random.Float64(), 41+random.Float64(), -87-random.Float64(),
			random.IntN(7200), random.Float64()*30, random.IntN(2) == 0)
	}
	return out
}

// The scanner beside json.Valid over the same lines: issue 5 wants all of NDJSON to NDJSON within half of that.
func BenchmarkScanner(b *testing.B) {
	lines := rides(5000)
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, line := range lines {
				if !json.Valid(line) {
					b.Fatal("a line is no JSON")
				}
			}
		}
	})
	b.Run("Scanner", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			s := NewScanner(bytes.NewReader(text), Options{}, Position{})
			n := 0
			for {
				if _, err := s.Next(); err != nil {
					break
				}
				n++
			}
			if n != len(lines) {
				b.Fatalf("%d of %d lines", n, len(lines))
			}
		}
	})
}
