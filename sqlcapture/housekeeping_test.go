package sqlcapture

import (
	"context"
	"testing"
	"time"
)

// handClock is a clock that a test moves.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time                             { return c.now }
func (c *handClock) Sleep(context.Context, time.Duration) error { return nil }

// positions are those that were reported.
type positions []Position

func (p *positions) Report(_ context.Context, at Position) { *p = append(*p, at) }

// The state of the log is reported once a minute, at the position of the newest checkpoint.
func TestHousekeeping_ReportsOnceAMinute(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	clock, reported := &handClock{begin}, &positions{}
	e := testEngine()
	e.clock, e.db.Monitor, e.lastReport, e.nextDiscovery = clock, reported, begin, begin.Add(time.Hour)
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {59 * time.Second, 0}, {60 * time.Second, 1}, {90 * time.Second, 1}, {121 * time.Second, 2}} {
		clock.now, e.position = begin.Add(step.after), at(step.after/time.Second)
		if err := e.housekeeping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(*reported) != step.want {
			t.Errorf("after %s there are %d reports, want %d", step.after, len(*reported), step.want)
		}
	}
	if len(*reported) == 2 && ((*reported)[0] != at(60) || (*reported)[1] != at(121)) {
		t.Errorf("the reports are of %v", *reported)
	}
}
