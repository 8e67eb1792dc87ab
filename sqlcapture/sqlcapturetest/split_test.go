package sqlcapturetest

import (
	"testing"
)

func TestSplit(t *testing.T) {
	n := seeds(t, 200)
	var total Stats
	for seed := uint64(1); seed <= n; seed++ {
		bad, stats := TrySplit(seed)
		total.add(stats)
		if bad != nil {
			t.Fatalf("seed %d: %v", seed, bad)
		}
	}
	if total.Records < int(n) || total.Kills < int(n)/4 { //nolint:gosec // small
		t.Errorf("the test does not bite: %+v", total)
	}
	t.Logf("seeds 1 to %d: %+v", n, total)
}

func TestSplit_EachThirdOwnsTables(t *testing.T) {
	s := NewScenario(1, Shape{MinTables: splitTables})
	for i, part := range thirds {
		owned := 0
		for _, spec := range s.DB.Tables {
			if owns(part, spec.Name) {
				owned++
			}
		}
		if owned < 2 {
			t.Errorf("process %d owns %d tables; want at least 2", i, owned)
		}
	}
}
