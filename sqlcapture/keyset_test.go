package sqlcapture

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

func TestKeySet_HasWhatWasAdded(t *testing.T) {
	for _, sorted := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(1, 2))
		var k keySet
		in := map[string]bool{}
		numbers := rng.Perm(500)
		for i := range numbers {
			n := numbers[i]
			if sorted {
				n = i
			}
			if n%3 == 0 {
				continue
			}
			key := rowkey.AppendText(rowkey.AppendInt(nil, int64(n)), fmt.Appendf(nil, "%d", n%7))
			k.add(key)
			in[string(key)] = true
		}
		k.seal(sorted)
		for n := range 500 {
			key := rowkey.AppendText(rowkey.AppendInt(nil, int64(n)), fmt.Appendf(nil, "%d", n%7))
			if got := k.has(key); got != in[string(key)] {
				t.Fatalf("sorted %t: key %d: got %t", sorted, n, got)
			}
			if k.has(key[:len(key)-1]) {
				t.Fatalf("sorted %t: a part of key %d was found", sorted, n)
			}
		}
	}
}

func TestKeySet_NilHoldsNothing(t *testing.T) {
	var k *keySet
	if k.has(rowkey.AppendInt(nil, 1)) {
		t.Error("a nil set has a key")
	}
}
