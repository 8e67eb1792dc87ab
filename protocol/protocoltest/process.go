package protocoltest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// command says what to start. Inputs become files that only the owner can read, or FIFOs; nil: no flag.
type command struct {
	name                   string   // the sub-command; empty: a Flow session
	flags                  []string // further ones
	config, catalog, state []byte
	fifos                  bool // inputs can be read exactly once
	stdin                  bool // open a pipe for send; otherwise stdin is empty
	pinchStderr            bool // stderr is a small pipe that nobody reads
}

// exit is how a process ended.
type exit struct {
	code   int // -1: by a signal
	signal syscall.Signal
	stderr string
}

func (e exit) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("ended by signal %d (%s)", e.signal, e.signal)
	}
	return fmt.Sprint("exit code ", e.code)
}

// process is a running connector. Its stdout is read by next alone: while nobody calls it, the pipe fills and the connector feels it.
type process struct {
	cmd    *exec.Cmd
	dir    string
	stdin  io.WriteCloser
	stdout *os.File
	stderr *os.File // where a pinched stderr ends; nil otherwise
	lines  *bufio.Reader
	taken  int64
	feeds  []string // FIFOs
	done   chan struct{}
	exit   exit // valid after done
}

// start starts the connector. The caller must call end.
func (s *session) start(c command) (_ *process, err error) {
	p := &process{done: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "protocoltest-"); err != nil {
		return nil, fmt.Errorf("making a folder for inputs: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting %s %s: %w", filepath.Base(s.f.Binary), c.name, err), os.RemoveAll(p.dir))
		}
	}()
	var args []string
	if c.name != "" {
		args = append(args, c.name)
	}
	p.cmd = exec.Command(s.f.Binary, append(args, c.flags...)...) //nolint:gosec // the binary under test
	if err := p.inputs(c); err != nil {
		return nil, err
	}
	return p, p.launch(s.ctx, c)
}

func (p *process) inputs(c command) error {
	for _, input := range []struct {
		name string
		text []byte
	}{{"config", c.config}, {"catalog", c.catalog}, {"state", c.state}} {
		if input.text == nil {
			continue
		}
		path := filepath.Join(p.dir, input.name+".json")
		p.cmd.Args = append(p.cmd.Args, "--"+input.name, path)
		if !c.fifos {
			if err := os.WriteFile(path, input.text, 0o400); err != nil {
				return err
			}
			continue
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return fmt.Errorf("making the FIFO %s: %w", path, err)
		}
		p.feeds = append(p.feeds, path)
		go feed(path, input.text)
	}
	return nil
}

// feed writes text to whoever opens the FIFO first. A second reader waits for ever.
func feed(path string, text []byte) {
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return // the folder is gone: the process ended without reading
	}
	defer w.Close()
	_, _ = w.Write(text) // a reader that does not read to the end is found by what it answers
}

func (p *process) launch(ctx context.Context, c command) error {
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		return err
	}
	defer childStdout.Close() // the child has its own descriptor
	var childStderr *os.File
	if c.pinchStderr {
		if p.stderr, childStderr, err = pinchedPipe(); err != nil {
			return err
		}
	} else if childStderr, err = os.Create(filepath.Join(p.dir, "stderr")); err != nil {
		return err
	}
	defer childStderr.Close() // likewise
	p.stdout, p.lines = stdout, bufio.NewReaderSize(stdout, 64<<10)
	p.cmd.Stdout, p.cmd.Stderr = childStdout, childStderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if c.stdin {
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	began := make(chan error, 1)
	go p.watch(began)
	if err := <-began; err != nil {
		return err
	}
	context.AfterFunc(ctx, p.kill)
	return nil
}

// pinchedPipe holds 4 KiB instead of 64, so that what a long run would print shows in a short one.
func pinchedPipe() (r, w *os.File, err error) {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), setPipeSize, 4096); errno != 0 {
		return nil, nil, fmt.Errorf("making a pipe smaller: %w", errno)
	}
	return r, w, nil
}

// watch stays on one thread as long as the child lives: the kernel sends the death signal when the thread that forked ends.
func (p *process) watch(began chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	began <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the exit code is read below
	p.exit.code = p.cmd.ProcessState.ExitCode()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.exit.signal = status.Signal()
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "stderr")); err == nil {
		p.exit.stderr = string(text)
	}
	close(p.done)
}

// next returns the next line of stdout without its newline. io.EOF: the output has ended; io.ErrUnexpectedEOF: in the middle of a line.
func (p *process) next() ([]byte, error) {
	line, err := p.lines.ReadBytes('\n')
	p.taken += int64(len(line))
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

func (p *process) send(line string) error {
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		return fmt.Errorf("writing to the connector's stdin: %w", err)
	}
	return nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // that it has ended already is no error

func (p *process) terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending SIGTERM: %w", err)
	}
	return nil
}

// wait waits for the end of the process, not of its output. A process that lasts longer is killed, and that is an error.
func (p *process) wait(limit time.Duration) (exit, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.exit, nil
	case <-timer.C:
		p.kill()
		<-p.done
		return p.exit, fmt.Errorf("%s still runs after %s", strings.Join(p.cmd.Args[:min(2, len(p.cmd.Args))], " "), limit)
	}
}

// end kills what still runs and takes everything away.
func (p *process) end() {
	p.kill()
	<-p.done
	for _, path := range p.feeds { // lets a feed go whose FIFO was never opened
		if r, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			_ = r.Close() // only opening it matters
		}
	}
	_ = p.stdout.Close() // read to its end, or given up
	if p.stderr != nil {
		_ = p.stderr.Close()
	}
	_ = os.RemoveAll(p.dir)
}
