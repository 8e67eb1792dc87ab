package pgoutput

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// reader takes a payload apart. The first cut that does not fit is remembered and every later one yields zeroes, so that a message's decoder asks once.
type reader struct {
	p   []byte
	bad bool
}

// take returns the next n bytes, nil when there are fewer.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.p) {
		r.p, r.bad = nil, true
		return nil
	}
	b := r.p[:n:n]
	r.p = r.p[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() int {
	if b := r.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// postgresEpoch is 2000-01-01 in microseconds since 1970.
const postgresEpoch = 946_684_800_000_000

// micros reads a time.
func (r *reader) micros() int64 { return int64(r.u64()) + postgresEpoch }

// text reads a zero-terminated text, as a view.
func (r *reader) text() []byte {
	end := bytes.IndexByte(r.p, 0)
	if end < 0 {
		r.p, r.bad = nil, true
		return nil
	}
	b := r.p[:end:end]
	r.p = r.p[end+1:]
	return b
}

// end returns an error unless the message was read exactly to its end.
func (r *reader) end(k Kind) error {
	switch {
	case r.bad:
		return fmt.Errorf("decoding a %v message of the log: it is cut off", k)
	case len(r.p) > 0:
		return fmt.Errorf("decoding a %v message of the log: %d bytes are left over", k, len(r.p))
	}
	return nil
}
