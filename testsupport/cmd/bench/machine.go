package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine says where and of what the figures are.
type machine struct {
	date, commit, cpu, kernel, memory, load, server string
	cores                                           int
}

func thisMachine(root string) (machine, error) {
	m := machine{date: time.Now().UTC().Format(time.DateOnly), cpu: cpuModel(), cores: runtime.NumCPU()}
	var err error
	if m.commit, err = commitOf(root); err != nil {
		return m, err
	}
	for path, into := range map[string]*string{"/proc/sys/kernel/osrelease": &m.kernel, "/proc/loadavg": &m.load} {
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			return m, fmt.Errorf("describing the machine: %w", readErr)
		}
		*into, _, _ = strings.Cut(strings.TrimSpace(string(text)), " ")
	}
	var info syscall.Sysinfo_t
	if err = syscall.Sysinfo(&info); err != nil {
		return m, fmt.Errorf("describing the machine: %w", err)
	}
	m.memory = fmt.Sprintf("%.0f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30))
	return m, nil
}

// busy tells whether somebody else had half a core, or more, in the last minute.
func (m machine) busy() bool {
	load, err := strconv.ParseFloat(m.load, 64)
	return err == nil && load >= 0.5
}

// cpuModel is the processor's name, or its architecture where Linux gives none.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			if strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

// commitOf is the abbreviated commit; "with changes" when tracked files, apart from the figures themselves, differ from it.
func commitOf(root string) (string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(context.Background(), "git", append([]string{"-c", "safe.directory=" + root, "-C", root}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("asking git for the commit: %w", err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return "not a git clone", nil //nolint:nilerr // an unpacked archive is measured, too
	}
	commit, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/benchmarks.md")
	if err != nil {
		return "", err
	}
	if changed != "" {
		commit += " with changes"
	}
	return commit, nil
}
