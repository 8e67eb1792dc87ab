package compress

import (
	"compress/bzip2"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// Limits of what a file may make a codec hold.
const (
	maxZstdWindow   = 128 << 20 // --ultra --long=27
	maxXZDictionary = 64 << 20  // xz -9
	maxSnappyBlock  = 64 << 10  // by the framing format
)

// library is a codec that reads to the end of all frames by itself. What follows the last one is an error.
type library struct {
	io.Reader
	format Format
	in     *below
	end    func()
	err    error
}

func (l *library) Read(p []byte) (n int, err error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err = l.Reader.Read(p)
	if err != nil {
		l.err = failing(l.format, l.in.failure(), err)
	}
	return n, l.err
}

func (l *library) close() {
	if l.end != nil {
		l.end()
	}
}

func newBzip2(in *below) codec {
	l := &library{format: Bzip2, in: in}
	l.Reader = bzip2.NewReader(in.Reader)
	return l
}

// newZstd reads frame after frame, skippable ones, too.
func newZstd(in *below) (codec, error) {
	l := &library{format: Zstd, in: in}
	d, err := zstd.NewReader(in.Reader, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, failing(Zstd, l.in.failure(), err)
	}
	l.Reader, l.end = zstdReader{d}, d.Close
	return l, nil
}

type zstdReader struct{ d *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.d.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = &Error{Format: Zstd, Limit: true, Reason: "the frame needs a window of more than 128 MiB: compress it without --long, or with --long=27"}
	}
	return n, err
}

func newLZ4(in *below) codec {
	l := &library{format: LZ4, in: in}
	l.Reader = lz4.NewReader(in.Reader)
	return l
}

func newSnappy(in *below) codec {
	l := &library{format: Snappy, in: in}
	l.Reader = snappyReader{s2.NewReader(in.Reader, s2.ReaderMaxBlockSize(maxSnappyBlock)), in}
	return l
}

// snappyReader tells a cut file from a broken one, which the library calls by one name.
type snappyReader struct {
	r  *s2.Reader
	in *below
}

func (s snappyReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if errors.Is(err, s2.ErrCorrupt) && errors.Is(s.in.failure(), io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// newXZ shows the library nothing of a block whose dictionary is too large.
func newXZ(in *below) (codec, error) {
	l := &library{format: XZ, in: in}
	x, err := xz.ReaderConfig{DictCap: 1 << 16}.NewReader(newXZGuard(in))
	if err != nil {
		return nil, failing(XZ, l.in.failure(), err)
	}
	l.Reader = x
	return l, nil
}

// Member returns what archive/zip needs to read members of a method that it does not know, with the limits of this package.
func Member(format Format, r io.Reader) io.ReadCloser {
	c, err := newCodec(format, newBelow(r, peekBytes), func(string) {})
	if err != nil {
		return &member{err: err}
	}
	return &member{codec: c}
}

type member struct {
	codec
	err    error
	closed atomic.Bool
}

func (m *member) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	return m.codec.Read(p)
}

func (m *member) Close() error {
	if m.codec != nil && !m.closed.Swap(true) {
		m.close()
	}
	return nil
}
