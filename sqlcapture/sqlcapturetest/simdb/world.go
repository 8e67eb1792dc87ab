package simdb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrCrash is returned by every role after the run was killed.
var ErrCrash = errors.New("the run was killed by the schedule")

// ErrStuck means that the engine called the database very often without coming to an end.
var ErrStuck = errors.New("the engine makes no progress")

// maxPoints is how many calls a run may make; the longest that end make a few hundred.
const maxPoints = 20000

// World is the database and its clients.
type World struct {
	cfg    Config
	choose Chooser

	tables []*table
	txns   []*txn
	log    []*entry // by position: the order of commits
	end    int64    // of the log
	seq    int64    // of the last change in the log
	// durable is the position up to which the log can be decoded.
	durable   int64
	nextXID   uint64
	completed uint64 // the latest transaction that has ended
	version   int64
	fences    int64
	now       time.Duration

	slots map[string]*slot

	// Kills is how many more times the schedule may kill a run.
	Kills int
	// Quiet: nothing happens any more but what the engine does.
	Quiet bool
	// Trace, if set, is told of every step.
	Trace func(format string, args ...any)
	// OnPoint, if set, is called at every scheduling point before anything happens: the output so far is final.
	OnPoint func() error

	crashed bool
	fault   error // what OnPoint found
	points  int
	idle    int // empty answers in a row
}

// New makes a database whose initial rows are committed.
func New(cfg Config, c Chooser) *World {
	w := &World{cfg: cfg, choose: c, end: 100, nextXID: cfg.FirstXID, slots: map[string]*slot{}}
	first := &txn{state: ended, full: w.nextXID - 1}
	w.completed = first.full
	for i := range cfg.Tables {
		t := &table{spec: &cfg.Tables[i], index: i}
		t.gens = []*incarnation{{id: fmt.Sprintf("%d.0", i), published: cfg.AllTables, by: first}}
		w.tables = append(w.tables, t)
		for k := range cfg.Tables[i].Rows {
			w.version++
			first.changes = append(first.changes, change{
				table: t, gen: t.gens[0], kind: insert, key: k,
				row: &Row{Key: k, Version: w.version, Long: w.version},
			})
		}
	}
	w.txns = append(w.txns, first)
	w.appendCommit(first)
	w.durable = w.end
	for _, p := range cfg.Programs {
		w.txns = append(w.txns, &txn{program: p})
	}
	return w
}

// StartRun forgets the crash of the run before.
func (w *World) StartRun() {
	w.crashed, w.fault, w.points, w.idle = false, nil, 0, 0
	for _, t := range w.tables {
		t.readers = 0 // the server ends the sessions of a killed client
	}
}

// Crashed tells whether this run was killed.
func (w *World) Crashed() bool { return w.crashed }

// Fault is the error of OnPoint that ended this run.
func (w *World) Fault() error { return w.fault }

// point is a scheduling point: the world may take steps, or the run ends here.
func (w *World) point(ctx context.Context) error {
	if w.fault != nil {
		return w.fault
	}
	if w.crashed {
		return ErrCrash
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.OnPoint != nil {
		if w.fault = w.OnPoint(); w.fault != nil {
			return w.fault
		}
	}
	if w.points++; w.points > maxPoints {
		w.fault = fmt.Errorf("%w after %d calls", ErrStuck, w.points)
		return w.fault
	}
	for !w.Quiet {
		steps := w.steps()
		n, about := len(steps)+1, ChooseStep
		if w.Kills > 0 {
			n, about = n+1, ChooseStepOrKill
		}
		if n == 1 {
			return nil
		}
		c := w.choose.Choose(n, about)
		switch {
		case c == 0:
			return nil
		case c > len(steps):
			w.Kills--
			w.crashed = true
			return ErrCrash
		}
		w.take(steps[c-1])
	}
	return nil
}

// force takes one step if there is any: the caller waits for something.
func (w *World) force() bool {
	steps := w.steps()
	if len(steps) == 0 {
		return false
	}
	c := 0
	if len(steps) > 1 {
		c = w.choose.Choose(len(steps), ChooseForced)
	}
	w.take(steps[c])
	return true
}

// waited counts an answer that said "not yet"; after a few the world moves, since no real server stands still for ever.
func (w *World) waited() {
	if w.idle++; w.idle >= 2 {
		w.idle = 0
		w.force()
	}
}

// Finish lets every transaction end and the whole log become durable.
func (w *World) Finish() {
	for w.force() {
	}
	w.durable = w.end
}

// Step lets one thing happen while nobody captures; false: nothing is left to happen.
func (w *World) Step() bool { return w.force() }

// Done tells whether every transaction has ended.
func (w *World) Done() bool { return len(w.steps()) == 0 }

// Now is the simulated time.
func (w *World) Now() time.Time { return time.Unix(1_700_000_000, 0).Add(w.now).UTC() }

// Sleep lets d pass; it is a scheduling point.
func (w *World) Sleep(ctx context.Context, d time.Duration) error {
	if err := w.point(ctx); err != nil {
		return err
	}
	w.now += d
	w.waited()
	return nil
}
