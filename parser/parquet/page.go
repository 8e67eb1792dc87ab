package parquet

import (
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is PLAIN_DICTIONARY, the older name for indexes into a dictionary, and for PLAIN in the dictionary itself.
const plainDictionary format.Encoding = 2

// openPage goes to the next data page, reading a dictionary on the way. At the end of the chunk it returns io.EOF. Pages of which all rows are to be skipped are passed
// over unread: rows is how many there are to skip, and what was skipped is counted in c.row.
func (c *column) openPage(rows int64) error {
	for {
		if c.chunkLeft == 0 {
			return io.EOF
		}
		c.pageAt = c.src.offset()
		h, err := c.src.header()
		if err != nil {
			return err
		}
		if err := c.checkSizes(h); err != nil {
			return err
		}
		switch h.Type {
		case format.DictionaryPage:
			err = c.readDictionary(h)
		case format.DataPage, format.DataPageV2:
			var skipped bool
			if skipped, err = c.skipPage(h, rows-c.row); skipped || err != nil {
				break
			}
			return c.readData(h)
		case format.IndexPage:
			c.src.skip(int(h.CompressedPageSize))
		default:
			err = corrupt("a page of the unknown type %d", h.Type)
		}
		if err != nil {
			return err
		}
	}
}

// checkSizes compares what a header declares with what is allowed, before any of it is believed.
func (c *column) checkSizes(h *format.PageHeader) error {
	limit := int32(min(c.limits.Page, 1<<31-1))
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 {
		return corrupt("a page that declares %d bytes, %d uncompressed", h.CompressedPageSize, h.UncompressedPageSize)
	}
	if h.CompressedPageSize > limit || h.UncompressedPageSize > limit {
		return tooLarge("a page declares %d bytes, %d uncompressed; at most %d are allowed", h.CompressedPageSize, h.UncompressedPageSize, limit)
	}
	return nil
}

// pageCounts are the values and rows that a data page declares; rows is -1 where the format does not tell.
func (c *column) pageCounts(h *format.PageHeader) (values, rows int64, err error) {
	rows = -1
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		values, rows = int64(h.DataPageHeaderV2.V.NumValues), int64(h.DataPageHeaderV2.V.NumRows)
	default:
		return 0, 0, corrupt("a page of type %s without its header", h.Type)
	}
	if c.leaf.maxRep == 0 {
		rows = values
	}
	if values < 0 || values > c.chunkLeft || rows > values {
		return 0, 0, corrupt("a page of %d values and %d rows, where the column chunk has %d values left", values, rows, c.chunkLeft)
	}
	return values, rows, nil
}

// skipPage passes over a page if it has at most so many rows.
func (c *column) skipPage(h *format.PageHeader, rows int64) (bool, error) {
	values, has, err := c.pageCounts(h)
	if err != nil || has < 0 || has > rows {
		return false, err
	}
	c.chunkLeft -= values
	c.row += has
	c.src.skip(int(h.CompressedPageSize))
	return true, nil
}

// readDictionary reads a dictionary page.
func (c *column) readDictionary(h *format.PageHeader) error {
	if !h.DictionaryPageHeader.Valid {
		return corrupt("a dictionary page without its header")
	}
	if c.dict != nil {
		return corrupt("a second dictionary")
	}
	d := &h.DictionaryPageHeader.V
	if d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return unsupported("a dictionary encoded as %s", d.Encoding)
	}
	body, err := c.pageBody(h)
	if err != nil {
		return err
	}
	if err := c.account(&c.dictSize, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	plain := make([]byte, h.UncompressedPageSize)
	if err := c.shared.codec.run(c.codec, plain, body); err != nil {
		return err
	}
	if c.dict, err = newDictionary(c.leaf, plain, int(d.NumValues)); err != nil {
		return err
	}
	return c.account(&c.dictSize, c.dict.size())
}

// pageBody takes the bytes behind a header.
func (c *column) pageBody(h *format.PageHeader) ([]byte, error) {
	body, err := c.src.body(int(h.CompressedPageSize), &c.shared.compressed)
	if err == nil && h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
		err = corrupt("its checksum is %08x, its header says %08x", crc32.ChecksumIEEE(body), uint32(h.CRC))
	}
	return body, err
}

// account changes what a column holds on to.
func (c *column) account(held *int, size int) error {
	c.shared.open += size - *held
	*held = size
	if c.shared.open > c.limits.Pages {
		return tooLarge("the pages open together take more than %d bytes", c.limits.Pages)
	}
	return nil
}

// readData opens a data page: its levels, then its values.
func (c *column) readData(h *format.PageHeader) error {
	values, _, err := c.pageCounts(h)
	if err != nil {
		return err
	}
	body, err := c.pageBody(h)
	if err != nil {
		return err
	}
	if err := c.account(&c.pageSize, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	c.chunkLeft -= values
	c.pageLeft = int(values)
	if h.Type == format.DataPageV2 {
		return c.openV2(h, body)
	}
	v := &h.DataPageHeader.V
	plain := sized(c.room(v.Encoding), int(h.UncompressedPageSize))
	if err := c.shared.codec.run(c.codec, plain, body); err != nil {
		return err
	}
	c.levels = c.levels[:0]
	if plain, err = c.levelsV1(&c.reps, c.leaf.maxRep, v.RepetitionLevelEncoding, plain); err != nil {
		return err
	}
	if plain, err = c.levelsV1(&c.defs, c.leaf.maxDef, v.DefinitionLevelEncoding, plain); err != nil {
		return err
	}
	return c.openValues(v.Encoding, plain)
}

// room is where a page is decompressed to: where it stays, or where it is until it has been brought into the form of PLAIN.
func (c *column) room(encoding format.Encoding) *[]byte {
	switch encoding {
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray, format.ByteStreamSplit:
		return &c.shared.encoded
	default:
		return &c.page
	}
}

// levelsV1 takes levels that stand behind their length.
func (c *column) levelsV1(h *hybrid, greatest int, encoding format.Encoding, page []byte) ([]byte, error) {
	if greatest == 0 {
		return page, nil
	}
	if encoding != format.RLE {
		return nil, unsupported("levels encoded as %s", encoding)
	}
	if len(page) < 4 || int64(le.Uint32(page)) > int64(len(page)-4) {
		return nil, corrupt("levels that go beyond their page of %d bytes", len(page))
	}
	n := 4 + int(le.Uint32(page))
	// A copy, because the page may lie in memory that the next column uses.
	at := len(c.levels)
	c.levels = append(c.levels, page[4:n]...)
	h.reset(c.levels[at:], levelWidth(greatest))
	return page[n:], nil
}

// openV2 opens a page of version 2, whose levels stand before what is compressed.
func (c *column) openV2(h *format.PageHeader, body []byte) error {
	v := &h.DataPageHeaderV2.V
	reps, defs := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
	if reps < 0 || defs < 0 || reps+defs > int64(len(body)) || reps+defs > int64(h.UncompressedPageSize) {
		return corrupt("levels of %d and %d bytes in a page of %d", reps, defs, len(body))
	}
	levels := append(c.levels[:0], body[:reps+defs]...)
	c.levels = levels
	if c.leaf.maxRep > 0 {
		c.reps.reset(levels[:reps], levelWidth(c.leaf.maxRep))
	}
	if c.leaf.maxDef > 0 {
		c.defs.reset(levels[reps:], levelWidth(c.leaf.maxDef))
	}
	codec := c.codec
	if v.IsCompressed.Valid && !v.IsCompressed.V {
		codec = format.Uncompressed
	}
	plain := sized(c.room(v.Encoding), int(int64(h.UncompressedPageSize)-reps-defs))
	if err := c.shared.codec.run(codec, plain, body[reps+defs:]); err != nil {
		return err
	}
	return c.openValues(v.Encoding, plain)
}

// openValues sets how values are taken from a page.
func (c *column) openValues(encoding format.Encoding, plain []byte) (err error) {
	l := c.leaf
	c.values, c.pos, c.dictionary = nil, 0, nil
	switch encoding {
	case format.Plain:
		if l.physical == format.Boolean {
			c.indexes.resetPacked(plain, 1)
			return c.useDictionary(booleans)
		}
		c.values = plain
	case format.RLE:
		if l.physical != format.Boolean || len(plain) < 4 || int64(le.Uint32(plain)) > int64(len(plain)-4) {
			return corrupt("%d bytes of %s encoded as RLE", len(plain), l.physical)
		}
		c.indexes.reset(plain[4:4+le.Uint32(plain)], 1)
		return c.useDictionary(booleans)
	case plainDictionary, format.RLEDictionary:
		if c.dict == nil {
			return corrupt("indexes without a dictionary")
		}
		if len(plain) == 0 {
			plain = []byte{0} // a page of nulls may leave the width out
		}
		if plain[0] > 32 {
			return corrupt("indexes of %d bits", plain[0])
		}
		c.indexes.reset(plain[1:], int(plain[0]))
		return c.useDictionary(c.dict)
	default:
		c.values, err = c.expand(encoding, plain)
		if err == nil {
			err = c.account(&c.pageSize, len(c.values))
		}
	}
	c.take = l.taker()
	return err
}

// expand brings a page into the form of PLAIN.
func (c *column) expand(encoding format.Encoding, page []byte) ([]byte, error) {
	l, e, out := c.leaf, expander{limit: c.limits.Page}, c.page[:0]
	var err error
	switch {
	case len(page) == 0: // nulls
	case encoding == format.DeltaBinaryPacked && (l.physical == format.Int32 || l.physical == format.Int64):
		out, _, err = e.deltas(out, page, l.width)
	case encoding == format.DeltaLengthByteArray && l.physical == format.ByteArray:
		out, err = e.deltaLengths(out, page)
	case encoding == format.DeltaByteArray && (l.physical == format.ByteArray || l.physical == format.FixedLenByteArray):
		out, err = e.deltaBytes(out, page, l.width)
	case encoding == format.ByteStreamSplit && l.width > 0 && l.physical != format.Boolean && l.physical != format.Int96:
		out, err = split(out, page, l.width)
	default:
		return nil, unsupported("%s encoded as %s (%d)", l.physical, encoding, encoding)
	}
	if err == nil {
		c.page = out
	}
	return out, err
}
