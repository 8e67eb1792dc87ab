package binary

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if toy := os.Getenv("TOY"); toy != "" {
		os.Exit(toys[toy]())
	}
	m.Run()
}

// toys are what the tests drive: this test's own binary, behaving as the variable TOY says.
var toys = map[string]func() int{
	"args": func() int { // prints its arguments and the files named by them
		for i, arg := range os.Args[1:] {
			if strings.HasPrefix(arg, "--") {
				text, err := os.ReadFile(os.Args[i+2])
				fmt.Println(arg, string(text), err)
			} else if !strings.Contains(arg, "/") {
				fmt.Println(arg)
			}
		}
		fmt.Fprint(os.Stderr, "to stderr")
		return 3
	},
	"endless": func() int { // numbered lines until killed
		for n := 0; ; n++ {
			if _, err := fmt.Println(n, strings.Repeat("x", 1000)); err != nil {
				return 4
			}
		}
	},
	"term": func() int { // half a line, then a polite end at SIGTERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Print("whole\nhalf")
		<-c
		return 0
	},
	"echo": func() int {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println("got " + in.Text())
		}
		return 0
	},
	"hungry": func() int { // touches 64 MiB
		b := make([]byte, 64<<20)
		for i := range b {
			b[i] = byte(i)
		}
		fmt.Println(len(b))
		end := time.Now().Add(200 * time.Millisecond)
		for time.Now().Before(end) {
			b[0]++
		}
		return 0
	},
}

func start(t *testing.T, toy string, c Command) *Process {
	t.Helper()
	c.Path, c.Env = os.Args[0], append(c.Env, "TOY="+toy)
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.Alive() {
			_ = p.Kill() // it may end by itself meanwhile
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestInputsExitCodeAndStderr(t *testing.T) {
	p := start(t, "args", Command{Args: []string{"read"}, Config: []byte(`{"c":1}`), State: []byte(`[]`)})
	lines, err := p.Drain()
	if err != nil {
		t.Fatal(err)
	}
	got := string(joinLines(lines))
	if want := "read\n--config {\"c\":1} <nil>\n--state [] <nil>\n"; got != want {
		t.Errorf("the binary saw %q, want %q", got, want)
	}
	exit, err := p.Wait(10 * time.Second)
	if err != nil || exit.Code != 3 || exit.Signal != 0 || exit.Stderr != "to stderr" || exit.Wall <= 0 {
		t.Errorf("exit %+v, %v, want code 3 and what went to stderr", exit, err)
	}
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("the folder with the inputs is still there: %v", err)
	}
}

func TestKillAtALine(t *testing.T) {
	p := start(t, "endless", Command{})
	for n := range 100 {
		line, err := p.Next()
		if err != nil || !strings.HasPrefix(string(line), fmt.Sprint(n, " ")) {
			t.Fatalf("line %d: %.20s, %v", n, line, err)
		}
	}
	if p.Taken() < 100*1000 {
		t.Errorf("100 lines were %d bytes", p.Taken())
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // it goes on until the pipe is full
		if n, err := p.Waiting(); err != nil || time.Now().After(deadline) {
			t.Fatalf("%d bytes wait in the pipe, %v", n, err)
		} else if n > 60<<10 {
			break
		}
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait(10 * time.Second)
	if err != nil || exit.Code != -1 || exit.Signal != syscall.SIGKILL {
		t.Errorf("exit %+v, %v, want SIGKILL", exit, err)
	}
	rest, err := p.Drain()
	if err != nil || len(rest) == 0 {
		t.Fatalf("what was in the pipe at the kill: %d lines, %v", len(rest), err)
	}
	if !strings.HasPrefix(string(rest[0]), "100 ") {
		t.Errorf("the line after the kill is %.20s, want line 100", rest[0])
	}
}

func TestStoppedReaderHoldsTheBinary(t *testing.T) {
	p := start(t, "endless", Command{})
	for p.Taken() < 1<<20 {
		if _, err := p.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.StopReading(); err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait(10 * time.Second) // EPIPE on stdout is SIGPIPE for a Go program
	if err != nil || (exit.Signal != syscall.SIGPIPE && exit.Code != 4) {
		t.Errorf("exit %+v, %v, want a broken pipe", exit, err)
	}
}

func TestTerminateAndPartialLine(t *testing.T) {
	p := start(t, "term", Command{})
	if line, err := p.Next(); err != nil || string(line) != "whole" {
		t.Fatalf("%s, %v", line, err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if lines, err := p.Drain(); err != nil || len(lines) != 0 || string(p.Partial()) != "half" {
		t.Errorf("after SIGTERM: %q, %v, partial %q, want only half a line", lines, err, p.Partial())
	}
	if exit, err := p.Wait(10 * time.Second); err != nil || exit.Code != 0 {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

func TestWaitKillsWhatDoesNotEnd(t *testing.T) {
	p := start(t, "term", Command{})
	exit, err := p.Wait(50 * time.Millisecond)
	if err == nil || exit.Signal != syscall.SIGKILL || p.Alive() {
		t.Errorf("exit %+v, %v, want an error and a killed process", exit, err)
	}
}

func TestSession(t *testing.T) {
	p := start(t, "echo", Command{Stdin: true})
	for _, request := range []string{"one", "two"} {
		if err := p.Send([]byte(request)); err != nil {
			t.Fatal(err)
		}
		if line, err := p.Next(); err != nil || string(line) != "got "+request {
			t.Fatalf("%s, %v", line, err)
		}
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(10 * time.Second); err != nil || exit.Code != 0 {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

func TestUsage(t *testing.T) {
	p := start(t, "hungry", Command{})
	exit, err := p.Wait(20 * time.Second)
	if err != nil || exit.PeakBytes < 64<<20 || exit.PeakBytes > 128<<20 || exit.CPU < 100*time.Millisecond {
		t.Errorf("%+v, %v, want 64 to 128 MiB and at least 0.1 s", exit, err)
	}
}

func TestBuildIsOfTheMainModule(t *testing.T) {
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "testsupport", "go.mod")); err != nil {
		t.Errorf("the main module was found at %s: %v", root, err)
	}
	if _, err := build("no-such-connector", target{from: "./no-such-connector", as: "x"}); err == nil || !strings.Contains(err.Error(), "building no-such-connector") {
		t.Errorf("building what does not exist: %v", err)
	}
}

func joinLines(lines [][]byte) []byte {
	var all []byte
	for _, line := range lines {
		all = append(append(all, line...), '\n')
	}
	return all
}
