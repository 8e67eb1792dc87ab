package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
)

func TestExplain(t *testing.T) {
	server := func(code, message string) error {
		return &pgconn.PgError{Severity: "FATAL", Code: code, Message: message}
	}
	for _, c := range []struct {
		name string
		err  error
		kind protocol.Kind
		want []string
	}{
		{"password", server("28P01", `password authentication failed for user "joe"`), protocol.Config, []string{`user "joe"`, "password"}},
		{"no password", server("28P01", `password authentication failed for user "joe"`), protocol.Config, []string{"none is configured", "set password"}},
		{"no pg_hba line", server("28000", `no pg_hba.conf entry for host "10.0.0.1", user "joe", database "shop", SSL encryption`), protocol.Config, []string{"pg_hba.conf"}},
		{"TLS only", server("28000", `no pg_hba.conf entry for host "10.0.0.1", user "joe", database "shop", no encryption`), protocol.Config, []string{"only over TLS", "sslmode"}},
		{"no login", server("28000", `role "joe" is not permitted to log in`), protocol.Config, []string{`ALTER ROLE "joe" LOGIN;`}},
		{"database", server("3D000", `database "shop" does not exist`), protocol.Config, []string{`database "shop" does not exist`}},
		{"connect", server("42501", `permission denied for database "shop"`), protocol.Config, []string{`GRANT CONNECT ON DATABASE "shop" TO "joe";`}},
		{"replicate", server("42501", "must be superuser or replication role to start walsender"), protocol.Config, []string{`REPLICATION;`}},
		{"replicate, 16", server("42501", "permission denied to start WAL sender"), protocol.Config, []string{`REPLICATION;`}},
		{"policy", server("42501", `query would be affected by row-level security policy for table "orders"`), protocol.Config, []string{"row-level security", "BYPASSRLS;"}},
		{"table", server("42501", "permission denied for table orders"), protocol.Config, []string{"permission denied for table orders", "testing"}},
		{"too many", server("53300", "sorry, too many clients already"), protocol.Transient, []string{"no connection left", "max_connections"}},
		{"starting", server("57P03", "the database system is starting up"), protocol.Transient, []string{"try again"}},
		{"standby before 16", server("0A000", "logical decoding cannot be used while in recovery"), protocol.Config, []string{"standby", "writer endpoint"}},
		{"standby of a primary without", server("55000", "logical decoding on standby requires wal_level >= logical on the primary"), protocol.Config, []string{"standby", "writer endpoint"}},
		{"slots", server("53400", "all replication slots are in use"), protocol.Config, []string{"max_replication_slots"}},
		// bug sql-cdc 84: estuary/connectors history: through a pooler the replication connection ended in a cryptic error.
		{"pgbouncer", server("08P01", "unsupported startup parameter: extra_float_digits"), protocol.Config, []string{"connection pooler"}},
		{"pgbouncer, replication", server("08P01", "no replication connections allowed"), protocol.Config, []string{"connection pooler"}},
		{"refused", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, protocol.Transient, []string{"db.example.com:5432", "listen_addresses"}},
		{"no route", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}, protocol.Transient, []string{"no route"}},
		{"timeout", fmt.Errorf("dialling: %w", context.DeadlineExceeded), protocol.Transient, []string{"does not answer", "firewall"}},
		{"unknown host", &net.DNSError{Err: "no such host", Name: "db.example.com", IsNotFound: true}, protocol.Config, []string{"unknown"}},
		{"name service", &net.DNSError{Err: "server misbehaving", Name: "db.example.com", IsTemporary: true}, protocol.Transient, []string{"looked up"}},
		{"cut", fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), protocol.Transient, []string{"was cut"}},
		// bug sql-cdc 54: estuary/connectors history: a server that shut down ended the stream cleanly.
		{"stream ended", fmt.Errorf("reading: %w: it closed the connection", pgwire.ErrStreamEnded), protocol.Transient, []string{"ended the replication stream", "try again"}},
		{"silence", fmt.Errorf("reading: %w", pgwire.ErrServerSilent), protocol.Transient, []string{"does not answer"}},
		{"no TLS", errors.New("server refused TLS connection"), protocol.Config, []string{"does not speak TLS", "verify-full"}},
		{"other host's certificate", &tls.CertificateVerificationError{Err: x509.HostnameError{Host: "db.example.com", Certificate: new(x509.Certificate)}}, protocol.Config, []string{"another host"}},
		{"unknown authority", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, protocol.Config, []string{"PGSSLROOTCERT"}},
	} {
		cfg := &config{Address: "db.example.com", User: "joe", Password: "hunter2", Database: "shop", Advanced: advanced{SSLMode: "verify-full"}}
		if c.name == "no password" {
			cfg.Password = ""
		}
		got := cfg.explain("testing", c.err)
		problem, ok := errors.AsType[*protocol.Problem](got)
		if !ok || problem.Kind != c.kind || problem.Fix == "" || !errors.Is(got, c.err) {
			t.Errorf("%s: got %#v", c.name, got)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(got.Error(), want) {
				t.Errorf("%s: %q is missing in %q", c.name, want, got)
			}
		}
	}
}

func TestExplain_LeavesAloneWhatItDoesNotKnow(t *testing.T) {
	cfg := new(config)
	if got := cfg.explain("testing", nil); got != nil {
		t.Errorf("got %v", got)
	}
	if got := cfg.explain("testing", context.Canceled); !errors.Is(got, context.Canceled) || strings.Contains(got.Error(), "testing") {
		t.Errorf("got %v", got)
	}
	unknown := &pgconn.PgError{Severity: "ERROR", Code: "XX000", Message: "boom"}
	if got := cfg.explain("testing", unknown); protocol.KindOf(got) != protocol.System || got.Error() != "testing: "+unknown.Error() {
		t.Errorf("got %v", got)
	}
	problem := &protocol.Problem{Kind: protocol.Transient, Summary: "x"}
	if got := cfg.explain("testing", problem); got != error(problem) {
		t.Errorf("got %v", got)
	}
}

func TestCloudOf(t *testing.T) {
	for address, want := range map[string]cloud{
		"shop.abc.eu-central-1.rds.amazonaws.com:5432": amazon, "SHOP.cluster-ro-x.eu-central-1.rds.amazonaws.com": amazon,
		"x.postgres.database.azure.com": azure, "abc.europe-west1.sql.goog:5432": google, "localhost": unknownCloud, "rds.amazonaws.com.evil.example": unknownCloud,
	} {
		if got := cloudOf(address); got != want {
			t.Errorf("%s: got %d, want %d", address, got, want)
		}
	}
}

// A server that hangs must not hang the check.
func TestConnect_GivesUpOnASilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cfg := &config{Address: listener.Addr().String(), User: "u", Database: "d", Advanced: advanced{SSLMode: "disable"}}
	settings, err := cfg.pgConfig(false)
	if err != nil || settings.ConnectTimeout != 20*time.Second {
		t.Fatalf("got %v, %v", settings.ConnectTimeout, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = cfg.connect(ctx)
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}
