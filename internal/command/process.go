package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/widepipe"
)

// ForcedEnd is how long work may go on after it was asked to stop: runners kill five to ten seconds after SIGTERM.
const ForcedEnd = 4 * time.Second

// sameRequest is how soon after the first signal others mean the same request: a terminal sends Ctrl-C to the whole group, and whoever started us sends
// SIGTERM right after.
const sameRequest = 200 * time.Millisecond

// Process is what a run has of the world around it. The zero value of what has no name below is ready for use.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout         *Lines
	Stderr         io.Writer
	StdinTerminal  bool
	StdoutTerminal bool
	StderrTerminal bool
	Signals        <-chan os.Signal
	Exit           func(code int)
	Now            func() time.Time
	Secrets        Secrets

	stopOnce sync.Once
	stop     chan struct{}
	making   sync.Once
	graceful atomic.Bool
}

// OS returns the process that the operating system started. A main has one.
func OS() *Process {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	// A reader that left is an error of a write, which ends the run quietly; the signal would kill the process with a status of its own.
	signal.Ignore(syscall.SIGPIPE)
	widepipe.Widen(os.Stdout)
	return &Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: NewLines(os.Stdout), Stderr: os.Stderr,
		StdinTerminal: term.IsTerminal(int(os.Stdin.Fd())), StdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())), StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Signals: signals, Exit: os.Exit, Now: time.Now,
	}
}

// Watch answers signals. It takes no lock and writes nothing: stdout may be blocked for ever by a reader that stopped reading.
func (p *Process) Watch() {
	<-p.Signals
	if !p.graceful.Load() {
		p.Exit(0)
		return
	}
	first := time.Now()
	p.RequestStop()
	forced := time.After(ForcedEnd)
	for {
		select {
		case <-p.Signals:
			if time.Since(first) < sameRequest {
				continue
			}
		case <-forced:
		}
		p.Exit(0)
		return
	}
}

// Graceful tells that work has begun which looks at Stop: from now on the first signal only closes it.
func (p *Process) Graceful() { p.graceful.Store(true) }

// Stop is closed when work should end at the next checkpoint.
func (p *Process) Stop() <-chan struct{} {
	p.making.Do(func() { p.stop = make(chan struct{}) })
	return p.stop
}

// RequestStop closes Stop.
func (p *Process) RequestStop() {
	p.Stop()
	p.stopOnce.Do(func() { close(p.stop) })
}

// Stopped tells whether Stop is closed.
func (p *Process) Stopped() bool {
	select {
	case <-p.Stop():
		return true
	default:
		return false
	}
}

// Print writes whole lines to stdout.
func (p *Process) Print(lines []byte) error {
	if _, err := p.Stdout.Write(lines); err != nil {
		return &StdoutError{err}
	}
	return nil
}

// StdoutError is a failed write to stdout, told apart from those to a server.
type StdoutError struct{ Err error }

func (e *StdoutError) Error() string { return "writing to stdout: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StdoutError) Unwrap() error { return e.Err }

// ReaderLeft tells that nobody reads stdout any more.
func ReaderLeft(err error) bool {
	e, ok := errors.AsType[*StdoutError](err)
	return ok && errors.Is(e.Err, syscall.EPIPE)
}

// Fail prints a TRACE ERROR and returns the exit code. A reader that left is no failure: nobody would read about it. Somebody at a terminal who sends stdout
// into a file is told there, too.
func (p *Process) Fail(err error) (exit int) {
	if ReaderLeft(err) {
		return 0
	}
	told := Redacted(err, p.Secrets.Redact)
	writeErr := p.Print(airbyte.AppendError(nil, told.Kind, told.Error(), Cause(told), nil, p.Now()))
	if writeErr != nil && !ReaderLeft(writeErr) || p.StderrTerminal && !p.StdoutTerminal {
		fmt.Fprintln(p.Stderr, told.Error())
	}
	return 1
}

// Lines lets several writers share stdout; each write is one or more whole lines.
type Lines struct {
	mu sync.Mutex
	w  io.Writer
}

// NewLines shares w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
