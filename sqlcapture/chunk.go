package sqlcapture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

const (
	gatePoll   = 100 * time.Millisecond // between two looks at a gate that is not settled
	gateReport = 5 * time.Second        // then a log line names who holds it up
	lockRetry  = time.Second            // before a locked table is tried again
)

// nextToScan returns a stream that may be scanned now, nil if none may. Streams take turns, so that a huge table does not hold up the others.
func (e *engine) nextToScan(ctx context.Context) (*stream, error) {
	now := e.clock.Now()
	for range e.streams {
		s := e.streams[e.turn%len(e.streams)]
		e.turn++
		if s.phase != pending && s.phase != backfill || now.Before(s.retryAt) {
			continue
		}
		if s.phase == backfill {
			return s, nil
		}
		ready, err := e.prepareFirstChunk(ctx, s)
		if err != nil {
			return nil, err
		}
		if ready {
			return s, nil
		}
	}
	return nil, nil
}

// prepareFirstChunk sees to it that the log delivers the table, and that everything which was running before it did has ended.
func (e *engine) prepareFirstChunk(ctx context.Context, s *stream) (ready bool, err error) {
	if s.unpublished {
		if err := e.publish(ctx, []*stream{s}); err != nil || s.phase == failed {
			return false, err
		}
	}
	if e.db.Barrier == nil {
		return true, nil
	}
	if s.gate == 0 {
		if s.gate, err = e.db.Barrier.Raise(ctx); err != nil {
			return false, fmt.Errorf("marking the transactions that must end before the first chunk of %s: %w", s.name, err)
		}
	}
	if s.gate <= e.gateSettled {
		return true, nil
	}
	now := e.clock.Now()
	if now.Before(e.gateNext) {
		return false, nil
	}
	e.gateNext = now.Add(gatePoll)
	ok, who, err := e.db.Barrier.Settled(ctx, s.gate)
	if err != nil {
		return false, fmt.Errorf("waiting for older transactions before the first chunk of %s: %w", s.name, err)
	}
	if ok {
		e.gateSettled = max(e.gateSettled, s.gate)
		e.gateSince, e.gateNext = time.Time{}, time.Time{}
		return true, nil
	}
	if e.gateSince.IsZero() {
		e.gateSince = now
	} else if now.Sub(e.gateSince) >= gateReport {
		log.WithFields(log.Fields{"stream": s.name.String(), "waitingFor": who}).
			Warn("the backfill waits for a transaction that was open before the capture began; changes are captured meanwhile")
		e.gateSince = now.Add(time.Minute - gateReport)
	}
	return false, nil
}

// publish makes the log deliver the streams' tables. A table that cannot be added fails its own stream only.
func (e *engine) publish(ctx context.Context, streams []*stream) error {
	names := make([]TableName, 0, len(streams))
	for _, s := range streams {
		names = append(names, s.name)
	}
	if len(names) == 0 {
		return nil
	}
	// A table that takes the name from here on may be in no publication; the first chunk tells it by its identity.
	tables, err := e.db.Catalog.Tables(ctx, names)
	if err != nil {
		return fmt.Errorf("looking up the tables to publish: %w", err)
	}
	for _, t := range tables {
		if s := e.byName[t.TableName]; s != nil {
			s.published = t.Identity
		}
	}
	for _, err := range protocol.Problems(e.db.Catalog.Publish(ctx, names)) {
		t, ok := errors.AsType[*TableProblem](err)
		if !ok {
			return err
		}
		if s := e.byName[t.Table]; s != nil {
			if err := e.fail(s, t.Problem); err != nil {
				return err
			}
		}
	}
	return e.noteDeliveries(ctx, streams)
}

// scan reads one chunk of s and opens its window. Everything that was consumed is covered by the last checkpoint and visible.
func (e *engine) scan(ctx context.Context, s *stream) error {
	chunk, err := e.db.Scanner.Scan(ctx, ScanRequest{Table: s.name, Key: s.key, After: s.scanned, Until: s.until, Limit: e.o.ChunkRows})
	switch {
	case errors.Is(err, ErrLocked):
		log.WithField("stream", s.name.String()).Info("the table is locked by somebody else; trying it again after the next checkpoint")
		s.retryAt = e.clock.Now().Add(lockRetry)
		return nil
	case errors.Is(err, ErrNoTable):
		return e.gone(s)
	case errors.Is(err, ErrKeyLost):
		return e.restart(s, "the keys that were read last are no values of its key any more")
	case err != nil:
		if t, ok := errors.AsType[*TableProblem](err); ok {
			return e.fail(s, t.Problem)
		}
		return fmt.Errorf("scanning table %s: %w", s.name, err)
	}
	defer func() { _ = chunk.Close() }() // the rows are out; a chunk's transaction has nothing to commit

	table := chunk.Table()
	why := s.replacedBy(table)
	if s.identity == "" && table.Identity != s.published {
		why = "another table has taken its name before its first chunk"
	}
	if why != "" {
		return e.restart(s, why)
	}
	if s.key == nil && chunk.Restarted() {
		return e.restart(s, "the table was rewritten while it was read page by page")
	}
	if !sameNames(s.key, table.Key) && s.key != nil {
		return e.rekey(s, table, fmt.Sprintf("its key changed from %v to %v", s.key, table.Key))
	}
	if s.order != keyOrder(table, s.key) {
		return e.rekey(s, table, orderChanged)
	}
	if err := e.describe(s, table); err != nil || s.phase == failed {
		return err
	}
	s.identity, s.leaves = table.Identity, table.Leaves
	if s.until == nil {
		s.until = chunk.Until()
	}
	w := &window{from: s.scanned, snapshot: chunk.Snapshot()}
	if s.key != nil && (e.alwaysDeletes || !s.ordered) {
		w.keys = &keySet{}
	}
	if err := e.streamRows(s, w, chunk); err != nil {
		return err
	}
	if err := e.flush(); err != nil { // the reader has them while the fence is waited for
		return err
	}
	if w.fence, err = e.log.Fence(ctx); err != nil {
		return fmt.Errorf("placing a fence after a chunk of %s: %w", s.name, err)
	}
	s.phase, s.window, e.window, e.clean = backfill, w, s, false
	return nil
}

// streamRows emits a chunk's rows and sets how far the window reaches.
func (e *engine) streamRows(s *stream, w *window, chunk Chunk) error {
	p, err := s.planFor(chunk.Table())
	if err != nil {
		return err
	}
	var last, key rowkey.Key
	stopped := false
	for n := 0; ; n++ {
		if n&255 == 255 && e.stopRequested() && s.key != nil {
			stopped = true // the window ends at the last row
			break
		}
		values, err := chunk.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return fmt.Errorf("scanning table %s: %w", s.name, err)
		}
		if s.key != nil {
			var ok bool
			if key, ok, err = p.appendKey(key[:0], p.key, values, nil); err != nil || !ok {
				return fmt.Errorf("reading the key of a row of %s: %w", s.name, err)
			}
			if s.ordered && (last != nil || w.from != nil) && bytes.Compare(key, orFrom(last, w.from)) <= 0 {
				return fmt.Errorf("scanning table %s: the database returned key %x after %x, out of the order that its type promises", s.name, key, orFrom(last, w.from))
			}
			if w.keys != nil {
				w.keys.add(key)
			}
			last, key = key, last // the other one's memory is used for the next row
		}
		if err := e.emitRow(s, p, values); err != nil {
			return err
		}
	}
	if w.keys != nil {
		w.keys.seal(s.ordered)
	}
	w.to = last
	w.end = !stopped && !chunk.More()
	if s.key == nil {
		w.progress = chunk.Progress()
		s.paged = s.paged || !w.end
	} else if last == nil && !w.end {
		w.to = w.from // a chunk that was cut short before its first row
	}
	return nil
}

func orFrom(last, from rowkey.Key) rowkey.Key {
	if last != nil {
		return last
	}
	return from
}

func (e *engine) emitRow(s *stream, p *plan, values []Value) error {
	b, doc := e.begin(s)
	start := len(doc)
	doc, err := p.appendRow(doc, values, s.rows, e.db.Source)
	if err != nil {
		return err
	}
	if len(doc)-start > maxDocument {
		return p.tooLarge(values, len(doc)-start)
	}
	b.EndMembers(doc, p.ends)
	s.rows++
	return e.flushFull()
}

// closeWindow is called when the window's fence is reached.
func (e *engine) closeWindow() error {
	s := e.window
	w := s.window
	s.window, e.window = nil, nil
	log.WithFields(log.Fields{"stream": s.name.String(), "contained": w.contained, "newer": w.newer}).Debug("the window is closed")
	s.scanned, s.dirty = w.to, true
	if s.key == nil {
		s.scanned = w.progress
	}
	s.resetReason = ""
	if w.end {
		s.phase, s.scanned, s.until = active, nil, nil
		log.WithFields(log.Fields{"stream": s.name.String(), "rows": s.rows}).Info("the backfill is complete")
	}
	return e.report(s)
}

// tooLarge is the error about a document beyond maxDocument.
func (p *plan) tooLarge(values []Value, bytes int) error {
	column, size := p.largest(values)
	key := "a keyless row"
	if len(p.docKey) > 0 {
		key = "the row with key"
		for _, i := range p.docKey {
			key += fmt.Sprintf(" %s=%.100s", p.table.Columns[i].Name, values[i])
		}
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("%s of table %s makes a document of %d bytes, and no more than %d can be sent; column %q alone holds %d",
			key, p.table, bytes, maxDocument, column, size),
		Fix: "shorten the value, or leave the table out",
	}
}
