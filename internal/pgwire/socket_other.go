//go:build !linux

package pgwire

import (
	"errors"
	"net"
)

// socket stands for the TCP socket below a connection where its low-water mark holds back wake-ups; only Linux is known to.
type socket struct{ tls bool }

func socketOf(net.Conn) *socket { return nil }

func (*socket) setLowWater(int) error { return errors.ErrUnsupported }

func (*socket) pending() bool { return false }
