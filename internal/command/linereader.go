package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	readBytes     = 256 << 10 // of one read of stdin; a line that fits costs no copy
	longKeepBytes = 1 << 20   // a buffer for longer lines is let go above this
)

// LineReader hands out the lines of stdin, however long they are.
type LineReader struct {
	in   *bufio.Reader
	long []byte
}

// NewLineReader reads from r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(r, readBytes)}
}

// First returns the first byte without taking it; io.EOF: there is none.
func (r *LineReader) First() (byte, error) {
	first, err := r.in.Peek(1)
	if err != nil {
		return 0, reading(err)
	}
	return first[0], nil
}

// Next returns the next line that is not blank, without the spaces around it; a last one without a newline counts. It is valid until the next call.
// The error is io.EOF at the end.
func (r *LineReader) Next() ([]byte, error) {
	for {
		line, err := r.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.longLine(line)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, reading(err)
		}
	}
}

// longLine collects a line of which the beginning fills the reader's buffer.
func (r *LineReader) longLine(line []byte) ([]byte, error) {
	if cap(r.long) > longKeepBytes {
		r.long = nil
	}
	r.long = append(r.long[:0], line...)
	for {
		more, err := r.in.ReadSlice('\n')
		r.long = append(r.long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.long, err
		}
	}
}

// Read reads what follows the lines that were taken, for somebody who goes on in another way.
func (r *LineReader) Read(p []byte) (int, error) { return r.in.Read(p) }

func reading(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("reading stdin: %w", err)
}
