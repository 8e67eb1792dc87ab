// Package stress holds a connector against a database that is being changed, kills it again and again, and resumes it from any STATE: whatever
// happened, what it printed must add up to the tables.
package stress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/wire"
)

// exitTimeout bounds the end of a process that was killed or has caught up.
const exitTimeout = 2 * time.Minute

// capture is one destination's life: runs of the connector that are killed and resumed.
type capture struct {
	binary  string
	config  func(run int) map[string]any
	streams string // --streams

	changes func() int64 // committed so far
	began   int64        // of them before the capture's first run

	fold, keepsAll *replay.Fold
	active         map[string]bool // streams whose backfill has ended in a STATE, whichever is resumed from
	state          []byte
	runs           int
	bites          bites
}

// bites counts what makes the test worth its time.
type bites struct {
	alive          int   // at the kill
	chunkAfter     int   // kills with rows of a chunk after the last STATE
	contained      int   // events that a chunk stood for
	newer          int   // events emitted inside a window
	during         int64 // changes committed before the last stream's backfill ended
	invisible      map[string]bool
	invisibleAtDue map[string]bool
	earlier        int // resumes from an earlier STATE than the last
}

func newCapture(path, streams string, changes func() int64, config func(int) map[string]any, tables ...replay.Table) *capture {
	c := &capture{
		binary: path, config: config, streams: streams, changes: changes, began: changes(), fold: replay.New(false, tables...), keepsAll: replay.New(true, tables...),
		active: map[string]bool{}, bites: bites{invisible: map[string]bool{}, invisibleAtDue: map[string]bool{}},
	}
	for _, t := range tables {
		c.active[t.Stream] = false
	}
	return c
}

// printed looks at a STATE as it comes: the last backfill's end is when the changes among it have been committed.
func (c *capture) printed(s *wire.State) {
	if name := s.Stream.String(); !c.active[name] && bytes.Contains(s.Body, []byte(`"mode":"active"`)) {
		c.active[name] = true
		for _, done := range c.active {
			if !done {
				return
			}
		}
		c.bites.during = c.changes() - c.began
	}
}

func (c *capture) start(tail bool) (*binary.Process, error) {
	raw, err := json.Marshal(c.config(c.runs))
	if err != nil {
		return nil, err
	}
	args := []string{"read", "--streams", c.streams}
	if tail {
		args = append(args, "--tail")
	}
	return binary.Start(binary.Command{Path: c.binary, Args: args, Config: raw, State: c.state, PipeBytes: 4096, Env: []string{"LOG_LEVEL=debug"}})
}

// killed runs the connector until it has printed so many records (or says that it is idle for as long as patience), kills it, and chooses the STATE
// to resume from: the last, or with a chance of a third a random earlier one of this run.
func (c *capture) killed(rng *rand.Rand, records int, patience time.Duration) error {
	p, err := c.start(true)
	if err != nil {
		return err
	}
	var line []byte
	run := &replay.Run{}
	timer := time.AfterFunc(patience, func() { _ = p.Kill() })
	defer timer.Stop()
	chunkRows := 0
	take := func(line []byte) error {
		m, lineErr := run.Line(line)
		if lineErr != nil {
			return fmt.Errorf("run %d: %w: %.300s", c.runs, lineErr, line)
		}
		switch {
		case m.State != nil:
			chunkRows = 0
			c.printed(m.State)
		case m.Record != nil && bytes.Contains(m.Record.Data, []byte(`"snapshot":true`)):
			chunkRows++
		case m.Log != nil:
			c.bites.log(m.Log.Message)
		}
		return nil
	}
	inChunk := rng.IntN(4) > 0 // most kills hit a chunk whose fence is not reached, while the backfill lasts; the pipe is short, so the writer is there, too
	for run.Records() < records || inChunk && chunkRows == 0 && run.Records() < records+5000 {
		if run.Records() < 200 && rng.IntN(40) == 0 { // a slow reader: windows last longer, and the log runs ahead
			time.Sleep(time.Duration(rng.IntN(120)) * time.Millisecond)
		}
		line, err = p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
	if p.Alive() {
		c.bites.alive++
	}
	if err := p.Kill(); err != nil {
		return err
	}
	rest, err := p.Drain()
	if err != nil {
		return err
	}
	for _, line := range rest {
		if err := take(line); err != nil {
			return err
		}
	}
	exit, err := p.Wait(exitTimeout)
	if err != nil {
		return err
	}
	if exit.Signal == 0 {
		return fmt.Errorf("run %d ended by itself with code %d: %s", c.runs, exit.Code, lastLogs(run))
	}
	if chunkRows > 0 {
		c.bites.chunkAfter++
	}
	return c.take(run, c.choose(rng, run))
}

func (c *capture) choose(rng *rand.Rand, run *replay.Run) int {
	last := run.States() - 1
	if last > 0 && rng.IntN(3) == 0 {
		c.bites.earlier++
		return rng.IntN(last)
	}
	return last
}

// take folds what a run printed up to a STATE, which the next run starts from.
func (c *capture) take(run *replay.Run, upTo int) error {
	n := c.runs
	c.runs++
	if err := c.keepsAll.Add(n, run, replay.Whole); err != nil {
		return err
	}
	if upTo < 0 {
		return c.fold.Discard(n, run)
	}
	if err := c.fold.Add(n, run, upTo); err != nil {
		return err
	}
	var err error
	c.state, err = run.StateFile(c.state, upTo)
	return err
}

// caughtUp runs the connector to its end, reading slowly now and then when rng is not nil.
func (c *capture) caughtUp(rng *rand.Rand) error {
	p, err := c.start(false)
	if err != nil {
		return err
	}
	run := &replay.Run{}
	changed := false // the record before was a change of the log
	for {
		line, nextErr := p.Next()
		if errors.Is(nextErr, io.EOF) {
			break
		}
		if nextErr != nil {
			return nextErr
		}
		m, lineErr := run.Line(line)
		if lineErr != nil {
			return fmt.Errorf("run %d: %w: %.300s", c.runs, lineErr, line)
		}
		switch {
		case m.State != nil:
			c.printed(m.State)
		case m.Log != nil:
			c.bites.log(m.Log.Message)
		}
		// What is committed while a chunk's rows wait to be read comes inside its window; while the changes after them wait, in the next chunk's snapshot.
		// Of the latter a chunk of few rows contains few, so these waits are longer and never left out.
		if rng != nil && m.Record != nil && run.Records() < 5000 && changed != bytes.Contains(line, []byte(`"txid":`)) {
			changed = !changed
			switch {
			case changed:
				time.Sleep(time.Duration(100+rng.IntN(300)) * time.Millisecond)
			case rng.IntN(4) == 0:
				time.Sleep(time.Duration(40+rng.IntN(100)) * time.Millisecond)
			}
		}
	}
	exit, err := p.Wait(exitTimeout)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return fmt.Errorf("the run that catches up ended with code %d: %s %s", exit.Code, lastLogs(run), exit.Stderr)
	}
	if run.RecordsAfterState() > 0 {
		return fmt.Errorf("%d records came after the last STATE of a run that caught up", run.RecordsAfterState())
	}
	n := c.runs
	c.runs++
	if err := c.keepsAll.Add(n, run, replay.Whole); err != nil {
		return err
	}
	if run.States() > 0 {
		if c.state, err = run.StateFile(c.state, run.States()-1); err != nil {
			return err
		}
	}
	return c.fold.Add(n, run, replay.Whole)
}

func lastLogs(run *replay.Run) string {
	var b strings.Builder
	for _, m := range run.Others[max(0, len(run.Others)-12):] {
		if m.Log != nil && m.Log.Level != "DEBUG" {
			b.WriteString(m.Log.Level + " " + m.Log.Message + "\n")
		}
		if m.Trace != nil && m.Trace.Message != "" {
			b.WriteString(m.Trace.Message + "\n")
		}
	}
	return b.String()
}

// few says whether there is still too little of something that depends on the machine's timing.
func (b *bites) few(withStandby bool) bool {
	return b.chunkAfter < wantChunkAfter || b.during < wantDuring || b.contained < 50 || b.newer < 50 || withStandby && (len(b.invisible) < 20 || len(b.invisibleAtDue) < 3)
}

func (b *bites) add(other bites) {
	b.alive, b.chunkAfter, b.earlier = b.alive+other.alive, b.chunkAfter+other.chunkAfter, b.earlier+other.earlier
	b.contained, b.newer, b.during = b.contained+other.contained, b.newer+other.newer, b.during+other.during
	maps.Copy(b.invisible, other.invisible)
	maps.Copy(b.invisibleAtDue, other.invisibleAtDue)
}

// log reads the engine's own account of what it did, printed at level debug.
func (b *bites) log(message string) {
	switch {
	case strings.HasPrefix(message, "the window is closed"):
		b.contained += field(message, "contained=")
		b.newer += field(message, "newer=")
	case strings.HasPrefix(message, "transactions of the log are not visible yet"):
		_, rest, ok := strings.Cut(message, "transactions=")
		if !ok {
			return
		}
		list, _, _ := strings.Cut(strings.TrimLeft(rest, `"[`), "]")
		for id := range strings.FieldsSeq(list) {
			b.invisible[id] = true
			if strings.Contains(message, "due=true") {
				b.invisibleAtDue[id] = true
			}
		}
	}
}

func field(message, name string) int {
	_, rest, ok := strings.Cut(message, name)
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
