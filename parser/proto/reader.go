package proto

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Framing says how messages stand in a stream.
type Framing uint8

// Framings.
const (
	Single    Framing = iota // the whole stream is one message; an empty stream is none
	Delimited                // each behind its length, a varint
)

// Reader cuts a stream into messages.
type Reader struct {
	in      *bufio.Reader
	framing Framing
	limit   int
	at      int64
	message []byte
}

// NewReader reads messages of at most limit bytes (0: 64 MiB) from r, which begins at a byte of the stream.
func NewReader(r io.Reader, framing Framing, limit int, at int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), framing: framing, limit: Limits{Message: limit}.withDefaults().Message, at: at}
}

// Position is the byte where the next message begins.
func (r *Reader) Position() int64 { return r.at }

// Next returns the next message, which is valid until the next call. At the end it returns io.EOF; other errors are *FramingError and final.
func (r *Reader) Next() ([]byte, error) {
	if r.framing == Delimited {
		return r.nextDelimited()
	}
	message, err := r.read(r.limit)
	switch {
	case err == nil:
		if _, err = r.in.ReadByte(); err == nil {
			return nil, &FramingError{Byte: r.at, Limit: true, Reason: fmt.Sprintf("it has more than %d bytes", r.limit)}
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = io.EOF
	}
	if !errors.Is(err, io.EOF) {
		return nil, &FramingError{Byte: r.at, Reason: "reading", Err: err}
	}
	r.at += int64(len(message))
	if len(message) == 0 {
		return nil, io.EOF
	}
	return message, nil
}

func (r *Reader) nextDelimited() ([]byte, error) {
	var length uint64
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && size == 0 {
				return nil, io.EOF
			}
			return nil, r.broken(err, "its length")
		}
		size++
		if size == binary.MaxVarintLen64 && b > 1 {
			return nil, &FramingError{Byte: r.at, Reason: "its length has more than 64 bits"}
		}
		length |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	if length > uint64(r.limit) {
		return nil, &FramingError{Byte: r.at, Limit: true, Reason: fmt.Sprintf("its %d bytes exceed %d", length, r.limit)}
	}
	message, err := r.read(int(length))
	if err != nil {
		return nil, r.broken(err, fmt.Sprintf("%d of its %d bytes", len(message), length))
	}
	r.at += int64(size) + int64(length)
	return message, nil
}

// broken is the error for a stream that ends, or fails, inside of a message.
func (r *Reader) broken(err error, got string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FramingError{Byte: r.at, Reason: "the stream ends in the middle of it, behind " + got, Err: io.ErrUnexpectedEOF}
	}
	return &FramingError{Byte: r.at, Reason: "reading", Err: err}
}

// read reads n bytes, making room as they come and not as they are announced.
func (r *Reader) read(n int) ([]byte, error) {
	const step = 64 << 10
	r.message = r.message[:0]
	for len(r.message) < n {
		some := min(n-len(r.message), max(step, len(r.message)))
		at := len(r.message)
		r.message = slices.Grow(r.message, some)[:at+some]
		got, err := io.ReadFull(r.in, r.message[at:])
		if err != nil {
			r.message = r.message[:at+got]
			return r.message, err
		}
	}
	return r.message, nil
}
