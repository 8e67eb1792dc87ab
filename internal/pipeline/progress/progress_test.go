package progress

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newTestTracker() (t *Tracker, pass func(time.Duration)) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	t = NewTracker("shop")
	t.now = func() time.Time { return now }
	t.status.Since = now
	t.Describe([]Stream{{Name: "a", Table: "ta"}, {Name: "b", Table: "tb"}}, []string{"public.a", "public.b"})
	return t, func(d time.Duration) { now = now.Add(d) }
}

func TestTracker_RatesAndLag(t *testing.T) {
	tr, pass := newTestTracker()
	pass(time.Minute)
	tr.Read(0, 100)
	pass(3 * time.Second)
	if s := tr.Snapshot().Streams; s[0].RowsIn != 100 || s[0].RowsOut != 0 || s[0].Lag != 3 || s[1].Lag != 0 {
		t.Errorf("before the commit: %+v", s)
	}
	tr.Sealed()
	pass(time.Second)
	tr.Read(0, 50) // comes while the others are on their way
	pass(time.Second)
	tr.Committed(7, []int64{100, 0})
	s := tr.Snapshot()
	if s.Txn != 7 || s.LastCommit == nil || s.Streams[0].RowsOut != 100 || s.Streams[0].Rate != 10 || s.Streams[0].Lag != 1 {
		t.Errorf("after the commit: %+v", s)
	}
	tr.Sealed()
	tr.Committed(8, []int64{50, 0})
	if s := tr.Snapshot().Streams; s[0].Lag != 0 || s[0].RowsOut != 150 {
		t.Errorf("after the second commit: %+v", s)
	}
	pass(11 * time.Second)
	if s := tr.Snapshot().Streams; s[0].Rate != 0 {
		t.Errorf("a rate of %v rows a second long after the last row", s[0].Rate)
	}
}

func TestTracker_Phases(t *testing.T) {
	tr, pass := newTestTracker()
	tr.Backfilling("public.a", 25, 100)
	tr.Backfilling("elsewhere", 1, 2)
	tr.StreamFailed("public.b", "it has no key")
	s := tr.Snapshot().Streams
	if s[0].Phase != Backfill || s[0].Percent != 25 || s[1].Phase != Broken || s[1].Error != "it has no key" {
		t.Errorf("got %+v", s)
	}
	tr.Backfilled("public.b")
	tr.Backfilled("elsewhere")
	tr.Backfilled("public.a") // the source says so at once
	if s := tr.Snapshot().Streams; s[0].Phase != Live || s[0].Percent != 0 || s[1].Phase != Broken {
		t.Errorf("after the end of the backfill: %+v", s)
	}
	tr.Backfilling("public.a", 25, 100)
	pass(backfillSilence + time.Second)
	if s := tr.Snapshot().Streams; s[0].Phase != Live {
		t.Errorf("long after the last word on its backfill the stream is %s", s[0].Phase)
	}
	// It is live when the source says so, or has ended by itself.
	for _, end := range []func(){func() { tr.Backfilled("public.a") }, tr.CaughtUp} {
		tr.Backfilling("public.a", 50, 100)
		end()
		if s := tr.Snapshot().Streams; s[0].Phase != Live || s[0].Percent != 0 || s[1].Phase != Broken {
			t.Errorf("after the end of the backfill: %+v", s)
		}
	}
	// A restart keeps what was counted.
	tr.Read(0, 5)
	tr.Describe([]Stream{{Name: "c"}, {Name: "a"}}, []string{"public.c", "public.a"})
	if s := tr.Snapshot().Streams; s[1].RowsIn != 5 || s[0].RowsIn != 0 || s[1].Phase != Live {
		t.Errorf("after a restart: %+v", s)
	}
}

func TestReporter_LastStatusIsInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.yaml.status")
	tr := NewTracker("shop")
	r := Report(tr, path, nil)
	tr.Describe([]Stream{{Name: "a", Table: "t"}}, []string{"a"})
	tr.End("the sink is gone")
	r.Close()
	s, ok, err := Read(path)
	if err != nil || !ok || s.State != Failed || s.LastError != "the sink is gone" || s.Exit() != 1 || len(s.Streams) != 1 {
		t.Errorf("got %+v, %v, %v", s, ok, err)
	}
	var out strings.Builder
	if err := s.Print(&out, time.Now()); err != nil || !strings.Contains(out.String(), "last error: the sink is gone") || !strings.Contains(out.String(), "pipeline shop: failed") {
		t.Errorf("printed %s, %v", out.String(), err)
	}
	s.State = Running // it was started again, and the error is history
	later := s.LastFailed.Add(12 * time.Second)
	out.Reset()
	if err := s.Print(&out, later); err != nil || !strings.Contains(out.String(), "last error 12s ago, after which it was started again: the sink is gone") {
		t.Errorf("printed %s, %v", out.String(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestPrint_TellsAnErrorOnce(t *testing.T) {
	s := Status{State: Failed, LastError: "the source ended: a row is bad", Streams: []Stream{{Name: "a", Error: "a row is bad"}, {Name: "b", Error: "another reason"}}}
	var out strings.Builder
	if err := s.Print(&out, time.Now()); err != nil || strings.Count(out.String(), "a row is bad") != 1 || !strings.Contains(out.String(), "b failed: another reason") {
		t.Errorf("printed %s, %v", out.String(), err)
	}
}

func TestRead_OfAProcessThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	const none = 1 << 30 // beyond the greatest process id
	if err := (Status{State: Running, PID: none, Streams: []Stream{{Name: "a", Rate: 7, Lag: 3}}}).Write(path); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Read(path); err != nil || s.State != Failed || s.Exit() != 1 || s.LastError == "" || s.Streams[0].Rate != 0 || s.Streams[0].Lag != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := (Status{State: Running, PID: none, Stopping: true, Streams: []Stream{{Rate: 5, Lag: 7, RowsOut: 9}}}).Write(path); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Read(path); err != nil || s.State != Stopped || s.Exit() != 3 || s.Streams[0] != (Stream{RowsOut: 9}) {
		t.Errorf("of one that was asked to stop: %+v, %v", s, err)
	}
	if err := (Status{State: Running, PID: os.Getpid()}).Write(path); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Read(path); err != nil || s.State != Running || s.Exit() != 0 {
		t.Errorf("of this process: %+v, %v", s, err)
	}
	if _, ok, err := Read(path + "x"); ok || err != nil {
		t.Errorf("without a file: %v, %v", ok, err)
	}
}
