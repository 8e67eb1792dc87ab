package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Point is a place in the life of a transaction.
type Point string

// The points, by what the relay sees. "Held back" means that the connector has answered and the runner does not hear of it.
const (
	Opened        Point = "P0"  // opened has been passed on
	Loading       Point = "P1"  // so many loads have been passed on
	Flushing      Point = "P2"  // flush has been passed on; flushed is held back
	Storing       Point = "P3"  // so many stores have been passed on
	Stored        Point = "P4"  // all stores have been passed on, startCommit is not
	Committing    Point = "P5"  // startCommit has been passed on; startedCommit is held back
	Committed     Point = "P6"  // startedCommit is in the runner's pipe, and the runner has not read it
	HostCommitted Point = "P7"  // acknowledge, which the runner sends after its own commit, is not passed on
	Acknowledging Point = "P8"  // acknowledge has been passed on; acknowledged is held back
	Acknowledged  Point = "P9"  // acknowledged has come, and is held back
	Kept          Point = "P10" // acknowledged is in the runner's pipe, and the runner has not read it
	Applying      Point = "P11" // so many statements of apply have been run; the next one is not passed on
	Reopening     Point = "P12" // applied has been passed on, the open after it is not

	nothing Point = ""
)

// Points are all of them, in order.
func Points() []Point {
	return []Point{Opened, Loading, Flushing, Storing, Stored, Committing, Committed, HostCommitted, Acknowledging, Acknowledged, Kept, Applying, Reopening}
}

// Victim is who is killed.
type Victim string

// The victims. The runner takes its children with it, as the kernel sees to; a zombie is a sink that does not die with its runner: it is frozen, with the
// request that follows in its pipe, and goes on when somebody sends it SIGCONT.
const (
	Sink   Victim = "sink"
	Source Victim = "source"
	Runner Victim = "runner"
	All    Victim = "all"
	Zombie Victim = "zombie"
)

// Plan says where and whom to kill.
type Plan struct {
	ID     string // a plan is carried out once: the marker holds the ID of the last one that was
	Point  Point
	Nth    int // which load or store, which transaction, from 1
	Victim Victim
	// Statement, at P5 and P11: the kill comes right before this statement of the commit or of the apply, from 1. At P5 0 is after Delay.
	Statement int
	// Before, at P5, is an alternative to Statement: the kill comes right before the first statement of the commit whose text has this in it.
	Before string
	// Answer, at P8, says whether the connector has answered when the kill comes.
	Answer Answer
	// Delay is how long the connector may work on what was passed on last, at points that come after or before a request.
	Delay time.Duration
}

// Answer is whether a request has been answered at the moment of a kill.
type Answer string

// The ways. A connector that may not answer is frozen before the request is passed on to it; of one that has to, the answer is awaited, and held back.
const (
	Whenever   Answer = "" // as it comes, after Delay
	Unanswered Answer = "unanswered"
	Answered   Answer = "answered"
)

// settings are the relay's, written by Install.
type settings struct {
	Connector string // path of the real one
	// SourcePID is a file in which the relay of the source writes its connector's process id, and the sink's relay finds it.
	SourcePID string
	IsSource  bool
}

const (
	settingsFile = ".json"
	planFile     = ".plan"
	markerFile   = ".fired"
	lifeFile     = ".life"  // life: who runs
	phaseFile    = ".phase" // there while apply or startCommit is not answered: the point during which statements count
	logFile      = ".log"
)

// phase is during what statements count. Serial tells two of one life apart.
type phase struct {
	Point  Point
	Serial int
}

// life is who runs now.
type life struct{ Runner, Connector int }

// Fired is what a marker tells.
type Fired struct {
	ID     string
	Point  Point
	Victim Victim
	PID    int // of the connector
	// Answered: the connector had answered the request that was passed on last, at points that come after a request.
	Answered bool
}

// byStatement tells whether the kill waits for a statement.
func (p Plan) byStatement() bool { return p.Statement > 0 || p.Before != "" }

// writeFile replaces a file by rename, so that a reader always sees a whole one.
func writeFile(path string, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path+".new", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// readFile leaves v as it is when there is no such file.
func readFile(path string, v any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
