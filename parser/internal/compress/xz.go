package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// xzGuard passes the bytes of an .xz file on, and reads the size of each block's dictionary before it does: the decoder would take that memory at once.
// It knows just enough of the format (https://tukaani.org/xz/xz-file-format.txt, and LZMA2's chunks) to find the next header; checks are the decoder's.
type xzGuard struct {
	in      *below
	held    []byte // read, to be handed on
	pass    int64  // bytes behind held that are nobody's header
	next    func() error
	check   int   // bytes of a block's check
	payload int64 // compressed bytes of the block so far
	err     error
}

func newXZGuard(in *below) *xzGuard {
	g := &xzGuard{in: in}
	g.next = g.streamHeader
	return g
}

func (g *xzGuard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(g.held) == 0 && g.pass == 0 {
		if g.err != nil {
			return 0, g.err
		}
		g.err = g.next()
	}
	if len(g.held) > 0 {
		n := copy(p, g.held)
		g.held = g.held[n:]
		return n, nil
	}
	n, err := g.in.Read(p[:min(int64(len(p)), g.pass)])
	g.pass -= int64(n)
	if err != nil {
		g.pass, g.err = 0, unexpected(err)
	}
	if n > 0 {
		return n, nil
	}
	return 0, g.err
}

// hold reads n bytes more into held. The decoder takes an end between two blocks for that of the file, so here it is an unexpected one; only
// streamHeader may meet the end.
func (g *xzGuard) hold(n int) ([]byte, error) {
	from := len(g.held)
	g.held = append(g.held, make([]byte, n)...)
	k, err := io.ReadFull(g.in, g.held[from:])
	g.held = g.held[:from+k]
	return g.held[from:], unexpected(err)
}

// streamHeader reads the twelve bytes before a stream's blocks, or four of padding.
func (g *xzGuard) streamHeader() error {
	g.held = g.held[:0]
	if _, err := g.in.Peek(1); err != nil {
		return err
	}
	head, err := g.hold(4)
	if err != nil || binary.LittleEndian.Uint32(head) == 0 {
		return err
	}
	rest, err := g.hold(8)
	if err != nil {
		return err
	}
	g.check = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[rest[3]&0xf]
	g.next = g.blockHeader
	return nil
}

var errXZHeader = errors.New("a block's header is broken")

// blockHeader reads a block's header up to its checksum, or the byte that begins the index.
func (g *xzGuard) blockHeader() error {
	g.held = g.held[:0]
	size, err := g.hold(1)
	if err != nil {
		return err
	}
	if size[0] == 0 {
		g.next = g.index
		return nil
	}
	header, err := g.hold((int(size[0])+1)*4 - 1)
	if err != nil {
		return err
	}
	if err := checkDictionary(header[:len(header)-4]); err != nil { // without the CRC
		g.held = nil
		return err
	}
	g.payload, g.next = 0, g.chunk
	return nil
}

// checkDictionary reads the filters of a block's header.
func checkDictionary(header []byte) error {
	flags := header[0]
	header = header[1:]
	for _, present := range []byte{0x40, 0x80} { // compressed and uncompressed size
		if flags&present != 0 {
			_, n := binary.Uvarint(header)
			if n <= 0 {
				return errXZHeader
			}
			header = header[n:]
		}
	}
	for range flags&3 + 1 {
		id, n := binary.Uvarint(header)
		if n <= 0 {
			return errXZHeader
		}
		size, m := binary.Uvarint(header[n:])
		if m <= 0 || size > uint64(len(header)-n-m) {
			return errXZHeader
		}
		properties := header[n+m:][:size]
		header = header[n+m+int(size):]
		if id != 0x21 {
			return &Error{Format: XZ, Reason: fmt.Sprintf("the filter %#x is not supported: compress it without --x86, --delta and the like", id)}
		}
		if len(properties) != 1 || properties[0] > 40 {
			return errXZHeader
		}
		// 40 stands for 4 GiB - 1; below it mantissa 2 or 3 and an exponent.
		if dictionary := (2 | int64(properties[0]&1)) << (properties[0]/2 + 11); properties[0] == 40 || dictionary > maxXZDictionary {
			return &Error{Format: XZ, Limit: true, Reason: fmt.Sprintf("it declares a dictionary of %d MiB; at most %d MiB are allowed (xz -9)", dictionary>>20, maxXZDictionary>>20)}
		}
	}
	return nil
}

// chunk reads the head of an LZMA2 chunk: its control byte tells how long head and data are.
func (g *xzGuard) chunk() error {
	g.held = g.held[:0]
	control, err := g.hold(1)
	if err != nil {
		return err
	}
	more, at := 0, 0 // further bytes of the head, and where in them the data's length stands
	switch c := control[0]; {
	case c == 0:
		g.payload++
		g.pass = -g.payload&3 + int64(g.check)
		g.next = g.blockHeader
		return nil
	case c >= 0xc0:
		more, at = 5, 2 // a byte of properties at the end
	case c >= 0x80:
		more, at = 4, 2
	case c <= 2:
		more = 2
	default:
		return nil // the decoder refuses it
	}
	head, err := g.hold(more)
	if err != nil {
		return err
	}
	g.pass = int64(binary.BigEndian.Uint16(head[at:])) + 1
	g.payload += 1 + int64(more) + g.pass
	return nil
}

// index passes the list of blocks and the stream's footer on, some bytes at a time: count and pairs of numbers, zeros up to a multiple of four, two
// checksums.
func (g *xzGuard) index() error {
	g.held = g.held[:0]
	read := int64(1)
	number := func() (uint64, error) {
		var v uint64
		for shift := uint(0); shift < 63; shift += 7 {
			b, err := g.hold(1)
			if err != nil {
				return 0, err
			}
			read++
			v |= uint64(b[0]&0x7f) << shift
			if b[0] < 0x80 {
				return v, nil
			}
		}
		return 0, errXZHeader
	}
	var left uint64
	count := func() (err error) {
		left, err = number()
		return err
	}
	g.next = func() error {
		g.held = g.held[:0]
		for ; left > 0 && len(g.held) < 4096; left-- {
			for range 2 {
				if _, err := number(); err != nil {
					return err
				}
			}
		}
		if left == 0 {
			_, err := g.hold(int(-read&3) + 4 + 12)
			g.next = g.streamHeader
			return err
		}
		return nil
	}
	return count()
}
