package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

// SQLSTATEs that are decided upon. https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeInvalidPassword      = "28P01"
	codeInvalidAuthorization = "28000"
	codeNoDatabase           = "3D000"
	codeInsufficientPriv     = "42501"
	codeNoObject             = "42704"
	codeNoTable              = "42P01"
	codeNoSchema             = "3F000"
	codeNotSupported         = "0A000"
	codeProtocolViolation    = "08P01"
	codeTooManyConnections   = "53300"
	codeConfigLimit          = "53400"
	codeLockNotAvailable     = "55P03"
	codeObjectInUse          = "55006"
	codeNotInState           = "55000"
	codeDuplicateObject      = "42710"
	codeAdminShutdown        = "57P01"
	codeCrashShutdown        = "57P02"
	codeCannotConnectNow     = "57P03"
)

// sqlState is the server's code for err; empty: the server did not say anything.
func sqlState(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// explain turns an error of the driver or the server into a sentence that names the cure. doing says what was being done, in the -ing form. What it
// does not know it only wraps. A context that has ended is not the server's fault and stays as it is.
func (c *config) explain(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*protocol.Problem](err); ok {
		return err
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if p := c.explainServer(doing, pg); p != nil {
			p.Err = err
			return p
		}
		return fmt.Errorf("%s: %w", doing, err)
	}
	if p := c.explainNetwork(err); p != nil {
		p.Err = err
		return p
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (c *config) explainServer(doing string, pg *pgconn.PgError) *protocol.Problem {
	problem := func(kind protocol.Kind, summary, fix string) *protocol.Problem {
		return &protocol.Problem{Kind: kind, Summary: summary, Fix: fix}
	}
	switch pg.Code {
	case codeInvalidPassword:
		if c.Password == "" {
			return problem(protocol.Config, fmt.Sprintf("the server at %s demands a password of user %q, and none is configured", c.Address, c.User), "set password")
		}
		return problem(protocol.Config, fmt.Sprintf("the server at %s does not accept the password of user %q", c.Address, c.User), "correct user or password")
	case codeInvalidAuthorization:
		return c.explainAuthorization(pg)
	case codeNoDatabase:
		return problem(protocol.Config, fmt.Sprintf("database %q does not exist at %s", c.Database, c.Address), "correct the name of the database")
	case codeTooManyConnections:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s has no connection left (%s)", c.Address, pg.Message),
			"close connections that nobody needs, or raise max_connections or max_wal_senders")
	case codeCannotConnectNow, codeAdminShutdown, codeCrashShutdown:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s is starting or shutting down (%s)", c.Address, pg.Message), "try again in a moment")
	case codeInsufficientPriv:
		p := problem(protocol.Config, fmt.Sprintf("user %q lacks a privilege for %s (%s)", c.User, doing, pg.Message), "grant it")
		switch {
		case strings.Contains(pg.Message, "for database"):
			p.Summary = fmt.Sprintf("user %q may not connect to database %q", c.User, c.Database)
			p.SQL = fmt.Sprintf("GRANT CONNECT ON DATABASE %s TO %s;", quote(c.Database), quote(c.User))
		case strings.Contains(pg.Message, "row-level security"):
			p.Summary = fmt.Sprintf("row-level security hides rows from user %q (%s)", c.User, pg.Message)
			p.Fix, p.SQL = "let it read all rows", fmt.Sprintf("ALTER ROLE %s BYPASSRLS;", quote(c.User))
		case strings.Contains(pg.Message, "WAL sender"), strings.Contains(pg.Message, "replication"):
			p.Summary = fmt.Sprintf("user %q may not replicate", c.User)
			p.Fix, p.SQL = cloudOf(c.Address).replicationFix(c.User)
		}
		return p
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

func (c *config) explainAuthorization(pg *pgconn.PgError) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config}
	message := pg.Message
	switch {
	case strings.Contains(message, "not permitted to log in"):
		p.Summary = fmt.Sprintf("user %q may not log in", c.User)
		p.Fix, p.SQL = "allow it", fmt.Sprintf("ALTER ROLE %s LOGIN;", quote(c.User))
	case strings.Contains(message, "no encryption"), strings.Contains(message, "SSL off"):
		p.Summary = fmt.Sprintf("the server at %s accepts user %q only over TLS", c.Address, c.User)
		p.Fix = "set advanced.sslmode to require, or leave it out"
	case strings.Contains(message, "pg_hba.conf"):
		p.Summary = fmt.Sprintf("the server at %s lets user %q in neither from here nor this way (%s)", c.Address, c.User, message)
		p.Fix = "add a line to its pg_hba.conf, or allow this machine in the provider's network settings"
	default:
		p.Summary = fmt.Sprintf("the server at %s does not let user %q in (%s)", c.Address, c.User, message)
		p.Fix = "correct user and password"
	}
	return p
}

// isPoolerRefusal recognises how PgBouncer and its kin refuse the startup settings of a replication connection.
func isPoolerRefusal(pg *pgconn.PgError) bool {
	m := strings.ToLower(pg.Message)
	return pg.Code == codeProtocolViolation && (strings.Contains(m, "unsupported startup parameter") || strings.Contains(m, "replication") || strings.Contains(m, "pgbouncer")) ||
		strings.Contains(m, "no such database") && pg.Code != codeNoDatabase
}

// endpoint is host:port, the port told even where the address leaves it out: it may be what is wrong.
func (c *config) endpoint() string {
	host, port, err := c.hostPort()
	if err != nil {
		return c.Address
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// explainNetwork explains what kept us from a conversation with the server at all.
func (c *config) explainNetwork(err error) *protocol.Problem {
	problem := func(kind protocol.Kind, summary, fix string) *protocol.Problem {
		return &protocol.Problem{Kind: kind, Summary: summary, Fix: fix}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return problem(protocol.Config, fmt.Sprintf("the host of address %s is unknown", c.Address), "correct the address")
		}
		return problem(protocol.Transient, fmt.Sprintf("the host of address %s could not be looked up", c.Address), "look after the name service of this machine")
	}
	if p := c.explainTLS(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, pgwire.ErrStreamEnded):
		return problem(protocol.Transient, fmt.Sprintf("the server at %s ended the replication stream", c.Address), "try again; it was shut down, or somebody ended the session")
	case errors.Is(err, syscall.ECONNREFUSED):
		return problem(protocol.Transient, fmt.Sprintf("nothing accepts connections at %s", c.endpoint()),
			"start the server, or correct address and port; it must listen on that interface (listen_addresses)")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return problem(protocol.Transient, fmt.Sprintf("there is no route to %s", c.endpoint()), "check the network; some providers' direct addresses are IPv6 only")
	case errors.Is(err, pgwire.ErrServerSilent), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return problem(protocol.Transient, fmt.Sprintf("the server at %s does not answer", c.endpoint()), "check address, port, and the firewalls in between")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), strings.Contains(err.Error(), "unexpected EOF"):
		return problem(protocol.Transient, fmt.Sprintf("the connection to %s was cut", c.endpoint()), "try again; if it happens at once every time, something else than PostgreSQL listens there")
	}
	return nil
}

func (c *config) explainTLS(err error) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config}
	// The driver says so with a text only.
	if strings.Contains(err.Error(), "server refused TLS connection") {
		p.Summary = fmt.Sprintf("the server at %s does not speak TLS, which sslmode %s demands", c.Address, c.Advanced.SSLMode)
		p.Fix = "switch TLS on at the server (ssl = on), or set advanced.sslmode to prefer or disable"
		return p
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		p.Summary = fmt.Sprintf("the certificate of the server at %s is for another host", c.Address)
		p.Fix = "use the host name that the certificate names, or sslmode verify-ca"
		return p
	}
	_, unknownAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	if unknownAuthority || unverified || invalid {
		p.Summary = fmt.Sprintf("the certificate of the server at %s cannot be trusted", c.Address)
		p.Fix = "let PGSSLROOTCERT name the file of its certificate authority, or use sslmode require, which trusts any"
		return p
	}
	return nil
}
