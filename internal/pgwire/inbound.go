package pgwire

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

const (
	// blockSize of reads. The kernel's socket buffers are of this order, so more would not be filled by one read.
	blockSize = 256 << 10
	// DefaultMaxMessage is the default bound on one message: a row of 64 MiB (the greatest document that is written) with slack for framing and escapes.
	DefaultMaxMessage = 64<<20 + 1<<20
	// headSize bytes of a message that is too large are kept for the error.
	headSize = 256
	// headerSize of a message: a type byte and a 32-bit length that counts itself.
	headerSize = 5
)

// inbound cuts the server's bytes into messages. Views that it returns are valid until the next call of next.
type inbound struct {
	conn net.Conn
	buf  []byte
	r, w int // buf[r:w] is not consumed yet
	max  int
	pace pacer // runs during a COPY
}

// next returns the next message's type and body.
func (in *inbound) next() (byte, []byte, error) {
	for {
		size, err := messageSize(in.buf[in.r:in.w], in.max)
		if err != nil {
			return 0, nil, err
		}
		if size > 0 && in.w-in.r >= size {
			msg := in.buf[in.r : in.r+size : in.r+size]
			in.r += size
			return msg[0], msg[headerSize:], nil
		}
		if err := in.fill(size); err != nil {
			return 0, nil, err
		}
	}
}

// messageSize returns the whole size, header included, of the message that p starts with; 0 when p is too short to tell. A length above max is
// reported once enough of the body is there to say whose it is.
func messageSize(p []byte, maxMessage int) (int, error) {
	if len(p) < headerSize {
		return 0, nil
	}
	n := int64(binary.BigEndian.Uint32(p[1:]))
	switch {
	case n < 4:
		return 0, &ProtocolError{Detail: fmt.Sprintf("message %q announces a length of %d bytes, less than the length's own 4", p[0], n)}
	case n > int64(maxMessage):
		if len(p) < headerSize+headSize && n >= headSize {
			return 0, nil
		}
		head := p[headerSize:min(len(p), headerSize+headSize)]
		return 0, &MessageTooLargeError{Bytes: n, Limit: int64(maxMessage), Head: append([]byte(nil), head...)}
	}
	return int(n) + 1, nil
}

// fill reads at least one byte. The rest of the last read, which is a part of one message, moves to the front; need is that message's size, 0 when it
// is not known yet.
func (in *inbound) fill(need int) error {
	if need = max(need, blockSize); len(in.buf) < need {
		grown := make([]byte, need)
		in.w = copy(grown, in.buf[in.r:in.w])
		in.buf = grown
	} else {
		in.w = copy(in.buf, in.buf[in.r:in.w])
	}
	in.r = 0
	in.pace.before()
	n, err := in.conn.Read(in.buf[in.w:])
	in.w += n
	if n > 0 {
		in.pace.after()
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	} else if err == io.EOF { //nolint:errorlint // a net.Conn returns io.EOF itself
		err = io.ErrUnexpectedEOF
	}
	return err
}

// shrink gives a buffer back that had to grow for a large message.
func (in *inbound) shrink() {
	if len(in.buf) > blockSize && in.w-in.r <= blockSize {
		small := make([]byte, blockSize)
		in.w = copy(small, in.buf[in.r:in.w])
		in.r, in.buf = 0, small
	}
}
