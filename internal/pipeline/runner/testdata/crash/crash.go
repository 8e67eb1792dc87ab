// Package crash lets a toy connector die, or kill the runner, at a named point.
package crash

import (
	"os"
	"syscall"
	"time"
)

// Point says where to die: the nth time that At is called with the name. Marker is a file that is made first, so that it happens once.
type Point struct {
	Name   string `json:"name"`
	Nth    int    `json:"nth"`
	Runner bool   `json:"runner"` // kill the runner, not this process
	Marker string `json:"marker"`
	// Backfill: only in a process that works for a stream that has started over.
	Backfill bool `json:"backfill"`
}

// StartedOver tells that a stream of this process has started over.
var StartedOver bool

var seen = map[string]int{}

// At dies if p is this point.
func (p *Point) At(name string) {
	if p == nil || p.Name != name || p.Backfill && !StartedOver {
		return
	}
	if seen[name]++; seen[name] != max(p.Nth, 1) {
		return
	}
	f, err := os.OpenFile(p.Marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Close()
	pid := os.Getpid()
	if p.Runner {
		pid = os.Getppid()
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	time.Sleep(time.Minute) // the runner's end is ours
}
