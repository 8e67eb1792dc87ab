package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

const (
	statusEvery = 10 * time.Second // and at most a third of wal_sender_timeout
	// walBlocks bounds the log that is read ahead of the engine: blocks of 256 KiB.
	walBlocks = 32
)

// opener opens the log for the engine.
type opener struct {
	session *session
	slot    *slot
}

var _ sqlcapture.Opener = (*opener)(nil)

// Earliest returns where the slot begins. A process that took over a part of a range has none yet: it will copy the capture's first one.
func (o *opener) Earliest(ctx context.Context) (sqlcapture.Position, string, error) {
	lsn, exists, lost, err := o.slot.earliest(ctx)
	if err == nil && !exists && o.slot.name != o.slot.base {
		lsn, exists, lost, err = o.slot.baseEarliest(ctx)
	}
	if err != nil || lost != "" || !exists {
		return nil, lost, err
	}
	return position{lsn, o.session.system}, "", nil
}

// Open creates or copies the slot if need be and starts to read it at from.
func (o *opener) Open(ctx context.Context, from sqlcapture.Position) (_ sqlcapture.Log, _ sqlcapture.Position, err error) {
	cfg := o.session.config
	settings, err := cfg.pgConfig(true)
	if err != nil {
		return nil, nil, err
	}
	conn, err := pgwire.Connect(ctx, settings)
	if err != nil {
		return nil, nil, cfg.explain("connecting for replication", err)
	}
	defer func() {
		if err != nil {
			_ = conn.Close() // the error says enough
		}
	}()
	if err := prepareRows(ctx, conn); err != nil {
		return nil, nil, cfg.explain("preparing the replication session", err)
	}
	at, err := o.reserve(ctx, conn, from)
	if err != nil {
		return nil, nil, err
	}
	if err := o.notAhead(ctx, at); err != nil {
		return nil, nil, err
	}
	fences, err := newFences(cfg.Advanced.ReadOnlyCapture || o.session.version < 140000)
	if err != nil {
		return nil, nil, err
	}
	generated, err := publishesGenerated(ctx, o.session)
	if err != nil {
		return nil, nil, err
	}
	stream, err := o.startStream(ctx, conn, at)
	if err != nil {
		return nil, nil, err
	}
	w := &walLog{session: o.session, slot: o.slot.name, stream: stream, fences: fences, statusDone: make(chan struct{}), wake: make(chan struct{}, 1)}
	tables := &logTables{cfg, o.session.catalog.types}
	w.reader = newLogReader(stream, tables.describe, o.session.system, fences, at)
	if generated {
		w.reader.generated = tables.generated
	}
	ctx, w.cancel = context.WithCancel(ctx)
	go w.reader.run(ctx)
	go w.sendStatuses(ctx)
	log.WithFields(log.Fields{"slot": o.slot.name, "position": formatSlotLSN(at)}).Info("reading the log")
	return w, position{at, o.session.system}, nil
}

// reserve sees to it that the slot exists, and returns where to read from.
func (o *opener) reserve(ctx context.Context, conn *pgwire.Conn, from sqlcapture.Position) (uint64, error) {
	lsn, exists, lost, err := o.slot.earliest(ctx)
	switch {
	case err != nil:
		return 0, err
	case lost != "":
		return 0, &protocol.Problem{Kind: protocol.Config, Summary: lost, Fix: "drop the slot", SQL: dropSlotSQL(o.slot.name)}
	case exists && from == nil:
		return lsn, nil
	case exists:
		return from.(position).lsn, nil //nolint:forcetypeassert // every position of this source is one
	case from == nil:
		return o.slot.create(ctx, conn)
	case o.slot.name == o.slot.base:
		return 0, fmt.Errorf("opening the log at %s: replication slot %q has vanished", from, o.slot.name)
	}
	at := from.(position).lsn //nolint:forcetypeassert // as above
	if _, err := o.slot.copyBase(ctx, at); err != nil {
		return 0, err
	}
	return at, nil
}

// notAhead refuses a position that the server has not reached: it was restored from a backup, or lost its tail in a failover.
func (o *opener) notAhead(ctx context.Context, at uint64) error {
	var text string
	if err := o.session.conn.QueryRow(ctx, `SELECT pg_current_wal_flush_lsn()::text`).Scan(&text); err != nil {
		return o.session.config.explain("asking for the end of the log", err)
	}
	end, err := parseSlotLSN(text)
	if err != nil || at <= end {
		return err
	}
	return &protocol.Problem{
		Kind:    protocol.Config,
		Summary: fmt.Sprintf("the state ends at %s, but the server's log only reaches %s: it was restored from a backup, or a failover lost its tail", formatSlotLSN(at), text),
		Fix:     "start over without a state (under pipeline: pipeline backfill FILE '*'), so that every table is read anew",
	}
}

// startStream sends START_REPLICATION, and waits for a slot whose last reader is not gone yet.
func (o *opener) startStream(ctx context.Context, conn *pgwire.Conn, at uint64) (*pgwire.Stream, error) {
	options := `proto_version '1', publication_names ` + pgwire.QuoteLiteral(quote(o.session.config.Advanced.PublicationName))
	if o.session.version >= 140000 {
		options += `, messages 'true'`
	}
	command := "START_REPLICATION SLOT " + quote(o.slot.name) + " LOGICAL " + formatSlotLSN(at) + " (" + options + ")"
	for start := time.Now(); ; {
		stream, err := conn.StartReplication(ctx, command, pgwire.StreamOptions{Blocks: walBlocks})
		if err == nil {
			return stream, nil
		}
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "55006" || time.Since(start) > o.slot.patience {
			return nil, o.session.config.explain("starting to read replication slot "+o.slot.name, err)
		}
		if err := sleep(ctx, slotPoll); err != nil {
			return nil, err
		}
	}
}

// walLog is the open log.
type walLog struct {
	session *session
	slot    string
	stream  *pgwire.Stream
	reader  *logReader
	fences  *fences
	cancel  context.CancelFunc

	confirms   confirmations
	wake       chan struct{} // the status loop has something to send
	statusDone chan struct{}
}

var _ sqlcapture.Log = (*walLog)(nil)

// Next returns the next batch of the reader.
func (w *walLog) Next(ctx context.Context, wait time.Duration) (sqlcapture.Events, error) {
	var b *batch
	select {
	case b = <-w.reader.ready:
	default:
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case b = <-w.reader.ready:
		case <-ctx.Done():
			return sqlcapture.Events{}, ctx.Err()
		case <-t.C:
			if w.fences.pending() {
				_ = w.stream.SendStatus(w.reader.received.Load(), 0, 0, true) // an idle server tells its position when asked; a broken stream shows in the reader
			}
			return sqlcapture.Events{Drained: true}, nil
		}
	}
	if b.err != nil {
		return sqlcapture.Events{}, w.explain(b.err)
	}
	return sqlcapture.Events{List: b.events, Drained: b.drained && len(w.reader.ready) == 0, Release: func() { w.reader.release(b) }}, nil
}

// explain turns an error of the reader into one for people. The server decodes a change with the publication as it was when the change was made: one
// from before the publication's time, or from when it was gone, cannot be decoded ever.
func (w *walLog) explain(err error) error {
	c := w.session.config
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == codeNoObject && strings.Contains(pg.Message, "publication") {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("replication slot %q holds changes from a time when publication %q did not exist, which the server cannot decode", w.slot, c.Advanced.PublicationName),
			Fix: "drop the slot, which is then made anew, and let a capture that has a state already read its tables anew by advanced.on_gap = rebackfill", SQL: dropSlotSQL(w.slot), Err: err,
		}
	}
	return c.explain("reading the log", err)
}

// Fence puts a fence into the log.
func (w *walLog) Fence(ctx context.Context) (sqlcapture.FenceID, error) {
	id, err := w.fences.place(ctx, w.session.conn)
	if err != nil {
		return 0, w.session.config.explain("marking a position in the log", err)
	}
	return id, nil
}

// Confirm tells the server that everything up to p is durable.
func (w *walLog) Confirm(p sqlcapture.Position) {
	w.confirms.add(p.(position).lsn) //nolint:forcetypeassert // every position of this source is one
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Close ends the stream. What was confirmed is sent first.
func (w *walLog) Close() error {
	_ = w.sendStatus() // the next start confirms it again
	w.cancel()
	err := w.stream.Close()
	<-w.reader.done
	<-w.statusDone
	return err
}

// sendStatuses keeps the session alive by its own clock, whatever the engine and the reader wait for: a server whose wal_sender_timeout passes ends the
// session, and one where it is 0 never asks (bugs sql-cdc 56, 57).
func (w *walLog) sendStatuses(ctx context.Context) {
	defer close(w.statusDone)
	every := statusEvery
	if limit := w.session.senderTimeout; limit > 0 {
		every = min(every, limit/3)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-tick.C:
		}
		if w.sendStatus() != nil {
			return // the reader's error is the one to tell
		}
	}
}

func (w *walLog) sendStatus() error {
	flush := w.confirms.next()
	return w.stream.SendStatus(max(w.reader.received.Load(), flush), flush, flush, false)
}
