// Package watch takes a running connector's lines as they come, so that a test can wait for what they say.
package watch

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

// Patience is how long anything may take before a test is given up.
const Patience = 90 * time.Second

// Lines is a running process whose lines are taken as they come.
type Lines struct {
	t       testing.TB
	process *binary.Process
	take    func(line []byte) error
	hold    func() bool

	mu      sync.Mutex
	changed *sync.Cond
	ended   bool
	held    bool
	err     error
}

// Start starts a command, which is killed at the test's end. take is called with each line, under the lock that conditions hold, too. While hold, which may be
// nil, says so, nothing is read, and the pipe fills up; it is asked before each line, and again after Release.
func Start(t testing.TB, c binary.Command, take func(line []byte) error, hold func(p *binary.Process) bool) (*Lines, *binary.Process) {
	t.Helper()
	p, err := binary.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	l := &Lines{t: t, process: p, take: take, hold: func() bool { return hold != nil && hold(p) }}
	l.changed = sync.NewCond(&l.mu)
	go l.read()
	t.Cleanup(func() {
		_ = p.Kill() // a test that failed may have left it
		_, _ = p.Wait(Patience)
		_ = p.Close()
	})
	return l, p
}

func (l *Lines) read() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended {
		if l.held = l.hold(); l.held {
			l.changed.Broadcast()
			l.changed.Wait()
			continue
		}
		l.mu.Unlock()
		line, err := l.process.Next()
		l.mu.Lock()
		if err == nil {
			err = l.take(line)
		}
		if err != nil {
			l.ended = true
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
		}
		l.changed.Broadcast()
	}
}

// Lock and Unlock are for a look at what take writes, outside of conditions.
func (l *Lines) Lock() { l.mu.Lock() }

// Unlock ends the look.
func (l *Lines) Unlock() { l.mu.Unlock() }

// Locked runs f while nothing is taken.
func (l *Lines) Locked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Release changes, by f, what hold looks at.
func (l *Lines) Release(f func()) {
	l.Locked(f)
	l.changed.Broadcast()
}

// Ended tells whether the output has ended; for conditions.
func (l *Lines) Ended() bool { return l.ended }

// Err is what ended the taking of lines, other than the output's end; for conditions, and after the end.
func (l *Lines) Err() error { return l.err }

// Held tells whether hold says that nothing is read now; for conditions.
func (l *Lines) Held() bool { return l.held }

// Reaches tells whether a condition, which may look at what take has written, came true before the output ended or the patience did.
func (l *Lines) Reaches(ok func() bool) bool {
	late := false
	timer := time.AfterFunc(Patience, func() { l.Release(func() { late = true }) })
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ok() {
		if l.ended || late {
			return false
		}
		l.changed.Wait()
	}
	return true
}

// Await fails the test unless the condition comes true.
func (l *Lines) Await(what string, ok func() bool) {
	l.t.Helper()
	if !l.Reaches(ok) {
		l.Locked(func() {
			l.t.Fatalf("the process has not come to %s (its output ended: %v, %v)\n%s", what, l.ended, l.err, Last(l.process.Stderr()))
		})
	}
}

// Finished waits for the end of the process and, unless its reader is held, of its output, all of which must have been taken.
func (l *Lines) Finished() binary.Exit {
	l.t.Helper()
	exit, err := l.process.Wait(Patience)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended && !l.held {
		l.changed.Wait()
	}
	if l.err != nil {
		l.t.Fatal(l.err)
	}
	return exit
}

// Last cuts what a process logged to what a message can hold.
func Last(s string) string { return s[max(0, len(s)-2000):] }
