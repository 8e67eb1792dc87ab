package command

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
)

// bug streams-files-parser 7: predecessor: a run went on behind a line that could not be written
//
// A reader of stdout that left is a quiet end; a server that closed its connection is an error, though the system calls both a broken pipe.
func TestRefuse_ToldApartByWhoLeft(t *testing.T) {
	logs := test.NewLocal(logrus.StandardLogger())
	for _, c := range []struct {
		err  error
		exit int
	}{
		{fmt.Errorf("emitting: %w", &StdoutError{syscall.EPIPE}), 0},
		{&StdoutError{syscall.ENOSPC}, 1},
		{fmt.Errorf("writing to the server: %w", syscall.EPIPE), 1},
	} {
		logs.Reset()
		if exit := Refuse(c.err); exit != c.exit || len(logs.AllEntries()) != c.exit {
			t.Errorf("%v: exit %d and %d log lines, want %d of each", c.err, exit, len(logs.AllEntries()), c.exit)
		}
	}
}

// Ctrl-C in a terminal and a supervisor's SIGTERM right after it are one request to stop; a signal later on is a second one.
func TestWatch_SignalsOfOneRequest(t *testing.T) {
	signals, exited := make(chan os.Signal, 2), make(chan int, 1)
	p := &Process{Signals: signals, Exit: func(code int) { exited <- code }}
	p.Graceful()
	go p.Watch()
	signals <- syscall.SIGINT
	<-p.Stop()
	signals <- syscall.SIGTERM
	select {
	case <-exited:
		t.Fatal("two signals at once ended the process before its work did")
	case <-time.After(2 * sameRequest):
	}
	signals <- syscall.SIGTERM
	select {
	case code := <-exited:
		if code != 0 {
			t.Errorf("exit %d", code)
		}
	case <-time.After(ForcedEnd / 2):
		t.Error("the second request was not heard")
	}
}

// discover > catalog.json at a terminal: the reason of a failure is in the file, and the user sees nothing.
func TestFail_IsSeenOnATerminalAlthoughStdoutGoesElsewhere(t *testing.T) {
	for _, c := range []struct{ out, err, told bool }{{false, true, true}, {true, true, false}, {false, false, false}} {
		var stdout, stderr strings.Builder
		p := &Process{Stdout: NewLines(&stdout), Stderr: &stderr, StdoutTerminal: c.out, StderrTerminal: c.err, Now: time.Now}
		p.Secrets.Add([]string{"hush"})
		if code := p.Fail(Problem("the password hush is wrong", "give another")); code != 1 || !strings.Contains(stdout.String(), "TRACE") {
			t.Errorf("exit code %d, stdout %s", code, stdout.String())
		}
		if told := stderr.String() != ""; told != c.told || strings.Contains(stderr.String(), "hush") || told && !strings.Contains(stderr.String(), "is wrong") {
			t.Errorf("%+v: stderr %q", c, stderr.String())
		}
	}
}
