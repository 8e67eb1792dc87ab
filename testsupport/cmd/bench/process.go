package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what one process took.
type usage struct {
	wall time.Duration // from start to exit
	cpu  time.Duration // user and system, of getrusage
	// peak is the process's greatest resident memory in bytes, VmHWM.
	peak int64
}

const readBytes = 1 << 20

// execute runs a program whose stdout goes through a pipe into sink, and returns when it has exited and its output was read. It is the same for references
// and for the subject: the system's default pipe, and a reader that is asked for as little as sink does.
func execute(ctx context.Context, path string, args, env []string, sink io.Writer) (usage, error) {
	// One thread for the child's whole life: the kernel sends the death signal when the thread that forked ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path, args...)
	var stderr strings.Builder
	out, childOut, err := os.Pipe()
	if err != nil {
		return usage{}, fmt.Errorf("opening a pipe: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = childOut, &stderr
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	before := residentPeak("self")
	begun := time.Now()
	err = cmd.Start()
	if closeErr := childOut.Close(); err != nil || closeErr != nil {
		return usage{}, fmt.Errorf("starting %s: %w", filepath.Base(path), errors.Join(err, closeErr))
	}
	read := make(chan error, 1)
	go func() { read <- drain(out, sink) }()
	done := make(chan struct{})
	sampled := make(chan int64, 1)
	go func() { sampled <- watchPeak(cmd.Process.Pid, done) }()
	err = cmd.Wait()
	u := usage{wall: time.Since(begun)}
	close(done)
	u.peak = <-sampled
	readErr := <-read
	state := cmd.ProcessState
	u.cpu = state.UserTime() + state.SystemTime()
	// The kernel's own maximum misses nothing, but it begins with ours: a fork carries it over. Beyond that it is the child's.
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && r.Maxrss<<10 > before {
		u.peak = max(u.peak, r.Maxrss<<10)
	}
	switch {
	case ctx.Err() != nil:
		return u, ctx.Err()
	case err != nil:
		return u, fmt.Errorf("running %s %s: %w: %.2000s", filepath.Base(path), strings.Join(args, " "), err, stderr.String())
	case readErr != nil:
		return u, fmt.Errorf("reading what %s prints: %w", filepath.Base(path), readErr)
	}
	return u, nil
}

// drain reads to the end even when the sink refuses, so that the program never hangs on its pipe.
func drain(from io.Reader, to io.Writer) error {
	block := make([]byte, readBytes)
	var refused error
	for {
		n, err := from.Read(block)
		if n > 0 && refused == nil {
			_, refused = to.Write(block[:n])
		}
		if errors.Is(err, io.EOF) {
			return refused
		}
		if err != nil {
			return errors.Join(refused, err)
		}
	}
}

// watchPeak samples VmHWM until the process is gone: the kernel forgets it at exit.
func watchPeak(pid int, done <-chan struct{}) int64 {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var peak int64
	for {
		peak = max(peak, residentPeak(strconv.Itoa(pid)))
		select {
		case <-done:
			return peak
		case <-tick.C:
		}
	}
}

// residentPeak is VmHWM in bytes of a process of /proc; 0: it is gone.
func residentPeak(process string) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
