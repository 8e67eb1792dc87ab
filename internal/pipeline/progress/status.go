// Package progress counts what a running pipeline does, writes it into a status file that is replaced every second, and shows it: as lines on a terminal,
// as a log elsewhere. Tracker is what a runner feeds, Status what the file holds.
package progress

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// States of a pipeline.
const (
	Running = "running"
	Stopped = "stopped" // ended as it should
	Failed  = "failed"  // ended by an error
)

// Phases of a stream.
const (
	Backfill = "backfill"
	Live     = "live"
	Broken   = "failed"
)

// Status is how a pipeline is.
type Status struct {
	Pipeline   string     `json:"pipeline"`
	State      string     `json:"state"`
	PID        int        `json:"pid"`
	Since      time.Time  `json:"since"`
	Updated    time.Time  `json:"updated"`
	Txn        uint64     `json:"txn"`
	LastCommit *time.Time `json:"lastCommit,omitempty"`
	LastError  string     `json:"lastError,omitempty"`
	LastFailed *time.Time `json:"lastErrorAt,omitempty"`
	Restarts   int        `json:"restarts"`
	Stopping   bool       `json:"stopping,omitempty"` // somebody has asked for the end
	Streams    []Stream   `json:"streams"`
}

// Stream is how a stream is.
type Stream struct {
	Name    string  `json:"name"`
	Table   string  `json:"table"`
	Phase   string  `json:"phase"`
	Percent float64 `json:"percent,omitempty"` // of the backfill
	RowsIn  int64   `json:"rowsIn"`            // read from the source by this process
	RowsOut int64   `json:"rowsOut"`           // of them committed in the sink
	Rate    float64 `json:"rowsPerSecond"`     // committed, over the last seconds
	Lag     float64 `json:"lagSeconds"`        // since the oldest row was read that is not committed
	Error   string  `json:"error,omitempty"`
}

// Write replaces the file by a new one, so that a reader always sees a whole one.
func (s Status) Write(path string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("rendering the status: %w", err)
	}
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".next")
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// Read reads a status file. A pipeline whose process is gone has stopped, whatever the file says. ok is false when there is no file.
func Read(path string) (s Status, ok bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return Status{}, false, fmt.Errorf("reading the status: %w", err)
	}
	switch {
	case s.State != Running || alive(s.PID):
	case s.Stopping: // it took too long to reach a checkpoint, and ended without one
		s.State = Stopped
	default:
		s.State, s.LastError = Failed, "its process ended without a word: it was killed, or the machine was restarted"
	}
	for i := range s.Streams {
		if s.State != Running {
			s.Streams[i].Rate, s.Streams[i].Lag = 0, 0 // of the last moment before the end: nothing is on its way now
		}
	}
	return s, true, nil
}

// alive tells whether a process with this id exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Exit is the exit code of `pipeline status`: 0 running, 1 stopped by an error, 3 not running.
func (s Status) Exit() int {
	switch s.State {
	case Running:
		return 0
	case Failed:
		return 1
	}
	return 3
}

// Print writes the status for people.
func (s Status) Print(w io.Writer, now time.Time) error {
	fmt.Fprintf(w, "pipeline %s: %s", s.Pipeline, s.State)
	if s.State == Running {
		fmt.Fprintf(w, " for %s (pid %d)", now.Sub(s.Since).Round(time.Second), s.PID)
	}
	fmt.Fprintf(w, ", transaction %d", s.Txn)
	if s.LastCommit != nil {
		fmt.Fprintf(w, ", last commit %s ago", now.Sub(*s.LastCommit).Round(time.Second))
	}
	fmt.Fprintln(w)
	if s.LastError != "" {
		age := ""
		if s.LastFailed != nil && s.State == Running {
			age = fmt.Sprintf(" %s ago, after which it was started again", now.Sub(*s.LastFailed).Round(time.Second))
		}
		fmt.Fprintf(w, "last error%s: %s\n", age, s.LastError)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STREAM\tTABLE\tPHASE\tIN\tOUT\tROWS/S\tLAG")
	for _, st := range s.Streams {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%.0f\t%.1f s\n", st.Name, st.Table, st.phase(), st.RowsIn, st.RowsOut, st.Rate, st.Lag)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, st := range s.Streams {
		if st.Error != "" && !strings.Contains(s.LastError, st.Error) {
			fmt.Fprintf(w, "%s failed: %s\n", st.Name, st.Error)
		}
	}
	return nil
}

func (st Stream) phase() string {
	if st.Phase == Backfill && st.Percent > 0 {
		return fmt.Sprintf("backfill %.0f %%", st.Percent)
	}
	return st.Phase
}
