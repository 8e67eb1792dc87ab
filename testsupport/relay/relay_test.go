package relay

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

// TestMain is also the toys that the tests start: a connector, and a runner of one transaction.
func TestMain(m *testing.M) {
	switch os.Getenv("RELAY_TOY") {
	case "connector":
		connector()
	case "runner":
		runner()
	default:
		os.Exit(m.Run())
	}
}

// notes is where the connector writes what it has read.
const notes = "RELAY_NOTES"

func connector() {
	out, err := os.OpenFile(os.Getenv(notes), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(out, "pid", os.Getpid())
	answers := map[string]string{"apply": "applied", "open": "opened", "acknowledge": "acknowledged", "flush": "flushed", "startCommit": "startedCommit"}
	in, read := bufio.NewScanner(os.Stdin), 0
	for ; in.Scan(); read++ {
		fmt.Fprintln(out, in.Text())
		if answer := answers[kind(in.Bytes())]; answer != "" {
			fmt.Printf("{%q:{}}\n", answer)
		}
	}
	if read < len(script) {
		time.Sleep(time.Minute) // busy: the end of its input alone does not end it
	}
	os.Exit(7)
}

// script is a transaction; the runner waits for the answers that come.
var script = []string{"apply", "open", "acknowledge", "load", "load", "flush", "store", "store", "startCommit", "acknowledge"}

func runner() {
	relay := exec.Command(os.Getenv("RELAY_PATH"))
	relay.Env = append(os.Environ(), "RELAY_TOY=connector")
	relay.Stderr = os.Stderr
	relay.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := relay.StdinPipe()
	if err != nil {
		panic(err)
	}
	stdout, err := relay.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := relay.Start(); err != nil {
		panic(err)
	}
	in := bufio.NewReader(stdout)
	for _, request := range script {
		fmt.Fprintf(stdin, "{%q:{}}\n", request)
		if request == "load" || request == "store" {
			continue
		}
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		fmt.Print(line)
	}
	_ = stdin.Close()
	rest, _ := io.ReadAll(in)
	fmt.Print(string(rest))
	_ = relay.Wait()
	fmt.Println("end", relay.ProcessState)
}

type played struct {
	read  []string // by the connector
	heard []string // by the runner
	end   string   // of the relay, as the runner saw it
	exit  binary.Exit
	pid   int // of the connector
	pair  *Pair
}

// play runs the script with a plan.
func play(t *testing.T, plan *Plan) played {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := played{pair: Install(t, dir, self, self, "127.0.0.1:1")}
	if plan != nil {
		p.pair.Arm(*plan)
	}
	noted := filepath.Join(dir, "notes")
	process, err := binary.Start(binary.Command{Path: self, Env: []string{"RELAY_TOY=runner", "RELAY_PATH=" + p.pair.Sink, notes + "=" + noted}})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := process.Drain()
	if err != nil {
		t.Fatal(err)
	}
	if p.exit, err = process.Wait(time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if end, ok := strings.CutPrefix(string(line), "end "); ok {
			p.end = end
			continue
		}
		p.heard = append(p.heard, kind(line))
	}
	p.read, p.pid = readNotes(t, noted)
	return p
}

func readNotes(t *testing.T, path string) (read []string, pid int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "pid %d", &pid); err == nil {
			continue
		}
		read = append(read, kind([]byte(line)))
	}
	return read, pid
}

var answers = []string{"applied", "opened", "acknowledged", "flushed", "startedCommit", "acknowledged"}

func TestRelay_PassesEverythingOnAndEndsAsItsConnectorDoes(t *testing.T) {
	p := play(t, nil)
	if !slices.Equal(p.read, script) || !slices.Equal(p.heard, answers) || p.end != "exit status 7" {
		t.Errorf("%+v", p)
	}
}

func TestRelay_KillsAtEachPoint(t *testing.T) {
	for _, test := range []struct {
		point Point
		nth   int
		// How much of the script the connector has read at least, and how many answers the runner hears. A frozen runner that is not killed hears one more.
		read, heard, frozen int
	}{
		{Opened, 1, 2, 1, 1},
		{Loading, 1, 4, 3, 0},
		{Loading, 2, 5, 3, 0},
		{Flushing, 1, 6, 3, 0},
		{Storing, 2, 8, 4, 0},
		{Stored, 1, 8, 4, 0},
		{Committing, 1, 9, 4, 0},
		{Committed, 1, 9, 4, 1},
		{HostCommitted, 1, 9, 5, 0},
		{Acknowledging, 1, 10, 5, 0},
		{Acknowledged, 1, 10, 5, 0},
		{Kept, 1, 10, 5, 1},
		{Reopening, 1, 1, 1, 0},
	} {
		t.Run(fmt.Sprintf("%s of %d", test.point, test.nth), func(t *testing.T) {
			plan := Plan{Point: test.point, Nth: test.nth, Delay: 20 * time.Millisecond, Victim: Sink}
			p := play(t, &plan)
			if _, fired := p.pair.Fired(); !fired || p.end != "signal: killed" || p.exit.Code != 0 {
				t.Errorf("fired: %v; the relay ended by %s, the runner with %d", fired, p.end, p.exit.Code)
			}
			if !slices.Equal(p.read, script[:test.read]) || !slices.Equal(p.heard, answers[:test.heard+test.frozen]) {
				t.Errorf("the connector has read %v, the runner heard %v", p.read, p.heard)
			}
			plan.Victim = Runner
			p = play(t, &plan)
			if _, fired := p.pair.Fired(); !fired || p.exit.Signal != syscall.SIGKILL {
				t.Errorf("fired: %v; the runner ended with code %d, signal %d", fired, p.exit.Code, p.exit.Signal)
			}
			if !slices.Equal(p.heard, answers[:test.heard]) {
				t.Errorf("the runner heard %v", p.heard)
			}
			for range 500 { // its end comes a moment later
				if !alive(p.pid) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("the connector, pid %d, lives on without its relay", p.pid)
		})
	}
}

// At P8 the request is in the connector's pipe, and the plan says whether the connector has answered it.
func TestRelay_KillsBeforeAndAfterAnAcknowledgeIsAnswered(t *testing.T) {
	for answer, read := range map[Answer]int{Unanswered: 9, Answered: 10} {
		for _, victim := range []Victim{Sink, Runner} {
			p := play(t, &Plan{Point: Acknowledging, Nth: 1, Victim: victim, Answer: answer, Delay: 5 * time.Millisecond})
			fired, ok := p.pair.Fired()
			if !ok || fired.Answered != (answer == Answered) {
				t.Errorf("%s, of the %s: %+v, %v", answer, victim, fired, ok)
			}
			if !slices.Equal(p.read, script[:read]) || !slices.Equal(p.heard, answers[:5]) {
				t.Errorf("%s, of the %s: the connector has read %v, the runner heard %v", answer, victim, p.read, p.heard)
			}
		}
	}
}

// alive tells whether a process runs; one that has ended and that nobody has asked for its exit code does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

func TestRelay_LeavesAZombieThatGoesOn(t *testing.T) {
	p := play(t, &Plan{Point: Stored, Victim: Zombie})
	fired, ok := p.pair.Fired()
	if !ok || fired.PID != p.pid || p.exit.Signal != syscall.SIGKILL {
		t.Fatalf("%+v, %v, the runner ended by signal %d", fired, ok, p.exit.Signal)
	}
	defer func() { _ = p.pair.Bury(fired) }() // it may have ended
	if !alive(p.pid) || !frozen(p.pid) || slices.Contains(p.read, "startCommit") {
		t.Errorf("the zombie is there: %v, frozen: %v, has read %v", alive(p.pid), frozen(p.pid), p.read)
	}
	if err := p.pair.Revive(fired); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if read, _ := readNotes(t, filepath.Join(filepath.Dir(p.pair.Sink), "notes")); slices.Equal(read, script[:9]) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the zombie has not read what was in its pipe")
}

// A plan that was carried out is none; one that takes its place counts from its own beginning.
func TestRelay_CarriesAPlanOutOnce(t *testing.T) {
	r := &relay{path: filepath.Join(t.TempDir(), "relay")}
	if got := r.current(); got != (Plan{}) {
		t.Errorf("without a file: %+v", got)
	}
	if err := writeFile(r.path+planFile, Plan{ID: "1", Point: Storing, Nth: 2}); err != nil {
		t.Fatal(err)
	}
	if p := r.current(); r.reached(p, Storing) || r.reached(p, Loading) || !r.reached(p, Storing) {
		t.Error("the second store is the one that counts")
	}
	if err := writeFile(r.path+markerFile, Fired{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	again := &relay{path: r.path}
	if got := again.current(); got != (Plan{}) {
		t.Errorf("after it was carried out: %+v", got)
	}
	time.Sleep(20 * time.Millisecond) // another time of modification
	if err := writeFile(r.path+planFile, Plan{ID: "2", Point: Storing, Nth: 1}); err != nil {
		t.Fatal(err)
	}
	if p := again.current(); !again.reached(p, Storing) {
		t.Error("the next plan is not read")
	}
}

func TestPair_KillsBeforeAStatement(t *testing.T) {
	p := Install(t, t.TempDir(), "/bin/true", "/bin/true", "127.0.0.1:1")
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(p.Sink+lifeFile, life{Runner: sleeper.Process.Pid, Connector: sleeper.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	p.Arm(Plan{Point: Applying, Statement: 2, Victim: Sink})
	if !p.statement("SELECT 1") || !p.statement("SELECT 2") {
		t.Error("statements outside of apply count")
	}
	if err := writeFile(p.Sink+phaseFile, phase{Applying, 1}); err != nil {
		t.Fatal(err)
	}
	if !p.statement("SELECT 1") {
		t.Error("the first statement of apply was not passed on")
	}
	if _, fired := p.Fired(); fired {
		t.Error("the kill came before the first statement")
	}
	if p.statement("SELECT 2") {
		t.Error("the second statement of apply was passed on")
	}
	if !p.statement("SELECT 3") {
		t.Error("the plan is carried out twice")
	}
	_ = sleeper.Wait() // it was killed, or the test hangs
	if _, fired := p.Fired(); !fired {
		t.Error("there is no marker")
	}
	p.Arm(Plan{Point: Committing, Before: "checkpoints", Victim: Sink})
	if err := writeFile(p.Sink+phaseFile, phase{Committing, 2}); err != nil {
		t.Fatal(err)
	}
	if !p.statement("BEGIN") || p.statement("UPDATE checkpoints SET") {
		t.Error("the kill did not come right before the statement that was named")
	}
}
