package pgtest

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a child that gets a signal when this process dies, however it dies.
type process struct {
	cmd  *exec.Cmd
	gone atomic.Bool
	done chan struct{} // closed once the child was reaped
	err  error         // what Wait said; valid after done
}

// startProcess starts cmd from a thread of its own that lives as long as the child: the kernel sends the death signal when the *thread* that forked
// ends, not when the process does.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		p.gone.Store(true)
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int    { return p.cmd.Process.Pid }
func (p *process) ended() bool { return p.gone.Load() }

// stop asks for a fast shutdown. SIGTERM would wait for clients to leave. After the timeout the server is killed, which is an error.
func (p *process) stop(timeout time.Duration) error {
	if p.ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil && !p.ended() {
		return fmt.Errorf("stopping PostgreSQL, pid %d: %w", p.pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(timeout):
	}
	_ = p.cmd.Process.Kill() // fails only when it is gone by now
	<-p.done
	return fmt.Errorf("stopping PostgreSQL, pid %d: still there %s after SIGINT, killed", p.pid(), timeout)
}
