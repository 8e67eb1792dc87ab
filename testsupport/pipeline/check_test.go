package pipeline

import (
	"strings"
	"testing"
)

// check compares the destination with what the store knows as applied, so that it tells what a run would refuse, in the same words.
func TestPipeline_CheckSeesATableThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	r.once()
	if out, code := r.command("check", r.path); code != 0 {
		t.Fatalf("with nothing wrong: code %d, %s", code, out)
	}
	run(t, r.right, "ALTER TABLE a RENAME TO elsewhere")
	sentence := func(args ...string) string {
		t.Helper()
		out, code := r.command(args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		last := lines[len(lines)-1]
		_, said, found := strings.Cut(last, "table public.a is gone")
		if code != 1 || !found {
			t.Fatalf("pipeline %s: code %d, %s", args[0], code, lastOf(out))
		}
		return said
	}
	if checked, ran := sentence("check", r.path), sentence("run", r.path, "--once"); checked != ran {
		t.Errorf("check says\n%s\nrun says\n%s", checked, ran)
	}
	if out, code := r.command("backfill", r.path, "public.a"); code != 0 {
		t.Fatalf("backfill: code %d, %s", code, out)
	}
	if out, code := r.command("check", r.path); code != 0 {
		t.Errorf("of a stream that starts over: code %d, %s", code, out)
	}
	r.once()
	r.equal([]string{"k"}, "a")
}

// Two pipelines of different names into one table would mix their rows. A name that was changed has a cure.
func TestPipeline_RefusesATableOfAnotherPipeline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, words)
	r.write()
	r.once()
	r.path = strings.TrimSuffix(r.path, "copy.yaml") + "second.yaml"
	r.write()
	rows := one(t, r.right, "SELECT count(*)::text FROM a")
	const want = "table public.a is written by the materialization named copy as well"
	for _, args := range [][]string{{"check", r.path}, {"run", r.path, "--once"}} {
		if out, code := r.command(args...); code != 1 || !strings.Contains(out, want) || !strings.Contains(out, `DELETE FROM "public"."flow_checkpoints_v1" WHERE materialization = 'copy';`) {
			t.Errorf("pipeline %s: code %d, %s", args[0], code, lastOf(out))
		}
	}
	if now := one(t, r.right, "SELECT count(*)::text FROM a"); now != rows || one(t, r.right, "SELECT count(*)::text FROM flow_checkpoints_v1") != "1" {
		t.Errorf("something was written: %s rows, before %s", now, rows)
	}
	r.file.Name = "copy"
	r.write()
	if out, code := r.command("check", r.path); code != 0 {
		t.Errorf("under its former name: code %d, %s", code, lastOf(out))
	}
	r.file.Name = ""
	r.write()
	run(t, r.right, "DELETE FROM flow_checkpoints_v1 WHERE materialization = 'copy'")
	r.once()
	r.equal([]string{"k"}, "a")
}
