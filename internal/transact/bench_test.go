package transact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/transact"
)

// row is a document of 13 columns and about 500 bytes.
func row(id int) []byte {
	return fmt.Appendf(nil, `{"id":%d,"tenant":%d,"customer":"customer-%08d","email":"someone.%d@example.com","status":"shipped","total":"%d.25","currency":"EUR",`+
		`"placed_at":"2026-11-29T21:14:03.123456Z","updated_at":"2026-11-29T21:14:03.123456Z","note":%q,"tags":["a","b","c"],"paid":true,`+
		`"_meta":{"op":"c","source":{"ts_ms":1795982378078,"schema":"public","table":"orders","loc":[11111111,22222222,33333333]}}}`,
		id, id%100, id, id, id%1000, strings.Repeat("lorem ", 10))
}

func benchmarkCombiner(b *testing.B, memory int, reducer transact.Reducer, order func(i, n int) int) {
	binding := transact.Binding{
		Stream: "orders", Key: []string{"/id"}, KeyFields: []string{"id"}, Document: true, Reducer: reducer,
		ValuePointers: []string{"/tenant", "/customer", "/email", "/status", "/total", "/currency", "/placed_at", "/updated_at", "/note", "/tags", "/paid", "/_meta/op"},
	}
	c := newCombiner(b, transact.Options{MemoryBytes: memory, Dir: b.TempDir()}, binding)
	const n = 40_000
	docs := make([][]byte, n)
	for i := range docs {
		docs[i] = row(order(i, n))
	}
	b.SetBytes(int64(len(docs[0])))
	b.ResetTimer()
	for done := 0; done < b.N; done += n {
		c.SetMaxKey(0, nil, true)
		for _, d := range docs {
			if err := c.Add(0, d, nil); err != nil {
				b.Fatal(err)
			}
		}
		count := 0
		for out := c.Docs(); ; count++ {
			d, err := out.Next()
			if err != nil {
				b.Fatal(err)
			}
			if d == nil {
				break
			}
		}
		if count != n {
			b.Fatalf("%d documents came", count)
		}
		c.Reset()
	}
}

func ascending(i, _ int) int { return i }
func mixed(i, n int) int     { return i * 7919 % n }

func BenchmarkCombiner_Ascending(b *testing.B) { benchmarkCombiner(b, 64<<20, nil, ascending) }
func BenchmarkCombiner_Mixed(b *testing.B)     { benchmarkCombiner(b, 64<<20, nil, mixed) }
func BenchmarkCombiner_Spilling(b *testing.B)  { benchmarkCombiner(b, 4<<20, nil, mixed) }
