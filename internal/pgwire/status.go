package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
)

// statusSize of a status: a CopyData header, the kind, three positions, the time, one flag.
const statusSize = headerSize + 1 + 3*8 + 8 + 1

// statusTimeout is how long a status may take to get into the socket. A server that does not read for so long is as good as gone.
const statusTimeout = 30 * time.Second

// SendStatus tells the server how far the log was received, made durable and applied (each "last byte + 1", which a commit's end position already is; 0
// for a position that is not known), and whether it shall answer with a keepalive. It is safe to call while Next waits in another goroutine. An error
// means that the stream is lost.
func (s *Stream) SendStatus(write, flush, apply uint64, reply bool) error {
	s.write.Lock()
	defer s.write.Unlock()

	b := append(s.status[:0], 'd')
	b = binary.BigEndian.AppendUint32(b, statusSize-1)
	b = append(b, 'r')
	b = binary.BigEndian.AppendUint64(b, write)
	b = binary.BigEndian.AppendUint64(b, flush)
	b = binary.BigEndian.AppendUint64(b, apply)
	b = binary.BigEndian.AppendUint64(b, uint64(time.Now().UnixMicro()-postgresEpoch))
	if reply {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	if err := s.c.netConn.SetWriteDeadline(time.Now().Add(statusTimeout)); err != nil {
		return fmt.Errorf("sending a status: %w", err)
	}
	// The order matters, as in Stream.fill.
	if s.c.closed() {
		return fmt.Errorf("sending a status: %w", net.ErrClosed)
	}
	if s.ctx.Err() != nil {
		return fmt.Errorf("sending a status: %w", context.Cause(s.ctx))
	}
	if _, err := s.c.netConn.Write(b); err != nil {
		var timeout net.Error
		if s.ctx.Err() != nil && errors.As(err, &timeout) && timeout.Timeout() {
			err = context.Cause(s.ctx)
		}
		return fmt.Errorf("sending a status: %w", err)
	}
	return nil
}
