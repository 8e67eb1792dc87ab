package relay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// relay is one life of the program.
type relay struct {
	path     string // of the program, whose files have its name
	settings settings
	runner   int // process id
	child    *exec.Cmd
	toChild  io.WriteCloser
	stdout   io.Writer
	log      *os.File
	heard    atomic.Int64 // lines that the connector has printed

	mu            sync.Mutex // guards what follows; whoever holds it decides what the runner hears
	gagged        bool       // the runner hears nothing any more
	plan          Plan
	planned       time.Time // modification time of the plan that was read
	done          bool      // with this plan
	count         int       // how often the plan's point was there
	phases        int
	applied       bool // and not opened since
	committing    bool // startCommit has been passed on, and no acknowledge since
	acknowledging bool // of a transaction
}

// Run is the program: it ends as its connector does. path is what the program was started as, args are the connector's.
func Run(path string, args []string, stdin io.Reader, stdout, stderr io.Writer) (exit int, err error) {
	r := &relay{path: path, runner: os.Getppid(), stdout: stdout}
	if err = readFile(path+settingsFile, &r.settings); err != nil {
		return 1, err
	}
	if r.log, err = os.OpenFile(path+logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return 1, fmt.Errorf("opening the relay's log: %w", err)
	}
	defer r.log.Close() // each line is one write
	r.child = exec.Command(r.settings.Connector, args...)
	r.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if r.current().Victim == Zombie {
		r.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it is to survive us
	}
	r.child.Stderr = stderr
	return r.live(len(args) == 0, stdin)
}

// live runs the connector to its end. It stays on one thread, because the kernel kills the child when the thread that started it ends.
func (r *relay) live(session bool, stdin io.Reader) (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var fromChild io.Reader
	if session {
		var err error
		if r.toChild, err = r.child.StdinPipe(); err != nil {
			return 1, fmt.Errorf("opening the connector's stdin: %w", err)
		}
		if fromChild, err = r.child.StdoutPipe(); err != nil {
			return 1, fmt.Errorf("opening the connector's stdout: %w", err)
		}
	} else {
		r.child.Stdin, r.child.Stdout = stdin, r.stdout
	}
	if err := r.child.Start(); err != nil {
		return 1, fmt.Errorf("starting the connector: %w", err)
	}
	if session {
		if err := r.introduce(); err != nil {
			return 1, errors.Join(err, r.child.Process.Kill())
		}
		go r.requests(stdin)
		r.responses(fromChild)
		r.mu.Lock()   // what a plan kills, and who besides, is for the plan to finish
		r.mu.Unlock() //nolint:staticcheck // nothing is guarded
	}
	err := r.child.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return 1, fmt.Errorf("waiting for the connector: %w", err)
	}
	if status, ok := r.child.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		_ = syscall.Kill(os.Getpid(), status.Signal()) // end as it did
		select {}
	}
	return r.child.ProcessState.ExitCode(), nil
}

// introduce tells others who runs.
func (r *relay) introduce() error {
	pid := r.child.Process.Pid
	r.note("start %d", pid)
	r.enter(nothing)
	if r.settings.IsSource {
		return writeFile(r.settings.SourcePID, pid)
	}
	return writeFile(r.path+lifeFile, life{r.runner, pid})
}

// enter tells whoever counts statements to start anew, for a point; nothing: to stop.
func (r *relay) enter(at Point) {
	var err error
	if at == nothing {
		if err = os.Remove(r.path + phaseFile); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	} else {
		r.phases++
		err = writeFile(r.path+phaseFile, phase{at, r.phases})
	}
	if err != nil {
		r.note("%v", err)
	}
}

func (r *relay) note(format string, args ...any) {
	fmt.Fprintf(r.log, format+"\n", args...)
}

// current is the plan as it is now; one that was carried out is no plan. A plan may be replaced at any time.
func (r *relay) current() Plan {
	info, err := os.Stat(r.path + planFile)
	if err != nil {
		return Plan{}
	}
	if !info.ModTime().Equal(r.planned) {
		var fired Fired
		r.plan, r.planned, r.count = Plan{}, info.ModTime(), 0
		if err := errors.Join(readFile(r.path+planFile, &r.plan), readFile(r.path+markerFile, &fired)); err != nil {
			r.note("%v", err)
		}
		r.done = fired.ID == r.plan.ID
	}
	if r.done {
		return Plan{}
	}
	return r.plan
}

// kind is the name of a line's only member.
func kind(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte(`"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}

// reached tells whether a point is the plan's, as often as the plan wants it.
func (r *relay) reached(p Plan, at Point) bool {
	if at == nothing || at != p.Point {
		return false
	}
	r.count++
	return r.count >= p.Nth
}

// requests passes on what the runner says.
func (r *relay) requests(stdin io.Reader) {
	defer func() { _ = r.toChild.Close() }() // the connector sees the end of its input, as it would without us
	in := bufio.NewReaderSize(stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if !r.request(line) {
				select {} // responses ends us when the connector has ended
			}
		}
		if err != nil {
			return
		}
	}
}

// request passes on one line; false: there is nobody left for it.
func (r *relay) request(line []byte) bool {
	r.mu.Lock()
	p := r.current()
	before, after := nothing, nothing
	switch kind(line) {
	case "apply":
		r.enter(Applying)
	case "open":
		if r.applied {
			before = Reopening
		}
		r.applied = false
	case "load":
		after = Loading
	case "flush":
		after = Flushing
	case "store":
		after = Storing
	case "startCommit":
		before = Stored
		if !p.byStatement() {
			after = Committing
		}
		r.committing = true
		r.enter(Committing)
	case "acknowledge":
		r.acknowledging, r.committing = r.committing, false
		if r.acknowledging {
			before, after = HostCommitted, Acknowledging
		}
	}
	if r.reached(p, before) {
		time.Sleep(p.Delay)
		if !r.kill(p, line, false) {
			r.gagged = true
			r.mu.Unlock()
			return false
		}
	}
	if !r.reached(p, after) {
		r.mu.Unlock() // the connector must be able to answer while it does not read
		_, err := r.toChild.Write(line)
		return err == nil
	}
	defer r.mu.Unlock() // answers are held back until then
	answered := false
	if p.Victim != Zombie {
		var err error
		if answered, err = r.ask(p, line); err != nil {
			return false
		}
	}
	if !r.kill(p, line, answered) {
		r.gagged = true
		return false
	}
	return true
}

// ask passes on a request whose answer is held back, and lets the connector work on it as the plan has it.
func (r *relay) ask(p Plan, line []byte) (answered bool, err error) {
	if p.Answer == Unanswered {
		freeze(r.child.Process.Pid)
	}
	before := r.heard.Load()
	if _, err := r.toChild.Write(line); err != nil {
		return false, err
	}
	for deadline := time.Now().Add(5 * time.Second); p.Answer == Answered && r.heard.Load() == before && time.Now().Before(deadline); {
		time.Sleep(50 * time.Microsecond)
	}
	time.Sleep(p.Delay)
	return r.heard.Load() > before, nil
}

// responses passes on what the connector says.
func (r *relay) responses(from io.Reader) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			r.heard.Add(1)
			if !r.response(line) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// response passes on one line; false: nobody hears it.
func (r *relay) response(line []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gagged {
		return false
	}
	before, after := nothing, nothing
	switch kind(line) {
	case "applied":
		r.applied = true
		r.enter(nothing)
	case "opened":
		after = Opened
		r.note("opened %d", r.child.Process.Pid)
	case "startedCommit":
		before, after = Committing, Committed // at P5 only when there were fewer statements than the plan waits for
		r.enter(nothing)
	case "acknowledged":
		if r.acknowledging {
			before, after = Acknowledged, Kept
		}
	}
	p := r.current()
	if r.reached(p, before) && !r.kill(p, nil, true) {
		r.gagged = true
		return false
	}
	if !r.reached(p, after) {
		_, err := r.stdout.Write(line)
		return err == nil
	}
	freeze(r.runner) // it must not have read this when it dies
	_, err := r.stdout.Write(line)
	if !r.kill(p, nil, true) {
		r.gagged = true
		return false
	}
	return err == nil
}

// kill carries out the plan and tells whether the connector is still of use. last is a request that was not passed on: a zombie finds it in its pipe.
func (r *relay) kill(p Plan, last []byte, answered bool) bool {
	r.done = true
	connector := r.child.Process.Pid
	if p.Victim == Zombie {
		freeze(connector)
		if _, err := r.toChild.Write(last); err != nil {
			r.note("%v", err)
		}
	}
	if err := carryOut(r.path, r.settings, p, life{r.runner, connector}, answered); err != nil {
		r.note("%v", err)
	}
	if p.Victim == Zombie {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // as the runner's end does to a connector
		select {}
	}
	return p.Victim == Source
}
