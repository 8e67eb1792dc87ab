package memblob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/estuary/connectors/internal/blob"
)

// Op is what a Call does.
type Op int

// The operations of a bucket. One List call is one page.
const (
	List Op = iota
	Stat
	Open

	opCount = int(Open) + 1
)

// Call is one call of a bucket, before it looks at an object.
type Call struct {
	Op      Op
	Number  int    // of this operation, from 1
	Key     string // List: the prefix
	After   string // List
	Version string // Open
	Off, N  int64  // Open
}

// Fault is what happens to a call. The zero Fault is none.
type Fault struct {
	Err   error
	After int64 // Open: the call succeeds, and its body ends in Err after as many bytes; 0: the call fails
}

func (b *Bucket) fault(ctx context.Context, c Call) (Fault, error) {
	if b.Hang {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return Fault{}, err
	}
	b.mu.Lock()
	b.calls[c.Op]++
	c.Number = b.calls[c.Op]
	b.mu.Unlock()
	if b.Fault == nil {
		return Fault{}, nil
	}
	f := b.Fault(c)
	if f.After == 0 {
		return f, f.Err
	}
	return f, nil
}

// Calls returns how often an operation was called.
func (b *Bucket) Calls(op Op) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[op]
}

// List implements blob.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		var listed time.Time
		for more := true; more; {
			if _, err := b.fault(ctx, Call{Op: List, Key: prefix, After: after}); err != nil {
				yield(blob.Object{}, fmt.Errorf("listing mem://%s/%s: %w", b.Name, prefix, err))
				return
			}
			if listed.IsZero() {
				listed = b.Now().UTC()
			}
			var page []Entry
			page, more = b.Page(prefix, after, b.PageSize)
			for _, e := range page {
				o := e.Object()
				o.Listed = listed
				after = e.Key
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	_, err := b.fault(ctx, Call{Op: Stat, Key: key})
	e, ok := b.Get(key)
	if err == nil && !ok {
		err = blob.ErrNotFound
	}
	if err != nil {
		return blob.Info{}, fmt.Errorf("looking at mem://%s/%s: %w", b.Name, key, err)
	}
	return blob.Info{Object: e.Object(), ContentType: e.ContentType, ContentEncoding: e.ContentEncoding}, nil
}

// Open implements blob.Bucket. The body goes on with its version when the object is replaced or deleted.
func (b *Bucket) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	f, err := b.fault(ctx, Call{Op: Open, Key: key, Version: version, Off: off, N: n})
	e, ok := b.Get(key)
	switch {
	case err != nil:
	case !ok:
		err = blob.ErrNotFound
	case version != "" && version != e.Version:
		err = blob.ErrChanged
	case e.Archived:
		err = blob.ErrArchived
	}
	if err != nil {
		return nil, blob.Info{}, fmt.Errorf("reading mem://%s/%s: %w", b.Name, key, err)
	}
	from, length := blob.Span(int64(len(e.Data)), off, n)
	var body io.Reader = bytes.NewReader(e.Data[from : from+length])
	if f.Err != nil {
		body = io.MultiReader(io.LimitReader(body, f.After), failing{f.Err})
	}
	done := func() error { return ctx.Err() }
	return &reader{body: body, done: done}, blob.Info{Object: e.Object(), ContentType: e.ContentType, ContentEncoding: e.ContentEncoding}, nil
}

// reader ends with its caller's context, as a body from a network does.
type reader struct {
	body io.Reader
	done func() error
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.done(); err != nil {
		return 0, err
	}
	return r.body.Read(p)
}

func (r *reader) Close() error { return nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
