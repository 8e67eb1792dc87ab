package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// target answers "n\n" with n bytes, and then waits for the next number.
func target(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					var n int
					if _, err := fmt.Fscanln(in, &n); err != nil {
						return
					}
					if _, err := conn.Write(bytes.Repeat([]byte("x"), n)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask returns how many of n bytes came.
func ask(conn net.Conn, n int) (int, error) {
	if _, err := fmt.Fprintln(conn, n); err != nil {
		return 0, err
	}
	return io.ReadFull(conn, make([]byte, n))
}

func TestCounts(t *testing.T) {
	p := Start(t, target(t))
	for range 3 {
		if n, err := ask(dial(t, p), 100000); n != 100000 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if s := p.Stats(); s.Connections != 3 || s.Down != 300000 || s.Up != 21 || s.Cut != 0 {
		t.Errorf("%+v, want 3 connections, 300000 bytes down, 21 up", s)
	}
}

func TestCutAfterIsExactAndOnce(t *testing.T) {
	p := Start(t, target(t))
	bystander := dial(t, p)
	if _, err := ask(bystander, 10); err != nil {
		t.Fatal(err)
	}
	p.CutAfter(54321)
	if n, err := ask(dial(t, p), 100000); n != 54321 || err == nil {
		t.Errorf("%d bytes, %v, want 54321 and then the cut", n, err)
	}
	if _, err := ask(bystander, 10); err == nil {
		t.Error("the other connection was not cut")
	}
	if n, err := ask(dial(t, p), 100000); n != 100000 || err != nil {
		t.Errorf("a new connection after the cut: %d bytes, %v", n, err)
	}
	if s := p.Stats(); s.Cut != 2 {
		t.Errorf("%d connections were cut, want 2", s.Cut)
	}
}

func TestCutNow(t *testing.T) {
	p := Start(t, target(t))
	conn := dial(t, p)
	if _, err := ask(conn, 10); err != nil {
		t.Fatal(err)
	}
	if n := p.Cut(); n != 1 {
		t.Errorf("%d connections were cut, want 1", n)
	}
	if _, err := ask(conn, 10); err == nil {
		t.Error("the connection still works")
	}
}

func TestRefuseAndDelay(t *testing.T) {
	p := Start(t, target(t))
	p.Refuse(true)
	if _, err := ask(dial(t, p), 10); err == nil {
		t.Error("a refused connection works")
	}
	p.Refuse(false)
	p.SetDelay(50 * time.Millisecond)
	begun := time.Now()
	if _, err := ask(dial(t, p), 10); err != nil || time.Since(begun) < 100*time.Millisecond {
		t.Errorf("there and back took %s, %v, want two delays of 50 ms", time.Since(begun), err)
	}
}
