package source

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// Out is the one writer of a read: records, state, and what else the runner hears. Its methods may be called at the same time.
type Out struct {
	wire     Wire
	streams  []protocol.Stream
	openings [][]byte
	moves    []*moves // by binding; nil: documents go out as they are
	now      func() time.Time
	pool     sync.Pool
	// appendLengths appends what tells the runner where members of a document end; nil: it did not ask.
	appendLengths func(dst []byte, start int, ends []int) []byte

	mu       sync.Mutex
	w        io.Writer
	broken   error // the first failure of w
	mark     Mark
	open     bool // something was written after the last checkpoint
	failures []Failure
	reported []time.Time // of the last Progress, by binding
	last     time.Time   // of the last records or state
	scratch  []byte

	emitted atomic.Uint64       // checkpoints given to w, counted before they are written
	redact  func(string) string // removes secrets
}

// NewOut makes the writer of a read of these bindings to w, for Main and for tests of engines. Each write to w is one or more whole lines.
func NewOut(w io.Writer, wire Wire, bs []protocol.Binding) *Out {
	o := &Out{
		wire: wire, w: w, now: time.Now,
		streams: make([]protocol.Stream, len(bs)), openings: make([][]byte, len(bs)), moves: make([]*moves, len(bs)),
		reported: make([]time.Time, len(bs)), redact: func(s string) string { return s },
	}
	for i, b := range bs {
		o.streams[i], o.openings[i], o.moves[i] = b.Stream, wire.Opening(i), newMoves(b.Projections)
	}
	o.pool.New = func() any {
		return &Batch{out: o, buf: make([]byte, 0, batchBytes), counts: make([]int, len(bs))}
	}
	return o
}

// ProjectsItself tells that the source puts fields where the bindings' projections say, before the first batch. Otherwise Out does, for top-level fields.
func (o *Out) ProjectsItself() { clear(o.moves) }

// NewBatch returns an empty batch.
func (o *Out) NewBatch() *Batch { return o.pool.Get().(*Batch) }

// Emit writes the batch as one piece and gives it back to the pool. A batch with patches is a checkpoint and has a Mark above all before it; without,
// zero. Batches without patches are for sources with one emitting goroutine: under Flow the next checkpoint of anybody would commit them uncovered.
// The error means that stdout is gone, or that a patch is no JSON.
func (o *Out) Emit(b *Batch) (Mark, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	mark, err := o.emit(b)
	b.reset()
	o.pool.Put(b)
	return mark, err
}

func (o *Out) emit(b *Batch) (Mark, error) {
	now := o.now()
	if counter, ok := o.wire.(recordCounter); ok {
		before := o.scratch[:0]
		for _, binding := range b.touched {
			before = counter.AppendBeforeRecords(before, binding, b.counts[binding], now)
		}
		if err := o.write(before); err != nil {
			return 0, err
		}
		o.scratch = before
	}
	o.last = now
	if len(b.pending) == 0 {
		o.open = o.open || b.records > 0
		return 0, o.write(b.buf)
	}
	buf, err := o.wire.AppendCheckpoint(b.buf, b.checkpoint(now))
	if err != nil {
		return 0, err
	}
	b.buf = buf
	o.mark++
	o.emitted.Store(uint64(o.mark))
	if err := o.write(b.buf); err != nil {
		return 0, err
	}
	o.open = false
	return o.mark, nil
}

// silence is how long ago the last batch was emitted.
func (o *Out) silence() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now().Sub(o.last)
}

// write sends whole lines. After a failure nothing more is written: the reader would see a torn line go on.
func (o *Out) write(lines []byte) error {
	if o.broken != nil {
		return o.broken
	}
	if len(lines) == 0 {
		return nil
	}
	if _, err := o.w.Write(lines); err != nil {
		o.broken = &command.StdoutError{Err: err}
		return o.broken
	}
	return nil
}

// append writes what f appends.
func (o *Out) append(f func(dst []byte) []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scratch = f(o.scratch[:0])
	return o.write(o.scratch)
}

// Schema tells that the stream's columns changed.
func (o *Out) Schema(binding int, s protocol.Schema) error {
	w, ok := o.wire.(schemaWriter)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scratch = w.AppendSchema(o.scratch[:0], binding, s)
	o.open = true
	return o.write(o.scratch)
}

// Reset tells that what was emitted of this binding before is void. Call it right after a checkpoint that covers everything.
func (o *Out) Reset(binding int, why string) error {
	w, ok := o.wire.(resetWriter)
	if !ok {
		logrus.WithFields(logrus.Fields{"stream": o.streams[binding].Name, "reason": why}).
			Warn("the stream starts over; rows that were deleted at the source remain downstream")
		return nil
	}
	return o.append(func(dst []byte) []byte { return w.AppendReset(dst, binding, why) })
}

// Fail ends this stream only: the others go on, and the process exits with 1 at the end.
func (o *Out) Fail(binding int, p *protocol.Problem) error {
	logrus.WithFields(logrus.Fields{"stream": o.streams[binding].Name, "kind": p.Kind.String()}).Error(p.Error())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures = append(o.failures, Failure{binding, p})
	if w, ok := o.wire.(failureNoter); ok {
		w.noteFailure(binding)
	}
	return o.broken
}

// Progress tells rows done, rows expected and lag; more than one a second per binding is dropped.
func (o *Out) Progress(binding int, p Progress) error {
	w, ok := o.wire.(progressWriter)
	every := time.Second
	if !ok {
		every = 10 * time.Second // a log is read by people
	}
	o.mu.Lock()
	now := o.now()
	due := now.Sub(o.reported[binding]) >= every
	if due {
		o.reported[binding] = now
	}
	broken := o.broken
	o.mu.Unlock()
	switch {
	case !due || broken != nil:
		return broken
	case ok:
		return o.append(func(dst []byte) []byte { return w.AppendProgress(dst, binding, p, now) })
	}
	logrus.WithFields(logrus.Fields{
		"stream": o.streams[binding].Name, "rows": p.RowsDone, "expected": p.RowsExpected, "lag": p.Lag.String(),
	}).Info("progress")
	return nil
}
