package pgwire

import (
	"crypto/tls"
	"net"
	"syscall"
)

// socket is the TCP socket below a connection.
type socket struct {
	raw syscall.RawConn
	tls bool
}

// socketOf returns the socket below nc, nil when there is no TCP socket of our own (a Unix socket, a tunnel): others do not hold back wake-ups.
func socketOf(nc net.Conn) *socket {
	s := &socket{}
	if t, ok := nc.(*tls.Conn); ok {
		s.tls, nc = true, t.NetConn()
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s.raw = raw
	return s
}

// setLowWater sets how many bytes must have arrived before the poller is woken.
func (s *socket) setLowWater(n int) error {
	var err error
	if cerr := s.raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
	}); cerr != nil {
		return cerr
	}
	return err
}

// pending tells whether bytes have arrived that were not read yet.
func (s *socket) pending() bool {
	ok := false
	_ = s.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		ok = n > 0 && err == nil
	})
	return ok
}
