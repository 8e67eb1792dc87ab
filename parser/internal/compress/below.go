package compress

import (
	"bufio"
	"io"
)

// below is what a codec reads from. Codecs wrap its error, or hide it behind one of their own, so it is remembered. They are given the bufio.Reader: inflating
// is a quarter faster from one.
type below struct {
	*bufio.Reader
	source *watched
}

func newBelow(r io.Reader, size int) *below {
	source := &watched{r: r}
	return &below{Reader: bufio.NewReaderSize(source, size), source: source}
}

// failure is the error that ended the reading, io.EOF among them; nil: the codec has not come to it.
func (b *below) failure() error {
	if b.Buffered() > 0 {
		return nil
	}
	return b.source.err
}

// read counts the bytes that codecs have taken.
func (b *below) read() int64 { return b.source.read - int64(b.Buffered()) }

// emptyReads in a row are a reader that is stuck. bufio counts them for small reads only, and calls it an error that the source has not.
const emptyReads = 100

// watched counts what is read, and stays at its first error.
type watched struct {
	r    io.Reader
	read int64
	err  error
}

func (w *watched) Read(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	for idle := 0; n == 0 && w.err == nil && len(p) > 0; idle++ {
		if n, w.err = w.r.Read(p); idle == emptyReads && n == 0 && w.err == nil {
			w.err = io.ErrNoProgress
		}
	}
	w.read += int64(n)
	return n, w.err
}
