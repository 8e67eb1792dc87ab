package binary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Command says what to start. Config, Catalog and State are written to files that only this user can read, and named by the usual flags; nil: no flag.
type Command struct {
	Path    string
	Args    []string // the sub-command and further flags; none: a Flow session
	Config  []byte
	Catalog []byte
	State   []byte
	Env     []string // added to this process's
	Stdin   bool     // open a pipe for Send; otherwise stdin is Input, or empty
	// Input and Output are a shell's pipe: the process gets them as stdin and stdout, and the caller closes his own. With Output Next finds nothing.
	Input, Output *os.File
	// PipeBytes is the size of stdout's pipe, a power of two from 4096 on: how far the binary can be ahead of Next. 0: the system's default.
	PipeBytes int
}

// Exit is how a process ended and what it used.
type Exit struct {
	Code   int            // -1 when a signal ended it
	Signal syscall.Signal // 0: it ended by itself
	CPU    time.Duration  // user and system
	Wall   time.Duration  // from start to exit
	// PeakBytes is the greatest resident memory (VmHWM). It is sampled every 20 ms, since the kernel forgets it at exit; getrusage's own figure starts with
	// the parent's memory.
	PeakBytes int64
	Stderr    string
}

// Process is a running binary. Its output is read by whoever calls Next: while nobody does, the pipe fills and the binary feels it, as with a slow
// or stopped runner. Next is for one goroutine; the other methods may be called at any time.
type Process struct {
	cmd     *exec.Cmd
	dir     string
	started time.Time
	stdin   io.WriteCloser
	stdout  *os.File
	lines   *bufio.Reader
	taken   atomic.Int64
	partial []byte
	peak    atomic.Int64
	done    chan struct{}
	exit    Exit // valid after done
	remove  sync.Once
}

// Start starts c. The process is killed when this one dies; the caller must Wait.
func Start(c Command) (*Process, error) {
	p := &Process{cmd: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	var err error
	if p.dir, err = os.MkdirTemp("", "connector-run-"); err != nil {
		return nil, fmt.Errorf("making a folder for the inputs of %s: %w", c.Path, err)
	}
	if err = p.start(c); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s %s: %w", filepath.Base(c.Path), strings.Join(c.Args, " "), err), os.RemoveAll(p.dir))
	}
	return p, nil
}

func (p *Process) start(c Command) error {
	for _, input := range []struct {
		name string
		text []byte
	}{{"config", c.Config}, {"catalog", c.Catalog}, {"state", c.State}} {
		if input.text == nil {
			continue
		}
		path := filepath.Join(p.dir, input.name+".json")
		if err := os.WriteFile(path, input.text, 0o600); err != nil {
			return err
		}
		p.cmd.Args = append(p.cmd.Args, "--"+input.name, path)
	}
	stderr, err := os.Create(filepath.Join(p.dir, "stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()                  // the child has its own descriptor
	stdout, childStdout, err := os.Pipe() // with Output it stays empty and ends at once
	if err != nil {
		return err
	}
	if c.PipeBytes > 0 {
		const setPipeSize = 1031 // F_SETPIPE_SZ of Linux
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, childStdout.Fd(), setPipeSize, uintptr(c.PipeBytes)); errno != 0 {
			return errors.Join(fmt.Errorf("making a pipe of %d bytes: %w", c.PipeBytes, errno), stdout.Close(), childStdout.Close())
		}
	}
	defer childStdout.Close() // likewise
	p.stdout, p.lines = stdout, bufio.NewReaderSize(stdout, 64<<10)
	p.cmd.Stdout, p.cmd.Stderr = childStdout, stderr
	if c.Output != nil {
		p.cmd.Stdout = c.Output
	}
	if c.Input != nil {
		p.cmd.Stdin = c.Input
	}
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if c.Stdin {
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return errors.Join(err, stdout.Close())
		}
	}
	began := make(chan error, 1)
	go p.run(began)
	if err = <-began; err != nil {
		return errors.Join(err, stdout.Close())
	}
	go p.watchMemory()
	return nil
}

// run stays on one thread as long as the child lives, because the kernel sends the death signal when the thread that forked ends.
func (p *Process) run(began chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.started = time.Now()
	err := p.cmd.Start()
	began <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the exit code is read below
	state := p.cmd.ProcessState
	p.exit = Exit{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime(), Wall: time.Since(p.started), PeakBytes: p.peak.Load()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.exit.Signal = status.Signal()
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "stderr")); err == nil {
		p.exit.Stderr = string(text)
	}
	close(p.done)
}

// Next returns the next line of stdout without its newline; it is the caller's. io.EOF: the output has ended. An unterminated last line is not
// returned: see Partial.
func (p *Process) Next() ([]byte, error) {
	line, err := p.lines.ReadBytes('\n')
	p.taken.Add(int64(len(line)))
	if err != nil {
		p.partial = line
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// Partial is the unterminated last line, valid once Next has returned io.EOF.
func (p *Process) Partial() []byte { return p.partial }

// Taken is how many bytes Next has returned so far.
func (p *Process) Taken() int64 { return p.taken.Load() }

// Drain returns all lines that are left.
func (p *Process) Drain() ([][]byte, error) {
	var lines [][]byte
	for {
		line, err := p.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
}

// Send writes one line to stdin.
func (p *Process) Send(line []byte) error {
	_, err := p.stdin.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// CloseInput ends stdin.
func (p *Process) CloseInput() error { return p.stdin.Close() }

// Waiting is how many bytes the process has written into stdout's pipe that Next has not fetched yet.
func (p *Process) Waiting() (int, error) {
	conn, err := p.stdout.SyscallConn() // Fd would make reads block
	if err != nil {
		return 0, fmt.Errorf("looking into a pipe: %w", err)
	}
	const waiting = 0x541B // FIONREAD of Linux
	var n int32
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, waiting, uintptr(unsafe.Pointer(&n))) //nolint:gosec // the kernel writes an int
	})
	if err == nil && errno != 0 {
		err = errno
	}
	if err != nil {
		return 0, fmt.Errorf("looking into a pipe: %w", err)
	}
	return int(n), nil
}

// StopReading closes our end of stdout, like a runner that is gone.
func (p *Process) StopReading() error { return p.stdout.Close() }

// Signal sends a signal; one to a process that has ended is not an error.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to pid %d: %w", s, p.cmd.Process.Pid, err)
	}
	return nil
}

// Kill sends SIGKILL. What the process had written before stays readable.
func (p *Process) Kill() error { return p.Signal(syscall.SIGKILL) }

// Alive tells whether the process has not ended yet.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr is what the process has written to stderr so far.
func (p *Process) Stderr() string {
	if !p.Alive() {
		return p.exit.Stderr
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "stderr"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Wait waits for the end of the process, not of its output, and removes its inputs. When it lasts longer, the process is killed and that is an error.
func (p *Process) Wait(timeout time.Duration) (Exit, error) {
	var late error
	select {
	case <-p.done:
	case <-time.After(timeout):
		late = fmt.Errorf("waiting for pid %d: still running after %s, killed", p.PID(), timeout)
		if err := p.Kill(); err != nil {
			return Exit{}, errors.Join(late, err)
		}
		<-p.done
	}
	var err error
	p.remove.Do(func() { err = os.RemoveAll(p.dir) })
	return p.exit, errors.Join(late, err)
}

// Close gives the pipe back after the output was read.
func (p *Process) Close() error {
	err := p.stdout.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

func (p *Process) watchMemory() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	path := "/proc/" + strconv.Itoa(p.PID()) + "/status"
	for {
		if text, err := os.ReadFile(path); err == nil {
			if peak := vmHWM(string(text)); peak > p.peak.Load() {
				p.peak.Store(peak)
			}
		}
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
	}
}

// vmHWM reads the peak of resident memory, in bytes, from a process's status file; 0: not there.
func vmHWM(status string) int64 {
	_, rest, ok := strings.Cut(status, "VmHWM:")
	if !ok {
		return 0
	}
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
