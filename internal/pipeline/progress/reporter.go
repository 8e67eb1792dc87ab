package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// Reporter writes the status file every second, and tells people how it goes.
type Reporter struct {
	tracker  *Tracker
	path     string
	terminal io.Writer // nil: the log
	stop     chan struct{}
	done     chan struct{}
	warned   bool
}

// Report starts reporting. terminal is where a person watches; nil: there is none, and a log line a minute tells instead.
func Report(t *Tracker, path string, terminal io.Writer) *Reporter {
	r := &Reporter{tracker: t, path: path, terminal: terminal, stop: make(chan struct{}), done: make(chan struct{})}
	go r.run()
	return r
}

// Close writes the last status.
func (r *Reporter) Close() {
	close(r.stop)
	<-r.done
}

func (r *Reporter) run() {
	defer close(r.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var shown time.Time
	every := time.Minute
	if r.terminal != nil {
		every = 5 * time.Second
	}
	for {
		s := r.tracker.Snapshot()
		r.write(s)
		if s.Updated.Sub(shown) >= every && len(s.Streams) > 0 {
			shown = s.Updated
			r.show(s)
		}
		select {
		case <-tick.C:
		case <-r.stop:
			s = r.tracker.Snapshot()
			r.write(s)
			r.show(s)
			return
		}
	}
}

func (r *Reporter) write(s Status) {
	if err := s.Write(r.path); err != nil && !r.warned {
		r.warned = true
		logrus.WithError(err).Warn("the status file cannot be written; the pipeline runs on")
	}
}

func (r *Reporter) show(s Status) {
	for _, st := range s.Streams {
		if r.terminal != nil {
			fmt.Fprintf(r.terminal, "%s  %-30s %-14s %12d rows %9.0f/s  lag %.1f s\n", s.Updated.Format(time.TimeOnly), clip(st.Name, 30), st.phase(), st.RowsOut, st.Rate, st.Lag)
			continue
		}
		fields := logrus.Fields{"stream": st.Name, "phase": st.Phase, "rowsIn": st.RowsIn, "rowsOut": st.RowsOut, "rowsPerSecond": st.Rate, "lagSeconds": st.Lag}
		if st.Phase == Backfill {
			fields["percent"] = st.Percent
		}
		logrus.WithFields(fields).Info("progress")
	}
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "…"
}
