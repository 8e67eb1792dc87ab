package main

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4"
	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/sqlcapture"
)

// session is the query connection of a read: it describes and publishes tables, places fences, and asks what is visible. The engine's goroutine alone
// uses it.
type session struct {
	config        *config
	conn          *pgx.Conn
	catalog       *catalog
	version       int
	system        string // the cluster's system identifier
	senderTimeout time.Duration
}

var _ sqlcapture.Barrier = (*session)(nil)

// openSession connects. Its commits wait for no standby: a fence that hung in its commit would hold up the whole capture.
func openSession(ctx context.Context, c *config) (*session, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{config: c, conn: conn}
	if err := s.prepare(ctx); err != nil {
		closeQuietly(conn)
		return nil, err
	}
	return s, nil
}

func (s *session) prepare(ctx context.Context) (err error) {
	var timeout, local string
	var recovery bool
	err = s.conn.QueryRow(ctx, `SELECT pg_is_in_recovery(), (SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'),
		set_config('synchronous_commit', 'local', false)`).Scan(&recovery, &timeout, &local)
	if err != nil {
		return s.config.explain("preparing the session", err)
	}
	if recovery {
		return s.config.standby()
	}
	if ms, numErr := strconv.Atoi(timeout); numErr == nil {
		s.senderTimeout = time.Duration(ms) * time.Millisecond
	}
	if s.catalog, err = newCatalog(ctx, s.conn, s.config); err != nil {
		return err
	}
	s.version = s.catalog.version
	return nil
}

func (s *session) close() { closeQuietly(s.conn) }

// Raise and Settled are the gate before a first chunk: the fence session assigns itself a transaction id, and everything that runs now has ended once
// no snapshot's xmin is below it.
func (s *session) Raise(ctx context.Context) (uint64, error) {
	query := `SELECT pg_current_xact_id()::text`
	if s.version < 130000 {
		query = `SELECT txid_current()::text`
	}
	tx, err := s.conn.Begin(ctx)
	if err != nil {
		return 0, s.config.explain("beginning a transaction", err)
	}
	var text string
	err = tx.QueryRow(ctx, query).Scan(&text)
	if rollback := tx.Rollback(ctx); err == nil {
		err = rollback
	}
	if err != nil {
		return 0, s.config.explain("assigning a transaction id", err)
	}
	return strconv.ParseUint(text, 10, 64)
}

// Settled tells whether every transaction that ran at Raise has ended.
func (s *session) Settled(ctx context.Context, mark uint64) (bool, string, error) {
	now, err := s.snapshot(ctx)
	if err != nil || now.xmin >= mark {
		return err == nil, "", err
	}
	who, err := oldestTransaction(ctx, s.conn)
	return false, who, err
}

// snapshot takes one.
func (s *session) snapshot(ctx context.Context) (*snapshot, error) {
	var text string
	if err := s.conn.QueryRow(ctx, snapshotSQL(s.version)).Scan(&text); err != nil {
		return nil, s.config.explain("taking a snapshot", err)
	}
	return parseSnapshot(text)
}

func snapshotSQL(version int) string {
	if version < 130000 {
		return `SELECT txid_current_snapshot()::text`
	}
	return `SELECT pg_current_snapshot()::text`
}

// visible returns those of txns that a new snapshot does not see.
func (s *session) visible(ctx context.Context, txns []sqlcapture.TxnID) ([]sqlcapture.TxnID, string, error) {
	now, err := s.snapshot(ctx)
	if err != nil {
		return txns, "", err
	}
	waiting := txns[:0]
	for _, id := range txns {
		if !now.sees(id) {
			waiting = append(waiting, id)
		}
	}
	if len(waiting) == 0 {
		return waiting, "", nil
	}
	who, err := s.heldBy(ctx, now.widen(waiting[0]))
	return waiting, who, err
}

// heldBy says who holds up a transaction that is in the log and not visible.
func (s *session) heldBy(ctx context.Context, xid uint64) (string, error) {
	var who string
	err := s.conn.QueryRow(ctx, `SELECT coalesce((SELECT 'pid ' || pid || ' waits for ' || coalesce(wait_event_type || '/' || wait_event, 'nothing')
			FROM pg_stat_activity WHERE backend_xid::text::int8 = $1::int8 LIMIT 1), 'transaction ' || $1::int8)
		|| coalesce('; synchronous_standby_names = ' || nullif(current_setting('synchronous_standby_names'), ''), '')
		|| coalesce('; our sender is ' || (SELECT string_agg(DISTINCT sync_state, ', ') FROM pg_stat_replication WHERE application_name = $2), '')`,
		int64(xid&0xffffffff), applicationName).Scan(&who)
	if err != nil {
		return "", s.config.explain("asking who holds up a transaction", err)
	}
	return who, nil
}

// Report logs how far behind the log is, and what holds it back.
func (s *session) report(ctx context.Context, slot string, at uint64) {
	var lag, retained int64
	var sync string
	err := s.conn.QueryRow(ctx, `SELECT (pg_current_wal_lsn() - $2::text::pg_lsn)::int8, (pg_current_wal_lsn() - restart_lsn)::int8,
			coalesce((SELECT sync_state FROM pg_stat_replication r WHERE r.pid = s.active_pid), '')
		FROM pg_replication_slots s WHERE slot_name = $1`, slot, formatSlotLSN(at)).Scan(&lag, &retained, &sync)
	if err != nil {
		log.WithField("cause", err.Error()).Warn("looking at the replication slot's lag")
		return
	}
	fields := log.Fields{"slot": slot, "position": formatSlotLSN(at), "lagBytes": lag, "retainedBytes": retained}
	switch {
	case sync != "" && sync != "async":
		log.WithFields(fields).WithField("syncState", sync).
			Warn("the server counts this capture as a synchronous standby: commits may wait for it; name the standbys in synchronous_standby_names instead of '*'")
	case retained > 4<<30:
		log.WithFields(fields).Warn("the replication slot holds back more than 4 GiB of log: it is released when a run starts from a newer state, or the runner acknowledges")
	default:
		log.WithFields(fields).Info("log position")
	}
}
