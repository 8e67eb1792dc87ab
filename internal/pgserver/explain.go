package pgserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

// SQLSTATEs of logging in and of staying connected. https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	invalidPassword      = "28P01"
	invalidAuthorization = "28000"
	noDatabase           = "3D000"
	protocolViolation    = "08P01"
	tooManyConnections   = "53300"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
)

// State is the server's code for err; empty: the server did not say anything.
func State(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// Explain turns an error of the driver or the server into a sentence that names the cure. doing says what was being done, in the -ing form. What it
// does not know it only wraps. A context that has ended is not the server's fault and stays as it is.
func (s *Server) Explain(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*protocol.Problem](err); ok {
		return err
	}
	var p *protocol.Problem
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		p = s.explainServer(pg)
	} else {
		p = s.explainNetwork(err)
	}
	if p == nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	p.Err = err
	return p
}

func problem(kind protocol.Kind, summary, fix string) *protocol.Problem {
	return &protocol.Problem{Kind: kind, Summary: summary, Fix: fix}
}

func (s *Server) explainServer(pg *pgconn.PgError) *protocol.Problem {
	switch pg.Code {
	case invalidPassword:
		if s.Password == "" {
			return problem(protocol.Config, fmt.Sprintf("the server at %s demands a password of user %q, and none is configured", s.Address, s.User), "set password")
		}
		p := problem(protocol.Config, fmt.Sprintf("the server at %s does not accept the password of user %q, or has no such role", s.Address, s.User), "correct user or password, or set a new one")
		p.SQL = fmt.Sprintf("ALTER ROLE %s PASSWORD '…';", pgwire.QuoteIdentifier(s.User))
		return p
	case invalidAuthorization:
		return s.explainAuthorization(pg)
	case noDatabase:
		return problem(protocol.Config, fmt.Sprintf("database %q does not exist at %s", s.Database, s.Address), "correct the name of the database")
	case tooManyConnections:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s has no connection left (%s)", s.Address, pg.Message), "close connections that nobody needs, or raise max_connections")
	case cannotConnectNow, adminShutdown, crashShutdown:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s is starting or shutting down, or somebody ended the session (%s)", s.Address, pg.Message), "try again in a moment")
	}
	if strings.Contains(pg.Message, "for database") && pg.Code == "42501" {
		p := problem(protocol.Config, fmt.Sprintf("user %q may not connect to database %q", s.User, s.Database), "grant it")
		p.SQL = fmt.Sprintf("GRANT CONNECT ON DATABASE %s TO %s;", pgwire.QuoteIdentifier(s.Database), pgwire.QuoteIdentifier(s.User))
		return p
	}
	if m := strings.ToLower(pg.Message); pg.Code == protocolViolation && (strings.Contains(m, "unsupported startup parameter") || strings.Contains(m, "pgbouncer")) ||
		strings.Contains(m, "no such database") {
		return problem(protocol.Config, fmt.Sprintf("address %s leads to a connection pooler (%s)", s.Address, pg.Message), "use the address of the server itself")
	}
	return nil
}

func (s *Server) explainAuthorization(pg *pgconn.PgError) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config}
	message := pg.Message
	switch {
	case strings.Contains(message, "not permitted to log in"):
		p.Summary = fmt.Sprintf("user %q may not log in", s.User)
		p.Fix, p.SQL = "allow it", fmt.Sprintf("ALTER ROLE %s LOGIN;", pgwire.QuoteIdentifier(s.User))
	case strings.Contains(message, "no encryption"), strings.Contains(message, "SSL off"):
		p.Summary = fmt.Sprintf("the server at %s accepts user %q only over TLS", s.Address, s.User)
		p.Fix = "set advanced.sslmode to require, or leave it out"
	case strings.Contains(message, "pg_hba.conf"):
		p.Summary = fmt.Sprintf("the server at %s lets user %q in neither from here nor this way (%s)", s.Address, s.User, message)
		p.Fix = "add a line to its pg_hba.conf, or allow this machine in the provider's network settings"
	default:
		p.Summary = fmt.Sprintf("the server at %s does not let user %q in (%s)", s.Address, s.User, message)
		p.Fix = "correct user and password"
	}
	return p
}

// explainNetwork explains what kept us from a conversation with the server at all.
func (s *Server) explainNetwork(err error) *protocol.Problem {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return problem(protocol.Config, fmt.Sprintf("the host of address %s is unknown", s.Address), "correct the address")
		}
		return problem(protocol.Transient, fmt.Sprintf("the host of address %s could not be looked up", s.Address), "look after the name service of this machine")
	}
	if p := s.explainTLS(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return problem(protocol.Transient, fmt.Sprintf("nothing accepts connections at %s", s.Endpoint()),
			"start the server, or correct address and port; it must listen on that interface (listen_addresses)")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return problem(protocol.Transient, fmt.Sprintf("there is no route to %s", s.Endpoint()), "check the network; some providers' direct addresses are IPv6 only")
	case errors.Is(err, pgwire.ErrServerSilent), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return problem(protocol.Transient, fmt.Sprintf("the server at %s does not answer", s.Endpoint()), "check address, port, and the firewalls in between")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed), strings.Contains(err.Error(), "unexpected EOF"):
		return problem(protocol.Transient, fmt.Sprintf("the connection to %s was cut", s.Endpoint()), "try again; if it happens at once every time, something else than PostgreSQL listens there")
	}
	return nil
}

func (s *Server) explainTLS(err error) *protocol.Problem {
	// The driver says so with a text only.
	if strings.Contains(err.Error(), "server refused TLS connection") {
		return problem(protocol.Config, fmt.Sprintf("the server at %s does not speak TLS, which sslmode %s demands", s.Address, s.SSLMode),
			"switch TLS on at the server (ssl = on), or set advanced.sslmode to prefer or disable")
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return problem(protocol.Config, fmt.Sprintf("the certificate of the server at %s is for another host", s.Address), "use the host name that the certificate names, or sslmode verify-ca")
	}
	_, unknownAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	if unknownAuthority || unverified || invalid {
		return problem(protocol.Config, fmt.Sprintf("the certificate of the server at %s cannot be trusted", s.Address),
			"let PGSSLROOTCERT name the file of its certificate authority, or use sslmode require, which trusts any")
	}
	return nil
}
