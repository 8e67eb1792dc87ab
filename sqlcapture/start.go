package sqlcapture

import (
	"context"
	"fmt"

	"github.com/estuary/connectors/internal/keyrange"
	"github.com/estuary/connectors/protocol"
)

// start matches the bindings with the tables and their states, opens the log at the oldest position among them, and emits the first checkpoint.
// e.log stays nil when no stream is left to read.
func (e *engine) start(ctx context.Context) error {
	positions, err := e.bind(ctx)
	if err != nil {
		return err
	}
	from, earliest, err := e.startPosition(ctx, positions)
	if err != nil {
		return err
	}
	if err := e.missPublished(ctx); err != nil {
		return err
	}
	live := e.live()
	if len(live) == 0 {
		return nil
	}
	// First the publication, then the slot, then the gate (sql-cdc §4.2): a transaction that is in neither would be lost.
	if err := e.publish(ctx, live); err != nil {
		return err
	}
	if live = e.live(); len(live) == 0 {
		return nil
	}
	confirm := from
	if e.req.KeepsTail && len(positions) < len(live) {
		// The consumer may hold rows of a stream that has no state yet, from a run that was killed before its first one was stored. Their deletes
		// may lie before the others' positions, so the log is opened as early as it can be and nothing is given up.
		from, confirm = earliest, nil
	}
	if e.log, e.position, err = e.db.Opener.Open(ctx, from); err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	if confirm != nil {
		e.log.Confirm(confirm)
	}
	e.delivered = e.position
	for s, at := range positions {
		if at.Compare(e.position) > 0 {
			s.own, s.dirty = at, true // a STATE of this run must not take it back to the log's position
		}
	}
	for _, s := range live {
		if e.req.Range != protocol.FullRange {
			s.dirty = true // the first STATE names each stream of this process's, so that none ever stands for a stream of another's
		}
		if err := e.out.Schema(s.binding, StreamSchema(s.known, e.db.Source.Schema())); err != nil {
			return err
		}
	}
	now := e.clock.Now()
	e.lastState, e.lastPoll, e.lastReport, e.lastGlance = now, now, now, now
	if err := e.emitState(); err != nil {
		return err
	}
	// With a backlog, the first window would span it and no checkpoint would be due for as long: consume it first.
	if e.catchUp, err = e.log.Fence(ctx); err != nil {
		return fmt.Errorf("placing the first fence: %w", err)
	}
	e.clean = false
	return nil
}

// bind makes the streams of the bindings in this process's range. It returns the positions of those that have one.
func (e *engine) bind(ctx context.Context) (map[*stream]Position, error) {
	var names []TableName
	for i, b := range e.req.Bindings {
		name := e.o.Table(b)
		if !keyrange.Owns(e.req.Range, name.String()) {
			continue
		}
		s := &stream{binding: i, name: name, unpublished: true}
		if e.byName[name] != nil {
			return nil, &protocol.Problem{Kind: protocol.Config, Summary: "table " + name.String() + " is configured twice", Fix: "name it in one stream only"}
		}
		e.streams, e.byName[name] = append(e.streams, s), s
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	var err error
	if e.marks, err = e.db.Catalog.Marks(ctx, names); err != nil { // before the descriptions: what changes after them is noticed
		return nil, fmt.Errorf("looking up the configured tables: %w", err)
	}
	tables, err := e.db.Catalog.Tables(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("looking up the configured tables: %w", err)
	}
	for _, t := range tables {
		if s := e.byName[t.TableName]; s != nil {
			s.known, s.total = t, t.EstimatedRows
		}
	}
	positions := map[*stream]Position{}
	for _, s := range e.streams {
		at, err := e.bindOne(s)
		if err != nil {
			return nil, err
		}
		if at != nil && s.phase != failed {
			positions[s] = at
		}
	}
	return positions, nil
}

func (e *engine) bindOne(s *stream) (Position, error) {
	b := e.req.Bindings[s.binding]
	at, err := e.loadState(s, b)
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		return nil, e.fail(s, &protocol.Problem{
			Kind: protocol.Config, Summary: "table " + s.name.String() + " does not exist", Fix: "leave the stream out, or restore the table",
		})
	}
	configured, problem := keyColumns(b.Key)
	if problem == nil {
		problem = s.configure(s.known, configured)
	}
	if problem != nil {
		return nil, e.fail(s, problem)
	}
	if why := s.outdated(); why != "" {
		s.resetReason, s.resetDue = why, false
	}
	columns := fingerprint(s.known)
	switch {
	case at == nil:
		s.dirty = true
		if e.o.SkipBackfill != nil && e.o.SkipBackfill(s.name) {
			s.phase, s.identity, s.leaves = active, s.known.Identity, s.known.Leaves
		}
	case s.resetReason != "" && !s.resetDue:
		return at, e.restart(s, s.resetReason)
	case s.replacedBy(s.known) != "":
		return at, e.restart(s, s.replacedBy(s.known))
	case rewrittenSince(s.columns, s.known) != "":
		if err := e.rewritten(s, rewrittenSince(s.columns, s.known)+" while nobody read the table"); err != nil {
			return nil, err
		}
	}
	s.dirty = s.dirty || s.columns != columns
	s.columns = columns
	return at, nil
}

// startPosition returns the oldest position of the streams, and the earliest that the log can be opened at. Streams that the log no longer reaches back
// to are failed or start over (sql-cdc R11, R19).
func (e *engine) startPosition(ctx context.Context, positions map[*stream]Position) (oldest, earliest Position, err error) {
	earliest, lost, err := e.db.Opener.Earliest(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("looking up where the log begins: %w", err)
	}
	for _, s := range e.streams { // in order, so that messages are, too
		at, ok := positions[s]
		if !ok || s.phase == failed {
			continue
		}
		why := lost
		switch {
		case lost == "" && earliest == nil:
			why = "nothing was reserved in the log for this capture any more"
		case lost == "" && at.Compare(earliest) < 0:
			why = "the log is only kept from " + earliest.String() + " on"
		}
		if why == "" {
			if oldest == nil || at.Compare(oldest) < 0 {
				oldest = at
			}
			continue
		}
		delete(positions, s)
		if err := e.lost(s, fmt.Sprintf("the changes of table %s after %s are lost: %s", s.name, at, why)); err != nil {
			return nil, nil, err
		}
	}
	return oldest, earliest, nil
}

// lost acts on changes of a stream that can never be had.
func (e *engine) lost(s *stream, summary string) error {
	if e.o.OnGap == Rebackfill {
		return e.restart(s, summary)
	}
	return e.fail(s, &protocol.Problem{
		Kind: protocol.Config, Summary: summary, Fix: "to read the table anew, set advanced.on_gap to rebackfill or give this stream no state (under pipeline: pipeline backfill FILE STREAM)",
	})
}

// failAhead fails the streams whose positions the log, read to where it was at the start, has not reached: the server was restored from a backup, or lost
// its tail in a failover, and what it logs up to such a position is not what the stream's consumer has. at is the first fence's; nil: unknown.
func (e *engine) failAhead(at Position) error {
	for _, s := range e.streams {
		if at == nil || s.own == nil || s.phase == failed {
			continue
		}
		if err := e.fail(s, &protocol.Problem{
			Kind: protocol.Config,
			Summary: fmt.Sprintf("the state of table %s ends at %s, but the server's log only reaches %s: it was restored from a backup, or a failover lost its tail",
				s.name, s.own, at),
			Fix: "give this stream no state (under pipeline: pipeline backfill FILE STREAM), so that it is read anew",
		}); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) live() []*stream {
	var list []*stream
	for _, s := range e.streams {
		if s.phase != failed {
			list = append(list, s)
		}
	}
	return list
}

// keyColumns turns a configured key into column names. Pointers into _meta are the fallback key of keyless streams.
func keyColumns(pointers []string) ([]string, *protocol.Problem) {
	var names []string
	for _, p := range pointers {
		name, ok := protocol.TopLevel(p)
		if !ok {
			if protocol.PointsInto(p, "_meta") {
				return nil, nil
			}
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: "the key " + p + " is no column of the table", Fix: "choose columns, such as /id",
			}
		}
		names = append(names, name)
	}
	return names, nil
}
