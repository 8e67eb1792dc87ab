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
	e.clock, e.db.Monitor, e.db.Catalog, e.lastReport, e.nextDiscovery = clock, reported, &marked{}, begin, begin.Add(time.Hour)
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

// marked is a catalog that tells when it is asked for marks.
type marked struct {
	Catalog
	asked int
}

func (m *marked) Marks(context.Context, []TableName) (map[TableName]string, error) {
	m.asked++
	return map[TableName]string{}, nil
}

// Whether tables were replaced is looked at fifteen times as often as the catalog.
func TestHousekeeping_GlancesBetweenRediscoveries(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	clock, catalog := &handClock{begin}, &marked{}
	e := testEngine()
	e.clock, e.db.Catalog, e.o.Rediscover, e.lastGlance, e.nextDiscovery = clock, catalog, 15*time.Minute, begin, begin.Add(time.Hour)
	for second := range 601 {
		clock.now = begin.Add(time.Duration(second) * time.Second)
		if err := e.housekeeping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if catalog.asked != 10 {
		t.Errorf("the catalog was asked for marks %d times in ten minutes, want once a minute", catalog.asked)
	}
}
