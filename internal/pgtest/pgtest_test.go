package pgtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var servers Shared

func TestMain(m *testing.M) {
	if os.Getenv("PGTEST_CHILD") != "" {
		child()
		return
	}
	servers.Run(m)
}

func TestEveryVersion(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			c := Start(t, Options{Version: version, Conf: map[string]string{"application_name": "it's"}})
			want := map[string]string{
				"SHOW wal_level": "logical", "SHOW synchronous_commit": "on", "SHOW fsync": "off", "SHOW server_encoding": "UTF8",
				"SHOW application_name": "it's", "SELECT NULL": Null, "SELECT current_setting('server_version_num')::int / 10000": fmt.Sprint(version),
				`SELECT 'a' < 'B' COLLATE "en-x-icu"`: "t",
			}
			for sql, value := range want {
				rows, err := c.Query("postgres", sql)
				if err != nil || len(rows) != 1 || rows[0][0] != value {
					t.Errorf("%s: got %v, %v, want %s", sql, rows, err, value)
				}
			}
			err := c.Exec("postgres", "SELECT 1/0")
			if err == nil || !strings.Contains(err.Error(), "22012: division by zero") {
				t.Errorf("an SQL error came back as %v", err)
			}
		})
	}
}

func TestRestartKeepsDataAndPort(t *testing.T) {
	c := Start(t, Options{})
	port := c.Port
	must(t, c.Exec("postgres", "CREATE TABLE kept AS SELECT 7 AS n"))
	must(t, c.SetConf("wal_level", "replica"))
	must(t, c.Restart())
	rows, err := c.Query("postgres", "SELECT n, current_setting('wal_level') FROM kept")
	if err != nil || rows[0][0] != "7" || rows[0][1] != "replica" || c.Port != port {
		t.Fatalf("after the restart: %v, %v, port %d, want 7 and replica on port %d", rows, err, c.Port, port)
	}
}

func TestReloadIsSeenByTheNextSession(t *testing.T) {
	c := servers.Cluster(t, 0)
	for i := range 5 {
		value := fmt.Sprintf("%d1ms", i+1)
		must(t, c.SetConf("deadlock_timeout", value))
		must(t, c.Reload())
		if rows, err := c.Query("postgres", "SHOW deadlock_timeout"); err != nil || rows[0][0] != value {
			t.Fatalf("after Reload: %v, %v, want %s", rows, err, value)
		}
	}
}

func TestDatabaseIsDroppedThoughASlotIsInIt(t *testing.T) {
	c := servers.Cluster(t, 0)
	var name string
	t.Run("inner", func(t *testing.T) {
		name = c.NewDatabase(t)
		must(t, c.Exec(name, "SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')"))
	})
	rows, err := c.Query("postgres", "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'")
	if err != nil || rows[0][0] != "0" {
		t.Fatalf("database %s after its test: %v, %v", name, rows, err)
	}
}

// A password is asked for over TCP, as it is in production: startup without one must meet an authentication request (SASL is 10).
func TestTCPAsksForAPassword(t *testing.T) {
	conn, err := net.Dial("tcp", servers.Cluster(t, 0).Addr())
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00")
	must(t, err)
	var answer [9]byte
	_, err = io.ReadFull(conn, answer[:])
	must(t, err)
	if answer[0] != 'R' || answer[8] != 10 {
		t.Fatalf("the server answered %q, want a request for SASL", answer)
	}
}

func TestMissingServerNamesTheCure(t *testing.T) {
	t.Setenv("CONNECTORS_CACHE", t.TempDir())
	_, err := New(Options{Version: 17})
	if err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Fatalf("without PostgreSQL 17: %v", err)
	}
}

func TestStopRemovesEverything(t *testing.T) {
	c, err := New(Options{})
	must(t, err)
	pid := c.server.pid()
	must(t, c.Stop())
	if _, err := os.Stat(c.root); !os.IsNotExist(err) {
		t.Errorf("the cluster's folder after Stop: %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the server after Stop: %v", err)
	}
}

// A test that is killed takes its server with it, and the next one removes the folder.
func TestServerDiesWithItsTest(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PGTEST_CHILD=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var pid int
	var root string
	if _, err = fmt.Fscan(bufio.NewReader(out), &pid, &root); err != nil {
		t.Fatalf("reading what the child started: %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed: that is the point
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("server %d outlived its test by 20 s", pid)
		}
	}
	old := time.Now().Add(-2 * time.Minute)
	must(t, os.Chtimes(root, old, old))
	sweep(filepath.Dir(root))
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("%s of a dead test is still there: %v", root, err)
	}
}

func child() {
	c, err := New(Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(c.server.pid(), c.root)
	select {}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
