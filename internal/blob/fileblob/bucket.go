package fileblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
)

// Bucket is a blob.Bucket.
type Bucket struct {
	root string
	log  *logrus.Entry

	names, links, depths sync.Once // of the log lines about what is passed over
}

var _ blob.Bucket = (*Bucket)(nil)

// Open takes a directory, which must be there.
func Open(root string, log *logrus.Entry) (*Bucket, error) {
	root = filepath.Clean(root)
	at, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !at.IsDir():
		return nil, absent(root, err)
	case err != nil:
		return nil, problem("opening", root, err)
	}
	return &Bucket{root: root, log: log}, nil
}

func (b *Bucket) path(key string) string { return filepath.Join(b.root, filepath.FromSlash(key)) }

// holds tells whether a key can be that of an object: a clean path without dot names.
func holds(key string) bool {
	return fs.ValidPath(key) && key != "." && !strings.HasPrefix(key, ".") && !strings.Contains(key, "/.") && utf8.ValidString(key)
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	if err := ctx.Err(); err != nil {
		return blob.Info{}, fmt.Errorf("looking at %s: %w", b.path(key), err)
	}
	if !holds(key) {
		return blob.Info{}, fmt.Errorf("looking at %q: %w", key, blob.ErrNotFound)
	}
	o, ok, err := b.object(key)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return blob.Info{}, problem("looking at", b.path(key), err)
	}
	return blob.Info{Object: o}, nil
}

// object looks at a file. ok is false for what is no regular file, nor a link to one.
func (b *Bucket) object(key string) (o blob.Object, ok bool, err error) {
	path := b.path(key)
	link, err := os.Lstat(path)
	if err != nil {
		return o, false, err
	}
	file := link
	if link.Mode()&fs.ModeSymlink != 0 {
		if file, err = os.Stat(path); err != nil {
			return o, false, err
		}
		if file.IsDir() {
			b.links.Do(func() {
				b.log.Infof("not following %s: links to directories are not followed; there may be more of them", path)
			})
		}
	}
	if !file.Mode().IsRegular() {
		return o, false, nil
	}
	now := factsOf(file)
	o = blob.Object{Key: key, Size: now.size, Modified: now.changed, Version: now.version()}
	if at := factsOf(link).changed; at.After(o.Modified) {
		o.Modified = at
	}
	return o, true, nil
}

// facts are what a version is made of, and the time of the last write.
type facts struct {
	size             int64
	inode            uint64
	changed, written time.Time
}

func (f facts) version() string {
	return fmt.Sprintf("%x-%x-%x", f.size, f.changed.UnixNano(), f.inode)
}

// parse reads a version.
func parse(version string) (size, changed int64, inode uint64, ok bool) {
	n, err := fmt.Sscanf(version, "%x-%x-%x", &size, &changed, &inode)
	return size, changed, inode, n == 3 && err == nil && size >= 0
}

// absent says that the directory of a bucket is not there.
func absent(root string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "there is no directory " + root, Fix: "create it, or set the endpoint to the directory above that of the bucket", Err: err}
}

// missing tells whether an error says that a path leads nowhere: through a file, in a circle, or too far.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENAMETOOLONG)
}

// problem says what an error of the file system means.
func problem(doing, path string, err error) error {
	switch {
	case missing(err):
		return fmt.Errorf("%s %s: %w", doing, path, blob.ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		return &protocol.Problem{
			Kind: protocol.Config, Summary: doing + " " + path + " is not permitted", Fix: "let the connector's user read it", Err: fmt.Errorf("%w: %w", blob.ErrDenied, err),
		}
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}
