package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/widepipe"
	"github.com/estuary/connectors/protocol"
)

// Sides of a pipeline, as logs and messages name them.
const (
	sourceSide = "source"
	sinkSide   = "sink"
)

// child is a running connector. What it logs is passed on by a goroutine that ends with it.
type child struct {
	side   string
	name   string // of the program, without folders
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	logs   *relay
	done   chan struct{} // closed when the process has ended and its log was read
	state  *os.ProcessState
	closed sync.Once
}

// locate finds a connector's program: beside this one, on PATH, or where a path says.
func locate(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("the connector %s was not found", name), Fix: "put it beside pipeline or on PATH, or write its path", Err: err,
		}
	}
	return path, nil
}

// start starts a connector; logs says of which side, and passes its log on.
func start(name string, args []string, logs *relay) (*child, error) {
	path, err := locate(name)
	if err != nil {
		return nil, err
	}
	side := logs.side
	c := &child{side: side, name: filepath.Base(path), done: make(chan struct{}), logs: logs}
	var theirs []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	stdinR, stdinW := pipe()
	stdoutR, stdoutW := pipe()
	stderrR, stderrW := pipe()
	theirs = append(theirs, stdinR, stdoutW, stderrW)
	defer closeAll(theirs) // the child has its own descriptors
	c.stdin, c.stdout = stdinW, stdoutR
	if err != nil {
		closeAll([]*os.File{stdinW, stdoutR, stderrR})
		return nil, unstartable(side, c.name, err)
	}
	widepipe.Widen(stdinW)
	widepipe.Widen(stdoutR)
	// No context: a child is asked to end before it is killed.
	c.cmd = &exec.Cmd{Path: path, Args: append([]string{path}, args...)}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdinR, stdoutW, stderrW
	c.cmd.SysProcAttr = childAttributes()
	began := make(chan error, 1)
	go c.watch(stderrR, began)
	if err := <-began; err != nil {
		closeAll([]*os.File{stdinW, stdoutR, stderrR})
		return nil, unstartable(side, name, err)
	}
	return c, nil
}

func unstartable(side, name string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("the %s %s cannot be started", side, name), Fix: startReason(err), Err: err}
}

func startReason(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "this process may open no more files: raise its limit (ulimit -n), which was too low for the pipes to it"
	case errors.Is(err, syscall.ENFILE):
		return "this machine may open no more files: raise its limit (sysctl fs.file-max)"
	}
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing was written that could be lost
		}
	}
}

// watch stays on one thread as long as the child lives: the kernel kills the child when the thread that started it ends.
func (c *child) watch(stderr *os.File, began chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	began <- err
	if err != nil {
		return
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		c.logs.follow(stderr)
	}()
	_ = c.cmd.Wait() // ending tells how it ended
	c.state = c.cmd.ProcessState
	select {
	case <-logged:
	case <-time.After(time.Second): // a grandchild has inherited stderr
	}
	close(c.done)
	<-logged
	_ = stderr.Close()
}

// closeStdin tells the child that nothing more comes: it is to stop.
func (c *child) closeStdin() { c.closed.Do(func() { _ = c.stdin.Close() }) }

// kill ends the child at once.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // that it has ended already is no error
}

// end asks the child to stop and kills it when it takes longer than the grace. It returns when the child has ended; its output is thrown away.
func (c *child) end(grace time.Duration) {
	c.closeStdin()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, c.stdout) // it may be waiting for room in the pipe
	}()
	select {
	case <-c.done:
	case <-time.After(grace):
		c.kill()
		<-c.done
	}
	_ = c.stdout.SetReadDeadline(time.Now()) // a grandchild may hold the other end
	<-drained
	_ = c.stdout.Close()
}

// wait waits for the end of the child; not ok: it takes longer.
func (c *child) wait(limit time.Duration) (ok bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
}

// ending tells how the child ended, nil: as it should. Valid after done.
func (c *child) ending() error {
	if c.state.Success() {
		return nil
	}
	e := &exitError{side: c.side, name: c.name, fenced: c.logs.fenced.Load()}
	e.said, e.kind = c.logs.lastError()
	if status, ok := c.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	} else {
		e.code = c.state.ExitCode()
	}
	return e
}

// exitError tells of a connector that ended with a failure.
type exitError struct {
	side, name string
	code       int
	signal     syscall.Signal // 0: it ended by itself
	said, kind string         // its last error in the log, and what that says of its kind; "": nothing
	fenced     bool           // a newer session has taken over
}

func (e *exitError) Error() string {
	switch {
	case e.signal != 0:
		return fmt.Sprintf("the %s %s was ended by signal %d (%s)", e.side, e.name, int(e.signal), e.signal)
	case e.said == "":
		return fmt.Sprintf("the %s %s ended with exit code %d and gave no reason", e.side, e.name, e.code)
	}
	if e.fenced {
		return fmt.Sprintf("the %s %s ended: %s. Two pipelines of one name write here: stop one of them, or give it another name in its file", e.side, e.name, e.said)
	}
	return fmt.Sprintf("the %s %s ended: %s", e.side, e.name, e.said)
}

// failure tells why the connector no longer answers: how it ended, if it has ended or does so now, else what was noticed.
func (c *child) failure(noticed error) error {
	if c.wait(2*time.Second) && c.ending() != nil {
		return c.ending()
	}
	return fmt.Errorf("speaking with the %s %s: %w", c.side, c.name, noticed)
}

func (c *child) log() *logrus.Entry { return logrus.WithField("side", c.side) }
