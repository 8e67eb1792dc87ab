package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// What a column held before its type changed, and what it holds since, are both in the table to the last digit, and the next start goes on.
func TestPipeline_TypesChangeWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, "CREATE TABLE a (id int PRIMARY KEY, amount bigint, flag bool, small smallint, doc jsonb, word text)",
		`INSERT INTO a VALUES (1, 9007199254740993, true, 7, '{"x":1}', 'w'), (2, 9223372036854775807, false, 8, '[2]', '12')`)
	r.write()
	r.start()
	count := func() string { return one(t, r.right, "SELECT count(*)::text FROM a") }
	r.until("the first rows", func() bool { return count() == "2" })
	run(t, r.left, "ALTER TABLE a ALTER amount TYPE numeric(30,4)", "INSERT INTO a VALUES (3, 123456789012345678901234.5678, true, 9, '3', 'x')",
		"ALTER TABLE a ALTER flag TYPE int USING flag::int, ALTER small TYPE bool USING small > 7", "INSERT INTO a VALUES (4, 0.0001, 2, true, '4', 'y')",
		"ALTER TABLE a ALTER doc TYPE int USING 5, ALTER word TYPE bigint USING 6", "INSERT INTO a VALUES (5, 1, 1, false, 77, 88)")
	r.until("the last row", func() bool { return count() == "5" })
	r.stop()
	run(t, r.left, "INSERT INTO a VALUES (6, 99999999999999999999999999.9999, 3, true, 78, 89)")
	r.once()
	const amounts = "SELECT string_agg(trim_scale(amount)::text, ' ' ORDER BY id) FROM a"
	if want, got := one(t, r.left, amounts), one(t, r.right, amounts); got != want {
		t.Errorf("the amounts are %s, want %s", got, want)
	}
	const rest = "SELECT string_agg(concat_ws(' ', flag, small, doc, word), ', ' ORDER BY id) FROM a"
	if got, want := one(t, r.right, rest), `true 7 {"x":1} "w", false 8 [2] "12", true 9 3 "x", 2 true 4 "y", 1 false 77 88, 3 true 78 89`; strings.ReplaceAll(got, ": ", ":") != want {
		t.Errorf("the rest is %s, want %s", got, want)
	}
}

// A column of floating-point numbers has not the digits of a numeric: the stream ends before one is lost.
func TestPipeline_AFloatBecomesNumericWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, "CREATE TABLE a (id int PRIMARY KEY, n float8)", "INSERT INTO a VALUES (1, 0.5)")
	r.write()
	r.start()
	count := func() string { return one(t, r.right, "SELECT count(*)::text FROM a") }
	r.until("the first row", func() bool { return count() == "1" })
	run(t, r.left, "ALTER TABLE a ALTER n TYPE numeric", "INSERT INTO a VALUES (2, 123456789012345678901234.5678)")
	exit := r.ended()
	remedy := fmt.Sprintf("pipeline backfill %s public.a", r.path)
	if exit.Code != 1 || !strings.Contains(exit.Stderr, `field "n" of stream public.a was a floating-point number`) || !strings.Contains(exit.Stderr, remedy) {
		t.Errorf("the pipeline ended with code %d: %s", exit.Code, lastOf(exit.Stderr))
	}
	if count() != "1" {
		t.Errorf("the table has %s rows", count())
	}
	for _, args := range [][]string{{"check", r.path}, {"run", r.path, "--once"}} {
		if out, code := r.command(args...); code != 1 || !strings.Contains(out, remedy) {
			t.Errorf("pipeline %s ended with code %d: %s", args[0], code, lastOf(out))
		}
	}
	if out, code := r.command("backfill", r.path, "public.a"); code != 0 {
		t.Fatalf("backfill: code %d, %s", code, out)
	}
	r.once()
	r.equal([]string{"id"}, "a")
}
