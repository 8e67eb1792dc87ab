package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
)

const (
	applicationName = "materialize-postgres"
	// statementTimeout ends a statement whose server has gone silent: one with a full disk never answers.
	statementTimeout = time.Hour
	// maxMessage bounds a row that is loaded: a document of 64 MiB, each byte of it escaped.
	maxMessage = 130 << 20
)

// sessionSettings are sent with the startup message, where they win over what a DBA set for the role or the database. Values then have the one text form
// that decode.go reads. The search path stays the role's own: triggers of users may need it, and every name of ours has its schema.
func sessionSettings() map[string]string {
	return map[string]string{
		"application_name":                    applicationName,
		"client_encoding":                     "UTF8",
		"client_min_messages":                 "error",
		"DateStyle":                           "ISO, MDY",
		"TimeZone":                            "UTC",
		"IntervalStyle":                       "iso_8601",
		"extra_float_digits":                  "3",
		"bytea_output":                        "hex",
		"standard_conforming_strings":         "on",
		"statement_timeout":                   "0", // a large store takes long, and is no less wanted
		"lock_timeout":                        "0",
		"idle_in_transaction_session_timeout": "0",
		"row_security":                        "off", // what a policy would hide from a load, an update or a deletion fails instead of being lost
		"default_transaction_isolation":       "read committed",
		"default_transaction_deferrable":      "off",
	}
}

// sessionOnly are settings that not every version has, so that they cannot stand among the startup settings: timeouts that would end a session between two
// transactions, and the compiler of expressions, which takes longer than a load of a few rows.
const sessionOnly = `SELECT pg_catalog.set_config(s.name, v.value, false)
	FROM pg_catalog.pg_settings s JOIN (VALUES ('idle_session_timeout', '0'), ('transaction_timeout', '0'), ('jit', 'off')) AS v (name, value) ON v.name = s.name`

// session is one connection. One goroutine uses it.
type session struct {
	conn    *pgwire.Conn
	server  *pgserver.Server
	version int // server_version_num
	pid     string
	// patience is how long a statement may take before somebody looks whether it waits for a lock.
	patience time.Duration
	// schemas are those of the tables that it has described, by the tables' names.
	schemas map[string][]string
}

var _ sqlsink.Executor = (*session)(nil)

// connect opens a session. more are settings besides the usual ones.
func (c *config) connect(ctx context.Context, more map[string]string) (*session, error) {
	settings := sessionSettings()
	for name, value := range more {
		settings[name] = value
	}
	server := c.server()
	where, err := server.Config(settings)
	if err != nil {
		return nil, err
	}
	conn, err := pgwire.Connect(ctx, where)
	if err != nil {
		return nil, c.explain("connecting", err)
	}
	s := &session{conn: conn, server: server, patience: lockPatience}
	conn.SetMaxMessage(maxMessage)
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, c.explain("preparing the session", err)
	}
	return s, nil
}

const minVersion = 100000

func (s *session) prepare(ctx context.Context) error {
	rows, _, err := s.Execute(ctx, `SELECT current_setting('server_version_num'), pg_backend_pid()::text, current_setting('server_encoding'), current_database()`)
	if err != nil {
		return err
	}
	s.pid = *rows[0][1]
	if s.version, err = strconv.Atoi(*rows[0][0]); err != nil {
		return fmt.Errorf("reading the server's version: %w", err)
	}
	if s.version < minVersion {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("the server is PostgreSQL %d.%d", s.version/10000, s.version/100%100), Fix: "upgrade it to 10 or newer",
		}
	}
	if encoding, database := *rows[0][2], *rows[0][3]; encoding != "UTF8" {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("database %q has the encoding %s, which cannot hold every text", database, encoding), Fix: "use a database whose encoding is UTF8",
			SQL: "CREATE DATABASE " + quote(database+"_utf8") + " ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;",
		}
	}
	// A pooler tells clients a number of its own.
	if pid := strconv.FormatUint(uint64(s.conn.PID()), 10); pid != s.pid {
		if err := s.refusePooler(ctx); err != nil {
			return err
		}
	}
	return s.run(ctx, sessionOnly)
}

// close ends the connection; a transaction that is open is rolled back by the server.
func (s *session) close() { _ = s.conn.Close() }

// run executes statements as they are.
func (s *session) run(ctx context.Context, sql string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.conn.Exec(ctx, sql)
	return s.placed(err)
}

// Execute runs one statement with parameters.
func (s *session) Execute(ctx context.Context, sql string, params ...*string) ([][]*string, int64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	r, err := s.conn.ExecParams(ctx, sql, params...)
	if err != nil {
		return nil, 0, s.placed(err)
	}
	return r.Rows, touched(r.Tag), nil
}

// count runs statements as they are, and returns how many rows they have touched together.
func (s *session) count(ctx context.Context, sql string) (rows int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	results, err := s.conn.Exec(ctx, sql)
	for _, r := range results {
		rows += touched(r.Tag)
	}
	return rows, s.placed(err)
}

// touched reads the number of rows of a command tag; tags without one are 0.
func touched(tag string) int64 {
	n, _ := strconv.ParseInt(tag[strings.LastIndexByte(tag, ' ')+1:], 10, 64)
	return n
}

// copyIn sends the rows of a chunk, and returns how many there were. sql is the COPY as it is for the text form.
func (s *session) copyIn(ctx context.Context, sql string, c chunk) (n int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if c.binary {
		n, err = s.conn.CopyInBinary(ctx, sql+" (FORMAT binary)", c.rows)
	} else {
		n, err = s.conn.CopyIn(ctx, sql, c.rows)
	}
	return n, s.placed(err)
}

// inTransaction runs f in a transaction, which is committed when f returns nil.
func (s *session) inTransaction(ctx context.Context, f func() error) error {
	if err := s.run(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := f(); err != nil {
		_ = s.run(ctx, "ROLLBACK") // the connection is closed soon, which does the same
		return err
	}
	return s.run(ctx, "COMMIT")
}

// refusePooler finds out whether what stands between us and the server hands our server connection to others after each transaction: temporary tables and
// settings would be lost. A second connection then gets the server process that the first one had.
func (s *session) refusePooler(ctx context.Context) error {
	where, err := s.server.Config(sessionSettings())
	if err != nil {
		return err
	}
	for range 3 {
		shared, err := s.shares(ctx, where)
		if err != nil {
			return err
		}
		if shared {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("address %s leads to a connection pooler that shares connections between transactions, and temporary tables would be lost", s.server.Address),
				Fix: "use the address of the server itself, or a pool in session mode",
			}
		}
	}
	return nil
}

// shares tells whether a second connection gets the server process that this one just had.
func (s *session) shares(ctx context.Context, where *pgconn.Config) (bool, error) {
	const who = `SELECT pg_backend_pid()::text`
	mine, _, err := s.Execute(ctx, who)
	if err != nil {
		return false, err
	}
	other, err := pgwire.Connect(ctx, where)
	if err != nil {
		return false, err
	}
	defer other.Close() //nolint:errcheck // nothing is in flight
	if _, err = other.Exec(ctx, "BEGIN"); err != nil {
		return false, err
	}
	theirs, err := other.ExecParams(ctx, who)
	if err != nil {
		return false, err
	}
	again, _, err := s.Execute(ctx, who)
	if err != nil {
		return false, err
	}
	return *theirs.Rows[0][0] == *mine[0][0] || *again[0][0] != *mine[0][0], nil
}
