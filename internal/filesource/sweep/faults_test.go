package sweep

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// faults are rules of the machine, each broken by one changed line. The model is not told which; the schedules that pass without a fault have to find it.
var faults = []struct{ name, old, new string }{
	{
		"seen holds keys, not versions",
		`if !ok || e.version != keyrange.Sum64(o.Version) {`, `if !ok || fault != 0 && e.version != keyrange.Sum64(o.Version) {`,
	},
	{
		"since moves inside a sweep",
		`m.s.path, m.s.version, m.s.at = o.Key, "", ""`,
		`m.s.path, m.s.version, m.s.at = o.Key, "", ""; if b := m.bound(); fault == 1 && b.After(m.s.since) { m.s.since = b }`,
	},
	{
		"since passes the start of the sweep",
		`if limit := m.limit(nil); newest.After(limit) {`, `if limit := m.limit(nil); fault != 2 && newest.After(limit) {`,
	},
	{
		"the cursor is dropped",
		`return m.s.path, m.s.version, m.s.at, true`, `if fault == 3 { return m.s.path, m.s.version, "", true }; return m.s.path, m.s.version, m.s.at, true`,
	},
}

const faultFile = "package sweep\n\nimport (\n\"os\"\n\"strconv\"\n)\n\nvar fault, _ = strconv.Atoi(os.Getenv(\"SWEEP_FAULT\"))\n"

// TestFaults_AreFound proves that the model bites. All faults are built into one test binary, which is told which of them to have.
func TestFaults_AreFound(t *testing.T) {
	text, err := os.ReadFile("machine.go")
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, f := range faults {
		if n := strings.Count(changed, "\t"+f.old+"\n"); n != 1 {
			t.Fatalf("%s: the line %q stands in machine.go %d times, want once: adapt the table of faults", f.name, f.old, n)
		}
		changed = strings.Replace(changed, f.old+"\n", f.new+"\n", 1)
	}
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "machine.go"): at("machine.go"), filepath.Join(here, "fault.go"): at("fault.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"machine.go": []byte(changed), "fault.go": []byte(faultFile), "overlay.json": overlay} {
		if err := os.WriteFile(at(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", at("overlay.json"), "-ldflags=-s -w", "-o", at("model.test"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with the faults: %v\n%s", err, out)
	}
	run := func(fault string) (string, error) {
		cmd := exec.CommandContext(t.Context(), at("model.test"), "-test.run=^TestModel_NothingLostNothingTwice$") //nolint:gosec // built above
		cmd.Env = append(os.Environ(), "SWEEP_FAULT="+fault, "STRESS_SEEDS=6")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("-1"); err != nil {
		t.Fatalf("the binary fails without a fault, too: %v\n%s", err, out)
	}
	for i, f := range faults {
		out, err := run(string(rune('0' + i)))
		_, found, _ := strings.Cut(out, "model_test.go:")
		if found, _, _ = strings.Cut(found, "\n"); err == nil || !strings.Contains(found, "seed") {
			t.Errorf("%s: 600 schedules do not find it: %.300s", f.name, out)
		}
		t.Logf("%s: %s", f.name, found)
	}
}
