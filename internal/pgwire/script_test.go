package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgconn"
)

// scripted is a server's side of a connection that was recorded: what it sends, in the pieces in which reads shall return it. Then it is closed.
type scripted struct {
	mu      sync.Mutex
	pieces  [][]byte
	written bytes.Buffer
	reads   int
}

var _ net.Conn = (*scripted)(nil)

func (s *scripted) Read(p []byte) (int, error) {
	s.reads++
	for len(s.pieces) > 0 && len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	s.pieces[0] = s.pieces[0][n:]
	return n, nil
}

func (s *scripted) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(p)
}
func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return nil }
func (s *scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// onConn returns a Conn over nc, idle.
func onConn(nc net.Conn) *Conn {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, os.ErrClosed }
	return newConn(&pgconn.HijackedConn{Conn: nc, PID: 7, ParameterStatuses: map[string]string{}, TxStatus: 'I'}, dialled{dial: dial})
}

// eachSplit runs check with the server's bytes whole, cut in two at every place, and byte by byte.
func eachSplit(t *testing.T, sent []byte, check func(t *testing.T, nc *scripted)) {
	t.Helper()
	check(t, &scripted{pieces: [][]byte{bytes.Clone(sent)}})
	for i := 1; i < len(sent) && !t.Failed(); i++ {
		check(t, &scripted{pieces: [][]byte{bytes.Clone(sent[:i]), bytes.Clone(sent[i:])}})
	}
	var single [][]byte
	for _, b := range sent {
		single = append(single, []byte{b})
	}
	check(t, &scripted{pieces: single})
}

func msg(typ byte, body ...any) []byte {
	var b []byte
	for _, part := range body {
		switch part := part.(type) {
		case string:
			b = append(b, part...)
		case []byte:
			b = append(b, part...)
		case byte:
			b = append(b, part)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, part)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, part)
		case uint64:
			b = binary.BigEndian.AppendUint64(b, part)
		default:
			panic("what is this?")
		}
	}
	out := binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(b)+4))
	return append(out, b...)
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func ready(status byte) []byte { return msg('Z', status) }

func rowDescription(names ...string) []byte {
	body := []any{uint16(len(names))}
	for _, n := range names {
		body = append(body, n+"\x00", make([]byte, 18))
	}
	return msg('T', body...)
}

// dataRow has each value as text, NULL for "NULL".
func dataRow(values ...string) []byte {
	body := []any{uint16(len(values))}
	for _, v := range values {
		if v == "NULL" {
			body = append(body, uint32(0xFFFFFFFF))
			continue
		}
		body = append(body, uint32(len(v)), v)
	}
	return msg('D', body...)
}

func serverError(fields ...string) []byte {
	body := []any{}
	for _, f := range fields {
		body = append(body, f+"\x00")
	}
	return msg('E', append(body, byte(0))...)
}

func copyOut(columns uint16) []byte {
	return msg('H', byte(0), columns, make([]byte, 2*columns))
}

var (
	notice    = msg('N', "SNOTICE\x00Mhello\x00\x00")
	parameter = msg('S', "TimeZone\x00Asia/Tokyo\x00")
	timeout   = serverError("SFEHLER", "VERROR", "C57014", "Mcanceling statement due to statement timeout")
)

func deref(rows [][]*string) [][]string {
	var out [][]string
	for _, r := range rows {
		var vs []string
		for _, v := range r {
			if v == nil {
				vs = append(vs, "NULL")
			} else {
				vs = append(vs, *v)
			}
		}
		out = append(out, vs)
	}
	return out
}
