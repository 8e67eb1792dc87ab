package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// messages counts the messages of pgoutput in a file of pg_recvlogical by their first byte.
type messages map[byte]int64

// byOp is the count of row changes by the names that documents give them.
func (m messages) byOp() map[string]int64 {
	return map[string]int64{"c": m['I'], "u": m['U'], "d": m['D']}
}

func countFile(path string) (messages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("counting the changes of pg_recvlogical: %w", err)
	}
	defer f.Close()
	m, err := countMessages(f)
	if err != nil {
		return nil, fmt.Errorf("counting the changes of pg_recvlogical: %w", err)
	}
	return m, nil
}

// countMessages reads messages of protocol version 1, each followed by a newline. A newline is no separator, since it may be inside of a message, too:
// messages are read by their own lengths, and the newline behind each shows that they were read rightly.
func countMessages(r io.Reader) (messages, error) {
	in := &messageReader{in: bufio.NewReaderSize(r, 1<<20)}
	counted := messages{}
	for {
		kind, err := in.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return counted, nil
		}
		if err != nil {
			return nil, err
		}
		in.message(kind)
		if end := in.byte(); in.err == nil && end != '\n' {
			in.err = fmt.Errorf("%q follows it, not a newline", end)
		}
		if in.err != nil {
			return nil, fmt.Errorf("reading message %q after %v: %w", kind, counted, in.err)
		}
		counted[kind]++
	}
}

// messageReader keeps the first error, after which it reads zeros.
type messageReader struct {
	in  *bufio.Reader
	err error
}

func (r *messageReader) message(kind byte) {
	switch kind {
	case 'B': // position, time, transaction
		r.skip(8 + 8 + 4)
	case 'C': // flags, two positions, time
		r.skip(1 + 8 + 8 + 8)
	case 'R': // oid, schema, table, replica identity, columns of flags, name, type, modifier
		r.skip(4)
		r.text()
		r.text()
		r.skip(1)
		for range r.uint16() {
			r.skip(1)
			r.text()
			r.skip(4 + 4)
		}
	case 'Y': // oid, schema, name
		r.skip(4)
		r.text()
		r.text()
	case 'I', 'U', 'D': // oid, one or two rows
		r.skip(4)
		which := r.byte()
		r.row()
		if kind == 'U' && which != 'N' {
			which = r.byte()
			r.row()
		}
		if r.err == nil && (which != 'N') != (kind == 'D') {
			r.err = fmt.Errorf("a row of kind %q", which)
		}
	default:
		r.err = errors.New("it is of an unknown kind")
	}
}

func (r *messageReader) row() {
	for range r.uint16() {
		switch kind := r.byte(); kind {
		case 'n', 'u': // NULL, unchanged
		case 't', 'b':
			r.skip(int(r.uint32()))
		default:
			if r.err == nil {
				r.err = fmt.Errorf("a column of kind %q", kind)
			}
			return
		}
	}
}

func (r *messageReader) skip(n int) {
	if r.err == nil {
		if _, r.err = r.in.Discard(n); errors.Is(r.err, io.EOF) {
			r.err = io.ErrUnexpectedEOF
		}
	}
}

func (r *messageReader) byte() byte {
	var b [1]byte
	r.full(b[:])
	return b[0]
}

func (r *messageReader) uint16() uint16 {
	var b [2]byte
	r.full(b[:])
	return binary.BigEndian.Uint16(b[:])
}

func (r *messageReader) uint32() uint32 {
	var b [4]byte
	r.full(b[:])
	return binary.BigEndian.Uint32(b[:])
}

func (r *messageReader) full(b []byte) {
	if r.err != nil {
		clear(b)
		return
	}
	if _, r.err = io.ReadFull(r.in, b); errors.Is(r.err, io.EOF) {
		r.err = io.ErrUnexpectedEOF
	}
	if r.err != nil {
		clear(b)
	}
}

// text skips a string that ends with a zero byte.
func (r *messageReader) text() {
	for r.err == nil {
		if r.byte() == 0 {
			return
		}
	}
}
