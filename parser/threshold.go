package parser

import (
	"errors"
	"fmt"
	"io"
)

const (
	windowRows = 1000     // outcomes that the rate of bad rows is taken of
	heldRows   = 1000     // documents that are held back until their fate is known
	heldBytes  = 16 << 20 // the same, in bytes
)

// window holds good rows back until it is known that not too many bad ones are among the last 1000: a file whose dialect is wrong from the start then emits
// nothing. The file fails when the rate, in whole per cent rounded down, reaches the threshold.
type window struct {
	threshold int
	bits      [windowRows]bool // outcomes; true: bad
	seen      int64
	errors    int
	last      *Error // the bad row that was seen last

	buf   []byte
	queue []pending
	from  int // first of queue that is held
	free  int // of queue that may be released
}

// pending is a document that is held back.
type pending struct {
	start, end int // in buf
	at         cursor
}

func newWindow(threshold int) *window { return &window{threshold: threshold} }

// held is how many documents are held back.
func (w *window) held() int { return len(w.queue) - w.from }

// add holds a document back. An error: there are too many bad rows.
func (w *window) add(doc []byte, at cursor) error {
	start := len(w.buf)
	w.buf = append(w.buf, doc...)
	w.queue = append(w.queue, pending{start, len(w.buf), at})
	return w.outcome(false)
}

// bad counts a bad row.
func (w *window) bad(e *Error) error {
	w.last = e
	return w.outcome(true)
}

func (w *window) outcome(bad bool) error {
	slot := &w.bits[w.seen%windowRows]
	if *slot {
		w.errors--
	}
	if *slot = bad; bad {
		w.errors++
	}
	w.seen++
	if w.seen < windowRows && w.held() < heldRows && w.bytes() <= heldBytes {
		return nil
	}
	if err := w.test(); err != nil {
		return err
	}
	w.free = min(1, w.held())
	for w.bytes()-w.freed() > heldBytes {
		w.free++
	}
	return nil
}

// bytes are those of all that is held back, freed those of what may be released.
func (w *window) bytes() int {
	if w.held() == 0 {
		return 0
	}
	return len(w.buf) - w.queue[w.from].start
}

func (w *window) freed() int {
	if w.free == 0 {
		return 0
	}
	return w.queue[w.from+w.free-1].end - w.queue[w.from].start
}

func (w *window) test() error {
	if w.seen == 0 || w.threshold == 0 {
		return nil
	}
	n := min(w.seen, windowRows)
	rate := int64(w.errors) * 100 / n
	if rate < int64(w.threshold) {
		return nil
	}
	e := *w.last
	// The row's own reason stands first: its column and its value are told before it.
	e.Reason = fmt.Sprintf("%s; with it %d of the last %d rows are bad, which is %d %%, and errorThreshold is %d", e.Reason, w.errors, n, rate, w.threshold)
	return &e
}

// end is called when no more rows come, and says whether what is held back may be released. After an error of the source nothing may: reading on later
// will tell.
func (w *window) end(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindIO {
		return err
	}
	if tooMany := w.test(); tooMany != nil && (errors.Is(err, io.EOF) || w.seen >= windowRows) {
		return tooMany
	}
	w.free = w.held()
	return nil
}

// release appends the oldest document, which may be released, and returns the place behind it.
func (w *window) release(dst []byte) ([]byte, cursor) {
	p := w.queue[w.from]
	dst = append(dst, w.buf[p.start:p.end]...)
	w.from++
	w.free--
	if w.from*2 > len(w.queue) { // most of it is gone
		w.buf = append(w.buf[:0], w.buf[p.end:]...)
		w.queue = append(w.queue[:0], w.queue[w.from:]...)
		for i := range w.queue {
			w.queue[i].start -= p.end
			w.queue[i].end -= p.end
		}
		w.from = 0
	}
	return dst, p.at
}
