package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
)

// child is this binary, running as the counter connector.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    io.ReadCloser
	stderr bytes.Buffer
}

func start(t *testing.T, argv ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], argv...)}
	c.cmd.Env = append(os.Environ(), "BE_A_CONNECTOR=1", "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *child) terminate() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
}

// wait returns the exit code and how long it took.
func (c *child) wait() (exit int, took time.Duration) {
	c.t.Helper()
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			c.t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		c.t.Fatalf("the process is still alive: %s", c.stderr.String())
	}
	return c.cmd.ProcessState.ExitCode(), time.Since(began)
}

func readArgv(t *testing.T, mood string) []string {
	return []string{
		"read", "--config", file(t, `{"chunk":100,"mood":"`+mood+`"}`), "--catalog",
		file(t, `{"streams":[{"stream":{"name":"ones","namespace":"public"},"sync_mode":"incremental"}]}`),
	}
}

func TestSigterm_LiveReaderGetsAWholeRun(t *testing.T) {
	c := start(t, readArgv(t, "flood")...)
	in := bufio.NewReader(c.out)
	var last []string
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			if line != "" {
				t.Errorf("the last line is torn: %q", line)
			}
			break
		}
		if last = append(last, line); len(last) > 10 {
			last = last[1:]
		}
		if n == 10_000 {
			c.terminate()
		}
	}
	exit, _ := c.wait()
	state, record := -1, -1
	for i, line := range last {
		switch {
		case strings.HasPrefix(line, `{"type":"STATE"`):
			state = i
		case strings.HasPrefix(line, `{"type":"RECORD"`):
			record = i
		}
	}
	if exit != 0 || state < record || state < 0 || !strings.Contains(last[len(last)-1], `"status":"INCOMPLETE"`) {
		t.Errorf("exit %d, last lines %s", exit, strings.Join(last, ""))
	}
}

// PyAirbyte and others stop reading and then send SIGTERM: the write that blocks must not keep the process alive.
func TestSigterm_ReaderThatStoppedReading(t *testing.T) {
	t.Parallel()
	c := start(t, readArgv(t, "flood")...)
	if _, err := io.CopyN(io.Discard, c.out, 1<<20); err != nil {
		t.Fatal(err)
	}
	c.terminate()
	if exit, took := c.waitWithoutReading(); exit != 0 || took >= 5*time.Second {
		t.Errorf("exit %d after %s, want 0 in less than 5 s", exit, took)
	}
}

// waitWithoutReading is wait that leaves the pipe open and full: exec's Wait would close our end, which ends a blocked write.
func (c *child) waitWithoutReading() (exit int, took time.Duration) {
	c.t.Helper()
	began := time.Now()
	state, err := c.cmd.Process.Wait()
	if err != nil {
		c.t.Fatal(err)
	}
	return state.ExitCode(), time.Since(began)
}

func TestSigterm_SourceThatDoesNotListen(t *testing.T) {
	t.Parallel()
	c := start(t, readArgv(t, "deaf")...)
	waitFor(t, c.out, `"n":5`)
	c.terminate()
	exit, took := c.waitWithoutReading()
	if exit != 0 || took < command.ForcedEnd-time.Second || took >= 5*time.Second {
		t.Errorf("exit %d after %s, want 0 after about %s", exit, took, command.ForcedEnd)
	}
}

func TestSigterm_TwiceEndsAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t, readArgv(t, "deaf")...)
	waitFor(t, c.out, `"n":5`)
	c.terminate()
	time.Sleep(400 * time.Millisecond) // signals that arrive together are one request
	c.terminate()
	if exit, took := c.waitWithoutReading(); exit != 0 || took > 2*time.Second {
		t.Errorf("exit %d after %s, want 0 at once", exit, took)
	}
}

// Only a read has something to finish.
func TestSigterm_EndsOtherCommandsAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t, "check", "--config", file(t, `{"mood":"deaf"}`))
	waitFor(t, c.out, "checking as")
	c.terminate()
	if exit, took := c.waitWithoutReading(); exit != 0 || took > 2*time.Second {
		t.Errorf("exit %d after %s, want 0 at once", exit, took)
	}
}

func TestSigterm_EndsAFlowSession(t *testing.T) {
	t.Parallel()
	for _, request := range []string{`{"spec":{}}`, openHead + `}}`} {
		c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0])}
		c.cmd.Env = append(os.Environ(), "BE_A_CONNECTOR=1", "GORACE=atexit_sleep_ms=0")
		in, err := c.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if c.out, err = c.cmd.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
		if err := c.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, request+"\n"); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(c.out)
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		c.terminate()
		rest, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(string(rest)), "\n"); len(rest) > 0 && !strings.HasPrefix(lines[len(lines)-1], `{"checkpoint":`) {
			t.Errorf("the last line is no checkpoint: %s", lines[len(lines)-1])
		}
		if exit, took := c.wait(); exit != 0 || took > 2*time.Second {
			t.Errorf("exit %d after %s, want 0 at once", exit, took)
		}
	}
}

func waitFor(t *testing.T, out io.Reader, text string) {
	t.Helper()
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("%v before %q", err, text)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

func TestReaderThatLeft_IsAQuietExit(t *testing.T) {
	c := start(t, readArgv(t, "flood")...)
	waitFor(t, c.out, `"n":500`)
	c.out.Close()
	exit, _ := c.wait()
	if exit != 0 || strings.Contains(c.stderr.String(), "pipe") {
		t.Errorf("exit %d, stderr %q, want 0 and nothing of a pipe", exit, c.stderr.String())
	}
}

// The runner of 2022 hands config, catalog and state over as FIFOs: each can be read once, and cannot be asked for its size.
func TestRead_InputsMayBeFIFOs(t *testing.T) {
	dir := t.TempDir()
	argv := []string{"read"}
	for flag, content := range map[string]string{
		"config":  `{}`,
		"catalog": `{"streams":[{"stream":{"name":"ones"},"sync_mode":"incremental"}]}`,
		"state":   `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"ones"},"stream_state":{"n":3}}}]`,
	} {
		path := filepath.Join(dir, flag)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		argv = append(argv, "--"+flag, path)
		go func() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(content)
				f.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	c := start(t, argv...)
	out, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	if exit, _ := c.wait(); exit != 0 || strings.Count(string(out), `"type":"RECORD"`) != 2 || !strings.Contains(string(out), `"n":5`) {
		t.Errorf("exit %d, want 0 and the last two rows: %s", exit, out)
	}
}

func TestSession_EmptyStdinIsUsage(t *testing.T) {
	c := start(t)
	out, _ := io.ReadAll(c.out)
	if exit, _ := c.wait(); exit != 2 || len(out) > 0 || !strings.Contains(c.stderr.String(), "Usage:") {
		t.Errorf("exit %d, stdout %q, stderr %q, want 2 and usage", exit, out, c.stderr.String())
	}
}
