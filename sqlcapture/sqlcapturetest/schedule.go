package sqlcapturetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// Schedule names one run of an exploration: the seed of its scenario, and the choices made.
type Schedule struct {
	Seed    uint64
	Choices []byte // after the last one, every choice is 0
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// String returns SEED.CHOICES: a digit for each choice, `(n)` after one that is repeated n times.
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d.", s.Seed)
	list := trimmed(s.Choices)
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		b.WriteByte(digits[list[i]])
		if n > 4 {
			fmt.Fprintf(&b, "(%d)", n)
		} else {
			for range n - 1 {
				b.WriteByte(digits[list[i]])
			}
		}
		i += n
	}
	return b.String()
}

func trimmed(list []byte) []byte {
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// ParseSchedule reads what String returned.
func ParseSchedule(text string) (Schedule, error) {
	head, tail, ok := strings.Cut(text, ".")
	seed, err := strconv.ParseUint(head, 10, 64)
	if err != nil || !ok {
		return Schedule{}, fmt.Errorf("reading schedule %q: it is not SEED.CHOICES", text)
	}
	s := Schedule{Seed: seed}
	for i := 0; i < len(tail); i++ {
		if tail[i] == '(' {
			end := strings.IndexByte(tail[i:], ')')
			if end < 0 || len(s.Choices) == 0 {
				return Schedule{}, fmt.Errorf("reading schedule %q: a ( without a )", text)
			}
			n, err := strconv.Atoi(tail[i+1 : i+end])
			if err != nil || n < 1 || n > 1<<20 {
				return Schedule{}, fmt.Errorf("reading schedule %q: bad count %s", text, tail[i+1:i+end])
			}
			last := s.Choices[len(s.Choices)-1]
			for range n - 1 {
				s.Choices = append(s.Choices, last)
			}
			i += end
			continue
		}
		d := strings.IndexByte(digits, tail[i])
		if d < 0 {
			return Schedule{}, fmt.Errorf("reading schedule %q: %q is no choice", text, tail[i])
		}
		s.Choices = append(s.Choices, byte(d)) //nolint:gosec // below 36
	}
	return s, nil
}

// player makes the choices of a schedule and, once they are used up, those of a random source, or 0. It notes all of them.
type player struct {
	given  []byte
	rand   *rand.Rand // nil: 0 after the given ones
	eager  float64    // how likely the world takes a step at a point
	deadly float64    // how likely a point kills the run
	trace  func(format string, args ...any)
	made   []byte
	limits []byte // what each choice was below
}

// Choose implements simdb.Chooser.
func (p *player) Choose(n int, c simdb.Choice) int {
	n = min(n, len(digits))
	v := 0
	switch at := len(p.made); {
	case at < len(p.given):
		v = min(int(p.given[at]), n-1)
	case p.rand != nil:
		v = p.random(n, c)
	}
	p.made = append(p.made, byte(v))     //nolint:gosec // below 36
	p.limits = append(p.limits, byte(n)) //nolint:gosec // at most 36
	return v
}

// random weighs: most points let the engine go on, few kill it.
func (p *player) random(n int, c simdb.Choice) int {
	steps := n - 1
	switch c {
	case simdb.ChooseStep:
	case simdb.ChooseStepOrKill:
		steps--
		if p.rand.Float64() < p.deadly {
			return n - 1
		}
	default:
		return p.rand.IntN(n)
	}
	if steps == 0 || p.rand.Float64() >= p.eager {
		return 0
	}
	return 1 + p.rand.IntN(steps)
}
