package watch

import (
	"sync"
	"time"
)

// Clock tells how long something takes for which a bound is promised, without the time in which the machine kept those waiting that were ready to run: it
// may have other work for its cores, or its host may.
type Clock struct {
	begun time.Time
	end   chan struct{}

	mu   sync.Mutex
	lost time.Duration
}

const (
	// beat is how long the clock sleeps to see how late it is woken.
	beat = 5 * time.Millisecond
	// punctual is what a machine with nothing else to do may be late.
	punctual = 5 * time.Millisecond
)

// StartClock starts a clock; Took stops it.
func StartClock() *Clock {
	c := &Clock{begun: time.Now(), end: make(chan struct{})}
	go func() {
		for last := c.begun; ; {
			select {
			case <-c.end:
				return
			case <-time.After(beat):
				now := time.Now()
				c.late(now.Sub(last) - beat)
				last = now
			}
		}
	}()
	return c
}

// late notes how much later than asked the clock was woken.
func (c *Clock) late(d time.Duration) {
	if d > punctual {
		c.mu.Lock()
		c.lost += d
		c.mu.Unlock()
	}
}

// Took stops the clock and returns what it shows.
func (c *Clock) Took() time.Duration {
	took := time.Since(c.begun)
	close(c.end)
	c.mu.Lock()
	defer c.mu.Unlock()
	return took - c.lost
}
