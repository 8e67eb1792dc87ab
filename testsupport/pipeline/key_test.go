package pipeline

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A table whose primary key changes while it is copied stops alone. What is said each time names the command that mends it.
func TestPipeline_PrimaryKeyChangesWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, "CREATE TABLE a (id int PRIMARY KEY, u int NOT NULL, word text)", "INSERT INTO a SELECT n, n, 'w' FROM generate_series(1, 10) n",
		"CREATE TABLE b (id int PRIMARY KEY, word text)", "INSERT INTO b VALUES (1, 'one')")
	r.write()
	r.start()
	count := func(table string) string { return one(t, r.right, "SELECT count(*)::text FROM "+table) }
	r.until("the first rows", func() bool { return count("a") == "10" && count("b") == "1" })
	run(t, r.left, "ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (id, u)", "INSERT INTO a VALUES (1, 99, 'new')", "INSERT INTO b VALUES (2, 'two')")
	remedy := fmt.Sprintf("pipeline backfill %s public.a", r.path)
	r.until("the stream's end", func() bool {
		out, code := r.command("status", r.path)
		return code == 0 && strings.Contains(out, "the key of table public.a changed from [id] to [id u]") && strings.Contains(out, remedy)
	})
	run(t, r.left, "INSERT INTO b VALUES (3, 'three')")
	r.until("the other table's rows", func() bool { return count("b") == "3" })
	if err := r.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if exit := r.ended(); exit.Code != 1 || !strings.Contains(exit.Stderr, remedy) {
		t.Errorf("a run that has given a stream up ended with code %d: %s", exit.Code, lastOf(exit.Stderr))
	}
	for _, args := range [][]string{{"check", r.path}, {"run", r.path, "--once"}} {
		out, code := r.command(args...)
		if lines := strings.Split(strings.TrimSpace(out), "\n"); code != 1 || !strings.HasSuffix(lines[len(lines)-1], remedy) {
			t.Errorf("pipeline %s ended with code %d: %s", args[0], code, lastOf(out))
		}
	}
	if out, code := r.command("backfill", r.path, "public.a"); code != 0 {
		t.Fatalf("backfill: code %d, %s", code, out)
	}
	r.once()
	r.equal([]string{"id", "u"}, "a")
	r.equal([]string{"id"}, "b")
}
