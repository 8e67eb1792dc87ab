package sqlcapturetest

import (
	"errors"
	"math/rand/v2"
)

// Try plays one random schedule of a seed; nil: nothing broke.
func Try(seed uint64, shape Shape) (*Result, Stats) {
	s := NewScenario(seed, shape)
	p := randomPlayer(seed, s)
	stats, err := play(s, p)
	if err == nil {
		return nil, stats
	}
	return &Result{Schedule{seed, p.made}, err, s}, stats
}

// Replay plays a schedule; nil: nothing broke. trace, if not nil, is told of every step and every line of output.
func Replay(sched Schedule, shape Shape, trace func(format string, args ...any)) error {
	_, err := play(NewScenario(sched.Seed, shape), &player{given: sched.Choices, trace: trace})
	return err
}

// Shrink returns a shorter schedule of the same seed that breaks the same invariant, after so many tries.
func Shrink(r *Result, shape Shape, tries int) *Result {
	best := *r
	best.Schedule.Choices = trimmed(best.Schedule.Choices)
	attempt := func(list []byte) bool {
		tries--
		err := Replay(Schedule{r.Schedule.Seed, list}, shape, nil)
		if err == nil || invariant(err) != invariant(r.Err) {
			return false
		}
		best.Schedule.Choices, best.Err = trimmed(list), err
		return true
	}
	for improved := true; improved && tries > 0; {
		improved = false
		for size := len(best.Schedule.Choices); size > 0 && tries > 0; size /= 2 {
			for at := 0; at < len(best.Schedule.Choices) && tries > 0; at += size {
				list := best.Schedule.Choices
				end := min(at+size, len(list))
				without := append(append([]byte(nil), list[:at]...), list[end:]...)
				if attempt(without) {
					improved = true
					continue
				}
				zeroed := append([]byte(nil), list...)
				clear(zeroed[at:end])
				if len(trimmed(zeroed)) > 0 && string(zeroed) != string(list) && attempt(zeroed) {
					improved = true
				}
			}
		}
	}
	return &best
}

// invariant names what an error is about.
func invariant(err error) string {
	if v, ok := errors.AsType[*violation](err); ok {
		return v.Invariant
	}
	return "other"
}

// Exhaust plays the schedules of a seed with at most deviations choices that are not 0, those with fewer first, and limit schedules at most. It returns
// how many it played.
func Exhaust(seed uint64, shape Shape, deviations, limit int) (*Result, int) {
	s := NewScenario(seed, shape)
	type prefix struct {
		choices    []byte
		deviations int
	}
	queue := []prefix{{}}
	n := 0
	for ; len(queue) > 0 && n < limit; n++ {
		at := queue[0]
		queue = queue[1:]
		p := &player{given: at.choices}
		if _, err := play(s, p); err != nil {
			return &Result{Schedule{seed, p.made}, err, s}, n + 1
		}
		if at.deviations == deviations {
			continue
		}
		for i := len(at.choices); i < len(p.made); i++ {
			for c := byte(1); c < p.limits[i] && n+len(queue) < limit; c++ {
				queue = append(queue, prefix{append(append([]byte(nil), p.made[:i]...), c), at.deviations + 1})
			}
		}
	}
	return nil, n
}

// made returns the choices that a seed's random schedule makes.
func made(seed uint64, shape Shape) []byte {
	s := NewScenario(seed, shape)
	p := randomPlayer(seed, s)
	_, _ = play(s, p)
	return p.made
}

func randomPlayer(seed uint64, s Scenario) *player {
	return &player{rand: rand.New(rand.NewPCG(seed*0x9e3779b97f4a7c15, 2)), eager: s.eager, deadly: s.deadly} //nolint:gosec // replayable
}
