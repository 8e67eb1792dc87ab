package pgwire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// tcpPair returns both ends of a TCP connection, with TLS over it if asked for.
func tcpPair(t *testing.T, encrypted bool) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	if !encrypted {
		return client, server
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pair := tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}
	return tls.Client(client, &tls.Config{InsecureSkipVerify: true}), tls.Server(server, &tls.Config{Certificates: []tls.Certificate{pair}})
}

// A burst makes the stream pause between reads; it lasts until that is seen, because a machine that is busy may read much at a time, and seldom. Whatever comes
// after it, a single byte more than a pause later or a message in two parts, is read although it is far below the low-water mark.
func TestPacer_BurstsAreGatheredAndNothingIsLeftWaiting(t *testing.T) {
	const most = time.Minute // of a burst
	for name, encrypted := range map[string]bool{"plain": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			client, server := tcpPair(t, encrypted)
			step := make(chan struct{})
			var enough atomic.Bool
			go func() {
				_, _ = server.Write(copyBoth)
				burst := uint64(0)
				for ; burst < 20000 || !enough.Load(); burst++ {
					_, _ = server.Write(xlog(burst, "small"))
				}
				_, _ = server.Write(xlog(burst, "end"))
				<-step
				last := xlog(burst+1, strings.Repeat("x", 100))
				_, _ = server.Write(last[:50])
				<-step
				_, _ = server.Write(last[50:])
			}()
			s := startStream(t, client, StreamOptions{})
			paused, begun, burst := false, time.Now(), uint64(0)
			for done := false; !done; burst++ {
				m, err := s.Next(10 * time.Second)
				if err != nil || m.Kind != XLogData || m.Start != burst {
					t.Fatalf("message %d: %+v, %v", burst, m, err)
				}
				paused = paused || s.pace.raised
				if paused || runtime.GOOS != "linux" || encrypted || burst%1000 == 0 && time.Since(begun) > most {
					enough.Store(true)
				}
				done = string(m.Payload) == "end"
			}
			if runtime.GOOS == "linux" && !encrypted && !paused {
				t.Errorf("there was no pause among %d messages: the test is about nothing", burst)
			}
			for range 2 {
				if m, err := s.Next(20 * time.Millisecond); err != nil || m.Kind != Nothing {
					t.Fatalf("got %+v, %v", m, err)
				}
				step <- struct{}{}
			}
			if m, err := s.Next(10 * time.Second); err != nil || m.Start != burst {
				t.Fatalf("the last message: %+v, %v", m, err)
			}
			if s.pace.raised || s.pace.rapid > 1 {
				t.Errorf("the stream is still paced: %+v", s.pace)
			}
		})
	}
}

// The end of a COPY is below the low-water mark, too, and the statement after it is not paced.
func TestPacer_EndOfCopy(t *testing.T) {
	client, server := tcpPair(t, false)
	c := onConn(client)
	for range 20 {
		go func() {
			_, _ = server.Write(copyOut(1))
			for range 3000 {
				_, _ = server.Write(msg('d', "12345678\n"))
			}
			_, _ = server.Write(cat(msg('c'), msg('C', "COPY 1\x00"), ready('I')))
		}()
		r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
		if err != nil {
			t.Fatal(err)
		}
		if rows, _ := readAll(r); len(rows) != 3000 {
			t.Fatalf("got %d rows", len(rows))
		}
		if c.in.pace != (pacer{}) {
			t.Error("the pacing goes on after the COPY")
		}
	}
}
