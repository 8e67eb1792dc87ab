package sqlcapturetest

import (
	"context"
	"fmt"
	"time"

	"github.com/estuary/connectors/protocol/source"
	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// Stats counts what a play saw, so that a test can tell that it bites.
type Stats struct {
	Runs, Kills, Records, Checkpoints, Resets int
}

func (s *Stats) add(o Stats) {
	s.Runs += o.Runs
	s.Kills += o.Kills
	s.Records += o.Records
	s.Checkpoints += o.Checkpoints
	s.Resets += o.Resets
}

// play runs a scenario's runs, then a last one on a quiet database, and compares the outcome. The error says which invariant broke.
func play(s Scenario, p *player) (stats Stats, err error) {
	w := simdb.New(s.DB, p)
	c := newConsumer(w, s)
	w.Trace, c.trace = p.trace, p.trace
	defer func() {
		if r := recover(); r != nil {
			err = broken("panic", "%v", r)
		}
	}()
	for i := range s.Runs + 1 {
		last := i == s.Runs
		if last {
			w.Finish()
			w.Quiet = true
		}
		if err := c.run(p, i > 0, last, &stats); err != nil {
			return stats, err
		}
	}
	for i, t := range c.tracks {
		if err := t.view.compare("at the end", !s.HonoursReset); err != nil {
			return stats, err
		}
		if !s.KeepsTail || !t.view.spec.Kind.HasKey() {
			continue
		}
		kept, err := c.keptView(i)
		if err != nil {
			return stats, err
		}
		if err := kept.compare("with the records of killed runs", true); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

// run is one run of the engine, until it ends, is stopped or killed.
func (c *consumer) run(p *player, resumed, last bool, stats *Stats) error {
	bs, err := c.resume(p, resumed && !last)
	if err != nil {
		return err
	}
	w, s := c.w, c.scenario
	w.StartRun()
	if c.trace != nil {
		for i, b := range bs {
			c.trace("a run begins: table %d with state %s, shared %s", i, b.State, b.Shared)
		}
	}
	stop := make(chan struct{})
	req := source.Request{Bindings: bs, Range: c.part, Stop: stop, KeepsTail: s.KeepsTail, HonoursReset: s.HonoursReset}
	points, stopAt := 0, 0
	w.Kills = 0
	if !last {
		if !c.noKill {
			w.Kills = 1
		}
		if req.Tail = p.Choose(2, simdb.ChooseRun) == 1; req.Tail {
			stopAt = []int{20, 60, 200}[p.Choose(3, simdb.ChooseRun)]
		}
	}
	var durable chan source.Mark
	acked := int64(0)
	if s.Acks && !last {
		durable = make(chan source.Mark, 1)
		req.Durable = durable
	}
	base := c.oldest
	w.OnPoint = func() error {
		if c.err != nil {
			return c.err
		}
		points++
		if stopAt > 0 && points == stopAt {
			close(stop)
		}
		if durable != nil && points%7 == 0 && c.marks > 0 {
			select {
			case <-durable:
			default:
			}
			durable <- c.marks
			acked = c.states[len(c.states)-1]
			c.oldest = base + int(c.marks) //nolint:gosec // small
		}
		return c.confirmed(acked)
	}
	startSeq := w.LastSeq()
	before := len(c.tracks[0].saved)
	runErr := sqlcapture.Run(context.Background(), w.Database(c.slot, c.parent), sqlcapture.Options{
		ChunkRows: s.ChunkRows, Clock: clock{w}, Rediscover: rediscover(s.Rediscover),
	}, req, source.NewOut(c, wire{}, bs))
	stats.Runs++
	stats.Checkpoints += len(c.tracks[0].saved) - before
	for _, t := range c.tracks {
		for _, it := range t.items[t.begun:] {
			if it.reset {
				stats.Resets++
			} else {
				stats.Records++
			}
		}
	}
	switch {
	case c.err != nil:
		return c.err
	case w.Fault() != nil:
		return w.Fault()
	case w.Crashed():
		stats.Kills++
		return c.confirmed(acked)
	case runErr != nil:
		return broken("run", "%v", runErr)
	}
	if err := c.confirmed(acked); err != nil {
		return err
	}
	if err := c.end(req.Tail); err != nil || req.Tail || !s.checks("I14") {
		return err
	}
	for i, t := range c.tracks {
		if !c.owns(i) {
			continue
		}
		if err := t.view.covers(startSeq, !s.HonoursReset); err != nil {
			return err
		}
	}
	return nil
}

// confirmed is I8: what the server was told it may forget is durable with the runner.
func (c *consumer) confirmed(acked int64) error {
	allowed := acked
	start := int64(0)
	for _, t := range c.tracks {
		if t.from > 0 && (start == 0 || t.from < start) {
			start = t.from
		}
	}
	allowed = max(allowed, start)
	if have := c.w.Confirmed(c.slot); have > allowed && c.scenario.checks("I8") {
		return broken("I8", "position %d was confirmed, and only %d is durable", have, allowed)
	}
	return nil
}

// rediscover is the time between two looks at the catalog: always, or never. The engine's jitter must not change a replay.
func rediscover(always bool) time.Duration {
	if always {
		return 1
	}
	return 1 << 60
}

// clock is the world's.
type clock struct{ w *simdb.World }

func (c clock) Now() time.Time { return c.w.Now() }

func (c clock) Sleep(ctx context.Context, d time.Duration) error { return c.w.Sleep(ctx, d) }

// Result is a failing schedule.
type Result struct {
	Schedule Schedule
	Err      error
	Scenario Scenario
}

func (r *Result) Error() string {
	text := fmt.Sprintf("schedule %s breaks %v\n  %s", r.Schedule, r.Err, describe(r.Scenario))
	return text
}

func describe(s Scenario) string {
	text := fmt.Sprintf("chunks of %d, plain %t, keepsTail %t, honoursReset %t, acks %t, rediscover %t, allTables %t",
		s.ChunkRows, s.Plain, s.KeepsTail, s.HonoursReset, s.Acks, s.Rediscover, s.DB.AllTables)
	for i, t := range s.DB.Tables {
		text += fmt.Sprintf("\n  table %d: %s, %d rows, full %t", i, []string{"ordered", "locale", "keyless", "paged"}[t.Kind], t.Rows, t.Full)
	}
	for _, p := range s.DB.Programs {
		text += "\n  " + p.String()
	}
	return text
}
