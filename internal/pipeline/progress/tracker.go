package progress

import (
	"os"
	"sync"
	"time"
)

const (
	// rateOver is the time over which a rate is taken.
	rateOver = 10 * time.Second
	// backfillSilence is how long after a source's last word on a backfill, which it gives every ten seconds, the stream counts as live.
	backfillSilence = 25 * time.Second
)

// Tracker collects the status of a running pipeline. Its methods may be called at the same time.
type Tracker struct {
	mu      sync.Mutex
	status  Status
	streams []tracked
	byName  map[string]int // of what sources call a stream in their log
	now     func() time.Time
}

type tracked struct {
	waiting time.Time // when the oldest row was read that is not committed; zero: there is none
	next    time.Time // the same of rows that came after those now being committed
	rates   []sample  // oldest first
	told    time.Time // when the source last spoke of a backfill
}

type sample struct {
	at   time.Time
	rows int64
}

// NewTracker starts to track a pipeline that starts now.
func NewTracker(pipeline string) *Tracker {
	t := &Tracker{now: time.Now}
	t.status = Status{Pipeline: pipeline, State: Running, PID: os.Getpid(), Since: t.now()}
	return t
}

// Describe tells the streams, in the order of their bindings. What is known of one by the same name stays.
func (t *Tracker) Describe(streams []Stream, logNames []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := map[string]int{}
	for i, s := range t.status.Streams {
		before[s.Name] = i
	}
	old, oldTracked := t.status.Streams, t.streams
	t.status.Streams, t.streams, t.byName = nil, nil, map[string]int{}
	for i, s := range streams {
		s.Phase = Live
		var tr tracked
		if was, ok := before[s.Name]; ok {
			s.RowsIn, s.RowsOut = old[was].RowsIn, old[was].RowsOut
			tr.rates = oldTracked[was].rates
		}
		t.status.Streams, t.streams = append(t.status.Streams, s), append(t.streams, tr)
		t.byName[logNames[i]] = i
	}
}

// Read counts rows of a binding that came from the source.
func (t *Tracker) Read(binding int, rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Streams[binding].RowsIn += rows
	tr := &t.streams[binding]
	if tr.waiting.IsZero() {
		tr.waiting = t.now()
	}
	if tr.next.IsZero() {
		tr.next = t.now()
	}
}

// Sealed tells that the rows read so far are on their way to the sink.
func (t *Tracker) Sealed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.streams {
		t.streams[i].next = time.Time{}
	}
}

// Committed counts a transaction with so many rows of each binding.
func (t *Tracker) Committed(txn uint64, rows []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.status.Txn, t.status.LastCommit = txn, &now
	for i, n := range rows {
		t.status.Streams[i].RowsOut += n
		tr := &t.streams[i]
		tr.waiting = tr.next
		if n > 0 {
			tr.rates = append(tr.rates, sample{now, n})
		}
	}
}

// Position tells the last transaction, at a start.
func (t *Tracker) Position(txn uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Txn = txn
}

// Backfilling tells what the source says of a stream's backfill; expected 0: unknown.
func (t *Tracker) Backfilling(logName string, rows, expected float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.byName[logName]
	if !ok {
		return
	}
	s := &t.status.Streams[i]
	t.streams[i].told = t.now()
	s.Phase, s.Percent = Backfill, 0
	if expected > 0 {
		s.Percent = min(100, 100*rows/expected)
	}
}

// Backfilled tells that the source has said that a stream's backfill is complete.
func (t *Tracker) Backfilled(logName string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.byName[logName]; ok {
		t.status.Streams[i].live()
	}
}

func (st *Stream) live() {
	if st.Phase == Backfill {
		st.Phase, st.Percent = Live, 0
	}
}

// CaughtUp tells that the source has ended by itself: everything that it had to read was read.
func (t *Tracker) CaughtUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.status.Streams {
		t.status.Streams[i].live()
	}
}

// StreamFailed tells that the source has given a stream up.
func (t *Tracker) StreamFailed(logName, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.byName[logName]; ok {
		t.status.Streams[i].Phase, t.status.Streams[i].Error = Broken, why
	}
}

// Error notes an error that a restart follows.
func (t *Tracker) Error(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.status.LastError, t.status.LastFailed = text, &now
	t.status.Restarts++
}

// Stopping notes that somebody has asked for the end.
func (t *Tracker) Stopping() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Stopping = true
}

// End notes how the pipeline ended; failure empty: as it should.
func (t *Tracker) End(failure string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.State = Stopped
	if failure != "" {
		now := t.now()
		t.status.State, t.status.LastError, t.status.LastFailed = Failed, failure, &now
	}
}

// Snapshot returns the status of this moment.
func (t *Tracker) Snapshot() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	s := t.status
	s.Updated = now
	s.Streams = append([]Stream{}, t.status.Streams...)
	for i := range s.Streams {
		tr := &t.streams[i]
		for len(tr.rates) > 0 && now.Sub(tr.rates[0].at) > rateOver {
			tr.rates = tr.rates[1:]
		}
		var rows int64
		for _, sample := range tr.rates {
			rows += sample.rows
		}
		s.Streams[i].Rate = float64(rows) / rateOver.Seconds()
		if running := now.Sub(s.Since); running < rateOver && running > 0 {
			s.Streams[i].Rate = float64(rows) / running.Seconds()
		}
		if now.Sub(tr.told) > backfillSilence {
			s.Streams[i].live()
		}
		if !tr.waiting.IsZero() {
			s.Streams[i].Lag = now.Sub(tr.waiting).Seconds()
		}
	}
	return s
}
