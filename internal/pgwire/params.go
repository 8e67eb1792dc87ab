package pgwire

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// ExecParams runs one statement whose $1, $2, … are params: text, whose types the server infers, nil for NULL. Errors are those of Exec.
func (c *Conn) ExecParams(ctx context.Context, sql string, params ...*string) (Result, error) {
	if err := checkStatement(sql); err != nil {
		return Result{}, err
	}
	if len(params) > math.MaxUint16 {
		return Result{}, fmt.Errorf("a statement takes at most %d parameters, not %d", math.MaxUint16, len(params))
	}
	if err := c.begin(ctx); err != nil {
		return Result{}, err
	}
	results, whole, err := c.execParams(sql, params)
	var r Result
	if len(results) > 0 {
		r = results[0]
	}
	return r, c.end(whole, err)
}

func (c *Conn) execParams(sql string, params []*string) ([]Result, bool, error) {
	c.out = c.out[:0]
	c.message('P', func() {
		c.out = append(c.out, 0) // no name: the next Parse replaces it
		c.out = append(append(c.out, sql...), 0)
		c.out = append(c.out, 0, 0) // no types: inferred
	})
	c.message('B', func() {
		c.out = append(c.out, 0, 0, 0, 0) // portal and statement without names, all parameters as text
		c.out = binary.BigEndian.AppendUint16(c.out, uint16(len(params)))
		for _, p := range params {
			if p == nil {
				c.out = append(c.out, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			c.out = binary.BigEndian.AppendUint32(c.out, uint32(len(*p)))
			c.out = append(c.out, *p...)
		}
		c.out = append(c.out, 0, 0) // results as text
	})
	c.message('D', func() { c.out = append(c.out, 'P', 0) })
	c.message('E', func() { c.out = append(c.out, 0, 0, 0, 0, 0) }) // all rows
	c.message('S', func() {})
	if _, err := c.netConn.Write(c.out); err != nil {
		return nil, false, fmt.Errorf("sending a statement: %w", err)
	}
	return c.results()
}

// message appends a message to c.out; body appends what follows the length.
func (c *Conn) message(typ byte, body func()) {
	c.out = append(c.out, typ, 0, 0, 0, 0)
	start := len(c.out) - 4
	body()
	binary.BigEndian.PutUint32(c.out[start:], uint32(len(c.out)-start))
}
