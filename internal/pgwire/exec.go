package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
)

// Result is what one statement returned.
type Result struct {
	// Columns by name, in order; nil when the statement returns no rows.
	Columns []string
	// Rows hold each value as text, nil for NULL.
	Rows [][]*string
	// Tag is the command tag, such as "SELECT 2".
	Tag string
}

// Exec runs a statement text as it is (nothing is put into it), or several statements separated by semicolons, and returns a result for each. It also runs
// replication commands on a replication connection. The server's refusal is a *pgconn.PgError, and the connection can be used again; the results of the
// statements before it are returned, too. After any other error, including the end of ctx, the connection is of no use but to be closed.
func (c *Conn) Exec(ctx context.Context, sql string) ([]Result, error) {
	if err := checkStatement(sql); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	results, whole, err := c.exec(sql)
	return results, c.end(whole, err)
}

func checkStatement(sql string) error {
	if strings.IndexByte(sql, 0) >= 0 {
		return errors.New("a statement cannot hold a zero byte")
	}
	return nil
}

// exec tells, too, whether the answer was read to its end.
func (c *Conn) exec(sql string) (results []Result, whole bool, err error) {
	if err := c.query(sql); err != nil {
		return nil, false, err
	}
	return c.results()
}

// results reads the answer to a statement, or to several, and tells whether it was read to its end.
func (c *Conn) results() (results []Result, whole bool, err error) {
	var current Result
	var failed error // the first error; the answer is read to its end nevertheless
	for {
		typ, body, err := c.in.next()
		if err != nil {
			if failed != nil {
				err = failed // the server said why it hung up
			}
			return results, false, err
		}
		switch typ {
		case 'T':
			if current.Columns, err = parseRowDescription(body); err != nil {
				return results, false, err
			}
		case 'D':
			row, err := parseDataRow(body, len(current.Columns))
			if err != nil {
				return results, false, err
			}
			current.Rows = append(current.Rows, row)
		case 'C':
			current.Tag = string(bytes.TrimSuffix(body, []byte{0}))
			results = append(results, current)
			current = Result{}
		case 'I':
			results = append(results, Result{})
		case '1', '2', 'n': // parsed, bound, no rows to come: of ExecParams
		case 'E':
			if failed == nil {
				failed = parseServerError(body)
			}
			current = Result{}
		case 'H', 'd', 'c':
			// A COPY TO STDOUT reads to its end by itself.
			if failed == nil {
				failed = errors.New("a statement copies rows to the client: run it with CopyOut")
			}
		case 'Z':
			if err := c.ready(body); err != nil {
				return results, false, err
			}
			return results, true, failed
		default:
			if !c.async(typ, body) {
				return results, false, unexpected(typ, "a statement")
			}
		}
	}
}

// parseRowDescription returns the columns' names. Each is followed by 18 bytes about its origin and type.
func parseRowDescription(body []byte) ([]string, error) {
	malformed := &ProtocolError{Detail: "a row description is malformed"}
	if len(body) < 2 {
		return nil, malformed
	}
	n := int(binary.BigEndian.Uint16(body))
	body = body[2:]
	names := make([]string, 0, n)
	for range n {
		name, rest, ok := bytes.Cut(body, []byte{0})
		if !ok || len(rest) < 18 {
			return nil, malformed
		}
		names = append(names, string(name))
		body = rest[18:]
	}
	return names, nil
}

// parseDataRow returns a row's values, of which there must be columns.
func parseDataRow(body []byte, columns int) ([]*string, error) {
	malformed := &ProtocolError{Detail: "a row is malformed"}
	if len(body) < 2 || int(binary.BigEndian.Uint16(body)) != columns {
		return nil, malformed
	}
	body = body[2:]
	row := make([]*string, 0, columns)
	for range columns {
		if len(body) < 4 {
			return nil, malformed
		}
		n := binary.BigEndian.Uint32(body)
		body = body[4:]
		if n == 0xFFFFFFFF { // -1 is NULL
			row = append(row, nil)
			continue
		}
		if uint64(n) > uint64(len(body)) {
			return nil, malformed
		}
		value := string(body[:n])
		row = append(row, &value)
		body = body[n:]
	}
	if len(body) != 0 {
		return nil, malformed
	}
	return row, nil
}
