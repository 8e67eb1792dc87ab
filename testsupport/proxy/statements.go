package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// OnStatement makes the proxy read what clients of PostgreSQL send and call f right before it passes on the message that runs a statement: a query of the
// simple protocol, or an Execute of the extended one. sql is the statement's text as far as it was on this connection, and the connection waits while f
// runs. When f returns false the message is not passed on, and the connection ends. Set it before the first client connects; connections that go over to TLS
// are passed on unread.
func (p *Proxy) OnStatement(f func(sql string) bool) { p.statement = f }

const (
	startupBytes  = 10000 // what the server takes at most
	protocolThree = 3 << 16
	maxMessage    = 1 << 20 // longer statements are passed on like data, and not counted
)

// pumpStatements is pump for a client whose messages are read.
func (p *Proxy) pumpStatements(to, from net.Conn) {
	in, out := bufio.NewReaderSize(from, 64<<10), bufio.NewWriterSize(to, 64<<10)
	_ = p.messages(out, in) // either side has ended, and the caller closes both
	_ = out.Flush()
}

func (p *Proxy) messages(out *bufio.Writer, in *bufio.Reader) error {
	for started := false; !started; {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		length, code := int64(binary.BigEndian.Uint32(head[:4])), binary.BigEndian.Uint32(head[4:])
		if length < 8 || length > startupBytes {
			return p.rest(out, in, head[:])
		}
		if err := p.pass(out, in, head[:], length-8); err != nil {
			return err
		}
		started = code == protocolThree // else a request to encrypt, which the server refuses, or to cancel
		if next, err := in.Peek(1); !started && (err != nil || next[0] != 0) {
			return p.rest(out, in, nil) // encrypted, then
		}
	}
	var parsed string
	for {
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint32(head[1:])) - 4
		if length < 0 {
			return fmt.Errorf("a message of %d bytes", length)
		}
		kind := head[0]
		if length > maxMessage || kind != 'Q' && kind != 'P' && kind != 'E' {
			if err := p.pass(out, in, head[:], length); err != nil {
				return err
			}
			continue
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		switch kind {
		case 'P': // name, text
			_, text, _ := strings.Cut(string(body), "\x00")
			parsed, _, _ = strings.Cut(text, "\x00")
		case 'Q', 'E':
			text := parsed
			if kind == 'Q' {
				text, _, _ = strings.Cut(string(body), "\x00")
			}
			if err := out.Flush(); err != nil { // what came before is the server's by now
				return err
			}
			p.statements.Add(1)
			if !p.statement(text) {
				return errors.New("the statement is not passed on")
			}
		}
		if err := p.pass(out, in, append(head[:], body...), 0); err != nil {
			return err
		}
	}
}

// pass passes on what was read and n bytes more. What waits is flushed when the client waits, too.
func (p *Proxy) pass(out *bufio.Writer, in *bufio.Reader, read []byte, n int64) error {
	if _, err := out.Write(read); err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, n); err != nil {
		return err
	}
	p.up.Add(int64(len(read)) + n)
	if in.Buffered() == 0 {
		return out.Flush()
	}
	return nil
}

// rest passes on everything.
func (p *Proxy) rest(out *bufio.Writer, in *bufio.Reader, read []byte) error {
	if err := p.pass(out, in, read, int64(in.Buffered())); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			p.up.Add(int64(n))
			if _, writeErr := out.Write(buf[:n]); writeErr != nil {
				return writeErr
			}
			if flushErr := out.Flush(); flushErr != nil {
				return flushErr
			}
		}
		if err != nil {
			return err
		}
	}
}
