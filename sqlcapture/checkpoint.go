package sqlcapture

import (
	"context"
	"errors"
	"fmt"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

const (
	flushBytes   = 256 << 10              // of records, written as one piece
	stateEvery   = 250 * time.Millisecond // a checkpoint is due …
	stateBytes   = 8 << 20                // … or after so much log, even when more is waiting
	idleEvery    = 10 * time.Second       // when only the position moved
	pollEvery    = 200 * time.Millisecond // between two looks at what is visible
	pollFirst    = 2 * time.Millisecond
	visibleWarn  = 5 * time.Second // then a log line names who holds a transaction up
	visibleLimit = 5 * time.Minute // then a run that does not tail gives up
	ackPoll      = 10 * time.Millisecond
	stopPatience = 3 * time.Second // after Stop, for a checkpoint that cannot come
)

// begin returns the open batch and its buffer, after a record's envelope.
func (e *engine) begin(s *stream) (*source.Batch, []byte) {
	if e.batch == nil {
		e.batch = e.out.NewBatch()
	}
	return e.batch, e.batch.Begin(s.binding)
}

// flushFull writes the open batch once it is large.
func (e *engine) flushFull() error {
	if e.batch.Len() < flushBytes {
		return nil
	}
	return e.flush()
}

// flush writes the records of the open batch; the next checkpoint covers them.
func (e *engine) flush() error {
	if e.batch == nil {
		return nil
	}
	b := e.batch
	e.batch = nil
	_, err := e.out.Emit(b)
	return err
}

// stateDue tells whether a checkpoint is due after an event of this kind; drained: the log has nothing more at the moment.
func (e *engine) stateDue(kind EventKind, drained bool) bool {
	if e.inTxn || e.window != nil || kind != EventCommit && kind != EventProgress && kind != EventFence {
		return false
	}
	since := e.clock.Now().Sub(e.lastState)
	if e.clean {
		return e.moved && since >= idleEvery
	}
	return drained || since >= stateEvery || e.bytes >= stateBytes || e.stopRequested()
}

// checkpoint waits until everything consumed is visible, then emits the state.
func (e *engine) checkpoint(ctx context.Context) error {
	if e.inTxn || e.window != nil {
		return nil // the next commit, or the window's fence, brings one
	}
	if err := e.announce(ctx); err != nil {
		return err
	}
	if err := e.settle(ctx); err != nil {
		return err
	}
	return e.emitState()
}

// emitState writes the records and the patches that cover them as one piece.
func (e *engine) emitState() error {
	b := e.batch
	if e.batch = nil; b == nil {
		b = e.out.NewBatch()
	}
	position, err := e.position.MarshalJSON()
	if err != nil {
		return fmt.Errorf("rendering position %s: %w", e.position, err)
	}
	b.PatchShared(fmt.Appendf(nil, `{"position":%s}`, position))
	for _, s := range e.streams {
		if s.phase == failed && s.held == nil || s.phase != failed && !s.dirty {
			continue
		}
		patch, patchErr := s.statePatch()
		if patchErr != nil {
			return patchErr
		}
		b.Patch(s.binding, patch)
		s.dirty, s.held = false, nil
	}
	mark, err := e.out.Emit(b)
	if err != nil {
		return err
	}
	if e.req.Durable != nil {
		e.acks = append(e.acks, ack{mark, e.position})
	}
	e.lastState, e.bytes, e.clean, e.moved = e.clock.Now(), 0, true, false
	for _, s := range e.streams {
		if s.resetDue && s.phase != failed {
			s.resetDue = false
			if err := e.out.Reset(s.binding, s.resetReason); err != nil {
				return err
			}
		}
	}
	return nil
}

// ack is a checkpoint that the runner has not called durable yet.
type ack struct {
	mark     source.Mark
	position Position
}

// acknowledge confirms to the server what the runner made durable.
func (e *engine) acknowledge() {
	select {
	case durable := <-e.req.Durable:
		e.confirm(durable)
	default:
	}
}

func (e *engine) confirm(durable source.Mark) {
	n := 0
	for n < len(e.acks) && e.acks[n].mark <= durable {
		n++
	}
	if n > 0 {
		e.log.Confirm(e.acks[n-1].position)
		e.acks = append(e.acks[:0], e.acks[n:]...)
		e.unacked = 0
	}
}

// awaitLastAck gives a runner that acknowledges a moment to do so for the last checkpoint, so that this run and not the next one confirms it.
func (e *engine) awaitLastAck(ctx context.Context) {
	for start := e.clock.Now(); e.req.Durable != nil && e.clock.Now().Sub(start) < source.LastAcknowledgement; {
		stop := e.stopRequested()
		e.acknowledge() // also after Stop: the end of stdin may have come right behind it
		if len(e.acks) == 0 || stop || e.clock.Sleep(ctx, ackPoll) != nil {
			return
		}
	}
}

// prune drops the transactions that a new snapshot sees from the list of those not seen yet; unless now, at most once in pollEvery.
func (e *engine) prune(ctx context.Context, now bool) error {
	if len(e.unseen) == 0 || !now && e.clock.Now().Sub(e.lastPoll) < pollEvery {
		return nil
	}
	e.lastPoll = e.clock.Now()
	var err error
	if e.unseen, e.holdup, err = e.db.Scanner.Visible(ctx, e.unseen); err != nil {
		return fmt.Errorf("asking which transactions are visible: %w", err)
	}
	if len(e.unseen) > 0 {
		log.WithFields(log.Fields{"transactions": fmt.Sprint(e.unseen), "due": now}).Debug("transactions of the log are not visible yet")
	}
	return nil
}

// settle waits, consuming nothing, until every consumed transaction is visible: a run that starts at the position then takes no snapshot that lacks one.
func (e *engine) settle(ctx context.Context) error {
	start := e.clock.Now()
	warned := false
	for pause := pollFirst; ; pause = min(2*pause, pollEvery) {
		if err := e.prune(ctx, true); err != nil || len(e.unseen) == 0 {
			return err
		}
		waited := e.clock.Now().Sub(start)
		switch {
		case waited >= visibleLimit && !e.req.Tail:
			return &protocol.Problem{
				Kind: protocol.Transient, Summary: fmt.Sprintf("a transaction in the log is not visible after %s: %s", waited.Round(time.Second), e.holdup),
				Fix: "bring back the synchronous standby, or shorten synchronous_standby_names",
			}
		case waited >= visibleWarn && !warned:
			warned = true
			log.WithFields(log.Fields{"position": e.position.String(), "waitingFor": e.holdup}).
				Warn("the next checkpoint waits for a transaction that is in the log but not visible yet")
		case e.stopRequested() && e.clock.Now().Sub(e.stopAt) >= stopPatience:
			return errDone
		}
		if err := e.clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// housekeeping does what is due once in a while; called at a checkpoint.
func (e *engine) housekeeping(ctx context.Context) error {
	now := e.clock.Now()
	if e.db.Monitor != nil && now.Sub(e.lastReport) >= time.Minute {
		e.lastReport = now
		e.db.Monitor.Report(ctx, e.position)
	}
	if !now.Before(e.nextDiscovery) {
		return e.rediscover(ctx)
	}
	if now.Sub(e.lastGlance) < e.o.Rediscover/glances {
		return nil
	}
	changed, err := e.glance(ctx)
	if err == nil && changed {
		err = e.rediscover(ctx)
	}
	if err != nil {
		return err
	}
	return e.missPublished(ctx) // after it, so that another table under the name is no gap
}

// report tells how far a stream's backfill is.
func (e *engine) report(s *stream) error {
	if s.phase != backfill {
		return nil
	}
	return e.out.Progress(s.binding, source.Progress{RowsDone: s.rows, RowsExpected: s.total})
}

// errDone ends the loop without an error: nothing is left to do, or Stop was asked for and no checkpoint can come.
var errDone = errors.New("done")
