package main

import (
	"errors"
	"math"
	"testing"
	"time"
)

func took(wall, cpu time.Duration, peak int64) usage { return usage{wall: wall, cpu: cpu, peak: peak} }

// The machine is twice as slow during the second pair: the ratio of medians would be 0.75, but each pair says 0.5 or 0.6.
func TestComparison_RatioIsOfNeighbours(t *testing.T) {
	c := comparison{units: 1000, pairs: []pair{
		{took(10*time.Second, 0, 0), took(5*time.Second, 3*time.Millisecond, 7)},
		{took(20*time.Second, 0, 0), took(12*time.Second, 1*time.Millisecond, 9)},
		{took(8*time.Second, 0, 0), took(7500*time.Millisecond, 2*time.Millisecond, 8)},
	}}
	if got := c.ratio(); math.Abs(got-0.6) > 1e-9 {
		t.Errorf("ratio %v, want 0.6", got)
	}
	if reference, ours := c.seconds(); reference != 10 || ours != 7.5 {
		t.Errorf("medians %v and %v, want 10 and 7.5", reference, ours)
	}
	if got := c.cpu(); math.Abs(got-2) > 1e-9 {
		t.Errorf("CPU %v µs each, want 2", got)
	}
	if got := c.peak(); got != 9 {
		t.Errorf("peak %d, want the greatest, 9", got)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 9}, 3},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

func TestAlternate(t *testing.T) {
	var order string
	note := func(name string) func() (usage, error) {
		return func() (usage, error) { order += name; return took(time.Second, 0, 0), nil }
	}
	c, err := alternate(3, 5, note("A"), note("B"), func() error { order += "C"; return nil })
	if err != nil || order != "ABCABCABC" || len(c.pairs) != 3 || c.units != 5 {
		t.Errorf("order %s, %d pairs of %d, %v", order, len(c.pairs), c.units, err)
	}
	broken := errors.New("it broke")
	if _, err = alternate(3, 5, note("A"), func() (usage, error) { return usage{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a failed run gave %v", err)
	}
	if _, err = alternate(3, 5, note("A"), note("B"), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a failed run beside gave %v", err)
	}
}
