package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// pair is a measurement of the reference and, next to it, one of the subject.
type pair struct{ reference, subject usage }

// ratio is how long the subject took in units of the reference.
func (p pair) ratio() float64 { return p.subject.wall.Seconds() / p.reference.wall.Seconds() }

// comparison is a series of alternating measurements: A B A B A B.
type comparison struct {
	pairs []pair
	units int64 // rows, or changes
}

// ratio is the median of the neighbouring ratios, so that a machine that becomes slower in the middle harms both sides alike.
func (c comparison) ratio() float64 {
	ratios := make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		ratios[i] = p.ratio()
	}
	return median(ratios)
}

// cpuRatio is the same of CPU time.
func (c comparison) cpuRatio() float64 {
	return median(c.each(func(p pair) float64 { return p.subject.cpu.Seconds() / p.reference.cpu.Seconds() }))
}

// seconds are the medians of both sides' times.
func (c comparison) seconds() (reference, subject float64) {
	return median(c.each(func(p pair) float64 { return p.reference.wall.Seconds() })), median(c.each(func(p pair) float64 { return p.subject.wall.Seconds() }))
}

// cpu is the subject's median CPU time in microseconds for each row or change.
func (c comparison) cpu() float64 {
	return median(c.each(func(p pair) float64 { return perUnit(p.subject.cpu, c.units) }))
}

// peak is the subject's greatest memory in all runs, in bytes.
func (c comparison) peak() int64 {
	var peak int64
	for _, p := range c.pairs {
		peak = max(peak, p.subject.peak)
	}
	return peak
}

// peakOf is the same of the subject's children with this name.
func (c comparison) peakOf(child string) int64 {
	var peak int64
	for _, p := range c.pairs {
		peak = max(peak, p.subject.children[child])
	}
	return peak
}

func (c comparison) each(f func(pair) float64) []float64 {
	values := make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		values[i] = f(p)
	}
	return values
}

// perUnit is a duration divided by a number of units, in microseconds.
func perUnit(d time.Duration, units int64) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(units)
}

// median is the middle value, or the mean of the two in the middle; values are sorted by it.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// alternate measures reference and subject in turn, and whatever else belongs beside them: a machine may be half as fast a minute later. Each call of one of
// them has the server settled before it starts the clock.
func alternate(n int, units int64, reference, subject func() (usage, error), also ...func() error) (comparison, error) {
	c := comparison{units: units}
	for range n {
		var p pair
		var err error
		if p.reference, err = reference(); err != nil {
			return c, err
		}
		if p.subject, err = subject(); err != nil {
			return c, err
		}
		c.pairs = append(c.pairs, p)
		for _, f := range also {
			if err = f(); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// expected is what the output of a timed run must have at least.
type expected struct{ lines, bytes int64 }

// expected is what every further run prints, too, but for what differs between runs: positions, times, log lines.
func (v *verification) expected() expected {
	return expected{lines: v.records(), bytes: v.bytes - v.bytes/100}
}

// measured prepares the server by the statements, takes one timed run of f, and looks at the size of its output.
func (s *server) measured(ctx context.Context, name, database string, want expected, f func(*counter) (usage, error), statements ...string) (usage, error) {
	if err := s.prepare(ctx, database, statements...); err != nil {
		return usage{}, err
	}
	var sink counter
	u, err := f(&sink)
	if err != nil {
		return u, err
	}
	if sink.lines < want.lines || sink.bytes < want.bytes {
		return u, fmt.Errorf("counting the output of %s: %d lines and %d bytes, want at least %d and %d", name, sink.lines, sink.bytes, want.lines, want.bytes)
	}
	s.progress("%s: %s", name, u)
	return u, nil
}
