package materialize

import (
	"io"
	"sync"
	"time"

	"github.com/estuary/connectors/internal/command"
)

// maxUnwritten is how many bytes may wait for stdout before whoever responds has to wait, too.
const maxUnwritten = 4 << 20

// output writes responses in a goroutine of its own, so that a runner which is busy writing requests does not hold up the reading of them.
type output struct {
	mu      sync.Mutex
	changed sync.Cond
	buf     []byte
	err     error
	closed  bool
	done    chan struct{}
}

func newOutput(w io.Writer) *output {
	o := &output{done: make(chan struct{})}
	o.changed.L = &o.mu
	go o.write(w)
	return o
}

// append queues what f appends. The error is that of an earlier write.
func (o *output) append(f func(dst []byte) []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.buf) > maxUnwritten && o.err == nil {
		o.changed.Wait()
	}
	if o.err != nil {
		return o.err
	}
	o.buf = f(o.buf)
	o.changed.Broadcast()
	return nil
}

// write writes all that is queued at once, again and again.
func (o *output) write(w io.Writer) {
	defer close(o.done)
	var taken []byte
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.buf) == 0 && !o.closed {
			o.changed.Wait()
		}
		if len(o.buf) == 0 || o.err != nil {
			return
		}
		taken, o.buf = o.buf, taken[:0]
		o.changed.Broadcast()
		o.mu.Unlock()
		_, err := w.Write(taken)
		o.mu.Lock()
		if err != nil {
			o.err = &command.StdoutError{Err: err}
			o.changed.Broadcast()
			return
		}
		if cap(taken) > maxUnwritten {
			taken = nil
		}
	}
}

// failure is why nothing can be written any more; nil: it can.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// close waits until all is written, and at most for so long: a runner that reads nothing must not keep a session alive that has failed. 0: for ever.
func (o *output) close(limit time.Duration) error {
	o.mu.Lock()
	o.closed = true
	o.changed.Broadcast()
	o.mu.Unlock()
	var late <-chan time.Time
	if limit > 0 {
		late = time.After(limit)
	}
	select {
	case <-o.done:
		return o.err
	case <-late:
		return nil
	}
}
