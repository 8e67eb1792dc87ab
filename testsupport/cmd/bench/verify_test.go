package main

import "testing"

func BenchmarkVerification(b *testing.B) {
	line := []byte(`{"type":"RECORD","record":{"stream":"wide","namespace":"public","emitted_at":1700000000000,"data":{"id":4711,"quantity":7909,"name":"customer 4711 of 0123456789abcdef0123456789abcdef","city":"city 711","price":"1460.41","created_at":"2024-01-01T01:36:55.845087Z","updated_at":"2025-01-01T01:18:31Z","tags":{"dimensions":[3],"elements":["t1","with \"quotes\"","plain"]},"attributes":{"n":4711,"kind":"k0","nested":{"deep":false}},"active":false,"score":673,"token":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","note":"line one\ntab\t0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","_meta":{"op":"c","source":{"schema":"public","table":"wide","snapshot":true,"loc":[-1,0,0],"row":0}}}}}` + "\n")
	v := newVerification()
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := v.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}
