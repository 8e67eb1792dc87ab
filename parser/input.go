package parser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Input is a file to read, wherever it is.
type Input struct {
	Name            string // for its extension and for messages; Config.Filename wins
	ContentType     string // Config.ContentType wins
	ContentEncoding string // Config.ContentEncoding wins
	Size            int64  // in bytes; -1 is unknown
	// Open returns n bytes from off on, or all to the end where n < 0; always of one version of the file. Its errors, and its readers', are IO errors.
	Open func(ctx context.Context, off, n int64) (io.ReadCloser, error)
	// Once tells that Open works once, with (0, -1), as for stdin. What must be read at random goes through a temporary file of at most 4 GiB then.
	Once bool
}

// source is an Input while a Reader is at it: it counts bytes, and remembers the error with which reading failed, since codecs wrap it beyond recognition.
// What is compressed is read by another goroutine than the one that asks.
type source struct {
	read   atomic.Int64
	mu     sync.Mutex
	failed error

	open   func(off, n int64) (io.ReadCloser, error)
	size   int64
	once   bool
	opened bool
	local  *staged // what was read from Once, or from an unknown size, to be read at random
}

func newSource(ctx context.Context, in Input) *source {
	return &source{
		open: func(off, n int64) (io.ReadCloser, error) { return in.Open(ctx, off, n) },
		size: in.Size, once: in.Once,
	}
}

// from opens the source at a byte, to its end.
func (s *source) from(off int64) (io.ReadCloser, error) {
	if s.local != nil {
		return io.NopCloser(io.NewSectionReader(s.local.file, off, s.local.size-off)), nil
	}
	return s.part(off, -1)
}

func (s *source) part(off, n int64) (io.ReadCloser, error) {
	if s.once && s.opened {
		return nil, fileError(KindIO, "opening the input again: it can be read once only")
	}
	s.opened = true
	body, err := s.open(off, n)
	if err != nil {
		s.fail(err)
		return nil, err
	}
	want := n
	if n < 0 && s.size >= 0 {
		want = max(0, s.size-off)
	}
	return &span{ReadCloser: body, source: s, left: want, at: off}, nil
}

func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// failure is what reading failed with; nil: it has not.
func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// again tells whether the source can be opened at any byte.
func (s *source) again() bool { return !s.once || s.local != nil }

// span is one opened span of a source.
type span struct {
	io.ReadCloser
	source *source
	left   int64 // bytes to come; negative: unknown
	at     int64
}

func (b *span) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.source.read.Add(int64(n))
	b.at += int64(n)
	if b.left >= 0 {
		b.left = max(0, b.left-int64(n))
	}
	switch {
	case err == nil:
	case err != io.EOF: //nolint:errorlint // a wrapped io.EOF is a transport's error, and no end
		if errors.Is(err, io.EOF) {
			err = errors.New(err.Error()) // nobody further in must take it for one
		}
		b.source.fail(err)
	case b.left > 0:
		// A connection that was cut looks like an end to some transports.
		err = fmt.Errorf("it ended at byte %d, %d bytes too early: %w", b.at, b.left, io.ErrUnexpectedEOF)
		b.source.fail(err)
	}
	return n, err
}
