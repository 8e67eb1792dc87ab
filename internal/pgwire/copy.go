package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgconn"
)

// CopyReader reads the rows of a COPY ... TO STDOUT, in text form or in binary form. The connection is busy until Next has returned an error or Close was called.
type CopyReader struct {
	c       *Conn
	columns int
	binary  bool
	// begun, ended: in binary form, the header was read, the end of the rows was.
	begun, ended bool
	// rows is what is left of the message being read; whole rows, except perhaps the last.
	rows []byte
	// partial is the start of a row that goes on in the next message.
	partial []byte
	// err ends the reading; set once.
	err error
}

// CopyOut runs one COPY ... TO STDOUT statement, in text form with its default options or in binary form. ctx holds until the reader's end: when it is cancelled, reads
// return at once and the connection is of no use but to be closed. A refusal by the server is a *pgconn.PgError and leaves the connection usable.
func (c *Conn) CopyOut(ctx context.Context, sql string) (*CopyReader, error) {
	if err := checkStatement(sql); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	r := &CopyReader{c: c}
	if whole, err := r.start(sql); err != nil {
		return nil, c.end(whole, err)
	}
	c.in.pace.sock, c.in.pace.pause = socketOf(c.netConn), copyPause
	return r, nil
}

// start reads up to CopyOutResponse, which tells the form and the number of columns. On an error it tells whether the answer was read to its end.
func (r *CopyReader) start(sql string) (whole bool, err error) {
	c := r.c
	if err := c.query(sql); err != nil {
		return false, err
	}
	var failed error
	for {
		typ, body, err := c.in.next()
		if err != nil {
			return false, err
		}
		switch typ {
		case 'H':
			if len(body) < 3 || body[0] > 1 {
				return false, &ProtocolError{Detail: "a COPY response is malformed"}
			}
			r.binary, r.columns = body[0] == 1, int(binary.BigEndian.Uint16(body[1:]))
			return false, nil
		case 'E':
			if failed == nil {
				failed = parseServerError(body)
			}
		case 'T', 'D', 'C', 'I':
			if failed == nil {
				failed = errors.New("the statement is no COPY ... TO STDOUT")
			}
		case 'Z':
			if err := c.ready(body); err != nil {
				return false, err
			}
			if failed == nil {
				failed = &ProtocolError{Detail: "a COPY statement had no answer"}
			}
			return true, failed
		default:
			if !c.async(typ, body) {
				return false, unexpected(typ, "the start of a COPY")
			}
		}
	}
}

// Columns is the number of values of each row.
func (r *CopyReader) Columns() int { return r.columns }

// Next returns the next row's values, in fields[:0] grown as needed: nil for NULL; in text form with escapes undone, in binary form as they were sent. They lie in the reader's buffer, may be
// changed by the caller, and are valid until the next call. io.EOF comes after the server has reported success and the connection is usable again. A
// *pgconn.PgError (such as a statement timeout) leaves the connection usable, too. Errors are returned again by later calls.
func (r *CopyReader) Next(fields [][]byte) ([][]byte, error) {
	if r.binary {
		return r.nextBinary(fields)
	}
	row, err := r.next()
	if err != nil {
		return nil, err
	}
	if fields, err = splitRow(fields[:0], row, r.columns); err != nil {
		return nil, r.finish(false, err)
	}
	return fields, nil
}

// next returns the next row without its newline. In text form a newline inside a value is escaped, so a newline byte always ends a row.
func (r *CopyReader) next() ([]byte, error) {
	for {
		if r.err != nil {
			return nil, r.err
		}
		if len(r.rows) > 0 {
			if row, ok := r.cut(); ok {
				return row, nil
			}
			continue
		}
		typ, body, err := r.c.in.next()
		if err != nil {
			return nil, r.finish(false, err)
		}
		if typ == 'd' {
			r.rows = body
			continue
		}
		if err := r.other(typ, body); err != nil {
			return nil, err
		}
	}
}

// cut takes the next row off r.rows. It takes everything, into r.partial, when the row's end is in a later message.
func (r *CopyReader) cut() ([]byte, bool) {
	end := bytes.IndexByte(r.rows, '\n')
	if end < 0 {
		r.partial = append(r.partial, r.rows...)
		r.rows = nil
		if len(r.partial) > r.c.in.max {
			_ = r.finish(false, &MessageTooLargeError{
				Bytes: int64(len(r.partial)), Limit: int64(r.c.in.max), Head: append([]byte(nil), r.partial[:min(headSize, len(r.partial))]...),
			})
		}
		return nil, false
	}
	row := r.rows[:end:end]
	r.rows = r.rows[end+1:]
	if len(r.partial) > 0 {
		row = append(r.partial, row...)
		r.partial = row[:0]
	}
	return row, true
}

// other handles each message that is no CopyData.
func (r *CopyReader) other(typ byte, body []byte) error {
	switch typ {
	case 'c':
		if len(r.partial) > 0 {
			return r.finish(false, &ProtocolError{Detail: "a COPY ended inside a row"})
		}
		if r.binary && !r.ended {
			return r.finish(false, &ProtocolError{Detail: "a COPY in binary form ended without the mark that stands behind its last row"})
		}
		return r.finish(r.readEnd())
	case 'E':
		refusal := parseServerError(body)
		whole, err := r.readEnd()
		if whole {
			err = refusal
		}
		return r.finish(whole, err)
	}
	if !r.c.async(typ, body) {
		return r.finish(false, unexpected(typ, "a COPY"))
	}
	return nil
}

// readEnd reads up to ReadyForQuery. It returns io.EOF when the server has reported success.
func (r *CopyReader) readEnd() (whole bool, err error) {
	var failed error
	complete := false
	for {
		typ, body, err := r.c.in.next()
		if err != nil {
			return false, err
		}
		switch typ {
		case 'C':
			complete = true
		case 'E':
			if failed == nil {
				failed = parseServerError(body)
			}
		case 'Z':
			if err := r.c.ready(body); err != nil {
				return false, err
			}
			switch {
			case failed != nil:
				return true, failed
			case !complete:
				return true, &ProtocolError{Detail: "a COPY ended without the server's word that it is complete"}
			}
			return true, io.EOF
		default:
			if !r.c.async(typ, body) {
				return false, unexpected(typ, "the end of a COPY")
			}
		}
	}
}

// finish ends the reading with err and gives the connection back.
func (r *CopyReader) finish(whole bool, err error) error {
	r.rows, r.partial = nil, nil
	r.c.in.pace.stop()
	r.err = r.c.end(whole, err)
	return r.err
}

// Close ends the reading. Before the rows' end it cancels the statement and waits until the server has confirmed that, so that the connection is usable
// again; a transaction around the statement is then a failed one. After the end it does nothing. It returns an error only when the connection is not usable.
func (r *CopyReader) Close() error {
	if r.err == nil {
		if err := r.c.Cancel(r.c.ctx); err != nil {
			return r.finish(false, err)
		}
	}
	for r.err == nil {
		_, _ = r.Next(nil)
	}
	var refusal *pgconn.PgError
	if r.err == io.EOF || errors.As(r.err, &refusal) { //nolint:errorlint // io.EOF is never wrapped here
		return nil
	}
	return fmt.Errorf("ending a COPY: %w", r.err)
}
