// Package binary builds a connector and drives it over pipes, as its runners do: nothing of it runs inside the test's process.
package binary

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const module = "module github.com/estuary/connectors\n"

var built sync.Map // name → func() (string, error)

// Build builds the connector of this name as make build does, outside the workspace, and returns the binary's path. It builds once per test process.
func Build(tb testing.TB, name string) string {
	tb.Helper()
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		return build(name, target{from: "./" + name, as: filepath.Base(name), env: []string{"GOWORK=off"}})
	}))
	path, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return path
}

// BuildSupport builds a program of this module, cmd/NAME.
func BuildSupport(tb testing.TB, name string) string {
	tb.Helper()
	once, _ := built.LoadOrStore("cmd/"+name, sync.OnceValues(func() (string, error) {
		return build(name, target{folder: "testsupport", from: "./cmd/" + name, as: name})
	}))
	path, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return path
}

// BuildChanged builds the connector of this name with one line of one of its sources replaced, to see whether a test notices. file is relative to the main
// module; exactly one of its lines must be old, spaces around it aside. Nothing is written into the source tree.
func BuildChanged(tb testing.TB, name, file, old, replacement string) string {
	tb.Helper()
	root, err := ModuleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	source := filepath.Join(root, file)
	text, err := os.ReadFile(source)
	if err != nil {
		tb.Fatal(err)
	}
	lines, found := strings.Split(string(text), "\n"), 0
	for i, line := range lines {
		if strings.TrimSpace(line) == old {
			lines[i] = replacement
			found++
		}
	}
	if found != 1 {
		tb.Fatalf("changing %s: the line %q is there %d times, want once: adapt the test to the source", file, old, found)
	}
	dir := tb.TempDir()
	changed := filepath.Join(dir, filepath.Base(file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		tb.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	for path, content := range map[string][]byte{changed: []byte(strings.Join(lines, "\n")), list: overlay} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-overlay", list, "-o", path, "./"+name)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building %s with %q: %v: %s", name, replacement, err, out)
	}
	return path
}

// target is what to build, where.
type target struct {
	folder string // below the main module's
	from   string // the package
	as     string // the binary's name
	env    []string
}

// build keeps the binary in the clone, where go build finds it up to date and does not link it again.
func build(name string, t target) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", ".test")
	if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a build folder
		return "", fmt.Errorf("making the folder for test binaries: %w", err)
	}
	// Packages are tested at the same time, and two links to one file would mix.
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("opening the lock of test binaries: %w", err)
	}
	defer lock.Close() // which gives the lock back
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking test binaries: %w", err)
	}
	path := filepath.Join(dir, t.as)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, t.from)
	cmd.Dir = filepath.Join(root, t.folder)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), t.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, out)
	}
	return path, nil
}

// ModuleRoot is the folder of the main module, found upwards from the working directory.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the main module: %w", err)
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.Contains(string(text)+"\n", module) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding the main module: no go.mod of it above %s", start)
		}
	}
}
