package parquet

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// chunkReader gets a column chunk's bytes by ranges, larger ones than it needs just then.
type chunkReader struct {
	r      io.ReaderAt
	next   int64  // where the next range begins
	end    int64  // of the chunk
	ahead  int    // bytes of a range
	buffer []byte // holds ranges
	window []byte // what was read and not taken
}

// reset makes it read from a place; window is what has been read from there on already.
func (c *chunkReader) reset(at, end int64, window []byte) {
	c.next, c.end, c.window = at+int64(len(window)), end, window
}

// offset is where the next byte to be taken stands in the file.
func (c *chunkReader) offset() int64 { return c.next - int64(len(c.window)) }

// peek returns n bytes without taking them, or as many as are left.
func (c *chunkReader) peek(n int) ([]byte, error) {
	if len(c.window) < n && c.next < c.end {
		size := int(min(int64(max(n, c.ahead)), c.end-c.offset()))
		if cap(c.buffer) < size {
			c.buffer = make([]byte, size)
		}
		kept := copy(c.buffer[:size], c.window)
		if err := readAt(c.r, c.buffer[kept:size], c.next); err != nil {
			return nil, err
		}
		c.next += int64(size - kept)
		c.window = c.buffer[:size]
	}
	return c.window[:min(n, len(c.window))], nil
}

// skip takes n bytes without reading them.
func (c *chunkReader) skip(n int) {
	if n <= len(c.window) {
		c.window = c.window[n:]
		return
	}
	c.next = min(c.next+int64(n-len(c.window)), c.end)
	c.window = nil
}

// body takes n bytes, which are valid until the next call. What does not fit the ranges goes through scratch.
func (c *chunkReader) body(n int, scratch *[]byte) ([]byte, error) {
	if int64(n) > c.end-c.offset() {
		return nil, corrupt("its %d bytes go beyond the end of the column chunk", n)
	}
	if n <= c.ahead || n <= len(c.window) {
		b, err := c.peek(n)
		c.skip(len(b))
		return b, err
	}
	b := sized(scratch, n)
	kept := copy(b, c.window)
	if err := readAt(c.r, b[kept:], c.next); err != nil {
		return nil, err
	}
	c.next, c.window = c.next+int64(n-kept), nil
	return b, nil
}

// sized returns n bytes of a buffer, which is made anew when it is too small, or so large that one page would hold on to the memory of another.
func sized(buffer *[]byte, n int) []byte {
	const small = 1 << 20
	if c := cap(*buffer); c < n || c > small && c > 4*n {
		*buffer = make([]byte, n, max(n, 1<<10))
	}
	*buffer = (*buffer)[:n]
	return *buffer
}

// The most that a page header may take, statistics included.
const maxPageHeader = 1 << 20

// header takes the next page header.
func (c *chunkReader) header() (h *format.PageHeader, err error) {
	for want := 1 << 10; ; want = min(8*want, maxPageHeader) {
		var b []byte
		if b, err = c.peek(want); err != nil {
			return nil, err
		}
		n, checked := checkThrift(b, maxPageHeader)
		switch {
		case checked == nil:
			if h, err = decodePageHeader(b[:n]); err == nil {
				c.skip(n)
			}
			return h, err
		case !errors.Is(checked, errShort) || len(b) < want || want >= maxPageHeader:
			return nil, &problem{kind: Corrupt, reason: "reading a page header", err: checked}
		}
	}
}

func decodePageHeader(b []byte) (h *format.PageHeader, err error) {
	defer recovered(&err, "decoding a page header")
	h = new(format.PageHeader)
	if err = thrift.Unmarshal(new(thrift.CompactProtocol), b, h); err != nil {
		return nil, &problem{kind: Corrupt, reason: "decoding a page header", err: err}
	}
	return h, nil
}
