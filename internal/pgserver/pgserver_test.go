package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/protocol"
)

func TestHostPort(t *testing.T) {
	for _, c := range []struct {
		address string
		port    int
		want    string
	}{
		{"h", 0, "h 5432"},
		{"h:5433", 0, "h 5433"},
		{" h:5433\n", 0, "h 5433"},
		{"[::1]:5433", 0, "::1 5433"},
		{"[::1]", 0, "::1 5432"},
		{"2001:db8::7", 0, "2001:db8::7 5432"},
		{"/var/run/postgresql", 0, "/var/run/postgresql 5432"},
		{"h", 5434, "h 5434"},
		{"h:5433", 5434, "h 5433"},
		{"", 0, "address is missing"},
		{"postgres://u:hunter2@h/db", 0, "host or host:port only"},
		{"a,b", 0, "host or host:port only"},
		{"h:pg", 0, "the port, a number"},
		{"h:70000", 0, "from 1 to 65535"},
		{":5432", 0, "host is missing"},
	} {
		s := &Server{Address: c.address, Port: c.port}
		host, port, err := s.HostPort()
		got := host + " " + strconv.Itoa(port)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") {
			t.Errorf("%q: got %s, want %s", c.address, got, c.want)
		}
	}
}

func TestRefusePooler(t *testing.T) {
	for address, refused := range map[string]bool{
		"aws-0-eu-central-1.pooler.supabase.com": true, "db.abc.supabase.co:6543": true, "db.abc.supabase.co": false, "ep-x-1-pooler.us-east-2.aws.neon.tech": true, "ep-x-1.us-east-2.aws.neon.tech": false,
		"x.postgres.database.azure.com:6432": true, "x.postgres.database.azure.com": false, "c.db.ondigitalocean.com:25061": true, "pooler.example.com:6432": false,
	} {
		err := (&Server{Address: address}).RefusePooler("anything")
		if (err != nil) != refused || err != nil && (protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "cannot carry anything")) {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// bug materializations 88: estuary/connectors history: a connection that a NAT had forgotten hung for ever
func TestConfig_KeepsConnectionsAlive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &Server{Address: l.Addr().String(), User: "u", Password: "p'w", Database: "d b", SSLMode: "disable"}
	settings := map[string]string{"application_name": "x"}
	c, err := s.Config(settings)
	if err != nil {
		t.Fatal(err)
	}
	if c.User != "u" || c.Password != "p'w" || c.Database != "d b" || c.RuntimeParams["application_name"] != "x" || c.ConnectTimeout != connectTimeout {
		t.Errorf("got %+v", c)
	}
	c.RuntimeParams["more"] = "y"
	if len(settings) != 1 {
		t.Error("the caller's settings were changed")
	}
	conn, err := c.DialFunc(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		for name, want := range map[int]int{syscall.TCP_KEEPIDLE: 120, syscall.TCP_KEEPINTVL: 30, syscall.TCP_KEEPCNT: 6} {
			if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, name); err != nil || got != want {
				t.Errorf("option %d is %d, %v, want %d", name, got, err, want)
			}
		}
		if on, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); err != nil || on == 0 {
			t.Errorf("keep-alives are off: %d, %v", on, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestExplain(t *testing.T) {
	s := &Server{Address: "db.example.com", User: "loa der", Database: "la ke", SSLMode: "require", Password: "hunter2"}
	pg := func(code, message string) error {
		return fmt.Errorf("connecting: %w", &pgconn.PgError{Code: code, Message: message})
	}
	for _, c := range []struct {
		err  error
		want string
		kind protocol.Kind
	}{
		{pg("28P01", "password authentication failed"), "does not accept the password", protocol.Config},
		{pg("28000", `role "x" is not permitted to log in`), `ALTER ROLE "loa der" LOGIN`, protocol.Config},
		{pg("28000", `no pg_hba.conf entry for host "1.2.3.4", user "x", database "y", no encryption`), "sslmode", protocol.Config},
		{pg("28000", `no pg_hba.conf entry for host "1.2.3.4"`), "pg_hba.conf", protocol.Config},
		{pg("3D000", "database does not exist"), `database "la ke" does not exist`, protocol.Config},
		{pg("53300", "too many clients"), "no connection left", protocol.Transient},
		{pg("57P01", "terminating connection"), "try again", protocol.Transient},
		{pg("57P03", "the database system is starting up"), "try again", protocol.Transient},
		{pg("42501", `permission denied for database "la ke"`), `GRANT CONNECT ON DATABASE "la ke" TO "loa der"`, protocol.Config},
		{pg("08P01", "unsupported startup parameter: extra_float_digits"), "connection pooler", protocol.Config},
		{pg("XX000", "odd"), "doing it: ", protocol.System},
		{&net.DNSError{IsNotFound: true}, "is unknown", protocol.Config},
		{&net.DNSError{IsTimeout: true}, "could not be looked up", protocol.Transient},
		{syscall.ECONNREFUSED, "nothing accepts connections at db.example.com:5432", protocol.Transient},
		{syscall.ECONNRESET, "was cut", protocol.Transient},
		{context.DeadlineExceeded, "does not answer", protocol.Transient},
		{errors.New("server refused TLS connection"), "does not speak TLS", protocol.Config},
	} {
		err := s.Explain("doing it", c.err)
		if !strings.Contains(err.Error(), c.want) || protocol.KindOf(err) != c.kind || !errors.Is(err, c.err) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: got %v, of kind %s; want %q", c.err, err, protocol.KindOf(err), c.want)
		}
	}
	s.Password = ""
	if err := s.Explain("x", pg("28P01", "")); !strings.Contains(err.Error(), "none is configured") {
		t.Errorf("got %v", err)
	}
	for _, same := range []error{nil, context.Canceled, &protocol.Problem{Summary: "x"}} {
		if got := s.Explain("x", same); got != same {
			t.Errorf("%v became %v", same, got)
		}
	}
}
