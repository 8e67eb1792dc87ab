package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/source-postgres/pgoutput"
	"github.com/estuary/connectors/sqlcapture"
)

const (
	batchBytes   = 64 << 10 // of log in one batch: with the events made of it, it stays in the processor's cache until the engine is done with it
	batchQueue   = 16       // batches that wait for the engine; when full the reader waits, and the server after it
	readPatience = time.Second
)

// batch is what the reader hands to the engine at once. Its rows are views into the blocks that hold keeps.
type batch struct {
	events  []sqlcapture.Event
	arena   []sqlcapture.Value
	hold    pgwire.Hold
	drained bool
	large   bool // it has a message above the blocks' usual size
	err     error
}

// logReader reads the log in a goroutine of its own: it decodes each message once and fills batches. It never waits for anything but the engine.
type logReader struct {
	stream   *pgwire.Stream
	decoder  pgoutput.Decoder
	describe func(*pgoutput.Relation) (*sqlcapture.Table, error)
	// generated returns the indexes of the columns that documents leave out; nil: the log has none.
	generated func(*pgoutput.Relation) ([]int, error)
	system    string
	fences    *fences

	ready chan *batch
	free  sync.Pool
	done  chan struct{} // closed when the goroutine has ended

	received atomic.Uint64 // the end of the log that has been read

	// Of the reader's goroutine:
	txn          *sqlcapture.Txn
	prevEnd      uint64
	fence        sqlcapture.FenceID // a fence's message was in this transaction
	relations    map[*pgoutput.Relation]*relationState
	lastRelation *pgoutput.Relation
	lastState    *relationState
}

// relationState is a relation of this session with the count of its changes in the running transaction.
type relationState struct {
	table *sqlcapture.Table
	skip  []int // generated columns
	txn   *sqlcapture.Txn
	rows  int64
}

func newLogReader(stream *pgwire.Stream, describe func(*pgoutput.Relation) (*sqlcapture.Table, error), system string, f *fences, from uint64) *logReader {
	r := &logReader{
		stream: stream, describe: describe, system: system, fences: f, prevEnd: from,
		ready: make(chan *batch, batchQueue), done: make(chan struct{}), relations: map[*pgoutput.Relation]*relationState{},
	}
	r.received.Store(from)
	return r
}

func (r *logReader) run(ctx context.Context) {
	defer close(r.done)
	for {
		b := r.batch()
		b.err = r.fill(ctx, b)
		r.stream.Detach(&b.hold)
		if b.err == nil && len(b.events) == 0 {
			r.release(b)
			if ctx.Err() != nil {
				return
			}
			continue
		}
		select {
		case r.ready <- b:
		case <-ctx.Done():
			return
		}
		if b.err != nil {
			return
		}
	}
}

func (r *logReader) batch() *batch {
	b, _ := r.free.Get().(*batch)
	if b == nil {
		b = &batch{events: make([]sqlcapture.Event, 0, 512), arena: make([]sqlcapture.Value, 0, 8192)}
	}
	return b
}

func (r *logReader) release(b *batch) {
	b.hold.Release()
	if cap(b.arena) > 1<<18 || cap(b.events) > 1<<15 {
		return // an exceptional batch is not kept
	}
	if b.large {
		clear(b.arena) // its views would keep the message's block
	}
	b.events, b.arena, b.drained, b.large, b.err = b.events[:0], b.arena[:0], false, false, nil
	r.free.Put(b)
}

// fill reads until the batch is full or nothing more has arrived.
func (r *logReader) fill(ctx context.Context, b *batch) error {
	bytes := 0
	for {
		m, err := r.stream.Next(readPatience)
		if err != nil {
			return r.explain(err)
		}
		switch m.Kind {
		case pgwire.Nothing:
			b.drained = true
			return ctx.Err()
		case pgwire.Keepalive:
			r.keepalive(b, m)
		case pgwire.XLogData:
			if err := r.message(b, m); err != nil {
				return err
			}
			bytes += len(m.Payload)
			b.large = b.large || len(m.Payload) > 1<<20
			r.received.Store(max(r.received.Load(), m.Start))
		}
		if !r.stream.Buffered() {
			b.drained = true
			return nil
		}
		if bytes >= batchBytes || len(b.arena) >= 1<<16 {
			return nil
		}
	}
}

// keepalive: outside a transaction it says that everything up to WALEnd was sent.
func (r *logReader) keepalive(b *batch, m pgwire.Message) {
	r.received.Store(max(r.received.Load(), m.WALEnd))
	if m.ReplyRequested {
		// Answered by the status loop's next turn at the latest; at once, so that no shutdown of the server waits for us.
		_ = r.stream.SendStatus(r.received.Load(), 0, 0, false) // a broken stream shows in Next
	}
	if r.txn != nil {
		return
	}
	b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventProgress, Position: position{m.WALEnd, r.system}})
	r.passFences(b, m.WALEnd)
}

// passFences appends the position fences that the log has passed.
func (r *logReader) passFences(b *batch, end uint64) {
	for _, id := range r.fences.passed(end) {
		b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventFence, Fence: id, Position: position{end, r.system}})
	}
}

func (r *logReader) message(b *batch, m pgwire.Message) error {
	if len(m.Payload) > 0 && m.Payload[0] == byte(pgoutput.Logical) && !r.fences.ours(m.Payload) {
		return nil // the application's own messages can be megabytes: not even decoded (sql-cdc R24)
	}
	var d pgoutput.Message
	arena, err := r.decoder.Decode(m.Payload, &d, b.arena)
	if err != nil {
		return fmt.Errorf("decoding the log at %s: %w", formatSlotLSN(m.Start), err)
	}
	b.arena = arena
	switch d.Kind {
	case pgoutput.Begin:
		r.txn = &sqlcapture.Txn{
			ID: sqlcapture.TxnID(d.Xid), Commit: position{d.FinalLSN, r.system}, TimeMicros: d.CommitTime, Final: d.FinalLSN, PrevEnd: r.prevEnd,
		}
		r.fence = 0
	case pgoutput.Commit:
		r.commit(b, &d)
	case pgoutput.Describe:
		return r.relation(b, d.Relation)
	case pgoutput.Insert, pgoutput.Update, pgoutput.Delete:
		return r.row(b, &d, m)
	case pgoutput.Truncate:
		for _, rel := range d.Truncated {
			state, err := r.state(rel)
			if err != nil {
				return err
			}
			b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventTruncate, Table: state.table, Txn: r.txn, LSN: m.Start, Bytes: len(m.Payload)})
		}
	case pgoutput.Logical:
		if id, ok := r.fences.parse(d.Content); ok {
			r.fence = id
		}
	case pgoutput.Origin, pgoutput.Type:
	}
	return nil
}

func (r *logReader) commit(b *batch, d *pgoutput.Message) {
	at := position{d.EndLSN, r.system}
	r.prevEnd = d.EndLSN
	r.received.Store(max(r.received.Load(), d.EndLSN))
	if r.fence != 0 {
		// A fence's transaction has no rows, and it committed locally: nothing waits for it to become visible.
		b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventFence, Fence: r.fence, Position: at})
	} else {
		b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventCommit, Txn: r.txn, Position: at})
	}
	r.txn, r.fence = nil, 0
	r.passFences(b, d.EndLSN)
}

func (r *logReader) relation(b *batch, rel *pgoutput.Relation) error {
	state, err := r.newState(rel)
	if err != nil {
		return err
	}
	// The server describes a relation again in the middle of a transaction, when anything about any table has changed meanwhile: the count goes on.
	for known, before := range r.relations {
		if known.OID == rel.OID && before.txn == r.txn {
			state.txn, state.rows = before.txn, max(state.rows, before.rows)
		}
	}
	if len(r.relations) > 4096 {
		maps.DeleteFunc(r.relations, func(_ *pgoutput.Relation, s *relationState) bool { return s.txn != r.txn })
	}
	r.relations[rel] = state
	b.events = append(b.events, sqlcapture.Event{Kind: sqlcapture.EventTable, Table: state.table, Txn: r.txn})
	return nil
}

// newState describes a relation without its generated columns, which scans leave out, too.
func (r *logReader) newState(rel *pgoutput.Relation) (*relationState, error) {
	table, err := r.describe(rel)
	if err != nil {
		return nil, err
	}
	state := &relationState{table: table}
	if r.generated != nil {
		if state.skip, err = r.generated(rel); err != nil {
			return nil, err
		}
		table.Columns = without(table.Columns, state.skip)
	}
	return state, nil
}

// without removes the elements at the indexes from list, whose memory it uses; nil stays nil.
func without[T any](list []T, indexes []int) []T {
	if len(indexes) == 0 || list == nil {
		return list
	}
	kept := list[:0]
	for i, v := range list {
		if !slices.Contains(indexes, i) {
			kept = append(kept, v)
		}
	}
	return kept
}

func (r *logReader) state(rel *pgoutput.Relation) (*relationState, error) {
	if rel == r.lastRelation {
		return r.lastState, nil
	}
	state := r.relations[rel]
	if state == nil {
		var err error
		if state, err = r.newState(rel); err != nil {
			return nil, err
		}
		r.relations[rel] = state
	}
	r.lastRelation, r.lastState = rel, state
	return state, nil
}

func (r *logReader) row(b *batch, d *pgoutput.Message, m pgwire.Message) error {
	state, err := r.state(d.Relation)
	if err != nil {
		return err
	}
	if r.txn == nil {
		return fmt.Errorf("decoding the log at %s: a change of %s outside a transaction", formatSlotLSN(m.Start), d.Relation)
	}
	if state.txn != r.txn {
		state.txn, state.rows = r.txn, 0
	}
	kind := sqlcapture.EventInsert
	switch d.Kind { //nolint:exhaustive // called for rows only
	case pgoutput.Update:
		kind = sqlcapture.EventUpdate
	case pgoutput.Delete:
		kind = sqlcapture.EventDelete
	}
	b.events = append(b.events, sqlcapture.Event{
		Kind: kind, Table: state.table, Txn: r.txn, Before: without(d.Old, state.skip), After: without(d.New, state.skip), LSN: m.Start, Row: state.rows, Bytes: len(m.Payload),
	})
	state.rows++
	return nil
}

// explain turns an error of the stream into one for people; a message that is too large names its table.
func (r *logReader) explain(err error) error {
	large, ok := errors.AsType[*pgwire.MessageTooLargeError](err)
	if !ok {
		return err
	}
	table := "a table"
	if head := large.Head; len(head) >= 25+5 { // the header of XLogData, then kind and relation
		if rel := r.decoder.Relation(binary.BigEndian.Uint32(head[25+1:])); rel != nil {
			table = "table " + rel.String()
		}
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: "a change of " + table + " is " + strconv.FormatInt(large.Bytes, 10) + " bytes long, more than can be read",
		Fix: "take the table out of the publication, or shorten its values", Err: err,
	}
}
