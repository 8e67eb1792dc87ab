package blob

import (
	"context"
	"io"
	"iter"
	"time"
)

// Object is what a store tells about an object without opening it.
type Object struct {
	Key      string    // as the store spells it: any bytes, never normalised
	Size     int64     // bytes, as stored
	Modified time.Time // by the store's clock
	Version  string    // of the content: S3 ETag without its quotes, GCS generation, of a local file size-ctime-inode
	Class    string    // storage class as the store names it; may be empty
	Archived bool      // of a class that cannot be read now: Open answers ErrArchived
	Restored bool      // of such a class, with a copy that can be read now
	Listed   time.Time // the store's clock when it gave the first answer of this listing, whole seconds on S3; zero from Stat and Open
}

// Info is what a store tells when it is asked about one object.
type Info struct {
	Object
	ContentType, ContentEncoding string // as stored; empty: unknown
}

// Bucket is one bucket, safe for use by many goroutines.
type Bucket interface {
	// List yields the objects whose keys begin with prefix and are greater than after, in ascending order of key bytes. Memory is that of one page of the
	// store's. An error ends the listing. Objects deleted or added meanwhile may be in it or not.
	List(ctx context.Context, prefix, after string) iter.Seq2[Object, error]

	// Stat tells about one object. ErrNotFound, ErrDenied.
	Stat(ctx context.Context, key string) (Info, error)

	// Open reads bytes off up to off+n, to the end where n < 0, of one version; version "" is the one there now, Info says which. A range is cut at the
	// object's end, and may be empty. Info is of the whole object. ErrNotFound, ErrChanged where another version is there now, ErrArchived, ErrDenied.
	//
	// The body is either whole or ends in an error that is not io.EOF: ErrChanged, ErrNotFound, or one of a kind (protocol.KindOf), transient where going on
	// at the same byte was tried in vain. It must be closed.
	Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, Info, error)
}

// Span cuts the range of n bytes at off (n < 0: to the end) at an object's end.
func Span(size, off, n int64) (from, length int64) {
	from = min(max(off, 0), size)
	length = size - from
	if n >= 0 {
		length = min(length, n)
	}
	return from, length
}
