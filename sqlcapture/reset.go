package sqlcapture

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
)

// restart puts a stream back to the beginning of its backfill. Its later events are dropped, since the first chunk will contain them; the runner is
// told by Out.Reset right after the next checkpoint.
func (e *engine) restart(s *stream, why string) error {
	log.WithFields(log.Fields{"stream": s.name.String(), "reason": why}).Info("the table is read anew from its beginning") // Out.Reset warns of what that leaves downstream
	if e.window == s {
		e.window = nil
	}
	s.window, s.phase = nil, pending
	s.scanned, s.until, s.paged, s.rows = nil, nil, false, 0
	s.identity, s.leaves, s.delivery = "", "", nil
	s.gate, s.unpublished = 0, true
	s.resetReason, s.resetDue, s.dirty = why, true, true
	e.dropFills(s)
	e.clean = false
	return nil
}

const orderChanged = "the type or collation of its key changed, and with it the order of its rows"

// rekey starts a stream over by the key that its table has now.
func (e *engine) rekey(s *stream, t *Table, why string) error {
	configured, problem := keyColumns(e.req.Bindings[s.binding].Key)
	if problem == nil {
		problem = s.configure(t, configured)
	}
	if problem != nil {
		return e.fail(s, problem)
	}
	return e.restart(s, why)
}

// replacedBy says why the rows of a described table cannot follow on those seen before; "" when they can.
func (s *stream) replacedBy(t *Table) string {
	switch {
	case s.identity != "" && t.Identity != s.identity:
		return "another table has taken its name (it was created anew, or swapped in by a rename)"
	case s.identity != "" && t.Leaves != s.leaves:
		return "its partitions changed"
	}
	return ""
}

// truncateEvent starts the table over.
func (e *engine) truncateEvent(ev *Event) error {
	s := e.byName[ev.Table.TableName]
	if s == nil || s.phase == failed || s.phase == missing || e.covered(s, ev.Txn) || s.stale(ev) {
		return nil
	}
	if s.phase == pending && s.window == nil {
		return nil // nothing of it was emitted
	}
	why := "TRUNCATE at " + ev.Txn.Commit.String()
	if !e.req.HonoursReset && e.o.OnTruncate == Fail {
		return e.fail(s, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("table %s was emptied by %s, and this runner keeps the rows that were read before", s.name, why),
			Fix: "empty the destination and give this stream no state, or set advanced.on_truncate to warn",
		})
	}
	return e.restart(s, why)
}

// tableEvent looks at a description that the log sent: another table under the name starts over, new columns are told.
func (e *engine) tableEvent(ev *Event) error {
	if ev.Txn != nil {
		e.inTxn, e.clean = true, false
	}
	s := e.byName[ev.Table.TableName]
	if s == nil || s.phase == failed || s.phase == missing || ev.Txn != nil && e.covered(s, ev.Txn) {
		return nil
	}
	if s.stale(ev) {
		if s.window != nil && ev.Txn != nil && s.window.snapshot.Contains(ev.Txn) {
			return nil // the table that was there before the chunk's
		}
		return e.restart(s, s.replacedBy(&Table{Identity: ev.Table.Identity}))
	}
	if ev.Table.Key != nil && s.otherKey(ev.Table.Key) && (s.window == nil || ev.Txn == nil || !s.window.snapshot.Contains(ev.Txn)) {
		return e.keyChanged(s, nil, ev.Table.Key)
	}
	if s.phase != pending && s.known != nil && !s.known.agreesWith(ev.Table) {
		s.dirty = true
		e.redescribed = append(e.redescribed, s)
	}
	return nil
}

// stale: the event belongs to another table than the one that is captured under this name.
func (s *stream) stale(ev *Event) bool {
	return s.identity != "" && ev.Table.Identity != s.identity
}

// agreesWith tells whether the log's description has the same columns, of the same types. If not, either it or t is the newer one.
func (t *Table) agreesWith(logged *Table) bool {
	types := make(map[string]string, len(t.Columns))
	for _, c := range t.Columns {
		types[c.Name] = c.Type
	}
	for _, c := range logged.Columns {
		if known, ok := types[c.Name]; !ok || known != c.Type {
			return false
		}
	}
	return len(types) == len(logged.Columns)
}

// announce reads the descriptions of tables anew whose columns the log told otherwise, tells the runner, and acts on what the log does not replay.
func (e *engine) announce(ctx context.Context) error {
	list := e.redescribed
	e.redescribed = nil
	for _, s := range list {
		if s.phase == failed || s.phase == missing {
			continue
		}
		before := s.columns
		tables, err := e.db.Catalog.Tables(ctx, []TableName{s.name})
		if err != nil {
			return fmt.Errorf("looking up table %s: %w", s.name, err)
		}
		if len(tables) == 1 && s.replacedBy(tables[0]) == "" {
			if err := e.describe(s, tables[0]); err != nil {
				return err
			}
			if why := rewrittenSince(before, tables[0]); why != "" && s.phase != pending {
				if err := e.rewritten(s, why); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// describe takes over a newer description from the catalog.
func (e *engine) describe(s *stream, t *Table) error {
	columns := fingerprint(t)
	changed := whole(s.columns) != whole(columns)
	s.known, s.columns = t, columns
	if !changed {
		return nil
	}
	s.dirty = true
	if err := e.flush(); err != nil {
		return err
	}
	e.clean = false
	return e.out.Schema(s.binding, StreamSchema(t, e.db.Source.Schema()))
}

// rewritten acts on a change of columns that the log does not replay for rows already read.
func (e *engine) rewritten(s *stream, what string) error {
	if e.o.OnRewrite == Rebackfill {
		return e.restart(s, what)
	}
	log.WithFields(log.Fields{"stream": s.name.String(), "change": what}).
		Warn("the table's columns changed: rows not touched since keep the old value downstream (advanced.on_rewrite: rebackfill reads them anew)")
	return nil
}

// keyGone: the log describes the table without its key columns.
func (e *engine) keyGone(s *stream, cause error) error {
	if s.phase == pending {
		return nil // its first chunk will contain the change
	}
	return e.restart(s, "its key is no longer what it was: "+cause.Error())
}

// keyLacking: the log has a change without the key that documents have. Where that is the table's own, the table had another replica identity at that
// moment; a key that the runner chose may never be in the log, and then this stream cannot be captured.
func (e *engine) keyLacking(s *stream, ev *Event) error {
	if s.key != nil {
		return e.keyGone(s, fmt.Errorf("a change at %s was logged without %v", ev.Txn.Commit, s.docKey))
	}
	if s.phase == pending {
		return nil
	}
	return e.fail(s, &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("a change of table %s at %s was logged without %v, the key that is configured", s.name, ev.Txn.Commit, s.docKey),
		Fix: "give the table a replica identity that holds the key and give this stream no state (under pipeline: pipeline backfill FILE STREAM), or configure the table's own key",
	})
}

// gone: the table does not exist any more.
func (e *engine) gone(s *stream) error {
	if !e.req.Tail {
		return e.fail(s, &protocol.Problem{
			Kind: protocol.Config, Summary: "table " + s.name.String() + " was dropped while it was read", Fix: "leave the stream out, or restore the table",
		})
	}
	if s.phase != missing {
		log.WithField("stream", s.name.String()).Warn("the table was dropped; it is read from its beginning when it comes back")
		s.phase, s.dirty, e.clean = missing, true, false
	}
	return nil
}

// glances is how often Marks are asked for between two looks at the catalog: once a minute, with the default of Options.Rediscover.
const glances = 15

// glance tells whether a captured table may have been replaced, dropped or given another key. The log tells that only of tables that it delivers, and
// some keys it never tells; rows of a key that is none any more collapse downstream, so it must not take until the next rediscovery.
func (e *engine) glance(ctx context.Context) (changed bool, err error) {
	e.lastGlance = e.clock.Now()
	before := e.marks
	if e.marks, err = e.db.Catalog.Marks(ctx, namesOf(e.live())); err != nil {
		return false, fmt.Errorf("looking at the captured tables: %w", err)
	}
	for _, s := range e.live() {
		changed = changed || e.marks[s.name] != before[s.name]
	}
	return changed, nil
}

func namesOf(streams []*stream) []TableName {
	names := make([]TableName, len(streams))
	for i, s := range streams {
		names[i] = s.name
	}
	return names
}

// keyChanged acts on another key of the table. Where the runner knows documents by the old one, only it can change that.
func (e *engine) keyChanged(s *stream, t *Table, now []string) error {
	configured, problem := keyColumns(e.req.Bindings[s.binding].Key)
	why := fmt.Sprintf("its key changed from %v to %v", s.key, now)
	switch {
	case problem != nil:
		return e.fail(s, problem)
	case len(configured) == 0 && t != nil:
		return e.rekey(s, t, why)
	case len(configured) == 0:
		return e.restart(s, why) // its first chunk tells the new one
	case len(now) == 0:
		log.WithField("stream", s.name.String()).Warnf("the table has no key any more; its documents go on having the key %v, and rows that share it count as one downstream", s.docKey)
		return nil
	}
	return e.fail(s, &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("the key of table %s changed from %v to %v while it was read by the old one, which different rows may share now", s.name, s.key, now),
		Fix: "discover the streams again, and read this one from its beginning by its new key: give it no state (under pipeline: end the run, then pipeline backfill FILE STREAM)",
	})
}

// otherKey tells whether the stream is read by the table's own key, and now is another.
func (s *stream) otherKey(now []string) bool {
	return s.key != nil && s.phase != pending && !sameSet(s.key, now)
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// rediscover compares the catalog with what is captured.
func (e *engine) rediscover(ctx context.Context) error {
	e.scheduleDiscovery()
	live := e.live()
	names := namesOf(live)
	tables, err := e.db.Catalog.Tables(ctx, names)
	if err != nil {
		return fmt.Errorf("looking up the captured tables again: %w", err)
	}
	found := make(map[TableName]*Table, len(tables))
	for _, t := range tables {
		found[t.TableName] = t
	}
	for _, s := range live {
		t := found[s.name]
		switch {
		case t == nil:
			err = e.gone(s)
		case s.phase == missing:
			err = e.restart(s, "the table came back")
		case s.replacedBy(t) != "":
			err = e.restart(s, s.replacedBy(t))
		case s.otherKey(t.Key) && !slices.ContainsFunc(t.Unique, func(columns []string) bool { return sameSet(s.key, columns) }):
			err = e.keyChanged(s, t, t.Key)
		default:
			err = e.describe(s, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyOrder tells two orders of a table's rows apart; empty: keyless.
func keyOrder(t *Table, key []string) string {
	if len(key) == 0 {
		return ""
	}
	h := fnv.New64a()
	for _, name := range key {
		for _, c := range t.Columns {
			if c.Name == name {
				_, _ = fmt.Fprintf(h, "%q %q %q %t;", c.Name, c.Type, c.Collation, c.Ordered)
			}
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
