package source

import (
	"time"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// silence is how long a read may print neither records nor state: the Airbyte platform takes longer silence for a source that hangs.
const silence = 5 * time.Minute

// start writes what comes first.
func (o *Out) start() error {
	o.mu.Lock()
	o.last = o.now()
	o.mu.Unlock()
	return o.append(func(dst []byte) []byte { return o.wire.AppendStart(dst, o.now()) })
}

// finish writes what comes last: err is the read's. It returns how many streams failed.
func (o *Out) finish(err error, caughtUp bool) (failed int) {
	if err != nil {
		err = o.redacted(err)
	}
	o.mu.Lock()
	e := End{Now: o.now(), CaughtUp: caughtUp && err == nil, Open: o.open && err == nil, Err: err}
	for _, f := range o.failures {
		e.Failures = append(e.Failures, Failure{f.Binding, o.redacted(f.Problem)})
	}
	if e.Open {
		o.emitted.Add(1)
	}
	o.mu.Unlock()
	_ = o.append(func(dst []byte) []byte { return o.wire.AppendEnd(dst, e) }) // the caller looks at gone
	return len(e.Failures)
}

// redacted makes one problem without secrets of an error, which may be several joined.
func (o *Out) redacted(err error) *protocol.Problem {
	return command.Redacted(err, o.redact)
}

// gone tells whether the reader of stdout has left.
func (o *Out) gone() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

// keepAlive repeats a state whenever the read has been silent for long. It ends when done is closed.
func (o *Out) keepAlive(done <-chan struct{}) {
	w, ok := o.wire.(heartbeater)
	if !ok {
		return
	}
	tick := time.NewTicker(silence / 20)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			o.beat(w)
		}
	}
}

func (o *Out) beat(w heartbeater) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); now.Sub(o.last) >= silence {
		o.last = now
		o.scratch = w.AppendHeartbeat(o.scratch[:0], now)
		_ = o.write(o.scratch) // a broken stdout is for the next Emit to tell
	}
}
