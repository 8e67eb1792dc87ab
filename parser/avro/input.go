package avro

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// input counts the bytes that are read.
type input struct {
	r  *bufio.Reader
	at int64
}

func newInput(r io.Reader, at int64) *input {
	return &input{r: bufio.NewReaderSize(r, 64<<10), at: at}
}

// ReadByte is io.ByteReader's.
func (in *input) ReadByte() (byte, error) {
	c, err := in.r.ReadByte()
	if err == nil {
		in.at++
	}
	return c, err
}

// read appends n bytes to dst, whose memory grows with what is really there. io.EOF means that there were none.
func (in *input) read(dst []byte, n int) ([]byte, error) {
	start := len(dst)
	for step := 1 << 20; len(dst) < start+n; step *= 2 {
		more := min(step, start+n-len(dst))
		dst = slices.Grow(dst, more)
		k, err := io.ReadFull(in.r, dst[len(dst):len(dst)+more])
		dst = dst[:len(dst)+k]
		in.at += int64(k)
		if err != nil {
			if ended(err) && len(dst) > start {
				err = io.ErrUnexpectedEOF
			}
			return dst, err
		}
	}
	return dst, nil
}

var errTooLong = errors.New("an integer has more than 64 bits")

// long reads a number. io.EOF means that there was none, io.ErrUnexpectedEOF a part of one.
func (in *input) long() (int64, error) {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		c, err := in.ReadByte()
		if err != nil {
			if ended(err) && shift > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if shift == 63 && c > 1 {
			return 0, errTooLong
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(v>>1) ^ -int64(v&1), nil
		}
	}
	return 0, errTooLong
}

// failing makes the error of a read: an *Error where the bytes are wrong or end too early, otherwise that of the reader.
func failing(err error, at, block int64, what string) error {
	switch {
	case cut(err):
		return &Error{Byte: at, Block: block, Reason: "the file ends inside " + what}
	case errors.Is(err, errTooLong):
		return &Error{Byte: at, Block: block, Reason: what + ": " + err.Error()}
	}
	return fmt.Errorf("reading Avro at byte %d: %w", at, err)
}

// ended tells the end of a stream from an error that wraps io.EOF, as that of a broken connection may.
func ended(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped one is no end
}

// cut tells that a stream ended before all was there.
func cut(err error) bool {
	return ended(err) || err == io.ErrUnexpectedEOF //nolint:errorlint // a wrapped one is the reader's trouble
}
