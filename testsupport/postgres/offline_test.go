package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
)

// stopped is the data directory of a private cluster that does not run at the moment.
type stopped struct {
	t    *testing.T
	bin  string
	path string
}

// offline stops a private cluster, lets work change its data directory, and starts it again.
func offline(t *testing.T, cluster *pgtest.Cluster, work func(stopped)) {
	t.Helper()
	rows, err := cluster.Query("postgres", "SHOW data_directory")
	if err != nil {
		t.Fatal(err)
	}
	s := stopped{t: t, path: rows[0][0]}
	if s.bin, err = pgtest.BinDir(cluster.Version); err != nil {
		t.Fatal(err)
	}
	s.run(filepath.Join(s.bin, "pg_ctl"), "stop", "--pgdata="+s.path, "--mode=fast", "--wait")
	work(s)
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
}

// run runs a program as the account that owns the data directory.
func (s stopped) run(program string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	info, err := os.Stat(filepath.Dir(s.path))
	if err != nil {
		s.t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", filepath.Base(program), err, out)
	}
}

func TestState_OfAServerThatWasRestoredFromABackup(t *testing.T) {
	cluster := pgtest.Start(t, pgtest.Options{})
	d := databaseOn(t, cluster, "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'x')")
	a := table("a", "id")
	c := d.capture(a)
	c.catchUp()
	var backup string
	offline(t, cluster, func(s stopped) {
		backup = s.path + ".backup"
		s.run("cp", "-a", s.path, backup)
	})
	d.exec("INSERT INTO a VALUES (2, 'lost')", "SELECT pg_switch_wal()", "INSERT INTO a VALUES (3, 'lost')")
	c.catchUp()
	offline(t, cluster, func(s stopped) {
		s.run("mv", s.path, s.path+".lost")
		s.run("mv", backup, s.path)
	})
	d.exec("INSERT INTO a VALUES (2, 'after')")
	c.start().fails("config_error", "the state ends at ", "but the server's log only reaches ", "restored from a backup", "start over", "pipeline backfill FILE '*'")
	c = d.capture(a)
	c.catchUp()
	c.equal(a)
}

// The log and a table's rows name a transaction by 32 bits, which start again at 3 after 4,294,967,295.
func TestTransactionIDs_ThatStartAgain(t *testing.T) {
	cluster := pgtest.Start(t, pgtest.Options{Conf: map[string]string{"autovacuum": "off"}})
	for _, database := range []string{"template0", "template1", "postgres"} {
		if err := cluster.Exec("postgres", "ALTER DATABASE "+database+" ALLOW_CONNECTIONS true"); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Exec(database, "VACUUM (FREEZE)"); err != nil {
			t.Fatal(err)
		}
	}
	offline(t, cluster, func(s stopped) {
		s.run(filepath.Join(s.bin, "pg_resetwal"), "--next-transaction-id=4294966996", "--oldest-transaction-id=4294966996", s.path)
		// The page of pg_xact that holds this id: 2 bits each, 32 pages of 8 KiB a file.
		s.run("dd", "if=/dev/zero", "of="+filepath.Join(s.path, "pg_xact", "0FFF"), "bs=8192", "count=32")
	})
	d := databaseOn(t, cluster, wide, fillWide("1", "30"))
	a := table("a", "id")
	c := d.capture(a).set(map[string]any{"backfill_chunk_size": 4})
	r := c.held(3, "--tail")
	r.await("its first rows", func() bool { return len(r.records) >= 3 })
	const wrapped = "SELECT pg_current_xact_id() > '4294967296'"
	if d.one(wrapped) == "t" {
		t.Fatal("the ids have started again before the backfill")
	}
	conn := d.connect()
	for i := range 400 {
		d.run(conn, []string{
			"UPDATE a SET big = 'x' || txid_current() WHERE id = 1 + txid_current() % 30",
			"INSERT INTO a VALUES (100 + txid_current() % 1000, 'y')",
			"DELETE FROM a WHERE id = (SELECT min(id) FROM a WHERE id >= 100)",
		}[i%3])
		if i == 200 {
			r.release()
		}
	}
	if d.one(wrapped) != "t" {
		t.Fatal("the ids have not started again, so the test shows nothing")
	}
	r.awaitActive(a.Stream)
	d.exec("INSERT INTO a VALUES (5000, 'last')")
	r.awaitRow(a.Stream, "id", "5000")
	r.kill()
	d.exec("UPDATE a SET big = 'last' WHERE id = 2")
	c.catchUp()
	c.equal(a)
}

// Streams' states are stored one by one, so that one of them can be older than the rest, and of a time that the server remembers.
func TestState_OfOneStreamAheadOfTheServerFailsItAlone(t *testing.T) {
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	a, b := table("a", "id"), table("b", "id")
	c := d.capture(a, b)
	c.catchUp()
	c.state = regexp.MustCompile(`(?s)("name":\s*"b".*?"lsn":\s*")[^"]*`).ReplaceAll(c.state, []byte("${1}7FFF/0"))
	d.exec("INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (2)")
	r := c.start().fails("config_error", "the state of table public.b ends at ", "but the server's log only reaches ")
	if a, b := r.status(a.Stream), r.status(b.Stream); a != "COMPLETE" || b != "INCOMPLETE" {
		t.Errorf("the streams ended %s and %s, want the second alone to be incomplete", a, b)
	}
	c.equal(a)
}
