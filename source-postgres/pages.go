package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// pagesPerRange is how much of a large keyless table one chunk reads: 64 MiB of 8 KiB pages.
const pagesPerRange = 8192

// pageRange is one range of a keyless table that is too large for a single snapshot. The table's end is fixed by the first range's transaction; rows
// behind it are in the log, every event of which is emitted from that transaction's snapshot on.
type pageRange struct {
	file      string // the table's files: other ones after a rewrite (VACUUM FULL, CLUSTER), when page numbers mean nothing any more
	from, to  int64
	end       int64
	restarted bool
}

// pageRange returns the range to read; nil: the whole table at once. TID ranges are quick from version 14 on; before, the whole table is read at once.
func (c *chunk) pageRange(ctx context.Context) (*pageRange, error) {
	file, pages, err := c.files(ctx)
	if err != nil {
		return nil, err
	}
	limit := int64(c.scanner.session.config.Advanced.KeylessChunkPages)
	if c.req.After == nil && (pages <= limit || c.scanner.session.version < 140000) {
		return nil, nil
	}
	p := &pageRange{file: file, end: pages}
	if c.req.After != nil {
		elements, err := rowkey.Literals(c.req.After)
		if err != nil || len(elements) != 3 {
			return nil, fmt.Errorf("reading the progress %x of a keyless table", []byte(c.req.After))
		}
		from, errFrom := strconv.ParseInt(elements[1].Text, 10, 64)
		end, errEnd := strconv.ParseInt(elements[2].Text, 10, 64)
		if errFrom != nil || errEnd != nil {
			return nil, fmt.Errorf("reading the progress %x of a keyless table", []byte(c.req.After))
		}
		if elements[0].Text == file {
			p.from, p.end = from, end
		} else {
			p.restarted = true
		}
	}
	p.to = p.from + min(pagesPerRange, limit)
	return p, nil
}

// files names the table's files and counts the pages of the largest of them; a partitioned table has one for each leaf.
func (c *chunk) files(ctx context.Context) (file string, pages int64, err error) {
	results, err := c.scanner.conn.Exec(ctx, `WITH RECURSIVE t (oid) AS (SELECT `+c.table.Identity+`::oid
			UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.oid WHERE (SELECT relkind FROM pg_class WHERE oid = `+c.table.Identity+`) = 'p')
		SELECT md5(string_agg(coalesce(pg_relation_filenode(oid), 0)::text, ',' ORDER BY oid)),
			max(coalesce(pg_relation_size(oid), 0) / current_setting('block_size')::int) FROM t`)
	if err != nil {
		return "", 0, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || results[0].Rows[0][0] == nil || results[0].Rows[0][1] == nil {
		return "", 0, fmt.Errorf("asking for the size of %s: the answer is empty", c.table)
	}
	pages, err = strconv.ParseInt(*results[0].Rows[0][1], 10, 64)
	return *results[0].Rows[0][0], pages, err
}

// where bounds the range on both sides: without an upper bound each range would read to the table's end, and an ORDER BY would sort it (bugs sql-cdc
// 24, 25).
func (p *pageRange) where() string {
	return " WHERE ctid >= '(" + strconv.FormatInt(p.from, 10) + ",0)'::tid AND ctid < '(" + strconv.FormatInt(p.to, 10) + ",0)'::tid"
}

func (p *pageRange) more() bool { return p.to < p.end }

func (p *pageRange) progress() rowkey.Key {
	key := rowkey.AppendText(nil, []byte(p.file))
	return rowkey.AppendInt(rowkey.AppendInt(key, p.to), p.end)
}
