package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	feedBytes = 512 << 10 // of one buffer; longer lines make it grow
	feedCount = 3         // buffers: one is read into, one waits, one is being worked on
)

// feed reads a connector's output in a goroutine of its own, so that whoever works on it can also wait for something else. A buffer holds whole lines; a
// last line without its end is dropped.
type feed struct {
	full chan []byte // closed at the end of the output
	free chan []byte
	stop chan struct{}
	// ahead is what somebody has taken out of full and not used; it comes first.
	ahead []byte
	err   error // why reading ended; nil: the output's end. Valid after full is closed
}

// newFeed reads from r until its end, or until stop is closed and a read returns.
func newFeed(r io.Reader) *feed {
	f := &feed{full: make(chan []byte), free: make(chan []byte, feedCount), stop: make(chan struct{})}
	for range feedCount {
		f.free <- nil
	}
	go f.read(r)
	return f
}

// close lets the reading goroutine go, at the latest when its source is closed.
func (f *feed) close() { close(f.stop) }

// giveBack returns a buffer that full has handed out.
func (f *feed) giveBack(buf []byte) {
	if cap(buf) > 4*feedBytes {
		buf = nil
	}
	f.free <- buf[:0]
}

func (f *feed) read(r io.Reader) {
	defer close(f.full)
	var tail []byte
	for {
		var buf []byte
		select {
		case buf = <-f.free:
		case <-f.stop:
			return
		}
		if buf == nil {
			buf = make([]byte, 0, feedBytes)
		}
		buf = append(buf, tail...)
		whole, err := fill(r, &buf)
		tail = append(tail[:0], buf[whole:]...)
		if whole > 0 {
			select {
			case f.full <- buf[:whole]:
			case <-f.stop:
				return
			}
		} else {
			f.free <- buf[:0]
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.err = fmt.Errorf("reading its output: %w", err)
			}
			return
		}
	}
}

// fill reads until there is a whole line, and returns where the last whole line ends.
func fill(r io.Reader, buf *[]byte) (whole int, err error) {
	searched := len(*buf)
	for {
		b := *buf
		if len(b) == cap(b) {
			grown := make([]byte, len(b), 2*cap(b))
			copy(grown, b)
			b = grown
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		*buf = b
		if i := bytes.LastIndexByte(b[searched:], '\n'); i >= 0 {
			return searched + i + 1, err
		}
		searched = len(b)
		if err != nil {
			return 0, err
		}
	}
}

// nextLine cuts the first line off a buffer of whole lines, without its newline.
func nextLine(buf []byte) (line, rest []byte) {
	i := bytes.IndexByte(buf, '\n')
	return buf[:i], buf[i+1:]
}
