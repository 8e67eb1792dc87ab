package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/progress"
	"github.com/estuary/connectors/internal/pipeline/runner"
)

// flags are those of all commands.
type flags struct {
	command.Flags
	Once         bool    `long:"once"`
	JSON         bool    `long:"json"`
	Yes          bool    `long:"yes"`
	Source       *string `long:"source"`
	SourceConfig *string `long:"source-config"`
	Sink         *string `long:"sink"`
	SinkConfig   *string `long:"sink-config"`
	Streams      *string `long:"streams"`
}

// invocation is one run of the program.
type invocation struct {
	*command.Process
	flags flags
	args  []string // what follows the command, without flags
}

var commands = map[string]func(*invocation) (exit int, err error){
	"init": (*invocation).initialize, "check": (*invocation).check, "run": (*invocation).run, "status": (*invocation).status,
	"state": (*invocation).state, "backfill": (*invocation).backfill, "reset": (*invocation).reset,
}

// run returns the exit code: 0 done, 1 failed, 2 used wrongly; status has codes of its own.
func run(p *command.Process) (exit int) {
	inv := &invocation{Process: p}
	name, rest, err := command.Parse(p.Args, &inv.flags)
	for _, arg := range rest {
		if strings.HasPrefix(arg, "-") && err == nil {
			err = command.Problem("unknown flag "+arg, "see pipeline --help")
		}
		inv.args = append(inv.args, arg)
	}
	work, known := commands[name]
	switch {
	case inv.flags.Help:
		usage(p.Stdout)
		return 0
	case inv.flags.Version:
		fmt.Fprintln(p.Stdout, "pipeline", version)
		return 0
	case err != nil:
		fmt.Fprintln(p.Stderr, command.Message(err))
		return 2
	case !known:
		if name != "" {
			fmt.Fprintf(p.Stderr, "pipeline has no command %q.\n\n", name)
		}
		usage(p.Stderr)
		return 2
	}
	p.ConfigureLogging(true, inv.flags.Debug)
	defer func() {
		if r := recover(); r != nil {
			exit = inv.fail(command.Panicked(r))
		}
	}()
	exit, err = work(inv)
	if err != nil {
		return inv.fail(err)
	}
	return exit
}

// fail tells people why, in one sentence on stderr.
func (inv *invocation) fail(err error) int {
	if pathErr, ok := errors.AsType[*os.PathError](err); command.ReaderLeft(err) || ok && pathErr.Path == "/dev/stdout" && errors.Is(err, syscall.EPIPE) {
		return 0 // nobody reads on, as after head
	}
	told := command.Redacted(err, inv.Secrets.Redact)
	fmt.Fprintln(inv.Stderr, told.Error())
	if inv.flags.Debug && told.Err != nil {
		fmt.Fprintln(inv.Stderr, told.Err)
	}
	return 1
}

// file reads the pipeline's file, which every command but init is given, in one of config's ways.
func (inv *invocation) file(read func(path string) (*config.File, error), more ...string) (*config.File, error) {
	if len(inv.args) != 1+len(more) {
		return nil, command.Problem("this command takes "+strings.Join(append([]string{"FILE"}, more...), " and "), "see pipeline --help")
	}
	f, err := read(inv.args[0])
	if f != nil {
		inv.Secrets.Add(f.Secrets)
	}
	return f, err
}

// leaving is what a run does when it is ended at once: without it, the status file would tell of a process that was killed.
var leaving lastWords

type lastWords struct {
	mu sync.Mutex
	f  func()
}

func (l *lastWords) set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
}

// run gives them a moment: the file may be on a disk that does not answer.
func (l *lastWords) run() {
	l.mu.Lock()
	f := l.f
	l.mu.Unlock()
	if f == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(200 * time.Millisecond):
	}
}

// memoryBytes bounds the runner's memory: the documents of two transactions, what was loaded for them, and buffers.
const memoryBytes = 128 << 20

// run copies until it is told to stop, or has caught up.
func (inv *invocation) run() (int, error) {
	f, err := inv.file(config.Read)
	if err != nil {
		return 1, err
	}
	inv.Graceful()
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryBytes * 85 / 100)
	}
	tracker := progress.NewTracker(f.Name)
	o := runner.Options{File: f, Tracker: tracker, Secrets: &inv.Secrets, Once: inv.flags.Once, Stop: inv.Stop()}
	r, err := runner.Open(o)
	if err != nil {
		return 1, err // the status file belongs to who runs
	}
	var terminal io.Writer
	if inv.StderrTerminal {
		terminal = inv.Stderr
	}
	reporter := progress.Report(tracker, f.StatusPath(), terminal)
	leaving.set(func() {
		tracker.End("")
		_ = tracker.Snapshot().Write(f.StatusPath()) // it is about to end anyway
	})
	defer leaving.set(nil)
	done := make(chan struct{})
	go func() {
		select {
		case <-inv.Stop():
			tracker.Stopping()
		case <-done:
		}
	}()
	err = r.Run(context.Background())
	close(done)
	if err != nil {
		tracker.End(inv.Secrets.Redact(command.Message(err)))
	} else {
		tracker.End("")
	}
	reporter.Close()
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// check looks for everything that would stop a run, on both sides, and changes nothing.
func (inv *invocation) check() (int, error) {
	f, err := inv.file(config.Read)
	if err != nil {
		return 1, err
	}
	found, err := runner.Check(context.Background(), runner.Options{File: f, Secrets: &inv.Secrets})
	if err != nil {
		return 1, err
	}
	for _, line := range found {
		fmt.Fprintln(inv.Stdout, line)
	}
	return 0, nil
}

// status tells how a pipeline is. Its exit code tells, too: 0 running, 1 stopped by an error, 3 not running.
func (inv *invocation) status() (int, error) {
	f, err := inv.file(config.ReadPlain)
	if err != nil {
		return 1, err
	}
	s, ok, err := progress.Read(f.StatusPath())
	switch {
	case err != nil:
		return 1, err
	case !ok:
		s = progress.Status{Pipeline: f.Name, State: progress.Stopped}
		if !inv.flags.JSON {
			fmt.Fprintf(inv.Stdout, "pipeline %s has not run here yet: there is no %s\n", f.Name, f.StatusPath())
			return s.Exit(), nil
		}
	}
	if inv.flags.JSON {
		raw := []byte("{}")
		if ok {
			if raw, err = json.MarshalIndent(s, "", "  "); err != nil {
				return 1, err
			}
		}
		return s.Exit(), inv.Print(append(raw, '\n'))
	}
	return s.Exit(), s.Print(inv.Stdout, inv.Now())
}

// state prints the checkpoint that counts and the sink's state.
func (inv *invocation) state() (int, error) {
	f, err := inv.file(config.Read)
	if err != nil {
		return 1, err
	}
	raw, err := runner.State(context.Background(), runner.Options{File: f, Secrets: &inv.Secrets})
	if err != nil {
		return 1, err
	}
	return 0, inv.Print(append(raw, '\n'))
}

// backfill makes streams start over at the next run.
func (inv *invocation) backfill() (int, error) {
	f, err := inv.file(config.ReadPlain, "STREAM")
	if err != nil {
		return 1, err
	}
	names, err := runner.Backfill(f, inv.args[1])
	if err != nil {
		return 1, err
	}
	for _, name := range names {
		fmt.Fprintf(inv.Stdout, "%s starts over at the next run: its table is emptied and filled anew.\n", name)
	}
	return 0, nil
}

// usage lists the commands.
func usage(w io.Writer) {
	command.Usage(w, [][2]string{
		{"pipeline init FILE --source NAME --source-config FILE", "discover, and write a pipeline's file"},
		{"    --sink NAME --sink-config FILE [--streams GLOBS]", ""},
		{"pipeline check FILE", "look for everything that would stop a run, on both sides"},
		{"pipeline run FILE [--once]", "copy, for ever or until caught up"},
		{"pipeline status FILE [--json]", "tell how it goes; exit 0 running, 1 failed, 3 not running"},
		{"pipeline state FILE", "print the checkpoint that counts and the sink's state"},
		{"pipeline backfill FILE STREAM", "let a stream start over at the next run (globs allowed)"},
		{"pipeline reset FILE [--yes]", "forget everything; prints what is left in both databases"},
	}, "GLOBS are comma-separated names with * and ?: 'public.*,sales.orders'.", "https://github.com/estuary/connectors/tree/main/pipeline")
}
