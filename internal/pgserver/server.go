// Package pgserver is where a PostgreSQL server is, how to connect to it, and what its refusals mean. It is shared by the connectors that speak to one;
// what a session is for, and which settings that takes, is theirs.
package pgserver

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/protocol"
)

// Server is a server, a database of it, and a role to log in as.
type Server struct {
	Address  string // host or host:port
	Port     int    // where the address has none; 0: 5432
	User     string
	Password string
	Database string
	SSLMode  string // as in libpq; "": prefer
}

const (
	defaultPort    = 5432
	connectTimeout = 20 * time.Second
)

// keepAlive finds a peer that has vanished (a NAT that forgot us, a machine that lost its power) within five minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 120 * time.Second, Interval: 30 * time.Second, Count: 6}

// HostPort reads the address.
func (s *Server) HostPort() (host string, port int, err error) {
	text := strings.TrimSpace(s.Address) // pasted with what stood around it
	bad := func(fix string) (string, int, error) {
		// The address is not repeated: people paste whole connection URLs, passwords included.
		return "", 0, &protocol.Problem{Kind: protocol.Config, Summary: "address is no host or host:port", Fix: fix}
	}
	switch {
	case text == "":
		return "", 0, &protocol.Problem{Kind: protocol.Config, Summary: "address is missing", Fix: "write host or host:port"}
	case strings.Contains(text, "://"), strings.ContainsAny(text, "@?=, \t"):
		return bad("write host or host:port only, and put user, password and database into their own fields")
	}
	port = defaultPort
	if s.Port != 0 {
		port = s.Port
	}
	host = text
	if h, p, splitErr := net.SplitHostPort(text); splitErr == nil {
		if port, err = strconv.Atoi(p); err != nil {
			return bad("the part after the colon is the port, a number")
		}
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "" {
		return bad("the host is missing before the colon")
	}
	if port < 1 || port > 65535 {
		return bad("a port is a number from 1 to 65535")
	}
	return host, port, nil
}

// Endpoint is host:port, the port told even where the address leaves it out: it may be what is wrong.
func (s *Server) Endpoint() string {
	host, port, err := s.HostPort()
	if err != nil {
		return s.Address
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// RefusePooler turns away the addresses of connection poolers that are known by their form. needs says what a pooler cannot carry.
func (s *Server) RefusePooler(needs string) error {
	host, port, err := s.HostPort()
	if err != nil {
		return err
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	direct := ""
	switch {
	case strings.HasSuffix(host, ".pooler.supabase.com"),
		strings.HasSuffix(host, ".supabase.co") && port == 6543:
		direct = "use the project's direct connection, db.<project>.supabase.co:5432"
	case strings.HasSuffix(host, ".neon.tech") && strings.Contains(strings.SplitN(host, ".", 2)[0], "-pooler"):
		direct = "use the endpoint's host without -pooler"
	case strings.HasSuffix(host, ".postgres.database.azure.com") && port == 6432:
		direct = "use port 5432, where the server itself listens"
	case strings.HasSuffix(host, ".db.ondigitalocean.com") && port == 25061:
		direct = "use the direct port of the cluster, 25060"
	default:
		return nil
	}
	return &protocol.Problem{Kind: protocol.Config, Summary: "address leads to a connection pooler, which cannot carry " + needs, Fix: direct}
}

// Config is how to connect, with settings of the session, which win over what a DBA set for the role or the database. The environment is not asked, except
// for the certificates that PGSSLROOTCERT, PGSSLCERT and PGSSLKEY name.
func (s *Server) Config(settings map[string]string) (*pgconn.Config, error) {
	host, port, err := s.HostPort()
	if err != nil {
		return nil, err
	}
	mode := s.SSLMode
	if mode == "" {
		mode = "prefer"
	}
	// Only what shapes the TLS configuration and its fallbacks goes through the parser: it never sees the password, so no error of it can quote it,
	// and with a password given it looks into no password file.
	p, err := pgconn.ParseConfig(fmt.Sprintf("host='%s' port=%d user=x password=x sslmode=%s target_session_attrs=any", escape(host), port, mode))
	if err != nil {
		return nil, s.Explain("reading the connection settings", err)
	}
	p.User, p.Password, p.Database = s.User, s.Password, s.Database
	p.ConnectTimeout = connectTimeout
	p.DialFunc = (&net.Dialer{Timeout: connectTimeout, KeepAliveConfig: keepAlive}).DialContext
	p.RuntimeParams = maps.Clone(settings)
	return p, nil
}

// escape escapes a value for a keyword/value connection string.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)
}
