package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

// SQLSTATEs that are decided upon. https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeNoDatabase         = "3D000"
	codeInsufficientPriv   = "42501"
	codeNoObject           = "42704"
	codeNoTable            = "42P01"
	codeNoSchema           = "3F000"
	codeNotSupported       = "0A000"
	codeTooManyConnections = "53300"
	codeConfigLimit        = "53400"
	codeLockNotAvailable   = "55P03"
	codeObjectInUse        = "55006"
	codeNotInState         = "55000"
	codeDuplicateObject    = "42710"
)

// explain turns an error of the driver or the server into a sentence that names the cure. doing says what was being done, in the -ing form. What it
// does not know it only wraps. A context that has ended is not the server's fault and stays as it is.
func (c *config) explain(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*protocol.Problem](err); ok {
		return err
	}
	if p := c.explainCapture(doing, err); p != nil {
		p.Err = err
		return p
	}
	return c.server().Explain(doing, err)
}

// explainCapture explains what only a capture meets, or what it can say more about.
func (c *config) explainCapture(doing string, err error) *protocol.Problem {
	problem := func(kind protocol.Kind, summary, fix string) *protocol.Problem {
		return &protocol.Problem{Kind: kind, Summary: summary, Fix: fix}
	}
	if errors.Is(err, pgwire.ErrStreamEnded) {
		return problem(protocol.Transient, fmt.Sprintf("the server at %s ended the replication stream", c.Address), "try again; it was shut down, or somebody ended the session")
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return nil
	}
	switch pg.Code {
	case codeTooManyConnections:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s has no connection left (%s)", c.Address, pg.Message),
			"close connections that nobody needs, or raise max_connections or max_wal_senders")
	case codeInsufficientPriv:
		return c.explainPrivilege(doing, pg)
	case codeNotSupported, codeNotInState:
		if strings.Contains(pg.Message, "in recovery") || strings.Contains(pg.Message, "on standby") {
			return problem(protocol.Config, fmt.Sprintf("the server at %s is a standby on which no logical decoding is possible (%s)", c.Address, pg.Message),
				"use the address of the primary (a cluster's writer endpoint)")
		}
	case codeConfigLimit:
		if strings.Contains(pg.Message, "replication slots") {
			return problem(protocol.Config, fmt.Sprintf("the server at %s has no replication slot left", c.Address), "drop one that nobody reads, or raise max_replication_slots and restart the server")
		}
	}
	if isPoolerRefusal(pg) {
		return problem(protocol.Config, fmt.Sprintf("address %s leads to a connection pooler, which cannot carry logical replication (%s)", c.Address, pg.Message), "use the address of the server itself")
	}
	return nil
}

// explainPrivilege returns nil where the privilege is to connect.
func (c *config) explainPrivilege(doing string, pg *pgconn.PgError) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("user %q lacks a privilege for %s (%s)", c.User, doing, pg.Message), Fix: "grant it"}
	switch {
	case strings.Contains(pg.Message, "for database"):
		return nil
	case strings.Contains(pg.Message, "row-level security"):
		p.Summary = fmt.Sprintf("row-level security hides rows from user %q (%s)", c.User, pg.Message)
		p.Fix, p.SQL = "let it read all rows", fmt.Sprintf("ALTER ROLE %s BYPASSRLS;", quote(c.User))
	case strings.Contains(pg.Message, "WAL sender"), strings.Contains(pg.Message, "replication"):
		p.Summary = fmt.Sprintf("user %q may not replicate", c.User)
		p.Fix, p.SQL = cloudOf(c.Address).replicationFix(c.User)
	}
	return p
}

// isPoolerRefusal recognises how PgBouncer and its kin refuse the startup settings of a replication connection.
func isPoolerRefusal(pg *pgconn.PgError) bool {
	m := strings.ToLower(pg.Message)
	const protocolViolation = "08P01"
	return pg.Code == protocolViolation && (strings.Contains(m, "unsupported startup parameter") || strings.Contains(m, "replication") || strings.Contains(m, "pgbouncer")) ||
		strings.Contains(m, "no such database") && pg.Code != codeNoDatabase
}
