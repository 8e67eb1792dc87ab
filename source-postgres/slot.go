package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

const (
	plugin = "pgoutput"
	// slotPatience is how long a slot in use is waited for: the walsender of a killed process notices only when it next writes to its connection.
	slotPatience = 60 * time.Second
	slotPoll     = 500 * time.Millisecond
	// progressEvery is the time between two log lines about something that is waited for.
	progressEvery = 5 * time.Second
)

// slotState is a row of pg_replication_slots. Columns that the server's version lacks stay zero.
type slotState struct {
	Name               string  `json:"slot_name"`
	Plugin             string  `json:"plugin"`
	Type               string  `json:"slot_type"`
	Database           string  `json:"database"`
	Active             bool    `json:"active"`
	ActivePID          int     `json:"active_pid"`
	RestartLSN         *string `json:"restart_lsn"`
	ConfirmedFlushLSN  *string `json:"confirmed_flush_lsn"`
	WALStatus          string  `json:"wal_status"`          // 13
	InvalidationReason string  `json:"invalidation_reason"` // 17
	Conflicting        bool    `json:"conflicting"`         // 16
}

// slot is the replication slot of this process. It is created and copied here, and never dropped: what a slot holds back cannot be had again.
type slot struct {
	conn     querier // for looking and for copying; its database is the captured one
	config   *config
	name     string
	base     string        // the slot that a split range's slot is copied from; equal to name for the process that owns the begin of the key space
	patience time.Duration // for a slot in use
	every    time.Duration // between two log lines
	told     bool          // that it was found
}

// newSlot describes the slot of the process that owns r; base is the capture's name of slots. conn must not be used by anybody else while a method runs.
func newSlot(conn querier, c *config, base string, r protocol.Range) *slot {
	return &slot{conn: conn, config: c, name: partSlotName(base, r), base: base, patience: slotPatience, every: progressEvery}
}

// readSlot looks a slot up; nil: there is none of this name. The row goes through JSON, so that no column is named that an older server lacks.
func readSlot(ctx context.Context, q querier, name string) (*slotState, error) {
	var text []byte
	err := q.QueryRow(ctx, `SELECT to_jsonb(s) FROM pg_replication_slots s WHERE slot_name = $1`, name).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking up replication slot %s: %w", name, err)
	}
	st := new(slotState)
	if err := json.Unmarshal(text, st); err != nil {
		return nil, fmt.Errorf("reading the state of replication slot %s: %w", name, err)
	}
	return st, nil
}

// earliest returns the position from which the slot can still deliver the log; exists is false when there is no slot. lost says why a slot is there
// that cannot be used any more. A slot that another process reads is waited for. A slot that is not ours to use is a *protocol.Problem.
func (s *slot) earliest(ctx context.Context) (lsn uint64, exists bool, lost string, err error) {
	st, err := s.awaitUnused(ctx)
	if err != nil || st == nil {
		return 0, false, "", err
	}
	lsn, lost, err = st.begin()
	if err == nil && lost == "" && !s.told {
		s.told = true
		log.WithFields(log.Fields{"slot": s.name, "confirmed": *st.ConfirmedFlushLSN, "behindBytes": s.behind(ctx, *st.ConfirmedFlushLSN)}).Info("found the replication slot")
	}
	return lsn, true, lost, err
}

// baseEarliest is earliest of the slot that copyBase copies, which may be in use.
func (s *slot) baseEarliest(ctx context.Context) (lsn uint64, exists bool, lost string, err error) {
	st, err := readSlot(ctx, s.conn, s.base)
	if err != nil {
		return 0, false, "", s.config.explain("looking up the replication slot", err)
	}
	if st == nil {
		return 0, false, "", nil
	}
	if p := st.foreign(s.config.Database); p != nil {
		return 0, true, "", p
	}
	lsn, lost, err = st.begin()
	return lsn, true, lost, err
}

// begin is where the slot begins to deliver, or why it does not.
func (st *slotState) begin() (lsn uint64, lost string, err error) {
	if lost = st.lost(); lost != "" {
		return 0, lost, nil
	}
	if p := st.unfinished(); p != nil {
		return 0, "", p
	}
	lsn, err = parseSlotLSN(*st.ConfirmedFlushLSN)
	return lsn, "", err
}

// awaitUnused returns the slot's state once nobody reads it; nil: there is no slot.
func (s *slot) awaitUnused(ctx context.Context) (*slotState, error) {
	begin := time.Now()
	told := begin.Add(-s.every)
	for {
		st, err := readSlot(ctx, s.conn, s.name)
		if err != nil {
			return nil, s.config.explain("looking up the replication slot", err)
		}
		if st == nil {
			return nil, nil
		}
		if p := st.foreign(s.config.Database); p != nil {
			return nil, p
		}
		if !st.Active {
			return st, nil
		}
		if time.Since(begin) >= s.patience {
			return nil, &protocol.Problem{
				Kind: protocol.Transient, Summary: fmt.Sprintf("replication slot %q is being read by another process (pid %d of the server)", s.name, st.ActivePID),
				Fix: "stop the other capture, or give one of them another advanced.slotName; if its process is gone, end its connection",
				SQL: fmt.Sprintf("SELECT pg_terminate_backend(%d);", st.ActivePID),
			}
		}
		if time.Since(told) >= s.every {
			told = time.Now()
			log.WithFields(log.Fields{"slot": s.name, "pid": st.ActivePID}).Warn("waiting for the replication slot, which another process reads")
		}
		if err := sleep(ctx, slotPoll); err != nil {
			return nil, err
		}
	}
}

// foreign tells whether the slot is somebody else's.
func (st *slotState) foreign(database string) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config, Fix: "set advanced.slotName to another name"}
	switch {
	case st.Type != "logical":
		p.Summary = fmt.Sprintf("replication slot %q is a physical one, of a standby or a backup", st.Name)
	case st.Plugin != plugin:
		p.Summary = fmt.Sprintf("replication slot %q belongs to other software (its plugin is %s, not %s)", st.Name, st.Plugin, plugin)
	case st.Database != database:
		p.Summary = fmt.Sprintf("replication slot %q belongs to database %q, not %q", st.Name, st.Database, database)
	default:
		return nil
	}
	return p
}

// lost says why the server will not serve the slot any more; empty: it will.
func (st *slotState) lost() string {
	reason := ""
	switch {
	case st.InvalidationReason == "idle_timeout":
		reason = "nobody read it for longer than idle_replication_slot_timeout"
	case st.InvalidationReason == "rows_removed", st.InvalidationReason == "wal_level_insufficient", st.Conflicting:
		reason = "it conflicted with recovery on the standby"
	case st.WALStatus == "lost":
		reason = "it was further behind than max_slot_wal_keep_size allows"
	case st.InvalidationReason != "":
		reason = "the server says " + st.InvalidationReason
	default:
		return ""
	}
	return fmt.Sprintf("the server has invalidated replication slot %q: %s; drop it: SELECT pg_drop_replication_slot(%s)", st.Name, reason, pgwire.QuoteLiteral(st.Name))
}

// unfinished tells whether the slot's creation never came to an end.
func (st *slotState) unfinished() *protocol.Problem {
	if st.ConfirmedFlushLSN != nil && st.RestartLSN != nil {
		return nil
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("the creation of replication slot %q was interrupted, so it holds no position", st.Name),
		Fix: "drop it", SQL: dropSlotSQL(st.Name),
	}
}

func dropSlotSQL(name string) string {
	return "SELECT pg_drop_replication_slot(" + pgwire.QuoteLiteral(name) + ");"
}

// create makes the slot and returns the position from which it delivers everything. The server waits for every transaction that runs now, however
// long that takes; ctx alone ends it. repl is a replication connection; the publication must exist already.
func (s *slot) create(ctx context.Context, repl *pgwire.Conn) (lsn uint64, err error) {
	type answer struct {
		results []pgwire.Result
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		results, err := repl.Exec(ctx, "CREATE_REPLICATION_SLOT "+quote(s.name)+" LOGICAL "+plugin+" NOEXPORT_SNAPSHOT")
		done <- answer{results, err}
	}()
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			if a.err != nil {
				return 0, s.config.explain("creating replication slot "+s.name, a.err)
			}
			point, err := field(a.results, "consistent_point")
			if err != nil {
				return 0, fmt.Errorf("creating replication slot %s: %w", s.name, err)
			}
			log.WithFields(log.Fields{"slot": s.name, "position": point}).Info("created the replication slot")
			return parseSlotLSN(point)
		case <-tick.C:
			who, err := oldestTransaction(ctx, s.conn)
			if err != nil {
				who = "unknown: " + err.Error() // a log line must not end a creation that goes well
			}
			if who == "" {
				who = "the server's next note of running transactions, which it takes every 15 s, a standby when its primary does"
			}
			log.WithFields(log.Fields{"slot": s.name, "waitingFor": who}).Info("creating the replication slot waits for running transactions to end")
		}
	}
}

// copyBase makes this process's slot as a copy of the capture's first one, which is how a process that got a part of a split range takes over: position
// is where its state ends. It returns where the copy begins, which is never behind position. The source slot may be in use.
func (s *slot) copyBase(ctx context.Context, position uint64) (lsn uint64, err error) {
	source, err := readSlot(ctx, s.conn, s.base)
	if err != nil {
		return 0, s.config.explain("looking up the replication slot", err)
	}
	if source == nil {
		return 0, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("replication slot %q, which %q would be copied from, does not exist", s.base, s.name),
			Fix: "the changes after the stored position are gone; start over, or set advanced.on_gap to rebackfill",
		}
	}
	if p := source.foreign(s.config.Database); p != nil {
		return 0, p
	}
	if why := source.lost(); why != "" {
		return 0, &protocol.Problem{Kind: protocol.Config, Summary: why, Fix: "start over, or set advanced.on_gap to rebackfill"}
	}
	if p := source.unfinished(); p != nil {
		return 0, p
	}
	if err := s.reaches(*source.ConfirmedFlushLSN, position); err != nil {
		return 0, err
	}
	var point string
	if err := s.conn.QueryRow(ctx, `SELECT lsn::text FROM pg_copy_logical_replication_slot($1, $2)`, s.base, s.name).Scan(&point); err != nil {
		return 0, s.config.explain("copying replication slot "+s.base+" to "+s.name, err)
	}
	// The source may have moved on between the look and the copy.
	if err := s.reaches(point, position); err != nil {
		return 0, err
	}
	log.WithFields(log.Fields{"slot": s.name, "source": s.base, "position": point}).Info("copied the replication slot")
	return parseSlotLSN(point)
}

// reaches tells whether a slot confirmed up to this position still delivers what comes after position.
func (s *slot) reaches(confirmed string, position uint64) error {
	lsn, err := parseSlotLSN(confirmed)
	if err != nil {
		return err
	}
	if lsn > position {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("replication slot %q was already confirmed up to %s, so the changes after %s are gone", s.base, confirmed, formatSlotLSN(position)),
			Fix: "start the processes that own the upper parts of the range before the first one; to go on now, start over, or set advanced.on_gap to rebackfill",
		}
	}
	return nil
}

// behind is how much log the server keeps from a position on; -1: unknown.
func (s *slot) behind(ctx context.Context, from string) (bytes int64) {
	const query = `SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - $1::text::pg_lsn)::int8`
	if err := s.conn.QueryRow(ctx, query, from).Scan(&bytes); err != nil {
		return -1 // only for a log line
	}
	return bytes
}

// idleSlots lists the slots whose name begins like the capture's and that nobody reads, with the log that each holds back. The capture's own is left
// out: it is idle whenever the capture is.
func idleSlots(ctx context.Context, q querier, c *config, base string) ([]slotState, error) {
	rows, err := q.Query(ctx, `SELECT to_jsonb(s) FROM pg_replication_slots s
		WHERE left(slot_name, length($1)) = $1 AND slot_name <> $1 AND NOT active AND database = $2 AND plugin = $3 ORDER BY slot_name`, base, c.Database, plugin)
	if err != nil {
		return nil, fmt.Errorf("listing replication slots: %w", err)
	}
	defer rows.Close()
	var list []slotState
	for rows.Next() {
		var text []byte
		var st slotState
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("listing replication slots: %w", err)
		}
		if err := json.Unmarshal(text, &st); err != nil {
			return nil, fmt.Errorf("listing replication slots: %w", err)
		}
		list = append(list, st)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing replication slots: %w", err)
	}
	return list, nil
}

// oldestTransaction names, for a log line, the transaction that has had its id for longest: creating a slot and the gate wait for it. Empty: there is
// none. It reads pg_locks, since pg_stat_activity hides other users' transactions from an ordinary role.
func oldestTransaction(ctx context.Context, q querier) (string, error) {
	const query = `SELECT coalesce('pid ' || l.pid, 'prepared transaction ' || quote_literal(p.gid), 'a prepared transaction'),
			coalesce(a.usename, p.owner, ''), coalesce(a.datname, p.database, ''), coalesce(a.application_name, ''), coalesce(a.state, ''),
			coalesce(extract(epoch FROM now() - coalesce(a.xact_start, p.prepared))::int8, -1)
		FROM pg_locks l
		LEFT JOIN pg_stat_activity a ON a.pid = l.pid
		LEFT JOIN pg_prepared_xacts p ON p.transaction = l.transactionid
		WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
		ORDER BY age(l.transactionid) DESC LIMIT 1`
	var id, user, database, application, state string
	var seconds int64
	err := q.QueryRow(ctx, query).Scan(&id, &user, &database, &application, &state, &seconds)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for the oldest transaction: %w", err)
	}
	var details []string
	for _, d := range []struct{ name, value string }{{"user ", user}, {"database ", database}, {"application ", application}, {"", state}} {
		if d.value != "" {
			details = append(details, d.name+d.value)
		}
	}
	if seconds >= 0 {
		details = append(details, (time.Duration(seconds)*time.Second).String()+" old")
	}
	return id + " (" + strings.Join(details, ", ") + ")", nil
}

// field returns a column of the only row of a command's answer, by name: PostgreSQL's relatives answer with columns of their own in between.
func field(results []pgwire.Result, column string) (string, error) {
	for _, r := range results {
		for i, name := range r.Columns {
			if name == column && len(r.Rows) == 1 && r.Rows[0][i] != nil {
				return *r.Rows[0][i], nil
			}
		}
	}
	return "", fmt.Errorf("the server's answer has no %s", column)
}

// parseSlotLSN reads PostgreSQL's text form of a log position.
func parseSlotLSN(text string) (uint64, error) {
	high, low, ok := strings.Cut(text, "/")
	h, errHigh := strconv.ParseUint(high, 16, 32)
	l, errLow := strconv.ParseUint(low, 16, 32)
	if !ok || errHigh != nil || errLow != nil {
		return 0, fmt.Errorf("reading the log position %q", text)
	}
	return h<<32 | l, nil
}

func formatSlotLSN(lsn uint64) string { return fmt.Sprintf("%X/%X", lsn>>32, uint32(lsn)) }

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// quote is an SQL identifier.
func quote(name string) string { return pgwire.QuoteIdentifier(name) }

// quoteTable is a table's qualified SQL name.
func quoteTable(schema, name string) string { return quote(schema) + "." + quote(name) }
