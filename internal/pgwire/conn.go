package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Conn is a connection. One goroutine uses it at a time; Close may be called by another one.
type Conn struct {
	netConn net.Conn
	in      inbound
	out     []byte // the message being written

	pid, secret uint32
	params      map[string]string
	txStatus    byte
	at          dialled

	mu    sync.Mutex // guards state
	state connState

	// stopWatch ends the watch over the running operation's context; nil: nothing is watched. fired is closed when the watch has set the deadline.
	stopWatch func() bool
	fired     chan struct{}
	ctx       context.Context //nolint:containedctx // of the running operation, for its error
}

type connState uint8

const (
	stateIdle   connState = iota
	stateBusy             // a statement runs or its answer is not read yet
	stateStream           // replication: only messages of the stream can follow
	stateBroken           // the place in the message stream is lost
	stateClosed
)

// closeTimeout bounds the farewell to a server, and the cancel request for a statement that is still running.
const closeTimeout = 2 * time.Second

// PID is the server's process id for this connection, as in pg_stat_activity.
func (c *Conn) PID() uint32 { return c.pid }

// ParameterStatus returns a setting that the server reports by itself (server_version, server_encoding, ...), "" when it does not report it.
func (c *Conn) ParameterStatus(name string) string { return c.params[name] }

// TxStatus is the transaction status after the last statement: 'I' idle, 'T' in a transaction, 'E' in a failed one.
func (c *Conn) TxStatus() byte { return c.txStatus }

// SetMaxMessage bounds one message, in bytes; DefaultMaxMessage at first. To be called between statements.
func (c *Conn) SetMaxMessage(n int) { c.in.max = n }

// Cancel asks the server to cancel the running statement, over a connection of its own. Safe to call from any goroutine.
func (c *Conn) Cancel(ctx context.Context) error { return c.at.cancel(ctx, c.pid, c.secret) }

// Close closes the connection. A statement that is still running is cancelled first: a lock that it waits for would otherwise stay in the queue, and
// block others, until the server notices. Close returns within about two seconds; calling it again does nothing.
func (c *Conn) Close() error {
	c.mu.Lock()
	was := c.state
	c.state = stateClosed
	c.mu.Unlock()
	if was == stateClosed {
		return nil
	}
	_ = c.netConn.SetDeadline(longAgo) // unblocks another goroutine's read
	if was == stateBusy || was == stateBroken {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		_ = c.Cancel(ctx)
		cancel()
	} else {
		_ = c.netConn.SetWriteDeadline(time.Now().Add(closeTimeout))
		_, _ = c.netConn.Write([]byte{'X', 0, 0, 0, 4})
	}
	return c.netConn.Close()
}

func (c *Conn) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == stateClosed
}

// begin marks the connection as busy and watches ctx until end.
func (c *Conn) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case stateIdle:
	case stateBusy:
		return errors.New("the connection is busy with an earlier statement")
	case stateStream:
		return errors.New("the connection is a replication stream")
	case stateBroken:
		return errors.New("the connection broke during an earlier statement")
	case stateClosed:
		return net.ErrClosed
	}
	c.state = stateBusy
	c.watch(ctx)
	return nil
}

// watch makes the end of ctx unblock reads and writes.
func (c *Conn) watch(ctx context.Context) {
	c.ctx = ctx
	if ctx.Done() == nil {
		return
	}
	fired := make(chan struct{})
	c.fired = fired
	c.stopWatch = context.AfterFunc(ctx, func() {
		_ = c.netConn.SetDeadline(longAgo)
		close(fired)
	})
}

// unwatch ends the watch; a deadline that it has set is taken back.
func (c *Conn) unwatch() {
	if c.stopWatch == nil {
		return
	}
	if !c.stopWatch() {
		<-c.fired
		_ = c.netConn.SetDeadline(time.Time{})
	}
	c.stopWatch = nil
}

// end marks the end of an operation: whole when its answer was read to ReadyForQuery. err is the operation's error, which end returns, with the
// context's cause in place of the timeout by which it unblocked the socket.
func (c *Conn) end(whole bool, err error) error {
	if err != nil && !whole {
		err = c.cause(err)
	}
	c.mu.Lock()
	closed := c.state == stateClosed
	switch {
	case closed:
	case whole:
		c.state = stateIdle
	default:
		c.state = stateBroken
	}
	c.mu.Unlock()
	if closed && err != nil {
		err = net.ErrClosed
	}
	c.unwatch()
	c.in.shrink()
	return err
}

// cause replaces a timeout by the reason why the context ended.
func (c *Conn) cause(err error) error {
	var timeout net.Error
	if c.ctx != nil && c.ctx.Err() != nil && errors.As(err, &timeout) && timeout.Timeout() {
		return context.Cause(c.ctx)
	}
	return err
}

// query sends a Query message. A statement cannot hold a zero byte: it would end the text early.
func (c *Conn) query(sql string) error {
	c.out = append(c.out[:0], 'Q')
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(len(sql)+5))
	c.out = append(append(c.out, sql...), 0)
	if _, err := c.netConn.Write(c.out); err != nil {
		return fmt.Errorf("sending a statement: %w", err)
	}
	return nil
}

// async handles the messages that the server may send at any time, and tells whether typ was one.
func (c *Conn) async(typ byte, body []byte) bool {
	switch typ {
	case 'N', 'A':
		return true
	case 'S':
		name, rest, ok := bytes.Cut(body, []byte{0})
		value, _, ok2 := bytes.Cut(rest, []byte{0})
		if ok && ok2 && c.params != nil {
			c.params[string(name)] = string(value)
		}
		return true
	}
	return false
}

// ready handles ReadyForQuery.
func (c *Conn) ready(body []byte) error {
	if len(body) != 1 || bytes.IndexByte([]byte("ITE"), body[0]) < 0 {
		return &ProtocolError{Detail: fmt.Sprintf("a transaction status is %.10q", body)}
	}
	c.txStatus = body[0]
	return nil
}
