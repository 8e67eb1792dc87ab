package sqlcapturetest

import "testing"

// TestExhaust plays every schedule of small scenarios with few deviations from "the engine goes on, nothing happens", kills among them.
func TestExhaust(t *testing.T) {
	n := seeds(t, 3)
	total := 0
	limit := 300
	if n > 3 {
		limit = 5000
	}
	for seed := uint64(1); seed <= n; seed++ {
		for _, x := range shapes {
			if x.name == "plain" || x.name == "kills" {
				continue
			}
			shape := x.shape
			shape.Small, shape.MoreKills = true, false
			bad, played := Exhaust(seed, shape, 3, limit)
			total += played
			if bad != nil {
				t.Fatalf("shape %s, small: %v", x.name, bad)
			}
		}
	}
	if total < 100*int(n) {
		t.Errorf("%d schedules were played; want more", total)
	}
	t.Logf("%d schedules", total)
}
