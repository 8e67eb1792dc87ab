package gcsblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"

	"github.com/estuary/connectors/internal/blob"
)

// List implements blob.Bucket: a thousand objects a request.
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		var first time.Time
		query := &storage.Query{Prefix: prefix, StartOffset: after, Projection: storage.ProjectionNoACL}
		if err := query.SetAttrSelection([]string{"Name", "Size", "Created", "Generation", "StorageClass"}); err != nil {
			yield(blob.Object{}, fmt.Errorf("listing %s: %w", b.url(prefix), err))
			return
		}
		objects := b.handle.Objects(context.WithValue(ctx, listed{}, &first), query)
		for last := after; ; {
			a, err := objects.Next()
			if errors.Is(err, iterator.Done) {
				return
			}
			if err != nil {
				yield(blob.Object{}, b.problem(ctx, listing, prefix, err))
				return
			}
			if a.Name == after && last == after {
				continue // StartOffset is inclusive
			}
			if !strings.HasPrefix(a.Name, prefix) || a.Name <= last {
				yield(blob.Object{}, fmt.Errorf("listing %s: the store lists %q after %q, which is not the order of bytes that a resumed listing needs", b.url(prefix), a.Name, last))
				return
			}
			last = a.Name
			if first.IsZero() {
				first = time.Now().UTC()
			}
			o := object(a)
			o.Listed = first
			if !yield(o, nil) {
				return
			}
		}
	}
}

func object(a *storage.ObjectAttrs) blob.Object {
	return blob.Object{Key: a.Name, Size: a.Size, Modified: a.Created.UTC(), Version: strconv.FormatInt(a.Generation, 10), Class: a.StorageClass}
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	a, err := b.handle.Object(key).Attrs(ctx)
	if err != nil {
		return blob.Info{}, b.problem(ctx, looking, key, err)
	}
	return blob.Info{Object: object(a), ContentType: a.ContentType, ContentEncoding: a.ContentEncoding}, nil
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	if n == 0 {
		return b.nothing(ctx, key, version)
	}
	var info blob.Info
	body, err := blob.Follow(ctx, b.config.Patience, b.url(key), off, n, func(ctx context.Context, off, n int64) (io.ReadCloser, int64, error) {
		handle := b.handle.Object(key)
		if version != "" {
			generation, err := strconv.ParseInt(version, 10, 64)
			if err != nil || generation <= 0 {
				return nil, 0, b.changed(ctx, key)
			}
			handle = handle.If(storage.Conditions{GenerationMatch: generation})
		}
		r, err := handle.NewRangeReader(ctx, off, n)
		if err != nil {
			if status(err) == http.StatusRequestedRangeNotSatisfiable {
				return nil, 0, errPastEnd
			}
			return nil, 0, b.problem(ctx, reading, key, err)
		}
		_, length := blob.Span(r.Attrs.Size, off, n)
		if r.Remain() != length {
			r.Close() //nolint:errcheck // nothing of it was read
			return nil, 0, fmt.Errorf("reading %s: the store answers the range %d+%d with %d bytes of %d", b.url(key), off, n, r.Remain(), r.Attrs.Size)
		}
		version = strconv.FormatInt(r.Attrs.Generation, 10)
		info = blob.Info{Object: blob.Object{Key: key, Size: r.Attrs.Size, Version: version}, ContentType: r.Attrs.ContentType, ContentEncoding: r.Attrs.ContentEncoding}
		return r, length, nil
	})
	if errors.Is(err, errPastEnd) {
		return b.nothing(ctx, key, version)
	}
	if err != nil {
		return nil, blob.Info{}, err
	}
	return body, info, nil
}

var errPastEnd = errors.New("the range begins at or behind the end of the object")

// changed is what a read of a version answers that no generation can be.
func (b *Bucket) changed(ctx context.Context, key string) error {
	if _, err := b.Stat(ctx, key); err != nil {
		return err
	}
	return fmt.Errorf("reading %s: %w", b.url(key), blob.ErrChanged)
}

// nothing is the empty range of a version that is still there; the service refuses ranges past the end.
func (b *Bucket) nothing(ctx context.Context, key, version string) (io.ReadCloser, blob.Info, error) {
	info, err := b.Stat(ctx, key)
	if err == nil && version != "" && version != info.Version {
		err = fmt.Errorf("reading %s: %w", b.url(key), blob.ErrChanged)
	}
	if err != nil {
		return nil, blob.Info{}, err
	}
	return http.NoBody, info, nil
}
