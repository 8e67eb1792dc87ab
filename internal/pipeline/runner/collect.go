package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/transact"
)

const (
	// commitBytes and commitEvery: a transaction is committed when one of them has passed, or when the source is idle.
	commitBytes = 16 << 20
	commitEvery = 200 * time.Millisecond
	// idleAfter is how long a source has to be silent to be idle; emptyEvery, how often a checkpoint without documents is then worth a transaction.
	idleAfter  = 20 * time.Millisecond
	emptyEvery = 5 * time.Second
	// memoryBytes is what the documents of one transaction may take in memory; a chunk of a source's backfill, 50,000 rows of common size, has room in it.
	// There are two, one being read and one being committed, and half as much for documents that were loaded.
	memoryBytes = 40 << 20
)

// reader is the source's side of a session: it turns what the source sends into records and checkpoints.
type reader interface {
	// offer lists what the source offers.
	offer(ctx context.Context) ([]offered, error)
	// validate lets the source check everything that the routes ask for.
	validate(ctx context.Context) error
	// prepare takes over the position that counts, before the sink is changed.
	prepare() error
	// open starts reading from there; the lines come through the feed.
	open(ctx context.Context) (*feed, error)
	// line reads one line.
	line(c *collector, line []byte) error
	// acknowledge tells that so many more checkpoints are durable. A source that has ended does not hear it.
	acknowledge(checkpoints uint32)
	// stop asks the source to end at the next checkpoint.
	stop()
	// ended looks at how the source has ended, after its output has. stopped: it was asked to.
	ended(c *collector, stopped bool) error
	// end ends the source at once.
	end(grace time.Duration)
}

// collector gathers what the source sends into transactions. It runs on the session's goroutine; the committer runs on another.
type collector struct {
	p       *pipe
	docs    *transact.Combiner
	reuse   *transact.Combiner // nil: none
	plan    int                // the version of the routes that docs was made for
	schemas []json.RawMessage  // the present one, by binding

	capture json.RawMessage // the source's state at the last checkpoint
	// Since the last checkpoint that was handed over.
	checkpoints uint32
	rows        []int64 // by binding, up to the last checkpoint
	open        []int64 // after it
	anything    bool    // after the last checkpoint something came that the next one covers
	sealed      int64   // bytes of the documents up to the last checkpoint
	began       time.Time
	changes     map[int]json.RawMessage // schemas that changed
	resets      []flow.Reset

	busy      bool // the committer works
	lastEmpty time.Time
	work      chan *transaction
	done      chan result
}

// result is how a transaction went.
type result struct {
	docs *transact.Combiner
	plan int
	err  error
}

func (p *pipe) newCollector() (*collector, error) {
	docs, err := p.newCombiner()
	if err != nil {
		return nil, err
	}
	c := &collector{
		p: p, docs: docs, plan: p.version, capture: p.pos.Capture, rows: make([]int64, len(p.routes)), open: make([]int64, len(p.routes)),
		work: make(chan *transaction), done: make(chan result, 1),
	}
	for _, r := range p.routes {
		c.schemas = append(c.schemas, r.schema)
	}
	return c, nil
}

// run reads the source until its end, and commits. It returns when everything that a checkpoint covers is committed, or with the first error.
func (c *collector) run(ctx context.Context, feed *feed, stop <-chan struct{}) (err error) {
	go c.committer(ctx)
	defer func() {
		close(c.work)
		if c.busy {
			<-c.done // the session's context has ended, or the transaction goes through
		}
		if closeErr := c.docs.Close(); err == nil {
			err = closeErr
		}
	}()
	var buf []byte
	rest := feed.ahead
	timer := time.NewTimer(idleAfter)
	defer timer.Stop()
	idle, ended := false, false
	var ending error
	for {
		for len(rest) > 0 && !c.full() {
			var line []byte
			line, rest = nextLine(rest)
			if len(line) == 0 {
				continue
			}
			if err := c.p.source.line(c, line); err != nil {
				return err
			}
		}
		if len(rest) == 0 && buf != nil {
			feed.giveBack(buf)
			buf = nil
		}
		if c.due(idle, ended) {
			c.seal()
		}
		if ended && !c.busy && !c.pending() {
			return ending
		}
		var full <-chan []byte
		if len(rest) == 0 && !ended && !c.full() {
			full = feed.full
		}
		wait := c.wait(idle)
		timer.Reset(wait)
		select {
		case got, ok := <-full:
			idle = false
			if !ok {
				if feed.err != nil {
					return feed.err
				}
				ended, ending = true, c.p.source.ended(c, stop == nil)
			}
			buf, rest = got, got
		case r := <-c.done:
			c.busy = false
			if r.err != nil {
				return r.err
			}
			c.returned(r)
		case <-timer.C:
			idle = full != nil
		case <-stop:
			stop = nil
			c.p.source.stop()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wait is how long to wait for the source before looking again.
func (c *collector) wait(idle bool) time.Duration {
	if !idle {
		return idleAfter
	}
	if c.pending() && !c.busy {
		return max(idleAfter, emptyEvery-time.Since(c.lastEmpty))
	}
	return time.Minute
}

// pending tells whether the last checkpoint waits to be committed.
func (c *collector) pending() bool { return c.checkpoints > 0 || len(c.resets) > 0 }

// documents counts those up to the last checkpoint.
func (c *collector) documents() (n int64) {
	for _, rows := range c.rows {
		n += rows
	}
	return n
}

// full tells that no more may be read: a whole transaction waits for the committer, or what comes next belongs to a later one.
func (c *collector) full() bool {
	return c.busy && c.sealed >= commitBytes || len(c.resets) > 0
}

// due tells whether a transaction is to be handed over now.
func (c *collector) due(idle, ended bool) bool {
	switch {
	case c.busy || !c.pending():
		return false
	case ended, len(c.resets) > 0:
		return true
	case c.documents() == 0:
		return idle && (!c.p.tail || time.Since(c.lastEmpty) >= emptyEvery)
	}
	return idle || c.sealed >= commitBytes || time.Since(c.began) >= commitEvery
}

// add takes a document, with the lengths of its members; nil: not told.
func (c *collector) add(binding int, doc, lengths []byte) error {
	if binding < 0 || binding >= len(c.open) {
		return fmt.Errorf("the source sent a document of binding %d, but there are %d", binding, len(c.open))
	}
	if err := c.docs.Add(binding, doc, lengths); err != nil {
		return err
	}
	c.open[binding]++
	c.anything = true
	return nil
}

// checkpoint ends a piece that may be committed: the source's state is capture now.
func (c *collector) checkpoint(capture json.RawMessage) {
	c.checkpointOf(nil, capture)
	c.anything = false
}

// checkpointOf ends a piece of some bindings; nil: of all.
func (c *collector) checkpointOf(bindings []int, capture json.RawMessage) {
	for i, n := range c.open {
		if n == 0 || bindings != nil && !slices.Contains(bindings, i) {
			continue
		}
		if c.documents() == 0 {
			c.began = time.Now()
		}
		c.docs.Seal(i)
		c.rows[i] += n
		c.open[i] = 0
		c.p.tracker.Read(i, n)
	}
	_, c.sealed = c.docs.Sealed()
	c.capture = capture
	c.checkpoints++
}

// schema joins what the source announces with what is known of the stream.
func (c *collector) schema(binding int, sourced json.RawMessage) error {
	if binding < 0 || binding >= len(c.schemas) {
		return fmt.Errorf("the source sent a schema of binding %d, but there are %d", binding, len(c.schemas))
	}
	r := c.p.routes[binding]
	if r.entry.Schema != nil {
		return nil // the file's own counts
	}
	if field, found := outgrown(c.schemas[binding], sourced); found {
		return c.p.rounded(r, field)
	}
	joined, changed, err := r.widen(c.schemas[binding], sourced)
	if err != nil {
		return err
	}
	c.schemas[binding] = joined
	if !changed {
		return nil
	}
	if c.changes == nil {
		c.changes = map[int]json.RawMessage{}
	}
	c.changes[binding] = joined
	return nil
}

// reset notes that what came before of a binding is void. It comes right after a checkpoint.
func (c *collector) reset(r flow.Reset) error {
	switch {
	case r.Binding < 0 || r.Binding >= len(c.open):
		return fmt.Errorf("the source resets binding %d, but there are %d", r.Binding, len(c.open))
	case c.anything:
		return errors.New("the source broke the protocol: it sent a reset in the middle of a checkpoint")
	}
	c.resets = append(c.resets, r)
	return nil
}

// seal hands over everything up to the last checkpoint.
func (c *collector) seal() {
	if c.documents() == 0 {
		c.lastEmpty = time.Now()
	}
	t := &transaction{
		docs: c.docs.Split(c.reuse), plan: c.plan, capture: c.capture, checkpoints: c.checkpoints, rows: c.rows, schemas: c.changes, resets: c.resets,
	}
	c.reuse, c.checkpoints, c.sealed, c.rows, c.changes, c.resets = nil, 0, 0, make([]int64, len(c.rows)), nil, nil
	c.p.tracker.Sealed()
	c.busy = true
	c.work <- t
}

// returned takes back what the committer has used.
func (c *collector) returned(r result) {
	r.docs.Reset()
	c.reuse = r.docs
	if r.plan == c.plan || c.docs.Len() > 0 {
		return
	}
	docs, err := c.p.newCombiner()
	if err != nil {
		return // the values are extracted as before
	}
	_ = c.docs.Close() // empty, and so is the other one
	c.docs, c.reuse, c.plan = docs, nil, r.plan
}

// committer commits one transaction after the other until work is closed or one fails.
func (c *collector) committer(ctx context.Context) {
	for t := range c.work {
		err := c.p.commit(ctx, t)
		c.done <- result{t.docs, c.p.version, err}
		if err != nil {
			return
		}
	}
}
