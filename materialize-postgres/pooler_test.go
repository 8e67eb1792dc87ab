package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgserver"
)

// A pool that gives a server connection to somebody else after each transaction loses temporary tables. One that keeps it for the session is as good as the
// server itself, though it tells clients a process number of its own, too.
func TestSession_BehindAPooler(t *testing.T) {
	s := newSite(t, 15)
	for _, shares := range []bool{true, false} {
		s.config.Address = startPooler(t, s, shares)
		err := s.sink().Check(t.Context())
		if shares && (err == nil || !strings.Contains(err.Error(), "connection pooler that shares connections between transactions")) {
			t.Errorf("a pool by transaction: %v", err)
		}
		if !shares && err != nil {
			t.Errorf("a pool by session: %v", err)
		}
	}
}

// startPooler starts a small connection pooler and returns its address. Passwords are not asked for, and nothing is encrypted.
func startPooler(t *testing.T, s *site, shares bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pooler{site: s, shares: shares}
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wait.Wait()
	})
	wait.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer client.Close()
				if err := p.serve(client); err != nil && err != io.EOF {
					t.Logf("the pooler: %v", err)
				}
			})
		}
	})
	return l.Addr().String()
}

type pooler struct {
	site   *site
	shares bool

	mu   sync.Mutex
	idle []net.Conn
}

// take returns a server connection, the one that came back last.
func (p *pooler) take() (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return conn, nil
	}
	server := pgserver.Server{Address: p.site.cluster.Addr(), User: p.site.config.User, Password: rolePassword, Database: p.site.config.Database, SSLMode: "disable"}
	where, err := server.Config(nil)
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(p.site.t.Context(), where)
	if err != nil {
		return nil, err
	}
	hijacked, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	return hijacked.Conn, nil
}

func (p *pooler) put(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, conn)
}

func (p *pooler) serve(client net.Conn) error {
	for { // the startup message, after a refusal of TLS
		body, err := readBody(client)
		if err != nil {
			return err
		}
		if len(body) >= 4 && binary.BigEndian.Uint32(body) == 3<<16 {
			break
		}
		if _, err := client.Write([]byte{'N'}); err != nil {
			return err
		}
	}
	hello := append([]byte("R\x00\x00\x00\x08\x00\x00\x00\x00"), "K\x00\x00\x00\x0c\x7f\xff\xff\xff\x00\x00\x00\x01Z\x00\x00\x00\x05I"...)
	if _, err := client.Write(hello); err != nil {
		return err
	}
	var server net.Conn
	for {
		typ, body, err := readMessage(client)
		if err != nil || typ == 'X' {
			if server != nil {
				_ = server.Close()
			}
			return err
		}
		if server == nil {
			if server, err = p.take(); err != nil {
				return err
			}
		}
		if err := writeMessage(server, typ, body); err != nil {
			return err
		}
		if typ != 'Q' && typ != 'S' {
			continue
		}
		for {
			typ, body, err := readMessage(server)
			if err != nil {
				return err
			}
			if err := writeMessage(client, typ, body); err != nil {
				return err
			}
			if typ == 'Z' {
				if p.shares && body[0] == 'I' {
					p.put(server)
					server = nil
				}
				break
			}
		}
	}
}

func readMessage(conn net.Conn) (byte, []byte, error) {
	var typ [1]byte
	if _, err := io.ReadFull(conn, typ[:]); err != nil {
		return 0, nil, err
	}
	body, err := readBody(conn)
	return typ[0], body, err
}

func readBody(conn net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > 1<<20 {
		return nil, fmt.Errorf("a message of %s bytes", strconv.Itoa(int(n)))
	}
	body := make([]byte, n-4)
	_, err := io.ReadFull(conn, body)
	return body, err
}

func writeMessage(conn net.Conn, typ byte, body []byte) error {
	message := binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4))
	_, err := conn.Write(append(message, body...))
	return err
}
