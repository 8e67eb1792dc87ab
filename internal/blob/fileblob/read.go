package fileblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/estuary/connectors/internal/blob"
)

// Open implements blob.Bucket. The pinned version is there when the file is, or has only grown: same inode, more bytes.
func (b *Bucket) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, blob.Info{}, fmt.Errorf("reading %s: %w", b.path(key), err)
	}
	if !holds(key) {
		return nil, blob.Info{}, fmt.Errorf("reading %q: %w", key, blob.ErrNotFound)
	}
	// Without O_NONBLOCK a pipe of that name would hold us until somebody writes to it.
	file, err := os.OpenFile(b.path(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, blob.Info{}, problem("reading", b.path(key), err)
	}
	now, size, err := pinned(file, version)
	if err != nil {
		file.Close()
		return nil, blob.Info{}, fmt.Errorf("reading %s: %w", b.path(key), err)
	}
	if version == "" {
		version = now.version()
	}
	from, length := blob.Span(size, off, n)
	body := &body{file: file, opened: now, off: from, left: length, whole: size, ended: ctx.Err}
	return body, blob.Info{Object: blob.Object{Key: key, Size: size, Modified: now.changed, Version: version}}, nil
}

// pinned looks whether an open file has a version, and how long that is.
func pinned(file *os.File, version string) (now facts, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return now, 0, err
	}
	if !info.Mode().IsRegular() {
		return now, 0, blob.ErrNotFound
	}
	now = factsOf(info)
	if version == "" || version == now.version() {
		return now, now.size, nil
	}
	if size, _, inode, ok := parse(version); ok && inode == now.inode && size < now.size {
		return now, size, nil
	}
	return now, 0, blob.ErrChanged
}

// body reads a file that somebody may write to.
type body struct {
	file   *os.File
	opened facts
	off    int64 // the next byte
	left   int64
	whole  int64 // bytes of the version
	ended  func() error
}

func (b *body) Read(p []byte) (int, error) {
	if err := b.ended(); err != nil {
		return 0, fmt.Errorf("reading %s: %w", b.file.Name(), err)
	}
	if b.left == 0 {
		return 0, b.unchanged()
	}
	n, err := b.file.ReadAt(p[:min(int64(len(p)), b.left)], b.off)
	b.off, b.left = b.off+int64(n), b.left-int64(n)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("reading %s: it has become shorter than %d bytes: %w", b.file.Name(), b.whole, blob.ErrChanged)
	case err != nil:
		return 0, fmt.Errorf("reading %s: %w", b.file.Name(), err)
	}
	return 0, nil
}

// unchanged returns io.EOF if what was read is of one version: nobody wrote to the file since, or only behind its end. What the ctime tells besides, as of a
// rename or a removal, does not concern the bytes.
func (b *body) unchanged() error {
	info, err := b.file.Stat()
	if err != nil {
		return fmt.Errorf("reading %s: %w", b.file.Name(), err)
	}
	if now := factsOf(info); now.size < b.whole || now.size == b.opened.size && !now.written.Equal(b.opened.written) {
		return fmt.Errorf("reading %s: it was written to meanwhile: %w", b.file.Name(), blob.ErrChanged)
	}
	return io.EOF
}

func (b *body) Close() error { return b.file.Close() }
