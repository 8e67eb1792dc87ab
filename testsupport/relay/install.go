package relay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/proxy"
)

// Pair is a source's and a sink's relay in one folder.
type Pair struct {
	Source, Sink string // paths to name as `connector:`
	// Address of the sink's server, host:port, that the sink's config has to name: its statements are counted there.
	Address string

	tb       testing.TB
	settings settings
	plans    int

	mu         sync.Mutex // guards what follows
	phase      phase
	statements int // of the phase
}

// Install puts relays of two connectors into a folder, and a proxy before the sink's server; both end with the test.
func Install(tb testing.TB, dir, source, sink, sinkServer string) *Pair {
	tb.Helper()
	program := binary.BuildSupport(tb, "relay")
	p := &Pair{Source: filepath.Join(dir, "source-relay"), Sink: filepath.Join(dir, "sink-relay"), tb: tb}
	pid := filepath.Join(dir, "source.pid")
	p.settings = settings{Connector: sink, SourcePID: pid}
	for path, s := range map[string]settings{p.Source: {Connector: source, SourcePID: pid, IsSource: true}, p.Sink: p.settings} {
		if err := os.Symlink(program, path); err != nil {
			tb.Fatal(err)
		}
		if err := writeFile(path+settingsFile, s); err != nil {
			tb.Fatal(err)
		}
	}
	gate, err := proxy.New(sinkServer)
	if err != nil {
		tb.Fatal(err)
	}
	gate.OnStatement(p.statement)
	tb.Cleanup(gate.Close)
	p.Address = gate.Addr()
	return p
}

// statement comes before each statement of the sink, and tells whether it is passed on.
func (p *Pair) statement(sql string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now phase
	if err := readFile(p.Sink+phaseFile, &now); err != nil {
		p.tb.Errorf("counting statements: %v", err)
	}
	if now != p.phase {
		p.phase, p.statements = now, 0
	}
	if now.Point == nothing {
		return true
	}
	p.statements++
	var plan Plan
	var fired Fired
	var who life
	if err := errors.Join(readFile(p.Sink+planFile, &plan), readFile(p.Sink+markerFile, &fired), readFile(p.Sink+lifeFile, &who)); err != nil {
		p.tb.Errorf("counting statements: %v", err)
		return true
	}
	due := p.statements == plan.Statement || plan.Before != "" && strings.Contains(sql, plan.Before)
	if plan.Point == now.Point && plan.ID != fired.ID && due {
		if err := carryOut(p.Sink, p.settings, plan, who, false); err != nil {
			p.tb.Errorf("killing before statement %d: %v", plan.Statement, err)
		}
		return plan.Victim == Source
	}
	return true
}

// Arm makes a plan the one that counts.
func (p *Pair) Arm(plan Plan) {
	p.tb.Helper()
	p.plans++
	plan.ID = fmt.Sprintf("%d %s %s", p.plans, plan.Point, plan.Victim)
	if err := writeFile(p.Sink+planFile, plan); err != nil {
		p.tb.Fatal(err)
	}
}

// Disarm takes the plan away.
func (p *Pair) Disarm() {
	if err := os.Remove(p.Sink + planFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		p.tb.Fatal(err)
	}
}

// Fired tells whether the newest plan was carried out, and how.
func (p *Pair) Fired() (Fired, bool) {
	var plan Plan
	var fired Fired
	if err := errors.Join(readFile(p.Sink+planFile, &plan), readFile(p.Sink+markerFile, &fired)); err != nil {
		p.tb.Fatal(err)
	}
	return fired, plan.ID != "" && fired.ID == plan.ID
}

// Opens is how many times the sink was opened so far.
func (p *Pair) Opens() int {
	text, err := os.ReadFile(p.Sink + logFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.tb.Fatal(err)
	}
	return strings.Count(string(text), "opened ")
}

// Log is what the sink's relay noted, for messages.
func (p *Pair) Log() string {
	text, err := os.ReadFile(p.Sink + logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Revive lets a zombie go on.
func (p *Pair) Revive(f Fired) error { return ignoreGone(syscall.Kill(f.PID, syscall.SIGCONT)) }

// Bury kills a zombie that may still be there.
func (p *Pair) Bury(f Fired) error { return kill(f.PID) }
