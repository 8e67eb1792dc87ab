package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipReader reads all members of a gzip file, one by one, so that it sees what stands behind each: the next one, or a tail of zeros or junk, which tapes and
// some mainframes append. Libraries that drive themselves cannot tell such a tail from a file that was cut.
type gzipReader struct {
	in      *below
	member  *gzip.Reader
	members int
	warn    func(string)
	err     error
}

func newGzip(in *below, warn func(string)) (codec, error) {
	g := &gzipReader{in: in, warn: warn}
	member, err := gzip.NewReader(in.Reader)
	if err != nil {
		return nil, failing(Gzip, g.in.failure(), unexpected(err))
	}
	member.Multistream(false)
	g.member, g.members = member, 1
	return g, nil
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil {
		n, err := g.member.Read(p)
		switch {
		case errors.Is(err, io.EOF):
			g.err = g.next()
		case err != nil:
			g.err = failing(Gzip, g.in.failure(), fmt.Errorf("member %d: %w", g.members, err))
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// next begins the member that follows. io.EOF: there is none.
func (g *gzipReader) next() error {
	zeros, err := g.skipZeros()
	if err != nil {
		return err
	}
	head, err := g.in.Peek(len(magicGzip))
	switch {
	case err != nil && err != io.EOF: //nolint:errorlint // one that wraps it is a failure
		return err
	case len(head) == 0:
		if zeros > 0 {
			g.warn(fmt.Sprintf("gzip: %d zero bytes behind the last member are ignored", zeros))
		}
		return io.EOF
	// A member that was cut begins like this; one byte of it may be all that is left.
	case head[0] != magicGzip[0] || len(head) > 1 && head[1] != magicGzip[1]:
		g.warn(fmt.Sprintf("gzip: what follows member %d in byte %d is no gzip and is ignored", g.members, g.in.read()))
		return io.EOF
	case !bytes.Equal(head, magicGzip) && bytes.HasPrefix(magicGzip, head):
		return failing(Gzip, nil, io.ErrUnexpectedEOF)
	}
	g.members++
	if err := g.member.Reset(g.in.Reader); err != nil {
		return failing(Gzip, g.in.failure(), fmt.Errorf("member %d: %w", g.members, unexpected(err)))
	}
	g.member.Multistream(false)
	return nil
}

// skipZeros counts the zeros before the next member, if one follows: blocks of tapes are filled up with them.
func (g *gzipReader) skipZeros() (int64, error) {
	var zeros int64
	for {
		head, err := g.in.Peek(1)
		if err != nil && err != io.EOF { //nolint:errorlint // see next
			return zeros, err
		}
		if len(head) == 0 || head[0] != 0 {
			return zeros, nil
		}
		head, _ = g.in.Peek(g.in.Buffered())
		n := len(head) - len(bytes.TrimLeft(head, "\x00"))
		if _, err := g.in.Discard(n); err != nil {
			return zeros, err
		}
		zeros += int64(n)
	}
}

func (g *gzipReader) close() {}

// unexpected makes an end inside a header what it is: the caller has seen the magic.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
