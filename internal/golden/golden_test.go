package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that notes its failures.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "TestX" }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

func failures(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		f(r)
	}()
	return strings.Join(r.failures, "\n")
}

func withUpdate(t *testing.T, f func()) {
	t.Helper()
	before := *update
	*update = true
	defer func() { *update = before }()
	f()
}

func TestCheck_WritesAndCompares(t *testing.T) {
	t.Chdir(t.TempDir())
	check := func(got string) string {
		return failures(t, func(tb testing.TB) { Check(tb, "sub/spec", []byte(got)) })
	}
	if got := check("a\nb\n"); !strings.Contains(got, "-update") {
		t.Errorf("a missing file: %q", got)
	}
	withUpdate(t, func() {
		if got := check("a\nb\n"); got != "" {
			t.Error(got)
		}
	})
	if got := check("a\nb\n"); got != "" {
		t.Error(got)
	}
	if got := check("a\nc\n"); !strings.Contains(got, "from line 2 on") || !strings.Contains(got, "got:  c\nwant: b") {
		t.Errorf("a changed line: %q", got)
	}
	if got := check("a"); !strings.Contains(got, "(nothing") {
		t.Errorf("a missing line: %q", got)
	}
}

func TestSection_KeepsWhatStandsAround(t *testing.T) {
	readme := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(readme, []byte("# X\n<!-- config:begin -->\nold\n<!-- config:end -->\nrest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	section := func() string {
		return failures(t, func(tb testing.TB) { Section(tb, readme, "config", "| new |\n") })
	}
	if got := section(); !strings.Contains(got, "got:  | new |\nwant: old") {
		t.Errorf("a stale section: %q", got)
	}
	withUpdate(t, func() {
		if got := section(); got != "" {
			t.Error(got)
		}
	})
	if got := section(); got != "" {
		t.Errorf("after -update: %q", got)
	}
	got, err := os.ReadFile(readme)
	if want := "# X\n<!-- config:begin -->\n| new |\n<!-- config:end -->\nrest\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestMarkers_MustStandOnceAndInOrder(t *testing.T) {
	for _, document := range []string{
		"", "<!-- a:begin -->", "<!-- a:end -->\n<!-- a:begin -->", "<!-- a:begin --><!-- a:end --><!-- a:begin --><!-- a:end -->", "<!-- b:begin --><!-- b:end -->",
	} {
		if _, err := Between([]byte(document), "a"); err == nil {
			t.Errorf("%q was accepted", document)
		}
		if _, err := Replace([]byte(document), "a", "x"); err == nil {
			t.Errorf("%q was replaced", document)
		}
	}
}
