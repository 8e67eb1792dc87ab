package filesource

import (
	"context"
	"errors"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/filesource/sweep"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// emitter writes chunks in listing order, and decides when a patch rides with one.
type emitter struct {
	*reader
	bytes     int64 // of documents since the last patch
	ended     bool  // a file did since
	patched   time.Time
	stated    bool // a patch was written in this run
	documents int64
	files     int   // read to their ends in this sweep
	before    int64 // documents of the sweeps before

	archived      int // objects of this sweep that have to be restored first
	firstArchived string
}

// run takes the chunks of all units, until the planner has closed them.
func (e *emitter) run(ctx context.Context, units <-chan *unit) error {
	for {
		u, err := await(ctx, e.req.Stop, units)
		if err != nil {
			return e.leave(err)
		}
		if u == nil {
			if ctx.Err() != nil {
				return e.leave(context.Cause(ctx))
			}
			return nil
		}
		for {
			c, err := await(ctx, e.req.Stop, u.chunks)
			if err != nil {
				return e.leave(err)
			}
			if c == nil {
				break
			}
			if err := e.emit(c); err != nil {
				return err
			}
		}
	}
}

// await waits for the next of what comes, which is nil at the end; or for the end of everything.
func await[T any](ctx context.Context, stop <-chan struct{}, from <-chan *T) (*T, error) {
	select {
	case <-stop:
		return nil, errStopped
	default:
	}
	select {
	case next := <-from:
		return next, nil
	case <-stop:
		return nil, errStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// leave checkpoints what was emitted, so that the next run does not begin before it, and passes the reason on.
func (e *emitter) leave(why error) error {
	if errors.Is(why, context.Canceled) || errors.Is(why, context.DeadlineExceeded) {
		return why
	}
	if err := e.checkpoint(); err != nil {
		return err
	}
	return why
}

// emit writes a chunk.
func (e *emitter) emit(c *chunk) error {
	problem := e.apply(c)
	e.bytes += int64(c.batch.Len())
	e.documents += int64(c.batch.Records())
	if problem != nil || e.due() {
		e.patch(c.batch)
	}
	if _, err := e.out.Emit(c.batch); err != nil {
		return err
	}
	if problem == nil {
		return e.out.Progress(e.binding, source.Progress{RowsDone: e.documents})
	}
	if p, ok := errors.AsType[*protocol.Problem](problem); ok && errors.Is(problem, errFile) {
		if err := e.out.Fail(e.binding, p); err != nil {
			return err
		}
		return errStopped
	}
	return problem
}

// apply tells the sweep what was emitted. An error is the file's that ends it.
func (e *emitter) apply(c *chunk) (problem error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range c.steps {
		switch s.kind {
		case began:
			e.machine.Begin(s.object, s.at)
		case reached:
			e.machine.At(s.at)
		case done:
			e.machine.Done(s.object)
			e.ended = true
			e.files++
		case gone:
			e.machine.Gone(s.object.Key)
			e.ended = true
		case deferred:
			if s.why == sweep.Archived {
				if e.archived++; e.archived == 1 {
					e.firstArchived = e.settings.name(s.object.Key)
				}
			}
			full, err := e.machine.Deferred(s.object, s.why)
			if full {
				log.Warn("more archived objects wait to be restored than can be remembered: further ones are not read when they are")
			}
			if err != nil {
				return &protocol.Problem{Kind: protocol.Config, Summary: err.Error(), Fix: "make them readable, or exclude them (advanced.exclude)", Err: errFile}
			}
			e.ended = true
		case failed:
			return s.err
		}
	}
	return nil
}

// tellArchived says once a sweep that objects were passed over: there may be millions of them.
func (e *emitter) tellArchived() {
	if e.archived > 0 {
		log.WithField("files", e.archived).Warnf("archived objects are passed over until they are restored, the first of them is %s", e.firstArchived)
	}
	e.archived = 0
}

// due tells whether a patch may ride: at the end of a file, or now and then inside one, but never so often that a runner that is sent the whole state each
// time gets more state than documents.
func (e *emitter) due() bool {
	if !e.ended && e.bytes < e.limits.patchBytes {
		return false
	}
	e.mu.Lock()
	size := int64(e.machine.Size())
	e.mu.Unlock()
	return e.bytes >= e.limits.stateShare*size || e.now().Sub(e.patched) >= e.limits.patchEvery
}

func (e *emitter) patch(b *source.Batch) {
	e.mu.Lock()
	b.Patch(e.binding, e.machine.AppendPatch(nil))
	e.mu.Unlock()
	e.bytes, e.ended, e.patched, e.stated = 0, false, e.now(), true
}

// checkpoint writes a state, unless the last one of this run said the same.
func (e *emitter) checkpoint() error {
	if e.stated && e.bytes == 0 && !e.pending() {
		return nil
	}
	b := e.out.NewBatch()
	e.patch(b)
	_, err := e.out.Emit(b)
	return err
}

// told logs what a sweep has read, if anything.
func (e *emitter) told() {
	if e.files > 0 {
		log.WithFields(log.Fields{"files": e.files, "documents": e.documents - e.before}).Info("everything that is new in the bucket was read")
	}
	e.files, e.before = 0, e.documents
}

// pending tells whether a patch would say anything.
func (e *emitter) pending() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.machine.Pending()
}

// idle writes a state at the end of a sweep, unless it would say nothing but that there was one.
func (e *emitter) idle() error {
	if e.bytes == 0 && !e.machine.Changed() {
		return nil
	}
	return e.checkpoint()
}
