package materialize

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is this binary, running as the shelf.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   io.Closer
	stderr bytes.Buffer
}

func launch(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.cmd.Env = append(os.Environ(), "BE_A_CONNECTOR=1", "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out, c.pipe = bufio.NewReader(out), out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *child) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads lines until one starts with the text.
func (c *child) expect(text string) {
	c.t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%v before %q", err, text)
		}
		if strings.HasPrefix(line, text) {
			return
		}
	}
}

func (c *child) terminate() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
}

// wait returns what was printed last, the exit code, and how long it took.
func (c *child) wait() (rest string, exit int, took time.Duration) {
	c.t.Helper()
	began := time.Now()
	timer := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	raw, err := io.ReadAll(c.out)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			c.t.Fatal(err)
		}
	}
	return string(raw), c.cmd.ProcessState.ExitCode(), time.Since(began)
}

func TestSigterm_EndsASessionAtOnce(t *testing.T) {
	lines := script["json"]
	for name, n := range map[string]int{"after opened": 0, "after acknowledged": 1, "among stores": 3, "among loads": 7, "after everything": 14} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newShelf(t)
			c := launch(t)
			c.send(strings.TrimSuffix(start(shelfJSON(path, "good")), "\n"))
			c.expect(`{"opened":`)
			if n > 0 {
				c.send(lines[:n]...)
			}
			switch {
			case n == 1:
				c.expect(`{"acknowledged":`)
			case n == 3:
				c.expect(`{"flushed":`)
			case n >= 7:
				c.expect(`{"startedCommit":`)
			}
			c.terminate()
			if _, exit, took := c.wait(); exit != 0 || took > 2*time.Second || strings.Contains(c.stderr.String(), `"level":"error"`) {
				t.Errorf("exit %d after %s, want 0 at once: %s", exit, took, c.stderr.String())
			}
			want := map[int]int{7: 2, 14: 1}[n]
			if got := rows(t, path, "main.orders"); len(got) != want {
				t.Errorf("the table holds %v, want %d rows", got, want)
			}
			if !strings.Contains(c.stderr.String(), "closing the session") {
				t.Error("the session was not closed")
			}
		})
	}
}

// A transactor that waits for its server hears of the signal through its context.
// bug materializations 24: "context canceled" was reported beside, or instead of, the reason (2023)
func TestSigterm_CancelsALoad(t *testing.T) {
	t.Parallel()
	path := newShelf(t)
	c := launch(t)
	c.send(strings.TrimSuffix(start(shelfJSON(path, "slow load")), "\n"), `{"acknowledge":{}}`, `{"load":{"key":[1]}}`, `{"flush":{}}`)
	c.expect(`{"acknowledged":`)
	time.Sleep(50 * time.Millisecond)
	c.terminate()
	if _, exit, took := c.wait(); exit != 0 || took > 2*time.Second || strings.Contains(c.stderr.String(), "cancel") {
		t.Errorf("exit %d after %s: %s", exit, took, c.stderr.String())
	}
}

// A commit that has begun is finished and answered.
func TestSigterm_FinishesACommit(t *testing.T) {
	t.Parallel()
	path := newShelf(t)
	c := launch(t)
	c.send(strings.TrimSuffix(start(shelfJSON(path, "slow commit")), "\n"))
	c.send(script["json"][:5]...)
	c.expect(`{"flushed":`)
	time.Sleep(100 * time.Millisecond)
	c.terminate()
	rest, exit, took := c.wait()
	if exit != 0 || took > 3*time.Second || !strings.Contains(rest, `{"startedCommit":`) || len(rows(t, path, "main.orders")) != 2 {
		t.Errorf("exit %d after %s, %s: %s", exit, took, rest, c.stderr.String())
	}
}

func TestReaderThatLeft_IsAQuietExit(t *testing.T) {
	t.Parallel()
	c := launch(t)
	c.send(strings.TrimSuffix(start(shelfJSON(newShelf(t), "good")), "\n"))
	c.expect(`{"opened":`)
	if err := c.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	c.send(`{"acknowledge":{}}`, `{"flush":{}}`)
	if err := c.cmd.Wait(); err != nil || strings.Contains(c.stderr.String(), "pipe") {
		t.Errorf("%v, stderr %q, want exit code 0 and nothing of a pipe", err, c.stderr.String())
	}
}

// Loads of the next transaction come while this one is committed, more than the pipe and the memory for them hold
func TestLoads_ComeDuringTheCommit(t *testing.T) {
	t.Parallel()
	c := launch(t)
	c.send(strings.TrimSuffix(start(shelfJSON(newShelf(t), "slow commit")), "\n"), `{"acknowledge":{}}`, `{"flush":{}}`, `{"startCommit":{}}`)
	long := strings.Repeat("x", 1000)
	for i := range 30_000 { // 30 MB, written by somebody who reads nothing meanwhile
		c.send(fmt.Sprintf(`{"load":{"key":["%s%d"]}}`, long, i))
	}
	c.send(`{"acknowledge":{}}`, `{"flush":{}}`, `{"startCommit":{}}`)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	rest, exit, _ := c.wait()
	if exit != 0 || strings.Count(rest, "startedCommit") != 2 {
		t.Errorf("exit %d, %s: %s", exit, rest, c.stderr.String())
	}
}

// Documents are loaded while more keys come, and the runner is slow to read them.
func TestLoads_SlowReader(t *testing.T) {
	t.Parallel()
	const n = 2000
	c := launch(t)
	lines := []string{strings.TrimSuffix(start(shelfJSON(newShelf(t), "good")), "\n"), `{"acknowledge":{}}`, `{"flush":{}}`}
	note := strings.Repeat("y", 4000)
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"store":{"key":[%d],"values":["a",1],"doc":{"id":%d,"note":"%s"}}}`, i, i, note))
	}
	lines = append(lines, `{"startCommit":{}}`, `{"acknowledge":{}}`)
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"load":{"key":[%d]}}`, i))
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.in, strings.Join(append(lines, `{"flush":{}}`, `{"startCommit":{}}`), "\n"))
		sent <- errors.Join(err, c.in.Close())
	}()
	loaded := 0
	for {
		line, err := c.out.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, `{"loaded":`) {
			if loaded++; loaded%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if _, exit, _ := c.wait(); exit != 0 || loaded != n {
		t.Errorf("exit %d and %d documents, want %d: %s", exit, loaded, n, c.stderr.String())
	}
}

// A runner that reads nothing, perhaps because it waits until it can write, must not keep alive a session that has failed.
func TestFailedSession_EndsUnread(t *testing.T) {
	t.Parallel()
	c := launch(t)
	lines := []string{strings.TrimSuffix(start(shelfJSON(newShelf(t), "good")), "\n"), `{"acknowledge":{}}`, `{"flush":{}}`}
	note := strings.Repeat("y", 8000)
	for i := range 300 {
		lines = append(lines, fmt.Sprintf(`{"store":{"key":[%d],"values":["a",1],"doc":{"id":%d,"note":"%s"}}}`, i, i, note))
	}
	lines = append(lines, `{"startCommit":{}}`, `{"acknowledge":{}}`)
	for i := range 300 {
		lines = append(lines, fmt.Sprintf(`{"load":{"key":[%d]}}`, i))
	}
	c.send(append(lines, `{"flush":{}}`, `{"flush":{}}`)...)
	timer := time.AfterFunc(10*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	state, err := c.cmd.Process.Wait() // exec's Wait would close the pipe
	if err != nil || state.ExitCode() != 1 {
		t.Errorf("%v, %v, want exit code 1 in good time", state, err)
	}
}

func TestFencedSession_NamesTheNewerOne(t *testing.T) {
	t.Parallel()
	path := newShelf(t)
	older := launch(t)
	older.send(strings.TrimSuffix(start(shelfJSON(path, "good")), "\n"))
	older.expect(`{"opened":`)
	newer := launch(t)
	newer.send(strings.TrimSuffix(opened(shelfJSON(path, "good")), "\n"))
	newer.expect(`{"opened":`)
	older.send(script["json"][:5]...)
	rest, exit, _ := older.wait()
	const want = `"class":"fenced","kind":"system","level":"error","msg":"a newer session writes to this destination, started at 2023-11-14T22:13:20Z on host another;`
	if exit != 1 || strings.Contains(rest, "startedCommit") || !strings.Contains(older.stderr.String(), want) || len(rows(t, path, "main.orders")) != 0 {
		t.Errorf("exit %d, %s: %s", exit, rest, older.stderr.String())
	}
}
