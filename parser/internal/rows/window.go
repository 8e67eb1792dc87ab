package rows

import (
	"bytes"
	"io"
)

func newWindow(r io.Reader, at int64, o Options) window {
	w := window{r: r, base: at, most: o.MaxRow + usualBuffer, first: firstBuffer}
	if o.Text > 0 {
		w.first = min(w.first, o.Text+1+padding) // 1: its end shows
	}
	return w
}

const (
	firstBuffer  = 32 << 10  // enough for most files of a bucket with very many
	usualBuffer  = 256 << 10 // fits the second cache, and a read into it is worth its call
	padding      = 16        // bytes behind the data that may be read, and written as sentinels
	emptyReads   = 100       // in a row, until a reader counts as stuck
	ctrlZ        = 0x1a      // ended text files under CP/M and DOS
	defaultRow   = 64 << 20  // F18
	defaultWidth = 100_000   // F18
)

// Options are bounds, and what precedes the rows. Zero bounds are the defaults.
type Options struct {
	MaxRow     int // bytes of a row without its end; 64 MiB
	MaxColumns int // fields of a row; 100,000
	SkipLines  int // physical lines before the first row, skipped when scanning begins at byte 0
	Text       int // bytes of the text, as far as they are known: a short one needs no large buffer
}

func (o Options) withDefaults() Options {
	if o.MaxRow <= 0 {
		o.MaxRow = defaultRow
	}
	o.MaxRow = min(o.MaxRow, 1<<30) // fields count in int32
	if o.MaxColumns <= 0 {
		o.MaxColumns = defaultWidth
	}
	return o
}

// window holds what was read and not yet consumed: buf[pos:end]. It grows to usualBuffer by itself and further for a row that needs it.
type window struct {
	r        io.Reader
	buf      []byte
	pos, end int
	base     int64 // byte of the text at buf[0]
	first    int   // size of the first buffer
	most     int   // bound of the buffer's size; more than the longest row, and some
	err      error // what ended the reading; io.EOF is the end of the text
	keepZ    bool  // Ctrl-Z means something to the dialect and stays at the end
}

// unread are the bytes that wait, with the padding behind them.
func (w *window) unread() []byte { return w.buf[w.pos:] }

// waiting is their number.
func (w *window) waiting() int { return w.end - w.pos }

// eof: the text has ended. A reader says so with io.EOF itself; an error that wraps it is a failure.
func (w *window) eof() bool { return w.err == io.EOF } //nolint:errorlint // see above

// fill reads until the buffer is full or the reader ends, so that a row is cut anew a number of times that grows with the logarithm of its length only. It
// makes room first. False: there is nothing more, see err.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	w.makeRoom()
	before := w.end
	for idle := 0; w.end < len(w.buf)-padding; {
		n, err := w.r.Read(w.buf[w.end : len(w.buf)-padding])
		w.end += n
		if err != nil {
			w.err = err
			break
		}
		if n > 0 {
			idle = 0
		} else if idle++; idle == emptyReads {
			w.err = io.ErrNoProgress
			break
		}
	}
	if w.eof() && !w.keepZ && w.end > w.pos && w.buf[w.end-1] == ctrlZ {
		w.end--
		before = min(before, w.end)
	}
	return w.end > before || w.eof()
}

// makeRoom moves what waits to the front, into a bigger buffer if it fills more than half of this one.
func (w *window) makeRoom() {
	size := len(w.buf)
	switch {
	case size == 0:
		size = w.first
	case w.waiting() > (size-padding)/2 || w.base+int64(w.pos) > 0 && size < usualBuffer:
		size = min(2*size, w.most)
	}
	to := w.buf
	if size != len(w.buf) {
		to = make([]byte, size)
	}
	w.end = copy(to, w.buf[w.pos:w.end])
	w.base += int64(w.pos)
	w.buf, w.pos = to, 0
}

// need makes at least n bytes wait, fewer only where the reader ended.
func (w *window) need(n int) {
	for w.waiting() < n && w.fill() && !w.eof() {
	}
}

// skipLine consumes a line and its end, of any length. False: nothing was left.
func (w *window) skipLine(e End) bool {
	if w.need(1); w.waiting() == 0 {
		return false
	}
	for {
		b := w.buf[w.pos:w.end]
		i := lineEnd(b, e)
		if i < 0 {
			w.pos = w.end
			if w.need(1); w.waiting() == 0 {
				return true
			}
			continue
		}
		w.pos += i + 1
		if b[i] == '\r' && e == AnyEnd {
			if w.need(1); w.waiting() > 0 && w.buf[w.pos] == '\n' {
				w.pos++
			}
		}
		return true
	}
}

// lineEnd finds the first byte that ends a line, -1: none. Of a CRLF under AnyEnd it is the CR.
func lineEnd(b []byte, e End) int {
	i := bytes.IndexByte(b, e.byte())
	if e == AnyEnd {
		rest := b
		if i >= 0 {
			rest = b[:i]
		}
		if cr := bytes.IndexByte(rest, '\r'); cr >= 0 {
			return cr
		}
	}
	return i
}

// countLines counts the line ends in b.
func countLines(b []byte, e End) int64 {
	n := bytes.Count(b, []byte{e.byte()})
	if e == AnyEnd {
		n += bytes.Count(b, []byte{'\r'}) - bytes.Count(b, []byte{'\r', '\n'})
	}
	return int64(n)
}
