package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// column goes over one column of a row group: levels in batches, values one by one.
type column struct {
	leaf   *leaf
	limits *Limits
	shared *shared

	src       chunkReader
	codec     format.CompressionCodec
	group     int
	chunkLeft int64 // values of the chunk in pages that are not open yet
	row       int64 // rows that were begun

	// The open page.
	pageAt     int64
	pageSize   int // what is accounted for it
	pageLeft   int // values not yet in a batch
	page       []byte
	levels     []byte // of a page of version 2
	reps, defs hybrid
	take       taker

	// Its values: PLAIN, of which pos is the next, or indexes into a dictionary.
	values     []byte
	pos        int
	indexes    hybrid
	dictionary *dictionary
	dict       *dictionary // of the chunk
	dictSize   int

	// A batch of the page, i < n. Levels of a column that cannot have others are not filled in.
	i, n  int
	plain bool // no value of the batch is null
	rep   []uint8
	def   []uint8
	index []uint32 // of the values that are not null
	next  int
}

// shared is what the columns of one reader share.
type shared struct {
	codec      decompressor
	compressed []byte // a page before it is decompressed
	encoded    []byte // and before it is brought into another form
	open       int    // bytes of all open pages and dictionaries
}

// taker appends the next value's JSON and goes behind it.
type taker func(c *column, dst []byte) ([]byte, error)

// open begins a row group.
func (c *column) open(ch *chunk, group int, window []byte) {
	c.src.reset(ch.start, ch.end, window)
	c.codec, c.group, c.chunkLeft, c.row = ch.codec, group, ch.values, 0
	c.pageLeft, c.i, c.n = 0, 0, 0
	c.dict, c.dictionary = nil, nil
	// What a group's pages took is given back; the limit was not exceeded with it, so it is not without.
	c.shared.open -= c.pageSize + c.dictSize
	c.pageSize, c.dictSize = 0, 0
}

// fill reads the next batch, opening a page if need be; io.EOF at the end of the chunk. A page all of whose rows come before row is skipped.
func (c *column) fill(row int64) error {
	for c.pageLeft == 0 {
		if err := c.openPage(row); err != nil {
			return err
		}
	}
	n := min(c.pageLeft, cap(c.rep))
	c.i, c.n, c.plain, c.next = 0, n, true, 0
	present := n
	if l := c.leaf; l.maxRep > 0 {
		c.rep = c.rep[:n]
		if err := c.reps.levels(c.rep); err != nil {
			return err
		}
		for _, v := range c.rep {
			if int(v) > l.maxRep {
				return corrupt("a repetition level of %d, where %d is the greatest", v, l.maxRep)
			}
		}
	}
	if c.leaf.maxDef > 0 {
		var err error
		if present, err = c.fillDefinitions(n); err != nil {
			return err
		}
	}
	if c.dictionary != nil {
		c.index = c.index[:present]
		if err := c.indexes.indexes(c.index); err != nil {
			return err
		}
		count := uint32(c.dictionary.count)
		for _, v := range c.index {
			if v >= count {
				return corrupt("index %d into a dictionary of %d values", v, count)
			}
		}
	}
	c.pageLeft -= n
	return nil
}

// fillDefinitions returns how many of n values are not null.
func (c *column) fillDefinitions(n int) (int, error) {
	greatest := uint8(c.leaf.maxDef)
	value, same, err := c.defs.same(n)
	if err != nil {
		return 0, err
	}
	c.def = c.def[:n]
	if same {
		if value > uint32(greatest) {
			return 0, corrupt("a definition level of %d, where %d is the greatest", value, greatest)
		}
		for i := range c.def {
			c.def[i] = uint8(value)
		}
		if c.plain = uint8(value) == greatest; c.plain {
			return n, nil
		}
		return 0, nil
	}
	if err := c.defs.levels(c.def); err != nil {
		return 0, err
	}
	present := 0
	for _, v := range c.def {
		if v == greatest {
			present++
		} else if v > greatest {
			return 0, corrupt("a definition level of %d, where %d is the greatest", v, greatest)
		}
	}
	c.plain = present == n
	return present, nil
}

// appendFlat appends the value of a row of a column that does not repeat.
func (c *column) appendFlat(dst []byte, row int64) ([]byte, error) {
	if c.row != row {
		if err := c.skipTo(row); err != nil {
			return dst, err
		}
	}
	if c.i == c.n {
		if err := c.fill(0); err != nil {
			return dst, c.failed(err)
		}
	}
	c.row++
	i := c.i
	c.i++
	if !c.plain && int(c.def[i]) != c.leaf.maxDef {
		return append(dst, "null"...), nil
	}
	dst, err := c.take(c, dst)
	if err != nil {
		return dst, c.failed(err)
	}
	return dst, nil
}

// peek returns the levels of the next value. At the end of the chunk, end is true and the repetition level that of a new row.
func (c *column) peek() (rep, def int, end bool, err error) {
	if c.i == c.n {
		if err = c.fill(0); err != nil {
			if errors.Is(err, io.EOF) {
				return 0, 0, true, nil
			}
			return 0, 0, false, c.failed(err)
		}
	}
	def = c.leaf.maxDef
	if !c.plain {
		def = int(c.def[c.i])
	}
	if c.leaf.maxRep > 0 {
		rep = int(c.rep[c.i])
	}
	return rep, def, false, nil
}

// pass goes behind the next value, which peek has seen.
func (c *column) pass() error {
	if c.leaf.maxRep == 0 || c.rep[c.i] == 0 {
		c.row++
	}
	present := c.plain || int(c.def[c.i]) == c.leaf.maxDef
	c.i++
	if present {
		return c.skipValues(1)
	}
	return nil
}

// takeNext is pass that appends the value, which is not null.
func (c *column) takeNext(dst []byte) ([]byte, error) {
	if c.leaf.maxRep == 0 || c.rep[c.i] == 0 {
		c.row++
	}
	c.i++
	dst, err := c.take(c, dst)
	if err != nil {
		return dst, c.failed(err)
	}
	return dst, nil
}

// skipTo goes to the first value of a row.
func (c *column) skipTo(row int64) error {
	if c.leaf.maxRep > 0 {
		return c.skipRepeated(row)
	}
	for c.row < row {
		if c.i == c.n {
			if err := c.fill(row); err != nil {
				return c.failed(err)
			}
			continue // whole pages may have been skipped
		}
		n := int(min(int64(c.n-c.i), row-c.row))
		present := n
		if !c.plain {
			present = 0
			for _, v := range c.def[c.i : c.i+n] {
				if int(v) == c.leaf.maxDef {
					present++
				}
			}
		}
		c.i += n
		c.row += int64(n)
		if err := c.skipValues(present); err != nil {
			return err
		}
	}
	return nil
}

// skipRepeated passes values up to the one that begins row: what is left of the row before it, if that was not read to its end, and whole rows. A page of version 2
// begins with a row, and counts them, so that it can be skipped.
func (c *column) skipRepeated(row int64) error {
	for {
		if c.i == c.n {
			if err := c.fill(row); err != nil {
				if errors.Is(err, io.EOF) && c.row == row {
					return nil
				}
				return c.failed(err)
			}
			continue
		}
		if c.rep[c.i] == 0 && c.row == row {
			return nil
		}
		if err := c.pass(); err != nil {
			return err
		}
	}
}

// skipValues goes behind n values that are not null.
func (c *column) skipValues(n int) error {
	switch {
	case c.dictionary != nil:
		c.next += n
	case c.leaf.width > 0:
		if n > (len(c.values)-c.pos)/c.leaf.width {
			return c.failed(errValuesEnd)
		}
		c.pos += n * c.leaf.width
	default:
		for range n {
			if _, err := c.nextBytes(); err != nil {
				return c.failed(err)
			}
		}
	}
	return nil
}

// failed says where an error happened. Errors about values pass.
func (c *column) failed(err error) error {
	if errors.Is(err, io.EOF) {
		err = corrupt("it has fewer values than the row group has rows")
	}
	return located(err, c.leaf.path, c.group, c.pageAt)
}

// unwritable is the error for a value without a JSON form.
func (c *column) unwritable(value []byte) error {
	const clip = 100
	text := fmt.Sprintf("%q", value[:min(len(value), clip)])
	if k := c.leaf.kind; k == date || k == clock || k == timestamp {
		switch len(value) {
		case 4:
			text = fmt.Sprint(int32(le.Uint32(value)))
		case 8:
			text = fmt.Sprint(int64(le.Uint64(value)))
		}
	}
	return &ValueError{Column: c.leaf.path, Reason: c.leaf.reason, Value: text[:min(len(text), clip)]}
}
