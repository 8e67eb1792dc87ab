package sqlcapture

import (
	"context"
	"fmt"
	"hash/fnv"

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
	s.identity, s.leaves = "", ""
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
	if s.phase == pending || s.known == nil || !s.known.grewTo(ev.Table) {
		return nil
	}
	return e.redescribe(s)
}

// stale: the event belongs to another table than the one that is captured under this name.
func (s *stream) stale(ev *Event) bool {
	return s.identity != "" && ev.Table.Identity != s.identity
}

// grewTo tells whether the log's description has a column that t lacks, or another type. Columns that only t has are newer than the log.
func (t *Table) grewTo(logged *Table) bool {
	types := make(map[string]string, len(t.Columns))
	for _, c := range t.Columns {
		types[c.Name] = c.Type
	}
	for _, c := range logged.Columns {
		if known, ok := types[c.Name]; !ok || known != c.Type {
			return true
		}
	}
	return false
}

// redescribe reads the table's description anew, since the log sent columns that were not known.
func (e *engine) redescribe(s *stream) error {
	s.dirty = true
	e.redescribed = append(e.redescribed, s)
	return e.rewritten(s, "a column was added or its type changed")
}

// announce tells the runner of descriptions that changed, at a commit.
func (e *engine) announce(ctx context.Context) error {
	list := e.redescribed
	e.redescribed = nil
	for _, s := range list {
		tables, err := e.db.Catalog.Tables(ctx, []TableName{s.name})
		if err != nil {
			return fmt.Errorf("looking up table %s: %w", s.name, err)
		}
		if len(tables) == 1 && s.replacedBy(tables[0]) == "" {
			if err := e.describe(s, tables[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe takes over a newer description from the catalog.
func (e *engine) describe(s *stream, t *Table) error {
	columns := fingerprint(t)
	changed := s.columns != columns
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
		Fix: "give the table a replica identity that holds the key and give this stream no state, or configure the table's own key",
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

// rediscover compares the catalog with what is captured.
func (e *engine) rediscover(ctx context.Context) error {
	e.scheduleDiscovery()
	live := e.live()
	names := make([]TableName, len(live))
	for i, s := range live {
		names[i] = s.name
	}
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

// fingerprint tells two lists of columns apart.
func fingerprint(t *Table) string {
	h := fnv.New64a()
	for _, c := range t.Columns {
		_, _ = fmt.Fprintf(h, "%q %q %t;", c.Name, c.Type, c.NotNull)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
