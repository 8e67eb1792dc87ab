package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v4"
)

// Options shape a load. The zero value of a field is the default in its comment.
type Options struct {
	DSN    string
	Schema string // "public"
	Seed   uint64
	// Writers change rows at the same time, each its own keys: 4.
	Writers int
	// Keys is how many keys a writer has in each table: 60. Half of them start alive when Fill is called.
	Keys int
	// Pause between two transactions of a writer: 2 ms. Negative: none.
	Pause time.Duration
	// Tables by name; nil: all seven.
	Tables []string
}

// Stats counts what was committed, except where it says otherwise.
type Stats struct {
	Commits, Rollbacks, Savepoints, LongTransactions  int64 // Rollbacks: whole transactions; Savepoints: rolled back parts of committed ones
	Inserts, Updates, Deletes, KeyChanges, Reinserts  int64 // a key change is one deletion and one insertion besides
	Copies, Copied, BigTouched, BigUntouched, Cleared int64 // Cleared: columns set to NULL
}

// Changes is the number of row changes: what a log delivers, with a key change as two.
func (s Stats) Changes() int64 { return s.Inserts + s.Updates + s.Deletes + s.Copied }

// Load is a running load.
type Load struct {
	options Options
	tables  []Table
	writers []*writer
	stop    chan struct{}
	once    sync.Once
	wait    sync.WaitGroup

	mu  sync.Mutex // guards err
	err error

	total counters
}

// counters are Stats that several writers add to.
type counters struct {
	mu sync.Mutex
	s  Stats
	n  atomic.Int64 // committed changes, for those who wait for a number
}

// New connects the writers; Create must have been called.
func New(ctx context.Context, o Options) (*Load, error) {
	if o.Schema == "" {
		o.Schema = "public"
	}
	if o.Writers == 0 {
		o.Writers = 4
	}
	if o.Keys == 0 {
		o.Keys = 60
	}
	if o.Pause == 0 {
		o.Pause = 2 * time.Millisecond
	}
	l := &Load{options: o, stop: make(chan struct{})}
	for _, t := range Tables {
		if o.Tables == nil || contains(o.Tables, t.Name) {
			l.tables = append(l.tables, t)
		}
	}
	for i := range o.Writers {
		conn, err := pgx.Connect(ctx, o.DSN)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("connecting writer %d: %w", i, err), l.Stop())
		}
		l.writers = append(l.writers, newWriter(l, i, conn))
	}
	return l, nil
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// Fill inserts half of the keys of every table, so that there is something to back-fill. Call it before Run.
func (l *Load) Fill(ctx context.Context) error {
	for _, w := range l.writers {
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Run starts the writers; they go on until Stop, or until one of them meets an error.
func (l *Load) Run() {
	for _, w := range l.writers {
		l.wait.Add(1)
		go func() {
			defer l.wait.Done()
			if err := w.run(context.Background()); err != nil {
				l.mu.Lock()
				l.err = errors.Join(l.err, fmt.Errorf("writer %d of the load, seed %d: %w", w.index, l.options.Seed, err))
				l.mu.Unlock()
			}
		}()
	}
}

// Stop lets each writer finish its transaction, closes the connections and returns what went wrong.
func (l *Load) Stop() error {
	l.once.Do(func() {
		close(l.stop)
		l.wait.Wait()
		for _, w := range l.writers {
			_ = w.conn.Close(context.Background()) // everything is committed
		}
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Err is the first thing that went wrong so far.
func (l *Load) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Stats returns the counts so far.
func (l *Load) Stats() Stats {
	l.total.mu.Lock()
	defer l.total.mu.Unlock()
	return l.total.s
}

// Changes is Stats().Changes(), cheap enough to be polled.
func (l *Load) Changes() int64 { return l.total.n.Load() }

func (c *counters) add(s Stats) {
	c.n.Add(s.Changes())
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.s
	for _, pair := range [][2]*int64{
		{&t.Commits, &s.Commits},
		{&t.Rollbacks, &s.Rollbacks},
		{&t.Savepoints, &s.Savepoints},
		{&t.LongTransactions, &s.LongTransactions},
		{&t.Inserts, &s.Inserts},
		{&t.Updates, &s.Updates},
		{&t.Deletes, &s.Deletes},
		{&t.KeyChanges, &s.KeyChanges},
		{&t.Reinserts, &s.Reinserts},
		{&t.Copies, &s.Copies},
		{&t.Copied, &s.Copied},
		{&t.BigTouched, &s.BigTouched},
		{&t.BigUntouched, &s.BigUntouched},
		{&t.Cleared, &s.Cleared},
	} {
		*pair[0] += *pair[1]
	}
}

// randomOf gives each writer a stream of its own from one seed.
func randomOf(seed uint64, writer int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(writer))) //nolint:gosec // a test that can be repeated
}
