package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/pgwire"
)

const (
	// lockPatience is how long a statement may take before somebody looks whether it waits for a lock.
	lockPatience = 5 * time.Second
	// lockAgain times that passes between one word about a wait and the next: a minute.
	lockAgain = 12
	// lookTimeout bounds the look itself.
	lookTimeout = 20 * time.Second
)

// describeWait reads what a server process waits for, and for whom. Who waits for a row has the lock of its place in the table. The state of others is hidden
// from those who may not see it; a prepared transaction has no process.
const describeWait = `
SELECT b.pid::text, coalesce(nullif(a.application_name, ''), a.backend_type, ''), coalesce(a.state, ''),
	to_char(coalesce(a.xact_start, a.state_change) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
	(SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE l.pid = $1::int AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AND (NOT l.granted OR l.locktype = 'tuple')
		ORDER BY l.granted LIMIT 1)
FROM (SELECT DISTINCT unnest(pg_catalog.pg_blocking_pids($1::int)) AS pid) b LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid
ORDER BY b.pid LIMIT 3`

// bounded is the context of a statement: it ends with a server that has gone silent, and until then a wait for a lock is told of.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	began := time.Now()
	timer := time.AfterFunc(s.patience, func() { s.tellWaits(ctx, began) })
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// tellWaits logs who keeps the session's statement from going on, until ctx ends. A statement that is merely long is looked at ever less often.
func (s *session) tellWaits(ctx context.Context, began time.Time) {
	most := lockAgain * s.patience
	for pause := s.patience; ; {
		pause = min(2*pause, most)
		// A look that fails is tried again with the next one; the server may have no connection left.
		if what, err := s.waitsFor(ctx); err == nil && what != "" && ctx.Err() == nil {
			log.Warnf("waiting for %s (for %s so far)", what, time.Since(began).Round(time.Second))
			pause = most
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// waitsFor says by a second connection what the session waits for; "": nothing.
func (s *session) waitsFor(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	where, err := s.server.Config(sessionSettings())
	if err != nil {
		return "", err
	}
	conn, err := pgwire.Connect(ctx, where)
	if err != nil {
		return "", err
	}
	defer conn.Close() //nolint:errcheck // nothing is in flight
	r, err := conn.ExecParams(ctx, describeWait, &s.pid)
	if err != nil || len(r.Rows) == 0 {
		return "", err
	}
	what := "a lock"
	if table := r.Rows[0][4]; table != nil {
		what = "a lock of table " + *table
	}
	holders := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		about := make([]string, 0, 3)
		for _, text := range []string{*row[1], *row[2]} {
			if text != "" {
				about = append(about, text)
			}
		}
		if row[3] != nil {
			about = append(about, "since "+*row[3])
		}
		switch {
		case *row[0] == "0":
			holders[i] = "a prepared transaction"
		case len(about) == 0:
			holders[i] = "pid " + *row[0]
		default:
			holders[i] = fmt.Sprintf("pid %s (%s)", *row[0], strings.Join(about, ", "))
		}
	}
	return what + ", in the way of which is " + strings.Join(holders, " and "), nil
}
