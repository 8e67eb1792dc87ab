package sqlcapture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// idleWait bounds how long the log is waited for: the engine then looks at Stop, Durable and its timers.
const idleWait = 100 * time.Millisecond

// engine is one run. A single goroutine owns all of it.
type engine struct {
	db    Database
	o     Options
	req   source.Request
	out   *source.Out
	clock Clock
	log   Log

	streams []*stream
	byName  map[TableName]*stream
	turn    int // whose turn it is to be scanned
	window  *stream

	// alwaysDeletes: see judge.
	alwaysDeletes bool

	position   Position // everything before it is consumed
	inTxn      bool
	clean      bool    // nothing was consumed or emitted since the last checkpoint
	unseen     []TxnID // consumed transactions that no snapshot was seen to contain
	fills      []pendingFill
	batch      *source.Batch
	acks       []ack
	catchUp    FenceID // reached: the log is consumed up to where it was at the start
	caughtUp   bool
	finalFence FenceID // placed once nothing is left to scan, in a run that does not tail

	// marks are those of Catalog, when they were last asked for.
	marks map[TableName]string
	// delivered is a position up to which every table that was published then was delivered.
	delivered Position

	started, lastState, lastPoll, lastReport, lastGlance, nextDiscovery time.Time
	gateSettled                                                         uint64
	gateNext, gateSince                                                 time.Time
	bytes                                                               int   // of log, since the last checkpoint
	unacked                                                             int64 // of log, since the last acknowledgement
	stopAt                                                              time.Time
	moved                                                               bool      // the position did, since the last checkpoint
	holdup                                                              string    // who holds up the unseen transactions
	redescribed                                                         []*stream // to be described anew at the next checkpoint
	key, oldKey                                                         rowkey.Key
}

// Run captures what req asks for. It returns nil when it has caught up (without Tail) or was stopped at a checkpoint.
func Run(ctx context.Context, db Database, o Options, req source.Request, out *source.Out) error {
	o = o.withDefaults()
	e := &engine{
		db: db, o: o, req: req, out: out, clock: o.Clock,
		byName:        map[TableName]*stream{},
		alwaysDeletes: req.KeepsTail || !req.HonoursReset,
	}
	e.started = e.clock.Now()
	e.scheduleDiscovery()
	if err := e.start(ctx); err != nil || e.log == nil {
		return err
	}
	err := e.loop(ctx)
	return errors.Join(err, e.log.Close())
}

func (e *engine) loop(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.acknowledge()
		done, err := e.step(ctx)
		switch {
		case errors.Is(err, errDone):
			return nil
		case err != nil || done:
			return err
		}
	}
}

// step does one thing: end the run, scan a chunk, or consume a batch of the log.
func (e *engine) step(ctx context.Context) (done bool, err error) {
	if e.clean {
		if e.stopRequested() || e.finished() || e.bounded() {
			return true, nil
		}
		if err := e.housekeeping(ctx); err != nil {
			return false, err
		}
		if e.caughtUp && e.clean {
			s, scanErr := e.nextToScan(ctx)
			if scanErr != nil {
				return false, scanErr
			}
			if s != nil {
				return false, e.scan(ctx, s)
			}
		}
	}
	if !e.req.Tail && e.caughtUp && e.finalFence == 0 && e.window == nil && !e.scanning() {
		if e.finalFence, err = e.log.Fence(ctx); err != nil {
			return false, fmt.Errorf("placing the last fence: %w", err)
		}
	}
	events, err := e.log.Next(ctx, e.wait())
	if err != nil {
		return false, fmt.Errorf("reading the log after %s: %w", e.position, err)
	}
	err = e.consume(ctx, events)
	if events.Release != nil {
		events.Release()
	}
	return false, err
}

// finished: every stream has failed.
func (e *engine) finished() bool {
	for _, s := range e.streams {
		if s.phase != failed {
			return false
		}
	}
	return true
}

// scanning tells whether a stream is still to be scanned.
func (e *engine) scanning() bool {
	for _, s := range e.streams {
		if s.phase == pending || s.phase == backfill {
			return true
		}
	}
	return false
}

func (e *engine) wait() time.Duration {
	if e.clean && e.scanning() {
		return gatePoll / 4 // a gate or a lock is waited for
	}
	return idleWait
}

// consume handles a batch of events, and emits checkpoints between them when they are due.
func (e *engine) consume(ctx context.Context, events Events) error {
	for i := range events.List {
		ev := &events.List[i]
		e.bytes += ev.Bytes
		e.unacked += int64(ev.Bytes)
		switch ev.Kind {
		case EventTable:
			if err := e.tableEvent(ev); err != nil {
				return err
			}
		case EventInsert, EventUpdate, EventDelete:
			e.inTxn, e.clean = true, false
			if err := e.rowEvent(ctx, ev); err != nil {
				return err
			}
		case EventTruncate:
			e.inTxn, e.clean = true, false
			if err := e.truncateEvent(ev); err != nil {
				return err
			}
		case EventCommit:
			e.inTxn, e.clean = false, false
			e.unseen = append(e.unseen, ev.Txn.ID)
			if err := e.flushFills(ctx); err != nil {
				return err
			}
			e.advance(ev.Position)
		case EventProgress:
			e.advance(ev.Position)
		case EventFence:
			e.advance(ev.Position)
			if err := e.fenceEvent(ctx, ev.Fence, ev.Position); err != nil {
				return err
			}
		}
		drained := events.Drained && i == len(events.List)-1
		if due := e.stateDue(ev.Kind, drained); due {
			if err := e.checkpoint(ctx); err != nil {
				return err
			}
		}
	}
	if len(events.List) == 0 && e.stateDue(EventProgress, true) {
		return e.checkpoint(ctx)
	}
	return e.prune(ctx, false)
}

// advance moves the position; it never goes back.
func (e *engine) advance(p Position) {
	if p == nil || e.position != nil && p.Compare(e.position) <= 0 {
		return
	}
	e.position, e.moved = p, true
	for _, s := range e.streams {
		if s.own != nil && p.Compare(s.own) >= 0 {
			s.own, s.dirty = nil, true
		}
	}
}

func (e *engine) fenceEvent(ctx context.Context, fence FenceID, at Position) error {
	switch {
	case fence == e.catchUp:
		e.caughtUp = true
		if err := e.failAhead(at); err != nil {
			return err
		}
		return e.checkpoint(ctx)
	case e.window != nil && fence == e.window.window.fence:
		if err := e.closeWindow(); err != nil {
			return err
		}
		return e.checkpoint(ctx)
	case fence == e.finalFence:
		if err := e.announce(ctx); err != nil {
			return err
		}
		if e.scanning() { // a table started over meanwhile
			e.finalFence = 0
			return nil
		}
		if err := e.checkpoint(ctx); err != nil {
			return err
		}
		e.awaitLastAck(ctx)
		return errDone
	}
	return nil // the fence of a window that was given up
}

// rowEvent emits a change of a row, unless a chunk's rows stand for it.
func (e *engine) rowEvent(ctx context.Context, ev *Event) error {
	s := e.byName[ev.Table.TableName]
	if s == nil || s.phase == failed || s.phase == missing || e.covered(s, ev.Txn) || s.stale(ev) {
		return nil
	}
	p, err := s.planFor(ev.Table)
	if err != nil {
		return e.keyGone(s, err)
	}
	if ev.Kind == EventUpdate {
		fillFromBefore(ev.After, ev.Before)
	}
	if len(p.docKey) == 0 {
		if s.emits(ev.Txn, nil) {
			return e.emit(ctx, s, p, ev, opOf(ev.Kind), nil)
		}
		return nil
	}
	return e.keyedEvent(ctx, s, p, ev)
}

// keyedEvent judges a change by its key. An update that changes the key is a delete of the old one and a create of the new one, judged one by one.
func (e *engine) keyedEvent(ctx context.Context, s *stream, p *plan, ev *Event) error {
	var err error
	var hasOld, hasNew bool
	if ev.Before != nil {
		if e.oldKey, hasOld, err = p.appendKey(e.oldKey[:0], p.docKey, ev.Before, nil); err != nil {
			return err
		}
	}
	if ev.Kind != EventDelete {
		if e.key, hasNew, err = p.appendKey(e.key[:0], p.docKey, ev.After, ev.Before); err != nil {
			return err
		}
		if !hasNew {
			return e.keyLacking(s, ev)
		}
	}
	switch {
	case ev.Kind == EventDelete && !hasOld:
		return e.keyLacking(s, ev)
	case ev.Kind == EventDelete:
		if e.judge(s, ev.Txn, e.oldKey, true) {
			return e.emit(ctx, s, p, ev, 'd', e.oldKey)
		}
	case ev.Kind == EventUpdate && hasOld && (rowkey.Compare(e.oldKey, e.key) != 0 || p.rewritesKey(ev)):
		if e.judge(s, ev.Txn, e.oldKey, true) {
			if err := e.emit(ctx, s, p, ev, 'd', e.oldKey); err != nil {
				return err
			}
		}
		if e.judge(s, ev.Txn, e.key, false) {
			return e.emit(ctx, s, p, ev, 'c', e.key)
		}
	default:
		if e.judge(s, ev.Txn, e.key, false) {
			return e.emit(ctx, s, p, ev, opOf(ev.Kind), e.key)
		}
	}
	return nil
}

func opOf(k EventKind) byte {
	switch k { //nolint:exhaustive // called for row events only
	case EventInsert:
		return 'c'
	case EventUpdate:
		return 'u'
	}
	return 'd'
}

// fillFromBefore completes the new row by the old one: a value that was not sent has not changed.
func fillFromBefore(after, before []Value) {
	for i := range after {
		if i < len(before) && IsAbsent(after[i]) && !IsAbsent(before[i]) {
			after[i] = bytes.Clone(before[i]) // both may be rendered, and rendering may change the bytes
		}
	}
}

// emit writes a change's document. A create that lacks values (its key is new, so the consumer has nothing to merge with) waits for flushFills.
func (e *engine) emit(ctx context.Context, s *stream, p *plan, ev *Event, op byte, key rowkey.Key) error {
	if len(e.fills) > 0 {
		if err := e.flushFillsOf(ctx, s, key); err != nil {
			return err
		}
	}
	image, before := ev.After, ev.Before
	switch {
	case op == 'd':
		image, before = ev.Before, nil
	case op == 'c':
		before = nil
		if e.db.Filler != nil && key != nil && hasAbsent(image) {
			return e.addFill(ctx, s, p, ev, key)
		}
	}
	return e.write(s, p, op, image, before, ev)
}

func (e *engine) write(s *stream, p *plan, op byte, image, before []Value, ev *Event) error {
	if s.phase == failed {
		return nil // it did when the fills before this event were read
	}
	b, doc := e.begin(s)
	start := len(doc)
	doc, err := p.appendEvent(doc, op, image, before, ev, e.db.Source)
	if err != nil {
		return err
	}
	if len(doc)-start > maxDocument {
		return p.tooLarge(image, len(doc)-start)
	}
	b.EndMembers(doc, p.ends)
	return e.flushFull()
}

// covered: the stream's own position is past this transaction.
func (e *engine) covered(s *stream, txn *Txn) bool {
	return s.own != nil && txn.Commit.Compare(s.own) < 0
}

func (e *engine) stopRequested() bool {
	select {
	case <-e.req.Stop:
		if e.stopAt.IsZero() {
			e.stopAt = e.clock.Now()
		}
		return true
	default:
		return false
	}
}

// bounded: a tailing run has reached its configured end.
func (e *engine) bounded() bool {
	if !e.req.Tail {
		return false
	}
	if e.o.MaxRuntime > 0 && e.clock.Now().Sub(e.started) >= e.o.MaxRuntime {
		log.WithField("maxRuntime", e.o.MaxRuntime.String()).Info("ending this run as configured")
		return true
	}
	if e.o.MaxUnackedBytes > 0 && e.unacked >= e.o.MaxUnackedBytes {
		log.WithField("bytes", e.unacked).Info("ending this run as configured: so much of the log was not acknowledged")
		return true
	}
	return false
}

func (e *engine) scheduleDiscovery() {
	e.nextDiscovery = e.clock.Now().Add(time.Duration(float64(e.o.Rediscover) * (0.5 + rand.Float64()))) //nolint:gosec // jitter
}

// fail ends a stream. The shared position goes on with the others, so the stream's state has to say where its own next run begins; with nothing read yet
// that does not matter.
func (e *engine) fail(s *stream, p *protocol.Problem) error {
	switch {
	case s.phase != backfill && s.phase != active:
	case s.own != nil:
		s.held = s.own
	case e.log != nil:
		s.held = e.position
	default:
		s.held = s.given
	}
	s.phase = failed
	if e.window == s {
		s.window, e.window = nil, nil
	}
	e.dropFills(s)
	return e.out.Fail(s.binding, p)
}
