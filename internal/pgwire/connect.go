package pgwire

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgproto3/v2"
)

// maxHandshakeMessage bounds what a server may make us allocate before it is known to be one.
const maxHandshakeMessage = 1 << 20

// Connect opens a connection as cfg says (it must come from pgconn.ParseConfig) and takes it over. cfg is not changed; its BuildFrontend is not used.
// Errors are pgconn's: a refused login is a *pgconn.PgError somewhere in the chain.
func Connect(ctx context.Context, cfg *pgconn.Config) (conn *Conn, err error) {
	var at dialled
	cfg = cfg.Copy()
	cfg.DialFunc = at.record(cfg.DialFunc)
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) pgconn.Frontend {
		return pgproto3.NewFrontend(exactReader{r}, w)
	}
	// pgproto3 v2 trusts lengths inside some messages (GO-2026-4518), so that a hostile peer can make it panic.
	defer func() {
		if p := recover(); p != nil {
			conn, err = nil, &ProtocolError{Detail: fmt.Sprintf("the login messages are malformed (%v)", p)}
		}
	}()
	opened, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	h, err := opened.Hijack()
	if err != nil {
		return nil, fmt.Errorf("taking the connection over: %w", err)
	}
	return newConn(h, at), nil
}

// newConn wraps a hijacked connection.
func newConn(h *pgconn.HijackedConn, at dialled) *Conn {
	return &Conn{
		in:       inbound{conn: h.Conn, buf: make([]byte, blockSize), max: DefaultMaxMessage},
		netConn:  h.Conn,
		pid:      h.PID,
		secret:   h.SecretKey,
		params:   h.ParameterStatuses,
		txStatus: h.TxStatus,
		at:       at,
	}
}

// dialled remembers how the server was reached: the address of a net.Conn is of no use when it goes through a tunnel.
type dialled struct {
	dial             pgconn.DialFunc
	network, address string
}

// record wraps dial. pgconn tries its hosts one after another, so the last address dialled is the one that the connection has.
func (d *dialled) record(dial pgconn.DialFunc) pgconn.DialFunc {
	d.dial = dial
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d.network, d.address = network, address
		return dial(ctx, network, address)
	}
}

// cancelRequestCode stands where the protocol version would.
const cancelRequestCode = 80877102

// cancel asks the server, over a second connection, to cancel what the backend runs. On return without an error the server has dealt with the request.
// Like libpq before 17 and pgconn it does not use TLS: a request holds no more than the backend's key, which ends with the connection.
func (d *dialled) cancel(ctx context.Context, pid, secret uint32) error {
	conn, err := d.dial(ctx, d.network, d.address)
	if err != nil {
		return fmt.Errorf("connecting for a cancel request: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo) })()

	msg := make([]byte, 0, 16)
	msg = binary.BigEndian.AppendUint32(msg, 16)
	msg = binary.BigEndian.AppendUint32(msg, cancelRequestCode)
	msg = binary.BigEndian.AppendUint32(msg, pid)
	msg = binary.BigEndian.AppendUint32(msg, secret)
	if _, err := conn.Write(msg); err != nil {
		return fmt.Errorf("sending a cancel request: %w", err)
	}
	// The server answers nothing and closes once the signal is sent; a reset says the same.
	var b [1]byte
	if _, err := conn.Read(b[:]); err != nil && ctx.Err() != nil {
		return fmt.Errorf("waiting for a cancel request to be dealt with: %w", context.Cause(ctx))
	}
	return nil
}

// longAgo is a deadline that unblocks reads and writes at once.
var longAgo = time.Unix(1, 0)

// exactReader reads from the socket no more than a login message, so that nothing is left in pgconn's hands when its connection is taken over.
type exactReader struct{ r io.Reader }

var _ pgproto3.ChunkReader = exactReader{}

// Next returns the next n bytes.
func (e exactReader) Next(n int) ([]byte, error) {
	if n < 0 || n > maxHandshakeMessage {
		return nil, &MessageTooLargeError{Bytes: int64(n), Limit: maxHandshakeMessage}
	}
	buf := make([]byte, n)
	if _, err := io.ReadFull(e.r, buf); err != nil {
		return nil, err
	}
	return buf, nil
}
