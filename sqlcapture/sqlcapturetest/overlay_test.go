package sqlcapturetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variant builds this package's test binary with one changed line in the engine. Nothing is written into the source tree.
func variant(t *testing.T, f fault) (binary string) {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs(filepath.Join("..", f.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := changeLine(string(text), f.old, f.new)
	if err != nil {
		t.Fatalf("changing %s: %v", f.file, err)
	}
	replacement := filepath.Join(dir, f.file)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: replacement}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	for name, content := range map[string][]byte{replacement: []byte(changed), list: overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "explore.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", list, "-ldflags=-s -w", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with %q: %v\n%s", f.new, err, out)
	}
	return binary
}

// changeLine replaces the one line of a text that equals old.
func changeLine(text, old, replacement string) (string, error) {
	lines := strings.Split(text, "\n")
	at := -1
	for i, l := range lines {
		if strings.TrimSpace(l) != old {
			continue
		}
		if at >= 0 {
			return "", fmt.Errorf("the line %q stands there more than once", old)
		}
		at = i
	}
	if at < 0 {
		return "", fmt.Errorf("the line %q is not there (any more): adapt the table of faults", old)
	}
	lines[at] = replacement
	return strings.Join(lines, "\n"), nil
}

var failure = regexp.MustCompile(`-shape=(\w+) -schedule=(\S+)\n\s*schedule \S+ breaks (\w+)`)

// explore runs a variant and returns the failing schedule that it printed.
func explore(ctx context.Context, t *testing.T, binary string, args ...string) (shape, schedule, broke string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, binary, append([]string{"-test.run=^TestExplore$", "-test.failfast"}, args...)...)
	out, _ := cmd.CombinedOutput() // it is to fail
	m := failure.FindSubmatch(out)
	if m == nil {
		return "", "", ""
	}
	return string(m[1]), string(m[2]), string(m[3])
}

// hunt explores all shapes, first a little of each, until a schedule fails.
func hunt(t *testing.T, binary string, f fault) (shape, schedule, broke string) {
	t.Helper()
	from, rounds := 1, []int{100, 300, 1000, 3000, 10000}
	args := []string{"-ignore=" + f.ignore}
	if f.within > 0 {
		rounds, args = []int{f.within}, append(args, "-shape="+f.shape)
	}
	for _, n := range rounds {
		these := append([]string{fmt.Sprintf("-from=%d", from), fmt.Sprintf("-seeds=%d", n)}, args...)
		if shape, schedule, broke = explore(t.Context(), t, binary, these...); broke != "" {
			return shape, schedule, broke
		}
		from += n
	}
	t.Fatalf("seeds 1 to %d of every shape pass: the fault is not found", from-1)
	return "", "", ""
}

// TestFaults proves that the explorer bites: each fault is found, its schedule shows it again, and the engine as it is passes that schedule.
// The first fault of each kind is always looked for; its variants, each of which is another build, when seeds are asked for.
func TestFaults(t *testing.T) {
	kinds := map[string]bool{}
	for _, f := range faults {
		kind, _, _ := strings.Cut(f.name, ":")
		if kinds[kind] && os.Getenv("STRESS_SEEDS") == "" {
			continue
		}
		kinds[kind] = true
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			t.Parallel() // mostly compiling and linking
			binary := variant(t, f)
			shape, schedule, broke := hunt(t, binary, f)
			if !slices.Contains(f.shows, broke) {
				t.Errorf("schedule %s of %s breaks %s; a break of %v was expected", schedule, shape, broke, f.shows)
			}
			if _, _, again := explore(t.Context(), t, binary, "-ignore="+f.ignore, "-shape="+shape, "-schedule="+schedule); again != broke {
				t.Errorf("schedule %s of %s breaks %s, and %s when played again", schedule, shape, broke, again)
			}
			if err := replayText(shape, schedule); err != nil {
				t.Errorf("the engine without the fault fails in schedule %s of %s, too: %v", schedule, shape, err)
			}
			t.Logf("%s: -shape=%s -schedule=%s", broke, shape, schedule)
		})
	}
}

// TestChangeLine: a fault whose line has moved must not be silently skipped.
func TestChangeLine(t *testing.T) {
	for _, x := range []struct{ text, want string }{{"a\n\tb\nc", "a\nX\nc"}, {"a\nc", ""}, {"b\nb", ""}} {
		got, err := changeLine(x.text, "b", "X")
		if got != x.want || (err == nil) != (x.want != "") {
			t.Errorf("changing b in %q: got %q, %v; want %q", x.text, got, err, x.want)
		}
	}
}

func replayText(shape, schedule string) error {
	sched, err := ParseSchedule(schedule)
	if err != nil {
		return err
	}
	for _, x := range shapes {
		if x.name == shape {
			return Replay(sched, x.shape, nil)
		}
	}
	return fmt.Errorf("no shape %q", shape)
}
