package pgwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// In binary form a COPY begins with a signature and a header, each row is a count of values and each value has its length in front, and a count of -1
// ends the rows. https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
const (
	binarySignature = "PGCOPY\n\xff\r\n\x00"
	// binaryFixed is the signature, 32 flags and the length of the rest of the header.
	binaryFixed = len(binarySignature) + 8
	// binaryEnd is the count that stands behind the last row.
	binaryEnd = 0xFFFF
	// binaryNull is the length of a NULL.
	binaryNull = 0xFFFFFFFF
)

// copyHeaderSize returns the size of the header that p begins with; 0: p is too short to tell.
func copyHeaderSize(p []byte) (int, error) {
	if len(p) < binaryFixed {
		return 0, nil
	}
	if !bytes.HasPrefix(p, []byte(binarySignature)) {
		return 0, &ProtocolError{Detail: "a COPY in binary form does not begin with its signature"}
	}
	// The lower half of the flags may be ignored. The upper half changes the form of the rows.
	if flags := binary.BigEndian.Uint32(p[len(binarySignature):]); flags>>16 != 0 {
		return 0, &ProtocolError{Detail: fmt.Sprintf("a COPY in binary form has flags %#x, which are not known", flags)}
	}
	extension := binary.BigEndian.Uint32(p[binaryFixed-4:])
	if int64(extension) > int64(len(p)-binaryFixed) {
		return 0, nil
	}
	return binaryFixed + int(extension), nil
}

// binaryRow appends to fields the values of the row that p begins with, and returns the row's size; 0: p is too short.
func binaryRow(fields [][]byte, p []byte, columns int) ([][]byte, int, error) {
	if len(p) < 2 {
		return fields, 0, nil
	}
	if count := int(binary.BigEndian.Uint16(p)); count != columns {
		return fields, 0, &ProtocolError{Detail: fmt.Sprintf("a row of a COPY has %d values where %d were announced", count, columns)}
	}
	at := 2
	for range columns {
		if len(p)-at < 4 {
			return fields, 0, nil
		}
		size := binary.BigEndian.Uint32(p[at:])
		at += 4
		if size > 1<<31-1 {
			if size != binaryNull {
				return fields, 0, &ProtocolError{Detail: "a value of a COPY has a negative length"}
			}
			fields = append(fields, nil)
			continue
		}
		end := at + int(size)
		if end > len(p) {
			return fields, 0, nil
		}
		fields = append(fields, p[at:end:end])
		at = end
	}
	return fields, at, nil
}

// endsBinary tells whether p begins with what stands behind the last row.
func endsBinary(p []byte) bool { return len(p) >= 2 && binary.BigEndian.Uint16(p) == binaryEnd }

// nextBinary is Next for the binary form. A server sends each row in a message of its own, the first one behind the header; any other framing is read, too.
func (r *CopyReader) nextBinary(fields [][]byte) ([][]byte, error) {
	for {
		if r.err != nil {
			return nil, r.err
		}
		if len(r.rows) > 0 {
			var size int
			var err error
			if fields, size, err = r.cutBinary(fields[:0]); err != nil {
				return nil, r.finish(false, err)
			}
			if size > 0 {
				return fields, nil
			}
			continue
		}
		typ, body, err := r.c.in.next()
		if err != nil {
			return nil, r.finish(false, err)
		}
		if typ != 'd' {
			if err := r.other(typ, body); err != nil {
				return nil, err
			}
			continue
		}
		r.rows = body
		if len(r.partial) > 0 {
			r.partial = append(r.partial, body...)
			r.rows = r.partial
			r.partial = r.partial[:0] // what is left is moved within the same memory
		}
	}
}

// cutBinary takes the next row off r.rows; size 0: there is none, and r.rows is empty.
func (r *CopyReader) cutBinary(fields [][]byte) ([][]byte, int, error) {
	if !r.begun {
		size, err := copyHeaderSize(r.rows)
		if err != nil {
			return fields, 0, err
		}
		if size == 0 {
			return fields, 0, r.keepPart()
		}
		r.begun, r.rows = true, r.rows[size:]
	}
	switch {
	case r.ended:
		return fields, 0, &ProtocolError{Detail: "a COPY goes on behind its last row"}
	case endsBinary(r.rows):
		r.ended, r.rows = true, r.rows[2:]
		return fields, 0, nil
	}
	fields, size, err := binaryRow(fields, r.rows, r.columns)
	if err == nil && size == 0 {
		err = r.keepPart()
	}
	r.rows = r.rows[size:]
	return fields, size, err
}

// keepPart moves what is left of a message, the beginning of a row, to where the next message is appended to it.
func (r *CopyReader) keepPart() error {
	r.partial = append(r.partial[:0], r.rows...)
	r.rows = nil
	if len(r.partial) > r.c.in.max {
		return &MessageTooLargeError{Bytes: int64(len(r.partial)), Limit: int64(r.c.in.max), Head: append([]byte(nil), r.partial[:headSize]...)}
	}
	return nil
}

// Known returns the values, as they were sent, that stand whole in head, the beginning of a row that was too large.
func (r *CopyReader) Known(head []byte) [][]byte {
	if !r.binary {
		known := bytes.Split(head, []byte{'\t'}) // a tab inside a value is escaped
		return known[:len(known)-1]
	}
	if size, err := copyHeaderSize(head); err == nil {
		head = head[size:] // 0 unless this was to be the first row
	}
	known, _, _ := binaryRow(nil, head, r.columns) // as many as there are
	return known
}
