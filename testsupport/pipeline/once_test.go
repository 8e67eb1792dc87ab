package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const words = "CREATE TABLE a (k int PRIMARY KEY, word text); INSERT INTO a SELECT n, 'w' || n FROM generate_series(1, 1000) n"

func TestPipeline_CopiesOnceAndGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	r.once()
	r.equal([]string{"k"}, "a")
	run(t, r.left, "UPDATE a SET word = 'x' WHERE k < 100", "DELETE FROM a WHERE k > 900", "INSERT INTO a VALUES (5000, 'new')", "UPDATE a SET k = 6000 WHERE k = 500")
	r.once()
	r.equal([]string{"k"}, "a")
}

// state is what `pipeline state` prints.
type state struct {
	Checkpoint struct {
		Pipeline string            `json:"pipeline"`
		Epoch    int               `json:"epoch"`
		Txn      int               `json:"txn"`
		Capture  json.RawMessage   `json:"capture"`
		Backfill map[string]int    `json:"backfill"`
		MaxKeys  map[string][]byte `json:"maxKeys"`
	} `json:"checkpoint"`
	SinkState json.RawMessage `json:"sinkState"`
}

func (r *rig) state() (s state) {
	r.t.Helper()
	out, code := r.command("state", r.path)
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
		r.t.Fatalf("state ended with code %d, %v: %s", code, err, out)
	}
	return s
}

func (r *rig) store() string { return strings.TrimSuffix(r.path, ".yaml") + ".state" }

// The destination's checkpoint counts: without the store nothing is read again.
func TestPipeline_ResumesFromTheDestinationWithoutItsStore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words, "CREATE TABLE log (word text)", "ALTER TABLE log REPLICA IDENTITY FULL", "INSERT INTO log SELECT 'w' || n FROM generate_series(1, 50) n")
	r.write()
	r.once()
	before := r.state()
	if err := os.Remove(r.store()); err != nil {
		t.Fatal(err)
	}
	run(t, r.left, "UPDATE a SET word = 'x' WHERE k < 10", "INSERT INTO log VALUES ('new')", "DELETE FROM a WHERE k = 50")
	r.once()
	r.equal([]string{"k"}, "a")
	if n := one(t, r.right, "SELECT count(*)::text FROM log"); n != "51" {
		t.Errorf("the list of changes has %s rows, want 51: some came again", n)
	}
	after := r.state()
	if after.Checkpoint.Txn <= before.Checkpoint.Txn || after.Checkpoint.Epoch != before.Checkpoint.Epoch {
		t.Errorf("before %+v, after %+v", before.Checkpoint, after.Checkpoint)
	}
}

// contents is everything that is in a database, but for what the server changes by itself.
const contents = `SELECT coalesce(string_agg(format('%s %s %s', relname, relkind, reltuples), '; ' ORDER BY relname), 'nothing') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
	WHERE nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`

func TestPipeline_RefusesADestinationThatWasEmptied(t *testing.T) {
	t.Parallel()
	for _, how := range []struct{ name, sql, want string }{
		{"another database", "DROP TABLE a, flow_checkpoints_v1", "nothing"},
		{"a table of checkpoints without its row", "TRUNCATE flow_checkpoints_v1; TRUNCATE a", ""},
		{"a lost table of checkpoints", "DROP TABLE flow_checkpoints_v1", ""},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			run(t, r.left, words)
			r.write()
			r.once()
			run(t, r.left, "INSERT INTO a VALUES (2000, 'more')")
			r.once()
			txn := r.state().Checkpoint.Txn
			run(t, r.right, strings.Split(how.sql, "; ")...)
			before, rows := one(t, r.right, contents), one(t, r.right, "SELECT count(*)::text FROM a")
			if how.want != "" && before != how.want {
				t.Fatalf("the destination has %s", before)
			}
			want := fmt.Sprintf("Destination %s/%s knows nothing of pipeline copy, which has committed %d transactions: wrong database, or restored empty. To start over: pipeline reset %s",
				r.cluster.Addr(), r.sink, txn, r.path)
			for range 2 {
				out, code := r.command("run", r.path, "--once")
				if lines := strings.Split(strings.TrimSpace(out), "\n"); code != 1 || lines[len(lines)-1] != want {
					t.Errorf("code %d, the last line is\n%s\nwant\n%s", code, lines[len(lines)-1], want)
				}
			}
			if after, now := one(t, r.right, contents), one(t, r.right, "SELECT count(*)::text FROM a"); after != before || now != rows {
				t.Errorf("something was written: %s, %s rows; before: %s, %s rows", after, now, before, rows)
			}
			if out, code := r.command("reset", r.path, "--yes"); code != 0 {
				t.Fatalf("reset ended with code %d: %s", code, out)
			}
			r.once()
			r.equal([]string{"k"}, "a")
		})
	}
}

func TestPipeline_SecondRunnerEndsWithOneSentence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	r.start()
	r.until("the first rows", func() bool { return one(t, r.right, "SELECT count(*)::text FROM a") == "1000" })
	for _, args := range [][]string{{"run", r.path}, {"run", r.path, "--once"}, {"backfill", r.path, "public.a"}, {"reset", r.path, "--yes"}, {"state", r.path}} {
		began := time.Now()
		out, code := r.command(args...)
		if code != 1 || strings.Count(strings.TrimSpace(out), "\n") > 0 || !strings.Contains(out, "copy") {
			t.Errorf("pipeline %s beside a running one ended with code %d, want 1 and one sentence: %s", args[0], code, out)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("pipeline %s waited for %s", args[0], d)
		}
	}
	run(t, r.left, "DELETE FROM a WHERE k = 1")
	r.until("the next change", func() bool { return one(t, r.right, "SELECT count(*)::text FROM a") == "999" })
	r.stop()
}

func TestPipeline_HonoursColumnsAddedAndTablesTruncatedWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words, "CREATE TABLE b (k int PRIMARY KEY, n int)", "INSERT INTO b VALUES (1, 1), (2, 2)")
	r.write()
	r.start()
	pid := r.process.PID()
	r.until("the first rows", func() bool {
		return one(t, r.right, "SELECT count(*)::text FROM a") == "1000" && one(t, r.right, "SELECT count(*)::text FROM b") == "2"
	})
	run(t, r.left, "ALTER TABLE a ADD COLUMN extra numeric", "UPDATE a SET extra = k + 0.50 WHERE k <= 3", "INSERT INTO a VALUES (2000, 'more', 12345678901234567890.12)")
	r.until("the new column", func() bool {
		return one(t, r.right, "SELECT extra::text FROM a WHERE k = 2000") == "12345678901234567890.12"
	})
	r.equal([]string{"k"}, "a", "b")

	run(t, r.left, "TRUNCATE b", "INSERT INTO b VALUES (3, 3)", "ALTER TABLE b ADD COLUMN \"An odd; name\" text[]", `INSERT INTO b VALUES (4, 4, '{x,NULL}')`)
	r.until("what came after TRUNCATE", func() bool { return one(t, r.right, "SELECT string_agg(k::text, ' ' ORDER BY k) FROM b") == "3 4" })
	r.equal([]string{"k"}, "a", "b")

	run(t, r.left, "BEGIN; INSERT INTO b VALUES (5, 5); TRUNCATE a; INSERT INTO a VALUES (1, 'again'); COMMIT")
	r.until("the emptied table", func() bool { return one(t, r.right, "SELECT string_agg(word, ' ') FROM a") == "again" })
	r.equal([]string{"k"}, "a", "b")
	if !r.process.Alive() || r.process.PID() != pid {
		t.Error("the pipeline was started again")
	}
	r.stop()
}

func TestPipeline_StatusTellsHowItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	if out, code := r.command("status", r.path); code != 3 || !strings.Contains(out, "has not run here yet") {
		t.Errorf("of one that never ran: code %d, %s", code, out)
	}
	r.start()
	type status struct {
		Pipeline, State string
		PID             int
		Txn             int
		LastCommit      time.Time
		Streams         []struct {
			Name, Table, Phase string
			RowsIn, RowsOut    int
		}
	}
	var s status
	ask := func() int {
		t.Helper()
		out, code := r.command("status", r.path, "--json")
		s = status{}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return code
	}
	r.until("a status with rows", func() bool {
		_, err := os.Stat(r.path + ".status")
		return err == nil && ask() == 0 && len(s.Streams) == 1 && s.Streams[0].RowsOut == 1000
	})
	if s.Pipeline != "copy" || s.PID != r.process.PID() || s.Txn == 0 || time.Since(s.LastCommit) > time.Minute || s.Streams[0].Name != "public.a" || s.Streams[0].Table != "public.a" {
		t.Errorf("%+v", s)
	}
	r.until("the phase live", func() bool { return ask() == 0 && s.Streams[0].Phase == "live" })
	if out, code := r.command("status", r.path); code != 0 || !strings.Contains(out, "public.a") || !strings.Contains(out, "running") {
		t.Errorf("for people: code %d, %s", code, out)
	}
	if err := r.process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.ended()
	if out, code := r.command("status", r.path); code != 1 || !strings.Contains(out, "killed") {
		t.Errorf("after SIGKILL: code %d, %s", code, out)
	}
	r.once()
	if out, code := r.command("status", r.path); code != 3 {
		t.Errorf("after its end: code %d, %s", code, out)
	}
}

func TestPipeline_BackfillStartsAStreamAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words, "CREATE TABLE b (k int PRIMARY KEY, n int)", "INSERT INTO b VALUES (1, 1), (2, 2)")
	r.write()
	if out, code := r.command("backfill", r.path, "public.a"); code != 1 || strings.Count(strings.TrimSpace(out), "\n") > 0 {
		t.Errorf("before the first run: code %d, %s", code, out)
	}
	r.once()
	run(t, r.right, "UPDATE a SET word = 'spoilt'", "UPDATE b SET n = 77 WHERE k = 1")
	if out, code := r.command("backfill", r.path, "public.x"); code != 1 || !strings.Contains(out, "public.a") {
		t.Errorf("an unknown stream: code %d, %s", code, out)
	}
	out, code := r.command("backfill", r.path, "public.a")
	if code != 0 || !strings.Contains(out, "public.a") {
		t.Fatalf("code %d, %s", code, out)
	}
	r.once()
	r.equal([]string{"k"}, "a")
	if n := one(t, r.right, "SELECT n::text FROM b WHERE k = 1"); n != "77" {
		t.Errorf("the other stream was read again, too: n is %s", n)
	}
	run(t, r.left, "UPDATE a SET word = 'after' WHERE k = 5", "UPDATE b SET n = 5 WHERE k = 1", "DELETE FROM a WHERE k = 6")
	r.once()
	r.equal([]string{"k"}, "a", "b")
}

func TestPipeline_ResetStartsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	r.once()
	before := r.state()
	if out, code := r.command("reset", r.path); code != 1 || !strings.Contains(out, "copy") { // nobody types the name
		t.Errorf("unconfirmed: code %d, %s", code, out)
	}
	if s := r.state(); s.Checkpoint.Epoch != before.Checkpoint.Epoch {
		t.Errorf("the epoch went from %d to %d", before.Checkpoint.Epoch, s.Checkpoint.Epoch)
	}
	tables := one(t, r.right, contents)
	out, code := r.command("reset", r.path, "--yes")
	if code != 0 {
		t.Fatalf("code %d, %s", code, out)
	}
	for _, want := range []string{"pg_drop_replication_slot('slot_" + r.source + "')", "DROP PUBLICATION", `DROP TABLE "public"."a"`, "flow_checkpoints_v1"} {
		if !strings.Contains(out, want) {
			t.Errorf("the SQL that cleans up lacks %s:\n%s", want, out)
		}
	}
	if after := one(t, r.right, contents); after != tables {
		t.Errorf("reset changed the destination: %s, before %s", after, tables)
	}
	run(t, r.right, "UPDATE a SET word = 'spoilt'", "INSERT INTO a (k, word, _meta, \"_meta/op\") VALUES (9999, 'stray', '{}', 'c')")
	r.once()
	r.equal([]string{"k"}, "a")
	after := r.state()
	if after.Checkpoint.Epoch != before.Checkpoint.Epoch+1 || after.Checkpoint.Txn == 0 || len(after.Checkpoint.Capture) < 3 || after.Checkpoint.Pipeline != "copy" {
		t.Errorf("before %+v, after %+v", before.Checkpoint, after.Checkpoint)
	}
	if !(after.Checkpoint.Backfill["public/a"] > before.Checkpoint.Backfill["public/a"]) {
		t.Errorf("the counters were %v and are %v", before.Checkpoint.Backfill, after.Checkpoint.Backfill)
	}
}

// What init writes runs.
func TestPipeline_InitAndCheck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words, "CREATE TABLE b (k int PRIMARY KEY)", "INSERT INTO b VALUES (1)")
	dir := filepath.Dir(r.path)
	for name, config := range map[string]map[string]any{"source.json": r.file.Source.Config, "sink.json": r.file.Sink.Config} {
		raw, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"init", r.path, "--source", r.file.Source.Connector, "--source-config", filepath.Join(dir, "source.json"), "--sink", r.file.Sink.Connector, "--sink-config", filepath.Join(dir, "sink.json")}
	if out, code := r.command(args...); code != 0 {
		t.Fatalf("init ended with code %d: %s", code, out)
	}
	if out, code := r.command(args...); code != 1 || !strings.Contains(out, "already") {
		t.Errorf("init over a file: code %d, %s", code, out)
	}
	if out, code := r.command("check", r.path); code != 0 || !strings.Contains(out, "public.a") || !strings.Contains(out, "public.b") {
		t.Errorf("check: code %d, %s", code, out)
	}
	if tables := one(t, r.right, contents); tables != "nothing" {
		t.Errorf("check has made %s", tables)
	}
	r.once()
	r.equal([]string{"k"}, "a", "b")
}

// What went wrong is told before the end of the log, however far back it was.
func TestLastOf_TellsTheCauseFirst(t *testing.T) {
	t.Parallel()
	progress := strings.Repeat(`{"level":"info","msg":"progress","stream":"public.a"}`+"\n", 400)
	bug := `{"level":"error","msg":"the connector met a bug: index out of range","side":"sink"}`
	again := `{"level":"error","msg":"the sink has ended; both sides are started again"}`
	got := lastOf(bug + "\n" + again + "\n" + progress + "Destination d knows nothing of pipeline copy.\n" + progress)
	if want := bug + "\n" + again + "\nDestination d knows nothing of pipeline copy.\nthe end of the log:\n"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, progress[len(progress)-1000:]) {
		t.Errorf("got %.600s", got)
	}
	if got := lastOf("{\"level\":\"info\"}\n"); got != "{\"level\":\"info\"}\n" {
		t.Errorf("of a log without errors: %s", got)
	}
}
