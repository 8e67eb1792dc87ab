package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/estuary/connectors/protocol"
)

// Patience says what a body that broke off is worth. Zero values are the defaults.
type Patience struct {
	Tries int           // openings in a row that bring less than a MiB each; default 5
	Wait  time.Duration // before the first of them, four times as long before each next, 20 s at most; default 250 ms
	Stall time.Duration // a connection that is asked for bytes and brings none for so long is given up; default 60 s
}

const (
	longestWait = 20 * time.Second
	progress    = 1 << 20 // bytes after which tries are counted anew
)

func (p Patience) orDefaults() Patience {
	if p.Tries == 0 {
		p.Tries = 5
	}
	if p.Wait == 0 {
		p.Wait = 250 * time.Millisecond
	}
	if p.Stall == 0 {
		p.Stall = time.Minute
	}
	return p
}

var errStalled = errors.New("no byte came any more")

// OpenAt opens n bytes at off of one version of an object (n < 0: to the end). length is the number of bytes that must come.
type OpenAt func(ctx context.Context, off, n int64) (body io.ReadCloser, length int64, err error)

// Follow opens n bytes at off and returns a body that is opened again at its byte when it breaks off, ends too early or stalls: the retries of an SDK end
// with the header of an answer. What open itself answers is final where another try cannot change it. name is for errors.
func Follow(ctx context.Context, p Patience, name string, off, n int64, open OpenAt) (io.ReadCloser, error) {
	b := &body{name: name, patience: p.orDefaults(), off: off, left: n}
	b.connect = func(off, n int64) (connection, int64, error) {
		attempt, cancel := context.WithCancelCause(ctx)
		r, length, err := open(attempt, off, n)
		if err != nil {
			cancel(nil)
			return connection{}, 0, err
		}
		watch := time.AfterFunc(b.patience.Stall, func() { cancel(errStalled) })
		watch.Stop()
		return connection{body: r, watch: watch, cancel: cancel, cause: func() error { return context.Cause(attempt) }}, length, nil
	}
	b.ended = ctx.Err
	b.sleep = func(d time.Duration) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	var err error
	if b.now, b.left, err = b.connect(off, n); err != nil {
		return nil, err
	}
	return b, nil
}

// connection is one answer of the store.
type connection struct {
	body   io.ReadCloser
	watch  *time.Timer // runs while a read waits
	cancel context.CancelCauseFunc
	cause  func() error // why the connection was cancelled
}

func (c *connection) close() {
	if c.body != nil {
		c.watch.Stop()
		c.cancel(nil)
		c.body.Close()
		c.body = nil
	}
}

type body struct {
	name     string
	patience Patience
	now      connection // its body is nil between two connections
	off      int64      // the next byte
	left     int64      // bytes that must still come
	tries    int        // openings since the last progress
	gained   int64      // bytes since tries was 0
	final    error

	connect func(off, n int64) (connection, int64, error)
	ended   func() error // the caller's context
	sleep   func(time.Duration)
}

func (b *body) Read(p []byte) (int, error) {
	for b.final == nil {
		if len(p) == 0 {
			return 0, nil
		}
		if ended := b.ended(); ended != nil {
			b.final = fmt.Errorf("reading %s: %w", b.name, ended)
			break
		}
		if b.now.body == nil {
			b.reopen()
			continue
		}
		into := p
		if int64(len(p)) > b.left {
			// Where all bytes have come one more read lets the body tell that its checksum is wrong, and its connection be used again.
			into = p[:max(b.left, 1)]
		}
		b.now.watch.Reset(b.patience.Stall)
		n, err := b.now.body.Read(into)
		b.now.watch.Stop()
		if b.left == 0 {
			b.end(n, err)
			continue
		}
		b.off, b.left, b.gained = b.off+int64(n), b.left-int64(n), b.gained+int64(n)
		if b.gained >= progress {
			b.tries, b.gained = 0, 0
		}
		if err != nil && b.left > 0 {
			b.broke(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, b.final
}

// end is the read after the last byte.
func (b *body) end(n int, err error) {
	switch {
	case n > 0:
		b.final = fmt.Errorf("reading %s: the store sent more than the %d bytes it promised", b.name, b.off)
	case err == io.EOF: //nolint:errorlint // io.Reader promises io.EOF itself
		b.final = io.EOF
	case err != nil:
		b.final = &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("reading %s failed at its end, byte %d: %v", b.name, b.off, err), Err: err}
	}
}

// broke closes a connection that failed, and decides whether another is worth a try.
func (b *body) broke(err error) {
	if b.now.body != nil {
		if cause := b.now.cause(); cause != nil {
			err = cause
		}
	}
	if err == io.EOF { //nolint:errorlint // io.Reader promises io.EOF itself
		err = io.ErrUnexpectedEOF
	}
	b.now.close()
	if b.tries++; b.tries > b.patience.Tries {
		b.final = &protocol.Problem{
			Kind: protocol.Transient, Err: err,
			Summary: fmt.Sprintf("reading %s broke off at byte %d, %d times in a row: %v", b.name, b.off, b.tries, err),
		}
	}
}

func (b *body) reopen() {
	wait := b.patience.Wait
	for range b.tries - 1 {
		wait = min(4*wait, longestWait)
	}
	b.sleep(wait)
	now, length, err := b.connect(b.off, b.left)
	switch {
	case err == nil && length == b.left:
		b.now = now
	case err == nil:
		now.close()
		b.final = &protocol.Problem{
			Kind: protocol.Transient, Summary: fmt.Sprintf("reading %s at byte %d: the store has %d bytes more, not %d", b.name, b.off, length, b.left),
		}
	case isFinal(err):
		b.final = err
	default:
		b.broke(err)
	}
}

// isFinal tells whether another try would get the same answer.
func isFinal(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrChanged) || errors.Is(err, ErrArchived) || errors.Is(err, ErrDenied) ||
		protocol.KindOf(err) == protocol.Config
}

func (b *body) Close() error {
	b.now.close()
	if b.final == nil {
		b.final = errors.New("reading " + b.name + ": the body is closed")
	}
	return nil
}
