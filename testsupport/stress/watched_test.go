package stress

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/watch"
)

// patience bounds every wait; it only has to be longer than a slow machine takes.
const patience = watch.Patience

// watched is a running process whose lines are taken as they come.
type watched struct {
	*watch.Lines
	t       *testing.T
	process *binary.Process
	stopAt  int64 // bytes after which nothing is read any more; negative: never
}

// watching starts a command. A reader that stops after so many bytes leaves the pipe full; negative: it never stops.
func watching(t *testing.T, c binary.Command, stopAt int64, take func(line []byte) error) *watched {
	t.Helper()
	w := &watched{t: t, stopAt: stopAt}
	w.Lines, w.process = watch.Start(t, c, take, func(p *binary.Process) bool { return w.stopAt >= 0 && p.Taken() >= w.stopAt })
	return w
}

// watchRead watches a read of the Airbyte commands.
func watchRead(t *testing.T, c binary.Command, stopAt int64, also func(line []byte) error) (*watched, *replay.Run) {
	t.Helper()
	run := &replay.Run{}
	return watching(t, c, stopAt, func(line []byte) error {
		if _, err := run.Line(line); err != nil {
			return err
		}
		if also != nil {
			return also(line)
		}
		return nil
	}), run
}

// connection is the configuration for a database of a cluster, by the superuser.
func connection(cluster *pgtest.Cluster, database string, advanced map[string]any) map[string]any {
	return map[string]any{"address": cluster.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": database, "advanced": advanced}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// configured is the catalog that discover prints for these streams, with more keys at its root.
func configured(t *testing.T, path string, config []byte, streams string, more map[string]any) []byte {
	t.Helper()
	var last []byte
	w := watching(t, binary.Command{Path: path, Args: []string{"discover", "--configured", "--streams", streams}, Config: config}, -1, func(line []byte) error {
		last = line
		return nil
	})
	if exit := w.Finished(); exit.Code != 0 {
		t.Fatalf("discover ended with code %d: %s", exit.Code, exit.Stderr)
	}
	var catalog map[string]any
	if err := json.Unmarshal(last, &catalog); err != nil || catalog["streams"] == nil {
		t.Fatalf("discover --configured printed no catalog (%v): %.300s", err, last)
	}
	for name, value := range more {
		catalog[name] = value
	}
	return asJSON(t, catalog)
}

// lsn reads a position of the log.
func lsn(t *testing.T, text string) uint64 {
	t.Helper()
	high, low, _ := strings.Cut(text, "/")
	h, errHigh := strconv.ParseUint(high, 16, 32)
	l, errLow := strconv.ParseUint(low, 16, 32)
	if errHigh != nil || errLow != nil {
		t.Errorf("%q is no position of the log", text)
	}
	return h<<32 | l
}

// one returns the only value of a query.
func one(t *testing.T, cluster *pgtest.Cluster, database, sql string) string {
	t.Helper()
	rows, err := cluster.Query(database, sql)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s: %d rows, want a single value", sql, len(rows))
	}
	return rows[0][0]
}

// confirmed is up to where a slot was confirmed; 0: there is no slot yet.
func confirmed(t *testing.T, cluster *pgtest.Cluster, slot string) uint64 {
	t.Helper()
	text := one(t, cluster, "postgres", "SELECT coalesce(max(confirmed_flush_lsn), '0/0')::text FROM pg_replication_slots WHERE slot_name = '"+slot+"'")
	return lsn(t, text)
}

// until asks again and again.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s: not within %s", what, patience)
		}
	}
}
