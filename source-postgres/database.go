package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgwire"
)

const applicationName = "source-postgres"

// querier runs SQL: a connection, or a transaction of one.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// sessionSettings are sent with the startup message of every connection, where they win over what a DBA set for the role or the database. Scan and log
// then print the same bytes for the same value; without them the log's sender prints dates, floats and bytea in whatever style the role has.
// All of them exist since PostgreSQL 10 and may be set by anybody.
func sessionSettings() map[string]string {
	return map[string]string{
		"application_name":            applicationName,
		"client_encoding":             "UTF8",
		"DateStyle":                   "ISO, MDY",
		"TimeZone":                    "UTC",
		"IntervalStyle":               "iso_8601",
		"extra_float_digits":          "3", // from 12 on any value above 0 means shortest exact; before it takes 3 to be exact
		"bytea_output":                "hex",
		"lc_monetary":                 "C",
		"standard_conforming_strings": "on",
		"quote_all_identifiers":       "off",        // else reg* values have quotes
		"search_path":                 "pg_catalog", // nobody can slip a function under our queries, and reg* values name their schema
		"row_security":                "off",        // a query that a policy would filter fails instead of returning a part of the rows
		// A role's settings must not end the connections that we keep open, or change what a transaction of ours means.
		"statement_timeout":                   "0",
		"lock_timeout":                        "0",
		"idle_in_transaction_session_timeout": "0",
		"default_transaction_isolation":       "read committed",
		"default_transaction_deferrable":      "off",
		"synchronous_commit":                  "local", // what we write (a publication, fences) waits for no standby
	}
}

// liftTimeouts switches off the timeouts that not every version has, so that they cannot stand among the startup settings. It suits replication
// connections, too.
const liftTimeouts = `SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout')`

// rawText lets values come as they are stored in a database whose encoding is SQL_ASCII, which may hold anything: asked for UTF-8, the server refuses
// every row with other bytes, and no one could ever read past it. We replace such bytes ourselves. It is for the connections that bring rows.
const rawText = `SELECT pg_catalog.set_config('client_encoding', 'SQL_ASCII', false) WHERE pg_catalog.current_setting('server_encoding') = 'SQL_ASCII'`

// prepareRows prepares a connection that brings rows.
func prepareRows(ctx context.Context, conn *pgwire.Conn) error {
	for _, sql := range []string{liftTimeouts, rawText} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// pgConfig is how to connect; with replication, as a walsender that also understands SQL. The environment is not asked, except for the certificates
// that PGSSLROOTCERT, PGSSLCERT and PGSSLKEY name.
func (c *config) pgConfig(replication bool) (*pgconn.Config, error) {
	settings := sessionSettings()
	if replication {
		settings["replication"] = "database"
	}
	return c.server().Config(settings)
}

// connect opens a connection for queries.
func (c *config) connect(ctx context.Context) (*pgx.Conn, error) { return c.connectWith(ctx, nil) }

// connectWith adds settings of the session. Statements are not cached, since a DDL of somebody else would make a cached plan fail once.
func (c *config) connectWith(ctx context.Context, more map[string]string) (conn *pgx.Conn, err error) {
	settings, err := c.pgConfig(false)
	if err != nil {
		return nil, err
	}
	maps.Copy(settings.RuntimeParams, more)
	p, err := pgx.ParseConfig("host=x user=x password=x sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("preparing the driver: %w", err)
	}
	p.Config = *settings
	p.BuildStatementCache = nil
	// The driver trusts lengths that a server sends during the login, so that a hostile one can make it panic (GO-2026-4518).
	defer func() {
		if r := recover(); r != nil {
			conn, err = nil, fmt.Errorf("connecting to %s: the server's messages are malformed (%v)", c.Address, r)
		}
	}()
	conn, err = pgx.ConnectConfig(ctx, p)
	if err != nil {
		return nil, c.explain("connecting", err)
	}
	if _, err := conn.Exec(ctx, liftTimeouts); err != nil {
		closeQuietly(conn)
		return nil, c.explain("preparing the session", err)
	}
	return conn, nil
}

// closeQuietly ends a connection that is of no use any more. It does not wait for a server that does not answer.
func closeQuietly(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // nothing depends on a polite end
}

// serverVersion is server_version_num, e.g. 150018.
func serverVersion(ctx context.Context, q querier) (int, error) {
	var n int
	if err := q.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&n); err != nil {
		return 0, fmt.Errorf("asking for the server's version: %w", err)
	}
	return n, nil
}
