package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
)

// CopyIn runs sql, whose last statement is a COPY ... FROM STDIN in text form (statements separated by semicolons may stand before it), and sends it
// rows: lines that each end in a newline, escaped as AppendCopyText does. It returns how many rows the server took.
//
// Statements and rows go out in one piece, without waiting for the server's consent: a server that refuses a COPY skips the rows that follow. So a refusal,
// which is a *pgconn.PgError, leaves the connection usable; after any other error, the end of ctx included, it is of no use but to be closed.
func (c *Conn) CopyIn(ctx context.Context, sql string, rows []byte) (int64, error) {
	return c.copyRows(ctx, sql, nil, rows, nil)
}

// CopyInBinary does so for rows in binary form: the number of values in two bytes, and each after its length in four. What begins and ends the form is added.
func (c *Conn) CopyInBinary(ctx context.Context, sql string, rows []byte) (int64, error) {
	return c.copyRows(ctx, sql, binaryHeader, rows, binaryTrailer)
}

// What stands before and after the rows in binary form: the signature, no flags, no extension; then a number of values that no row has.
var (
	binaryHeader  = append([]byte(binarySignature), 0, 0, 0, 0, 0, 0, 0, 0)
	binaryTrailer = []byte{0xFF, 0xFF}
)

func (c *Conn) copyRows(ctx context.Context, sql string, header, rows, trailer []byte) (int64, error) {
	if err := checkStatement(sql); err != nil {
		return 0, err
	}
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	n, whole, err := c.copyIn(sql, header, rows, trailer)
	return n, c.end(whole, err)
}

// copyIn tells, too, whether the answer was read to its end.
func (c *Conn) copyIn(sql string, header, rows, trailer []byte) (n int64, whole bool, err error) {
	if err := c.query(sql); err != nil {
		return 0, false, err
	}
	if err := c.sendRows(header, rows, trailer); err != nil {
		// A server that ends a session says why before it hangs up, and a write is the first to notice.
		if refusal := c.lastWords(); refusal != nil {
			err = refusal
		}
		return 0, false, err
	}
	return c.copyInEnd(header != nil)
}

func appendCopyData(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	dst = append(dst, 'd')
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)+4))
	return append(dst, data...)
}

// sendRows sends rows as CopyData messages of at most a block, and CopyDone. The server takes rows apart wherever the messages end.
func (c *Conn) sendRows(header, rows, trailer []byte) error {
	for first := true; ; first = false {
		piece := rows[:min(len(rows), blockSize)]
		rows = rows[len(piece):]
		c.out = c.out[:0]
		if first {
			c.out = appendCopyData(c.out, header)
		}
		c.out = appendCopyData(c.out, piece)
		if len(rows) == 0 {
			c.out = append(appendCopyData(c.out, trailer), 'c', 0, 0, 0, 4)
		}
		if _, err := c.netConn.Write(c.out); err != nil {
			return fmt.Errorf("sending rows: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
	}
}

// lastWords reads what the server had sent before the connection broke; nil: nothing, or no error.
func (c *Conn) lastWords() error {
	for {
		typ, body, err := c.in.next()
		if err != nil {
			return nil //nolint:nilerr // the caller has the error that counts
		}
		if typ == 'E' {
			return parseServerError(body)
		}
	}
}

func (c *Conn) copyInEnd(inBinary bool) (n int64, whole bool, err error) {
	var failed error // the first error; the answer is read to its end nevertheless
	copied := false
	for {
		typ, body, err := c.in.next()
		if err != nil {
			if failed != nil {
				err = failed // the server said why it hung up
			}
			return 0, false, err
		}
		switch typ {
		case 'G':
			switch {
			case len(body) > 0 && (body[0] != 0) == inBinary:
			case inBinary:
				failed = fmt.Errorf("the statement copies in text form, and rows in binary form were written")
			default:
				failed = fmt.Errorf("the statement copies in binary form, and rows in text form were written")
			}
			copied = true
		case 'C':
			tag := bytes.TrimSuffix(body, []byte{0})
			if count, ok := bytes.CutPrefix(tag, []byte("COPY ")); ok {
				n, _ = strconv.ParseInt(string(count), 10, 64) // only ever a number
			}
		case 'T', 'D', 'I', 'H', 'd', 'c': // of the statements before, or of one that is none of ours
		case 'E':
			if failed == nil {
				failed = parseServerError(body)
			}
		case 'Z':
			if err := c.ready(body); err != nil {
				return 0, false, err
			}
			if failed == nil && !copied {
				failed = fmt.Errorf("the statement is no COPY ... FROM STDIN")
			}
			return n, true, failed
		default:
			if !c.async(typ, body) {
				return 0, false, unexpected(typ, "a COPY")
			}
		}
	}
}

// AppendCopyText appends a value in COPY text form: a backslash before what would end the value, or the row, or start an escape.
// https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
func AppendCopyText(dst, value []byte) []byte {
	for {
		i := indexSpecial(value)
		if i < 0 {
			return append(dst, value...)
		}
		dst = append(dst, value[:i]...)
		switch b := value[i]; b {
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', b)
		}
		value = value[i+1:]
	}
}

// indexSpecial returns the place of the first byte that needs an escape; -1: none does. It looks at eight bytes at a time.
func indexSpecial(value []byte) int {
	i := 0
	for ; i+8 <= len(value); i += 8 {
		// The high bit of a byte of the word is set where the byte is a backslash or below 32; it may be set above such a byte, too.
		w := binary.LittleEndian.Uint64(value[i:])
		slash := w ^ '\\'*ones
		if ((w-' '*ones)&^w|(slash-ones)&^slash)&high == 0 {
			continue
		}
		for j := i; j < i+8; j++ {
			if special[value[j]] {
				return j
			}
		}
	}
	for ; i < len(value); i++ {
		if special[value[i]] {
			return i
		}
	}
	return -1
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

var special = [256]bool{'\t': true, '\n': true, '\r': true, '\\': true}
