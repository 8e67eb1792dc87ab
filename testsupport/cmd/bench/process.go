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

// usage is what one process took, with the children that it has waited for.
type usage struct {
	wall time.Duration // from start to exit
	cpu  time.Duration // user and system, of getrusage
	// peak is the process's own greatest resident memory in bytes, VmHWM.
	peak int64
	// children are the peaks of its direct children by the program's name, of which Linux keeps 15 characters; nil where nobody looked.
	children map[string]int64
}

// command is a program to run.
type command struct {
	path      string
	args, env []string
	stdin     string // file; "": none
	family    bool   // look at its children, too
}

const readBytes = 1 << 20

// execute runs a program whose stdout goes through a pipe into sink, and returns when it has exited and its output was read. It is the same for references
// and for the subject: the system's default pipe, and a reader that is asked for as little as sink does. Without a sink it is /dev/null, and no pipe.
func execute(ctx context.Context, path string, args, env []string, sink io.Writer) (usage, error) {
	return command{path: path, args: args, env: env}.run(ctx, sink)
}

func (c command) run(ctx context.Context, sink io.Writer) (usage, error) {
	// One thread for the child's whole life: the kernel sends the death signal when the thread that forked ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	var stderr strings.Builder
	if c.stdin != "" {
		in, err := os.Open(c.stdin)
		if err != nil {
			return usage{}, fmt.Errorf("opening the input of %s: %w", filepath.Base(c.path), err)
		}
		defer in.Close()
		cmd.Stdin = in // the child reads the file itself
	}
	out, childOut, err := outlet(sink)
	if err != nil {
		return usage{}, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = childOut, &stderr
	cmd.Env = append(os.Environ(), c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	before := residentPeak("self")
	begun := time.Now()
	err = cmd.Start()
	if closeErr := childOut.Close(); err != nil || closeErr != nil {
		return usage{}, fmt.Errorf("starting %s: %w", filepath.Base(c.path), errors.Join(err, closeErr))
	}
	read := make(chan error, 1)
	go func() { read <- drain(out, sink) }()
	done := make(chan struct{})
	sampled := make(chan usage, 1)
	go func() { sampled <- watchPeak(cmd.Process.Pid, c.family, done) }()
	err = cmd.Wait()
	wall := time.Since(begun)
	close(done)
	u := <-sampled
	u.wall = wall
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
		return u, fmt.Errorf("running %s %s: %w: %.2000s", filepath.Base(c.path), strings.Join(c.args, " "), err, stderr.String())
	case readErr != nil:
		return u, fmt.Errorf("reading what %s prints: %w", filepath.Base(c.path), readErr)
	}
	return u, nil
}

// outlet opens a child's stdout, and what is read of it.
func outlet(sink io.Writer) (out io.ReadCloser, child *os.File, err error) {
	if sink != nil {
		if out, child, err = os.Pipe(); err != nil {
			err = fmt.Errorf("opening a pipe: %w", err)
		}
		return out, child, err
	}
	if child, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		err = fmt.Errorf("opening a child's stdout: %w", err)
	}
	return io.NopCloser(strings.NewReader("")), child, err
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
func watchPeak(pid int, family bool, done <-chan struct{}) (u usage) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	process := strconv.Itoa(pid)
	for {
		u.peak = max(u.peak, residentPeak(process))
		if family {
			u.watchChildren(process)
		}
		select {
		case <-done:
			return u
		case <-tick.C:
		}
	}
}

// watchChildren samples the memory of a process's children.
func (u *usage) watchChildren(process string) {
	lists, _ := filepath.Glob(filepath.Join("/proc", process, "task", "*", "children")) // only a bad pattern is an error
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for _, child := range strings.Fields(string(text)) {
			name, err := os.ReadFile(filepath.Join("/proc", child, "comm"))
			if err != nil {
				continue // the child is gone
			}
			if u.children == nil {
				u.children = map[string]int64{}
			}
			who := strings.TrimSpace(string(name))
			u.children[who] = max(u.children[who], residentPeak(child))
		}
	}
}

// runPipe runs two programs, the first one's output being the second one's input, without a shell. The time is from the first start to the last exit, CPU
// that of both.
func runPipe(ctx context.Context, first, second command) (usage, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	read, write, err := os.Pipe()
	if err != nil {
		return usage{}, fmt.Errorf("opening a pipe: %w", err)
	}
	cmds := make([]*exec.Cmd, 2)
	said := make([]strings.Builder, 2)
	for i, c := range []command{first, second} {
		cmds[i] = exec.CommandContext(ctx, c.path, c.args...)
		cmds[i].Env = append(os.Environ(), c.env...)
		cmds[i].Stderr = &said[i]
		cmds[i].SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	}
	cmds[0].Stdout, cmds[1].Stdin = write, read
	begun := time.Now()
	var failed []error
	for _, cmd := range cmds {
		failed = append(failed, cmd.Start())
	}
	failed = append(failed, read.Close(), write.Close()) // they have their own now
	var u usage
	for i, cmd := range cmds {
		if cmd.Process == nil {
			continue
		}
		if err := cmd.Wait(); err != nil {
			failed = append(failed, fmt.Errorf("running %s %s: %w: %.2000s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, said[i].String()))
		}
		u.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	u.wall = time.Since(begun)
	return u, errors.Join(failed...)
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
