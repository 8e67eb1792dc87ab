package filesource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/internal/blob"
)

// fetchWhole reads a small object into memory.
func fetchWhole(ctx context.Context, bucket blob.Bucket, o blob.Object) (data []byte, info blob.Info, err error) {
	body, info, err := bucket.Open(ctx, o.Key, o.Version, 0, -1)
	if err != nil {
		return nil, info, err
	}
	defer body.Close()
	data = make([]byte, o.Size)
	n, err := io.ReadFull(body, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("reading %s: it ended at byte %d, %d too early", o.Key, n, o.Size-int64(n))
	}
	return data[:n], info, err
}

// ranges reads a large object in ranges of which some are in flight, each pinned to the version. The first one comes alone: a reader that wants no more than
// a header, or goes on from a byte, makes no others.
type ranges struct {
	ctx    context.Context //nolint:containedctx // of one Open, as its body has it
	cancel context.CancelFunc
	open   func(ctx context.Context, off, n int64) (io.ReadCloser, error)
	next   int64 // where the next range to be asked for begins
	size   int64
	limits *limits
	queue  []*part
	now    []byte // the range that is being read
	rest   []byte // of now
	spare  []byte // the one before it, whose room the next that is asked for takes
	read   int64
	done   func()
}

// part is one range.
type part struct {
	ready chan struct{}
	data  []byte
	err   error
}

func newRanges(ctx context.Context, l *limits, off, size int64, done func(), open func(ctx context.Context, off, n int64) (io.ReadCloser, error)) *ranges {
	inner, cancel := context.WithCancel(ctx)
	r := &ranges{ctx: inner, cancel: cancel, open: open, next: off, size: size, limits: l, done: done}
	r.ask(min(l.rangeSize, 1<<20))
	return r
}

// ask begins to fetch the next range.
func (r *ranges) ask(n int64) {
	off := r.next
	if n = min(n, r.size-off); n <= 0 {
		return
	}
	r.next += n
	p := &part{ready: make(chan struct{}), data: r.spare}
	if r.spare = nil; int64(cap(p.data)) < n {
		p.data = make([]byte, n)
	}
	p.data = p.data[:n]
	r.queue = append(r.queue, p)
	go func() { // ends with the request, which ends with the context; Close waits for it
		defer close(p.ready)
		body, err := r.open(r.ctx, off, n)
		if err != nil {
			p.err = err
			return
		}
		defer body.Close()
		var got int
		if got, p.err = io.ReadFull(body, p.data); p.err != nil {
			p.data = p.data[:got]
			if errors.Is(p.err, io.EOF) || errors.Is(p.err, io.ErrUnexpectedEOF) {
				p.err = fmt.Errorf("reading %d bytes at byte %d: only %d came", n, off, got)
			}
		}
	}()
}

// Read implements io.Reader.
func (r *ranges) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.queue) == 0 {
			if r.next >= r.size {
				return 0, io.EOF
			}
			r.ask(r.limits.rangeSize)
		}
		head := r.queue[0]
		select {
		case <-head.ready:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
		if head.err != nil {
			return 0, head.err
		}
		r.queue = r.queue[1:]
		r.spare, r.now, r.rest = r.now, head.data, head.data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if r.read += int64(n); r.read > 1<<19 { // the reader goes on
		for len(r.queue) < r.limits.ranges && r.next < r.size {
			r.ask(r.limits.rangeSize)
		}
	}
	return n, nil
}

// Close implements io.Closer.
func (r *ranges) Close() error {
	r.cancel()
	for _, p := range r.queue {
		<-p.ready
	}
	r.queue = nil
	if r.done != nil {
		r.done()
		r.done = nil
	}
	return nil
}

// head makes a file's info known, and waits for its data if it is fetched ahead.
func (r *reader) head(ctx context.Context, f *file) (err error) {
	switch {
	case f.fetched != nil:
		select {
		case <-f.fetched:
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	case f.info.Version == f.object.Version && f.info.Version != "":
		return nil
	case f.object.Size < r.limits.large:
		f.first, f.info, err = r.bucket.Open(ctx, f.object.Key, f.object.Version, 0, -1)
		if f.object.Size < 0 {
			f.object.Size = f.info.Size
		}
		return err
	}
	if f.info, err = r.bucket.Stat(ctx, f.object.Key); err == nil && f.info.Version != f.object.Version {
		err = blob.ErrChanged
	}
	return err
}

// openPart opens bytes of a file, always of the same version.
func (r *reader) openPart(ctx context.Context, f *file, off, n int64) (io.ReadCloser, error) {
	if f.data != nil {
		from, length := blob.Span(int64(len(f.data)), off, n)
		return io.NopCloser(bytes.NewReader(f.data[from : from+length])), nil
	}
	if first := f.first; first != nil && off == 0 && n < 0 {
		f.first = nil
		return first, nil
	}
	if n < 0 && f.object.Size-off >= r.limits.large {
		if body, ok := r.openRanges(ctx, f, off); ok {
			return body, nil
		}
	}
	body, _, err := r.bucket.Open(ctx, f.object.Key, f.object.Version, off, n)
	return body, err
}

// openRanges reads in ranges, unless another file does already: together they would hold too much.
func (r *reader) openRanges(ctx context.Context, f *file, off int64) (io.ReadCloser, bool) {
	select {
	case r.ranged <- struct{}{}:
	default:
		return nil, false
	}
	return newRanges(ctx, &r.limits, off, f.object.Size, func() { <-r.ranged }, func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
		body, _, err := r.bucket.Open(ctx, f.object.Key, f.object.Version, off, n)
		return body, err
	}), true
}
