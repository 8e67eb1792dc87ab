package pgtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
	portAttempts = 5
)

// Cluster is one running server. Its methods are safe for concurrent use, except Restart and Stop.
type Cluster struct {
	Version int
	Port    int

	root   string // holds the data directory, the socket and the log
	binDir string
	owner  *account

	mu     sync.Mutex // guards conf
	conf   map[string]string
	server *process
}

// Start starts a cluster that ends with the test.
func Start(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	c, err := New(o)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if err := c.Stop(); err != nil {
			tb.Errorf("%v", err)
		}
	})
	return c
}

// New starts a cluster; the caller must Stop it. It also dies with this process.
func New(o Options) (*Cluster, error) {
	binDir, err := BinDir(o.version())
	if err != nil {
		return nil, err
	}
	owner, err := serverAccount()
	if err != nil {
		return nil, err
	}
	root, err := newRoot(owner)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Version: o.version(), root: root, binDir: binDir, owner: owner, conf: defaults()}
	c.conf["unix_socket_directories"] = root
	for name, value := range o.Conf {
		c.conf[name] = value
	}
	if err = c.initdb(); err == nil {
		err = c.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return c, nil
}

// Addr is the server's TCP address, host:port.
func (c *Cluster) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) }

// DSN is the superuser's connection string for a database.
func (c *Cluster) DSN(database string) string { return c.DSNAs(User, Password, database) }

// DSNAs is the connection string of another role.
func (c *Cluster) DSNAs(user, password, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: c.Addr(), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Restart stops the server as an administrator would (fast shutdown) and starts it again on the same port, with the same data.
func (c *Cluster) Restart() error {
	if err := c.server.stop(stopTimeout); err != nil {
		return err
	}
	return c.start()
}

// Stop ends the server and removes everything that it left on the disk.
func (c *Cluster) Stop() error {
	err := c.server.stop(stopTimeout)
	return errors.Join(err, os.RemoveAll(c.root))
}

// Log returns the server's log since the cluster was made.
func (c *Cluster) Log() string {
	text, err := os.ReadFile(c.logPath())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *Cluster) dataDir() string { return filepath.Join(c.root, "data") }
func (c *Cluster) logPath() string { return filepath.Join(c.root, "log") }

func (c *Cluster) initdb() error {
	passwordFile := filepath.Join(c.root, "password")
	if err := os.WriteFile(passwordFile, []byte(Password+"\n"), 0o644); err != nil { //nolint:gosec // the server's account has to read it; it guards nothing
		return fmt.Errorf("writing the password file: %w", err)
	}
	cmd := exec.Command(filepath.Join(c.binDir, "initdb"), "--pgdata="+c.dataDir(), "--username="+User, "--pwfile="+passwordFile,
		"--auth-host=scram-sha-256", "--auth-local=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	cmd.Dir = c.root
	cmd.SysProcAttr = c.owner.sysProcAttr()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb of PostgreSQL %d: %w: %s", c.Version, err, out)
	}
	mainConf, err := os.OpenFile(filepath.Join(c.dataDir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening postgresql.conf: %w", err)
	}
	_, err = io.WriteString(mainConf, "\ninclude = 'pgtest.conf'\n")
	return errors.Join(err, mainConf.Close())
}

func (c *Cluster) startOnFreePort() error {
	var err error
	for range portAttempts {
		// Another process may take the port between our look and the server's bind: then the server refuses to start, and another port is tried.
		if c.Port, err = freePort(); err != nil {
			return err
		}
		if err = c.start(); err == nil || !strings.Contains(err.Error(), "could not bind") {
			return err
		}
	}
	return err
}

func (c *Cluster) start() error {
	if err := c.writeConf(); err != nil {
		return err
	}
	logFile, err := os.OpenFile(c.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the server's log: %w", err)
	}
	defer logFile.Close() // the server has its own descriptor
	cmd := exec.Command(filepath.Join(c.binDir, "postgres"), "-D", c.dataDir(), "-p", strconv.Itoa(c.Port))
	cmd.Dir = c.root
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = c.owner.sysProcAttr()
	if c.server, err = startProcess(cmd); err != nil {
		return fmt.Errorf("starting PostgreSQL %d: %w", c.Version, err)
	}
	if err = c.awaitReady(); err != nil {
		return errors.Join(err, c.server.stop(stopTimeout))
	}
	return nil
}

// awaitReady reads the status line of postmaster.pid, as pg_ctl does: no connection is spent, and none is refused.
func (c *Cluster) awaitReady() error {
	pid := strconv.Itoa(c.server.pid())
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if c.server.ended() {
			return fmt.Errorf("starting PostgreSQL %d: it ended at once: %s", c.Version, tail(c.Log(), 2000))
		}
		text, err := os.ReadFile(filepath.Join(c.dataDir(), "postmaster.pid"))
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		if len(lines) >= 8 && lines[0] == pid && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
	}
	return fmt.Errorf("starting PostgreSQL %d: not ready after %s: %s", c.Version, startTimeout, tail(c.Log(), 2000))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close() // only the number is wanted
	return l.Addr().(*net.TCPAddr).Port, nil
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}
