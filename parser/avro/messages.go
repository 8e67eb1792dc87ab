package avro

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Framing is what stands before each datum that has no container.
type Framing string

// Framings.
const (
	Bare   Framing = "none"   // nothing
	Single Framing = "single" // C3 01 and the schema's fingerprint: single-object encoding
)

// Messages reads datums that stand back to back, with a schema from outside. It is not safe for concurrent use.
type Messages struct {
	record
	framing Framing
	r       io.Reader
	buf     []byte // what was read, from at on still to be cut
	at      int
	begun   int   // of the datum that Next went to last, with what stands before it
	base    int64 // of buf[0]
	end     error // of r
	failed  error
}

// NewMessages returns a reader of datums; the first byte of r is the one at the given place.
func NewMessages(r io.Reader, s *Schema, framing Framing, limits Limits, at int64) (*Messages, error) {
	if framing != Bare && framing != Single {
		return nil, fmt.Errorf("reading Avro messages: the framing is %q, neither %q nor %q", framing, Bare, Single)
	}
	return &Messages{record: newRecord(s, limits.withDefaults()), framing: framing, r: r, base: at}, nil
}

// Position returns the place behind the datum that Next went to last.
func (m *Messages) Position() int64 { return m.base + int64(m.at) }

// Begin returns the place where that datum begins, or what stands before it.
func (m *Messages) Begin() int64 { return m.base + int64(m.begun) }

// Next goes to the next datum. It returns io.EOF behind the last one; other errors are *Error and those of the reader, and final.
func (m *Messages) Next() error {
	if m.failed == nil {
		m.failed = m.next()
	}
	return m.failed
}

func (m *Messages) next() error {
	for {
		if len(m.buf) > m.at {
			w := walk{b: m.buf, i: m.at, limits: m.limits}
			switch {
			case m.begin(&w) && m.cut(&w):
				return nil
			case w.fault != faultShort:
				return w.err(m.Position())
			case len(m.buf)-m.at > m.limits.Value:
				w.fail(faultLimit, "the datum is larger than %d bytes", m.limits.Value)
				return w.err(m.Position())
			case ended(m.end):
				return &Error{Byte: m.Position(), Reason: "the file ends inside the datum that begins here: " + w.reason}
			}
		}
		if m.end != nil {
			if ended(m.end) {
				return io.EOF
			}
			return fmt.Errorf("reading Avro at byte %d: %w", m.base+int64(len(m.buf)), m.end)
		}
		m.more()
	}
}

// begin passes over what stands before a datum.
func (m *Messages) begin(w *walk) bool {
	if m.framing == Bare {
		if m.schema.root.constant != nil {
			return w.fail(faultData, "the record %s has no content, but there are bytes", m.schema.root.name)
		}
		return true
	}
	head, ok := w.fixed(10)
	if !ok {
		return false
	}
	if head[0] != 0xc3 || head[1] != 1 {
		return w.fail(faultData, "a message in single-object encoding begins with c3 01, not with %02x", head[:2])
	}
	if theirs, ours := binary.LittleEndian.Uint64(head[2:]), m.schema.Fingerprint(); theirs != ours {
		return w.fail(faultData, "the message was written with the schema of fingerprint %016x; the given one has %016x", theirs, ours)
	}
	return true
}

func (m *Messages) cut(w *walk) bool {
	spans, ok := m.schema.cut(w, m.spans)
	m.spans = spans
	if ok {
		m.datum, m.made, m.begun, m.at = m.buf, 0, m.at, w.i
	}
	return ok
}

// more reads until there is twice as much as there was, so that a datum is looked at a few times only.
func (m *Messages) more() {
	rest := m.buf[m.at:]
	m.base += int64(m.at)
	size := min(max(2*len(rest), 64<<10), m.limits.Value+64<<10)
	if size > cap(m.buf) {
		m.buf = append(make([]byte, 0, size), rest...)
	} else {
		m.buf = m.buf[:copy(m.buf, rest)]
	}
	m.at = 0
	enough := len(rest) + 1
	if len(rest) > 4<<10 {
		enough = size
	}
	for empty := 0; len(m.buf) < enough && m.end == nil && empty < 100; empty++ {
		n, err := m.r.Read(m.buf[len(m.buf):cap(m.buf)])
		m.buf, m.end = m.buf[:len(m.buf)+n], err
		if n > 0 {
			empty = 0
		}
	}
	if len(m.buf) == len(rest) && m.end == nil {
		m.end = io.ErrNoProgress
	}
}
