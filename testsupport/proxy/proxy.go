// Package proxy is a TCP proxy between a connector and its server: it counts bytes and connections, delays them, and cuts them when a test says so.
package proxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Stats counts since the proxy was started.
type Stats struct {
	Connections int64 // accepted and connected to the target
	Up, Down    int64 // bytes from clients to the target, and back
	Cut         int64 // connections that the proxy ended
	Statements  int64 // of PostgreSQL's clients, when OnStatement was called
}

// Proxy forwards connections. All methods may be called at any time.
type Proxy struct {
	listener net.Listener
	target   string
	wait     sync.WaitGroup

	connections, up, down, cut, statements atomic.Int64

	statement func(sql string) bool // see OnStatement; nil: nothing is read

	delay  atomic.Int64 // nanoseconds before each piece is passed on
	refuse atomic.Bool
	budget atomic.Int64 // bytes from the target until everything is cut; negative: no end

	mu    sync.Mutex // guards pairs and closed
	pairs map[*pair]struct{}
	shut  bool
}

type pair struct{ client, server net.Conn }

func (p *pair) close() {
	_ = p.client.Close() // either side may be gone already
	_ = p.server.Close()
}

// Start starts a proxy to target (host:port) that ends with the test.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	p, err := New(target)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(p.Close)
	return p
}

// New starts a proxy to target on a free port.
func New(target string) (*Proxy, error) { return Listen("127.0.0.1:0", target) }

// Listen starts a proxy to target at an address of one's own choice.
func Listen(address, target string) (*Proxy, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy to %s: %w", target, err)
	}
	p := &Proxy{listener: l, target: target, pairs: map[*pair]struct{}{}}
	p.budget.Store(-1)
	p.wait.Add(1)
	go p.accept()
	return p, nil
}

// Addr is where clients connect to, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Stats returns the counts so far.
func (p *Proxy) Stats() Stats {
	return Stats{Connections: p.connections.Load(), Up: p.up.Load(), Down: p.down.Load(), Cut: p.cut.Load(), Statements: p.statements.Load()}
}

// SetDelay delays every piece, in both directions, by d.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

// Refuse makes new connections end at once; those that are open go on.
func (p *Proxy) Refuse(yes bool) { p.refuse.Store(yes) }

// CutAfter cuts every connection once n more bytes, of all connections together, have come from the target: in the middle of a message, that is. New
// connections are forwarded again. Negative: never.
func (p *Proxy) CutAfter(n int64) { p.budget.Store(n) }

// Cut cuts every open connection and returns how many there were.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.pairs)
	for pr := range p.pairs {
		pr.close()
	}
	p.cut.Add(int64(n))
	return n
}

// Close cuts everything and stops listening.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	_ = p.listener.Close() // fails only when it was closed before
	p.Cut()
	p.wait.Wait()
}

func (p *Proxy) accept() {
	defer p.wait.Done()
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		p.wait.Add(1)
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.wait.Done()
	if p.refuse.Load() {
		_ = client.Close() // that is the refusal
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close() // the client sees what it would see without us
		return
	}
	pr := &pair{client, server}
	p.mu.Lock()
	if p.shut {
		p.mu.Unlock()
		pr.close()
		return
	}
	p.pairs[pr] = struct{}{}
	p.mu.Unlock()
	p.connections.Add(1)

	upDone := make(chan struct{})
	go func() {
		defer close(upDone)
		if p.statement != nil {
			p.pumpStatements(server, client)
		} else {
			p.pump(server, client, &p.up, false)
		}
		pr.close()
	}()
	p.pump(client, server, &p.down, true)
	pr.close()
	<-upDone
	p.mu.Lock()
	delete(p.pairs, pr)
	p.mu.Unlock()
}

// pump copies until either side ends.
func (p *Proxy) pump(to, from net.Conn, count *atomic.Int64, fromTarget bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if d := time.Duration(p.delay.Load()); d > 0 {
				time.Sleep(d)
			}
			allowed := n
			if fromTarget {
				allowed = p.spend(n)
			}
			if _, writeErr := to.Write(buf[:allowed]); writeErr != nil {
				return
			}
			count.Add(int64(allowed))
			if allowed < n {
				p.Cut()
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// spend takes n bytes from the budget and returns how many of them may still pass; the one who empties it puts it back to "no end".
func (p *Proxy) spend(n int) int {
	for {
		left := p.budget.Load()
		if left < 0 {
			return n
		}
		if left >= int64(n) {
			if p.budget.CompareAndSwap(left, left-int64(n)) {
				return n
			}
			continue
		}
		if p.budget.CompareAndSwap(left, -1) {
			return int(left)
		}
	}
}
