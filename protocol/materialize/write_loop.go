package materialize

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/transact"
)

const (
	// commitEvery and commitBytes say when a transaction that has a STATE is due: at the first of both.
	commitEvery = time.Second
	commitBytes = 64 << 20
)

// writer reads messages, combines their records, and splits a transaction off when one is due.
type writer struct {
	inv      *invocation
	tables   []*writtenTable
	combiner *transact.Combiner
	shapes   airbyte.Shapes

	work     chan *transaction
	results  chan error
	busy     *transaction       // what the committer is at; nil: nothing
	spare    *transact.Combiner // of the last transaction
	cutAt    time.Time          // when the last transaction was split off
	due      bool               // there is something to commit before the source ends
	urgent   bool               // a table is complete and to be replaced
	states   []heldState        // not handed to the committer yet, in the order of the input
	held     int                // bytes of their lines
	thinAt   int                // from how many bytes on it is worth a look which of them are needed
	records  int64
	global   int64  // records at the last STATE that covered all streams
	shadowed int    // bytes for tables that will be replaced, not committed yet
	folded   []byte // the state that merge patches go on from
}

// writtenTable is a table in the hands of the writer.
type writtenTable struct {
	*table
	binding  int
	covered  int64 // records at the last STATE of the stream alone
	records  int64
	unsealed int64 // records that no STATE covers
	changed  bool  // the checkpoint is to be stored
	status   airbyte.Status
	replaced bool
}

// waiting tells whether the table is still being built beside the one that it will replace.
func (t *writtenTable) waiting() bool { return t.table.binding.Replace && !t.replaced }

func (inv *invocation) newWriter(tables []*table) (*writer, error) {
	w := &writer{inv: inv, work: make(chan *transaction), results: make(chan error, 1), cutAt: inv.Now(), folded: foldedState(tables)}
	bs := make([]transact.Binding, len(tables))
	for i, t := range tables {
		bs[i] = t.transactBinding()
		changed := t.Generation > t.checkpoint.Generation
		if changed {
			t.checkpoint.Generation = t.Generation
		}
		w.tables = append(w.tables, &writtenTable{table: t, binding: i, changed: changed})
	}
	var err error
	w.combiner, err = transact.New(bs, transact.Options{})
	return w, err
}

// run reads until stdin ends. Whatever ends it, what STATEs cover by then is committed first.
func (w *writer) run(ctx context.Context, c *committer, in *input) error {
	go func() { // ends with the work
		for t := range w.work {
			w.results <- c.commit(ctx, t)
		}
		close(w.results)
	}()
	defer func() {
		close(w.work)
		for range w.results { // wait for it
		}
	}()
	err := w.read(in)
	var broken *commitError
	switch {
	case errors.As(err, &broken):
		return broken.err
	case errors.Is(err, errInterrupted):
		return w.stop()
	case errors.Is(err, errEnded):
		err = w.complete()
	}
	return errors.Join(err, w.drain())
}

// commitError tells an error of the committer, after which nothing can be committed, from those of the input.
type commitError struct{ err error }

func (e *commitError) Error() string { return e.err.Error() }

// read takes messages until something ends it: errEnded, errInterrupted, a message that cannot be written, or a *commitError.
func (w *writer) read(in *input) error {
	timer := time.NewTimer(commitEvery)
	defer timer.Stop()
	for {
		wake := (<-chan time.Time)(nil)
		if w.due && w.busy == nil {
			timer.Reset(max(w.cutAt.Add(commitEvery).Sub(w.inv.Now()), 0))
			wake = timer.C
		}
		select {
		case block, ok := <-in.blocks:
			if !ok && in.end != nil {
				return in.end
			}
			if !ok {
				return errEnded
			}
			if err := w.block(block); err != nil {
				return err
			}
			in.recycle(block)
		case err := <-w.results:
			if err := w.took(err); err != nil {
				return err
			}
			if err := w.cutIfDue(); err != nil {
				return err
			}
		case <-wake:
			if err := w.cutIfDue(); err != nil {
				return err
			}
		case <-w.inv.Stop():
			return errInterrupted
		}
	}
}

// recycle gives a block back to the reader, unless a long line has made it large.
func (in *input) recycle(block []byte) {
	if cap(block) > 4*blockBytes {
		return
	}
	select {
	case in.free <- block[:cap(block)]:
	default:
	}
}

func (w *writer) block(block []byte) error {
	for len(block) > 0 {
		line, rest := block, []byte(nil)
		if i := bytes.IndexByte(block, '\n'); i >= 0 {
			line, rest = block[:i], block[i+1:]
		}
		if err := w.line(line); err != nil {
			return err
		}
		block = rest
	}
	return nil
}

// cutIfDue splits a transaction off when it is time, and the committer is free or much is waiting.
func (w *writer) cutIfDue() error {
	if !w.due {
		return nil
	}
	_, sealed := w.combiner.Sealed()
	large := sealed >= commitBytes || w.shadowed >= commitBytes
	if !large && !w.urgent && w.inv.Now().Sub(w.cutAt) < commitEvery {
		return nil
	}
	if w.busy != nil && !large {
		return nil // its end comes back here
	}
	if err := w.wait(); err != nil {
		return err
	}
	w.cut()
	return nil
}

// wait blocks until the committer is free.
func (w *writer) wait() error {
	if w.busy == nil {
		return nil
	}
	return w.took(<-w.results)
}

// took notes what became of the transaction that the committer was at.
func (w *writer) took(err error) error {
	if err != nil {
		return &commitError{err}
	}
	w.spare = w.busy.docs
	w.spare.Reset()
	w.busy = nil
	return nil
}

// cut hands what is sealed to the committer, which must be free.
func (w *writer) cut() {
	t := &transaction{checkpoint: []byte("{")}
	for i, s := range w.tables {
		if s.waiting() {
			w.combiner.Seal(i)
			s.unsealed = 0
			if s.status != airbyte.Complete {
				continue
			}
			t.replace = append(t.replace, i)
			s.replaced = true
		}
		if s.changed {
			t.checkpoint = appendCheckpoint(t.checkpoint, s.table.binding.StateKey, s.checkpoint)
			s.changed = false
		}
	}
	t.checkpoint = append(t.checkpoint, '}')
	t.echo = w.release()
	t.docs = w.combiner.Split(w.spare)
	w.spare, w.busy = nil, t
	w.cutAt, w.due, w.urgent, w.shadowed = w.inv.Now(), false, false, 0
	w.work <- t
}

// drain commits what is sealed, and waits for it.
func (w *writer) drain() error {
	err := w.wait()
	if sealed, _ := w.combiner.Sealed(); err == nil && (w.due || sealed > 0) {
		w.cut()
		err = w.wait()
	}
	if broken, ok := errors.AsType[*commitError](err); ok {
		return broken.err
	}
	return err
}

// stop ends at the last STATE: what came after it is read again by the next run.
func (w *writer) stop() error {
	for _, t := range w.tables {
		if t.waiting() {
			logrus.WithField("stream", t.name()).Warn("stopping before the stream is complete: its table stays as it was")
		} else if t.unsealed > 0 {
			logrus.WithFields(logrus.Fields{"stream": t.name(), "records": t.unsealed}).Info("stopping: records after the last STATE are left out, and come again with the next run")
		}
	}
	return w.drain()
}
