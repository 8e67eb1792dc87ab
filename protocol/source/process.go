package source

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
)

// forcedEnd is how long a read may go on after it was asked to stop: runners kill five to ten seconds after SIGTERM.
const forcedEnd = 4 * time.Second

// process is what a run has of the world around it.
type process struct {
	args           []string // without the program's name
	stdin          io.Reader
	stdout         *lines
	stderr         io.Writer
	stdinTerminal  bool
	stderrTerminal bool
	signals        <-chan os.Signal
	exit           func(code int)
	now            func() time.Time

	stop     chan struct{} // closed when a read should end at the next checkpoint
	stopOnce sync.Once
	graceful atomic.Bool // a read is running that looks at stop
}

func osProcess() *process {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	// A reader that left is an error of a write, which ends the run quietly; the signal would kill the process with a status of its own.
	signal.Ignore(syscall.SIGPIPE)
	return &process{
		args: os.Args[1:], stdin: os.Stdin, stdout: &lines{w: os.Stdout}, stderr: os.Stderr,
		stdinTerminal: term.IsTerminal(int(os.Stdin.Fd())), stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		signals: signals, exit: os.Exit, now: time.Now, stop: make(chan struct{}),
	}
}

// watch answers signals. It takes no lock and writes nothing: stdout may be blocked for ever by a reader that stopped reading.
func (p *process) watch() {
	<-p.signals
	if !p.graceful.Load() {
		p.exit(0)
		return
	}
	p.requestStop()
	select {
	case <-p.signals:
	case <-time.After(forcedEnd):
	}
	p.exit(0)
}

func (p *process) requestStop() { p.stopOnce.Do(func() { close(p.stop) }) }

func (p *process) stopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// lines lets several writers share stdout; each write is one or more whole lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
