package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func shell(t *testing.T, script string, sink interface{ Write([]byte) (int, error) }) (usage, error) {
	t.Helper()
	return execute(t.Context(), "/bin/sh", []string{"-c", script}, []string{"WORD=given"}, sink)
}

func TestExecute_MeasuresAndReadsAll(t *testing.T) {
	var sink counter
	u, err := shell(t, `echo $WORD; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.2; echo end`, &sink)
	if err != nil {
		t.Fatal(err)
	}
	if sink.lines != 2 || sink.bytes != int64(len("given\nend\n")) {
		t.Errorf("%d lines, %d bytes", sink.lines, sink.bytes)
	}
	if u.cpu <= 0 || u.wall < 200*time.Millisecond || u.wall < u.cpu || u.peak < 100<<10 || u.peak > 1<<30 {
		t.Errorf("%+v: want CPU time within the wall time, that beyond 0.2 s, and some memory", u)
	}
}

func TestExecute_FailureCarriesStderr(t *testing.T) {
	if _, err := shell(t, "echo because >&2; exit 3", &counter{}); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "because") {
		t.Errorf("%v, want the code and what was said", err)
	}
}

// A program whose output is refused runs to its end: it would hang on a full pipe otherwise.
func TestExecute_RefusedOutput(t *testing.T) {
	broken := errors.New("a wrong line")
	sink := &splitter{line: func([]byte) error { return broken }}
	if _, err := shell(t, "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done", sink); !errors.Is(err, broken) {
		t.Errorf("%v, want the sink's error", err)
	}
}

func TestExecute_WithoutASinkNobodyReads(t *testing.T) {
	u, err := shell(t, "readlink /proc/$$/fd/1 | grep -qx /dev/null", nil)
	if err != nil || u.wall <= 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// The time and the memory of children that the program waits for are seen, and theirs alone do not make the program's own.
func TestExecute_CountsChildren(t *testing.T) {
	busy := `i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done`
	u, err := command{path: "/bin/sh", args: []string{"-c", "/bin/sh -c '" + busy + "; sleep 0.3; true'; true"}, family: true}.run(t.Context(), &counter{})
	if err != nil {
		t.Fatal(err)
	}
	if u.cpu < 50*time.Millisecond {
		t.Errorf("CPU %v: that of the child is missing", u.cpu)
	}
	if len(u.children) == 0 || u.children["sh"] < 100<<10 {
		t.Errorf("children: %v", u.children)
	}
}

func TestRunPipe(t *testing.T) {
	say := func(script string) command { return command{path: "/bin/sh", args: []string{"-c", script}} }
	u, err := runPipe(t.Context(), say("seq 100000; sleep 0.1"), say(`[ "$(wc -l)" = 100000 ]`))
	if err != nil || u.wall < 100*time.Millisecond || u.cpu <= 0 {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err = runPipe(t.Context(), say("echo why >&2; exit 4"), say("cat > /dev/null")); err == nil || !strings.Contains(err.Error(), "why") || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("the first fails: %v", err)
	}
	if _, err = runPipe(t.Context(), say("yes"), say("exit 5")); err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("the second fails: %v", err)
	}
}
