package parquet

import (
	"math"
	"strconv"

	"github.com/estuary/connectors/parser/internal/jsontext"
	"github.com/estuary/connectors/parser/internal/scalars"
)

var errValuesEnd = corrupt("its values end early")

// taker chooses how values of PLAIN pages are taken. The most frequent kinds have one of their own, without a second call.
func (l *leaf) taker() taker {
	switch {
	case l.width == 0 && l.kind == text:
		return takeText
	case l.width == 0:
		return takeBytes
	case l.kind == integer && l.width == 8:
		return takeInt64
	case l.kind == integer:
		return takeInt32
	case l.kind == float64Kind:
		return takeFloat64
	}
	return takeFixed
}

// useDictionary takes values by index.
func (c *column) useDictionary(d *dictionary) error {
	c.dictionary, c.take = d, takeRendered
	if d.ends == nil {
		c.take = takeIndexed
	}
	return nil
}

func takeRendered(c *column, dst []byte) ([]byte, error) {
	i := c.index[c.next]
	c.next++
	d := c.dictionary
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return append(dst, d.json[start:d.ends[i]]...), nil
}

func takeIndexed(c *column, dst []byte) ([]byte, error) {
	i := c.index[c.next]
	c.next++
	return c.writeValue(dst, c.dictionary.value(c.leaf, i))
}

func takeInt64(c *column, dst []byte) ([]byte, error) {
	if len(c.values)-c.pos < 8 {
		return dst, errValuesEnd
	}
	v := int64(le.Uint64(c.values[c.pos:]))
	c.pos += 8
	return strconv.AppendInt(dst, v, 10), nil
}

func takeInt32(c *column, dst []byte) ([]byte, error) {
	if len(c.values)-c.pos < 4 {
		return dst, errValuesEnd
	}
	v := int32(le.Uint32(c.values[c.pos:]))
	c.pos += 4
	return strconv.AppendInt(dst, int64(v), 10), nil
}

func takeFloat64(c *column, dst []byte) ([]byte, error) {
	if len(c.values)-c.pos < 8 {
		return dst, errValuesEnd
	}
	v := math.Float64frombits(le.Uint64(c.values[c.pos:]))
	c.pos += 8
	return scalars.AppendFloat64(dst, v), nil
}

func takeFixed(c *column, dst []byte) ([]byte, error) {
	width := c.leaf.width
	if len(c.values)-c.pos < width {
		return dst, errValuesEnd
	}
	v := c.values[c.pos : c.pos+width]
	c.pos += width
	return c.writeValue(dst, v)
}

func takeText(c *column, dst []byte) ([]byte, error) {
	v, err := c.nextBytes()
	if err != nil {
		return dst, err
	}
	dst, ok := jsontext.AppendStringStrict(dst, v)
	if !ok {
		return dst, c.unwritable(v)
	}
	return dst, nil
}

func takeBytes(c *column, dst []byte) ([]byte, error) {
	v, err := c.nextBytes()
	if err != nil {
		return dst, err
	}
	return c.writeValue(dst, v)
}

// nextBytes takes a value that stands behind its length.
func (c *column) nextBytes() ([]byte, error) {
	rest := c.values[c.pos:]
	if len(rest) < 4 {
		return nil, errValuesEnd
	}
	n := int64(le.Uint32(rest))
	if n > int64(len(rest)-4) {
		return nil, errValuesEnd
	}
	c.pos += 4 + int(n)
	return rest[4 : 4+n], nil
}

func (c *column) writeValue(dst, v []byte) ([]byte, error) {
	dst, ok := c.leaf.write(dst, v, c.leaf)
	if !ok {
		return dst, c.unwritable(v)
	}
	return dst, nil
}
