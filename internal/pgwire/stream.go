package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// MessageKind is the kind of a Message.
type MessageKind uint8

// The kinds of messages.
const (
	// Nothing came within the time that Next was given.
	Nothing MessageKind = iota
	// XLogData carries a message of the output plugin.
	XLogData
	// Keepalive tells how far the server has read its log, and may ask for a status.
	Keepalive
)

// Message is a message of a Stream.
type Message struct {
	Kind MessageKind
	// Start is the log position of the payload (XLogData).
	Start uint64
	// WALEnd is the server's end of the log (XLogData), or how far the server has sent everything (Keepalive).
	WALEnd uint64
	// ServerTime is the server's clock when it sent the message, microseconds since 1970.
	ServerTime int64
	// ReplyRequested: the server will end the connection unless a status comes soon (Keepalive).
	ReplyRequested bool
	// Payload is the plugin's message (XLogData). It is valid until the Hold that Stream.Detach fills is released.
	Payload []byte
}

// StreamOptions bound a Stream. The zero value means the defaults.
type StreamOptions struct {
	// ReceiveTimeout is how long the server may send nothing before Next returns ErrServerSilent. It must be above the server's wal_sender_timeout, half
	// of which is the time between keepalives. Default: 15 minutes; negative: for ever.
	ReceiveTimeout time.Duration
	// Blocks is how many blocks of 256 KiB may be held by batches that are not released before Next stops reading. Default: 32.
	Blocks int
	// MaxMessage bounds one message, in bytes. Default: twice DefaultMaxMessage, since a change may carry the old and the new row.
	MaxMessage int
}

func (o *StreamOptions) setDefaults() {
	if o.ReceiveTimeout == 0 {
		o.ReceiveTimeout = 15 * time.Minute
	}
	if o.Blocks == 0 {
		o.Blocks = 32
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = 2 * DefaultMaxMessage
	}
}

// Stream is a running logical replication. One goroutine calls Next, Buffered and Detach; SendStatus and Close may be called by others meanwhile.
type Stream struct {
	c    *Conn
	ctx  context.Context //nolint:containedctx // it is the stream's life
	opts StreamOptions
	pool *blockPool

	cur     *block
	r, w    int      // cur.buf[r:w] is not consumed yet
	touched bool     // a message was handed out of cur since the last Detach
	used    []*block // blocks before cur that messages were handed out of since the last Detach; each with a reference of ours

	pace  pacer
	heard time.Time // when the server last sent anything
	err   error     // ends the stream; set once

	write  sync.Mutex // one status at a time
	status [statusSize]byte
}

// StartReplication runs a START_REPLICATION command on a connection that was opened with replication=database. ctx holds for the stream's whole life.
// The connection belongs to the stream from now on. A refusal by the server is a *pgconn.PgError and leaves the connection usable.
func (c *Conn) StartReplication(ctx context.Context, sql string, opts StreamOptions) (*Stream, error) {
	if err := checkStatement(sql); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	whole, err := c.startCopyBoth(sql)
	if err != nil {
		return nil, c.end(whole, err)
	}
	opts.setDefaults()
	s := &Stream{c: c, ctx: ctx, opts: opts, pool: newBlockPool(opts.Blocks), heard: time.Now(), pace: pacer{sock: socketOf(c.netConn), pause: logPause}}
	if s.cur, err = s.pool.get(ctx, c.in.w-c.in.r, 0); err != nil {
		return nil, c.end(false, err)
	}
	// What came right behind the answer belongs to the stream.
	s.w = copy(s.cur.buf, c.in.buf[c.in.r:c.in.w])
	c.in = inbound{conn: c.netConn}
	c.mu.Lock()
	if c.state == stateBusy {
		c.state = stateStream
	}
	c.mu.Unlock()
	return s, nil
}

func (c *Conn) startCopyBoth(sql string) (whole bool, err error) {
	if err := c.query(sql); err != nil {
		return false, err
	}
	var failed error
	for {
		typ, body, err := c.in.next()
		if err != nil {
			return false, err
		}
		switch typ {
		case 'W':
			return false, nil
		case 'E':
			if failed == nil {
				failed = parseServerError(body)
			}
		case 'T', 'D', 'C', 'I':
			if failed == nil {
				failed = errors.New("the statement is no START_REPLICATION")
			}
		case 'Z':
			if err := c.ready(body); err != nil {
				return false, err
			}
			if failed == nil {
				failed = &ProtocolError{Detail: "START_REPLICATION had no answer"}
			}
			return true, failed
		default:
			if !c.async(typ, body) {
				return false, unexpected(typ, "the start of a replication")
			}
		}
	}
}

// Buffered tells whether a whole message has been read already, so that Next will return without waiting.
func (s *Stream) Buffered() bool {
	size, err := messageSize(s.cur.buf[s.r:s.w], s.opts.MaxMessage)
	return s.err != nil || err != nil || size > 0 && s.w-s.r >= size
}

// Next returns the next message, waiting for it as long as wait (negative: for ever; 0: only what has been read already); kind Nothing means that none came. Messages that are
// no concern of a replication (notices, settings) are passed over. An error ends the stream, and later calls return it again: a *pgconn.PgError when the server
// reports one, ErrStreamEnded, ErrServerSilent, *MessageTooLargeError, *ProtocolError, the cause of ctx's end, or one of the network.
func (s *Stream) Next(wait time.Duration) (Message, error) {
	if s.err != nil {
		return Message{}, s.err
	}
	var until time.Time // zero until it is needed: asking for the time costs more than a buffered message
	for {
		size, err := messageSize(s.cur.buf[s.r:s.w], s.opts.MaxMessage)
		if err != nil {
			return Message{}, s.fail(err)
		}
		if size == 0 || s.w-s.r < size {
			if until.IsZero() && wait >= 0 {
				until = time.Now().Add(wait)
			}
			if got, err := s.fill(size, until); err != nil {
				return Message{}, s.fail(err)
			} else if !got {
				return Message{Kind: Nothing}, nil
			}
			continue
		}
		msg := s.cur.buf[s.r : s.r+size : s.r+size]
		s.r += size
		if msg[0] != 'd' {
			if err := s.other(msg[0], msg[headerSize:]); err != nil {
				return Message{}, s.fail(err)
			}
			continue
		}
		s.touched = true
		m, err := parseReplication(msg[headerSize:])
		if err != nil {
			return Message{}, s.fail(err)
		}
		return m, nil
	}
}

// postgresEpoch is 2000-01-01, from which servers count, in microseconds since 1970.
const postgresEpoch = 946_684_800_000_000

// parseReplication reads the body of a CopyData message from the server.
func parseReplication(body []byte) (Message, error) {
	switch {
	case len(body) >= 25 && body[0] == 'w':
		return Message{
			Kind:       XLogData,
			Start:      binary.BigEndian.Uint64(body[1:]),
			WALEnd:     binary.BigEndian.Uint64(body[9:]),
			ServerTime: int64(binary.BigEndian.Uint64(body[17:])) + postgresEpoch,
			Payload:    body[25:],
		}, nil
	case len(body) >= 18 && body[0] == 'k':
		return Message{
			Kind:           Keepalive,
			WALEnd:         binary.BigEndian.Uint64(body[1:]),
			ServerTime:     int64(binary.BigEndian.Uint64(body[9:])) + postgresEpoch,
			ReplyRequested: body[17] != 0,
		}, nil
	case len(body) == 0:
		return Message{}, &ProtocolError{Detail: "a replication message is empty"}
	}
	return Message{}, &ProtocolError{Detail: fmt.Sprintf("a replication message of kind %q and %d bytes is not known", body[0], len(body))}
}

// other handles a message that is no CopyData.
func (s *Stream) other(typ byte, body []byte) error {
	switch typ {
	case 'E':
		return parseServerError(body)
	case 'c', 'C', 'Z':
		return ErrStreamEnded
	}
	if !s.c.async(typ, body) {
		return unexpected(typ, "a replication")
	}
	return nil
}

// fail ends the stream with err.
func (s *Stream) fail(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: it closed the connection", ErrStreamEnded)
	}
	s.err = s.c.end(false, err)
	return s.err
}

// fill reads at least one byte, unless until (zero: no limit) passes first. need is the size of the message at r, 0 when it is not known yet.
func (s *Stream) fill(need int, until time.Time) (bool, error) {
	if err := s.room(need); err != nil {
		return false, err
	}
	s.pace.before()
	deadline, silence := until, false
	if s.opts.ReceiveTimeout > 0 {
		if limit := s.heard.Add(s.opts.ReceiveTimeout); until.IsZero() || limit.Before(until) {
			deadline, silence = limit, true
		}
	}
	if err := s.c.netConn.SetReadDeadline(deadline); err != nil {
		return false, err
	}
	// The order matters: the end of ctx sets a deadline, too, and the one above may just have replaced it.
	if s.ctx.Err() != nil {
		return false, context.Cause(s.ctx)
	}
	n, err := s.c.netConn.Read(s.cur.buf[s.w:])
	s.w += n
	if n > 0 {
		s.heard = s.pace.after()
		return true, nil
	}
	s.pace.idle()
	var timeout net.Error
	switch {
	case err == nil:
		return false, io.ErrNoProgress
	case !errors.As(err, &timeout) || !timeout.Timeout():
		return false, err
	case s.ctx.Err() != nil:
		return false, context.Cause(s.ctx)
	case s.c.closed():
		return false, net.ErrClosed
	case silence:
		return false, fmt.Errorf("%w for %v", ErrServerSilent, s.opts.ReceiveTimeout)
	}
	return false, nil
}

// room makes room in cur for a message of need bytes at r, and for some more. Bytes that were handed out stay where they are: the rest of the last read
// moves to another block when there is no room behind it.
func (s *Stream) room(need int) error {
	if s.r == s.w && !s.touched && s.cur.refs.Load() == 1 && len(s.cur.buf) == blockSize {
		s.r, s.w = 0, 0 // nobody holds a byte of it
	}
	// A read into a few bytes would cost a system call for less than a message or two.
	const least = 8 << 10
	if s.w < len(s.cur.buf) && need <= len(s.cur.buf)-s.r && (len(s.cur.buf)-s.w >= least || need > least) {
		return nil
	}
	b, err := s.pool.get(s.ctx, need, len(s.used)+1)
	if err != nil {
		return err
	}
	rest := copy(b.buf, s.cur.buf[s.r:s.w])
	if s.touched {
		s.used = append(s.used, s.cur) // our reference goes with it
	} else {
		s.cur.release()
	}
	s.cur, s.r, s.w, s.touched = b, 0, rest, false
	return nil
}

// Detach makes h hold the payloads of all messages that Next has returned since the last Detach. Until it is called, they are valid anyway. h must hold
// nothing, or payloads of this stream.
func (s *Stream) Detach(h *Hold) {
	h.blocks = append(h.blocks, s.used...)
	clear(s.used)
	s.used = s.used[:0]
	if s.touched {
		s.cur.refs.Add(1)
		h.blocks = append(h.blocks, s.cur)
		s.touched = false
	}
}

// Held is how many bytes of blocks the messages since the last Detach keep, for ending a batch before it keeps too many.
func (s *Stream) Held() int {
	n := 0
	for _, b := range s.used {
		n += len(b.buf)
	}
	if s.touched {
		n += len(s.cur.buf)
	}
	return n
}

// Close ends the stream and its connection. It does not wait for a Next in another goroutine, which returns an error.
func (s *Stream) Close() error { return s.c.Close() }
