package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of Thrift's compact protocol:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// errShort says that a structure goes on behind the bytes at hand.
var errShort = errors.New("structure ends early")

// What an element of a list costs at most once it is decoded, in bytes: a column chunk with its statistics, and everything else.
const (
	chunkCost     = 704
	structureCost = 176
	scalarCost    = 24
)

// checkThrift goes over one structure and returns its length. It sees to it that no list claims more elements than there are bytes, that nesting has an end and that
// the decoded form stays within memory bytes: the decoder allocates what lists and strings claim before it reads them.
func checkThrift(b []byte, memory int) (int, error) {
	c := thriftCheck{b: b, memory: memory}
	if err := c.structure(0); err != nil {
		return 0, err
	}
	return c.pos, nil
}

type thriftCheck struct {
	b      []byte
	pos    int
	memory int
}

const thriftDepth = 16 // the footer nests eight levels deep

func (c *thriftCheck) structure(depth int) error {
	if depth > thriftDepth {
		return errors.New("structures nest too deep")
	}
	for {
		if c.pos >= len(c.b) {
			return errShort
		}
		head := c.b[c.pos]
		c.pos++
		if head == thriftStop {
			return nil
		}
		if head>>4 == 0 {
			if _, err := c.varint(); err != nil {
				return err
			}
		}
		if err := c.value(head&15, depth, false); err != nil {
			return err
		}
	}
}

// value skips one value. Booleans take a byte in lists; in structures they are the field's type.
func (c *thriftCheck) value(kind byte, depth int, inList bool) error {
	switch kind {
	case thriftTrue, thriftFalse:
		if inList {
			return c.bytes(1)
		}
		return nil
	case thriftByte:
		return c.bytes(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := c.varint()
		return err
	case thriftDouble:
		return c.bytes(8)
	case thriftBinary:
		n, err := c.varint()
		if err != nil {
			return err
		}
		return c.bytes(n)
	case thriftList, thriftSet:
		return c.list(depth)
	case thriftStruct:
		return c.structure(depth + 1)
	case thriftMap:
		return errors.New("a map where the format has none")
	}
	return fmt.Errorf("unknown type %d", kind)
}

func (c *thriftCheck) list(depth int) error {
	if c.pos >= len(c.b) {
		return errShort
	}
	head := c.b[c.pos]
	c.pos++
	size, kind := uint64(head>>4), head&15
	if size == 15 {
		var err error
		if size, err = c.varint(); err != nil {
			return err
		}
	}
	if size > uint64(len(c.b)-c.pos) {
		return errShort
	}
	cost := scalarCost
	switch {
	case kind == thriftStruct && depth == 1: // in a row group, which is in a list of the footer
		cost = chunkCost
	case kind == thriftStruct:
		cost = structureCost
	}
	if c.memory -= int(size) * cost; c.memory < 0 {
		return tooLarge("its structures take more memory than allowed")
	}
	for range size {
		if err := c.value(kind, depth, true); err != nil {
			return err
		}
	}
	return nil
}

func (c *thriftCheck) bytes(n uint64) error {
	if n > uint64(len(c.b)-c.pos) {
		return errShort
	}
	c.pos += int(n)
	return nil
}

func (c *thriftCheck) varint() (uint64, error) {
	v, n := binary.Uvarint(c.b[c.pos:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errors.New("a number of more than 64 bits")
	}
	c.pos += n
	return v, nil
}
