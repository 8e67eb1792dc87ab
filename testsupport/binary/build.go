// Package binary builds a connector and drives it over pipes, as its runners do: nothing of it runs inside the test's process.
package binary

import (
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
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) { return build(name) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return path
}

// build keeps the binary in the clone, where go build finds it up to date and does not link it again.
func build(name string) (string, error) {
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
	path := filepath.Join(dir, filepath.Base(name))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, "./"+name)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
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
