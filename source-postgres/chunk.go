package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// chunk is a part of a table in one transaction.
type chunk struct {
	scanner  *scanner
	req      sqlcapture.ScanRequest
	table    *sqlcapture.Table
	snapshot *snapshot
	copied   *pgwire.CopyReader
	fields   [][]byte
	rows     int
	until    rowkey.Key
	pages    *pageRange // keyless tables that are read range by range
	more     bool
}

var _ sqlcapture.Chunk = (*chunk)(nil)

// Table describes the table as the chunk's transaction sees it.
func (c *chunk) Table() *sqlcapture.Table { return c.table }

// Snapshot is the transaction's.
func (c *chunk) Snapshot() sqlcapture.Snapshot { return c.snapshot }

// Until is the greatest key of the first chunk's snapshot.
func (c *chunk) Until() rowkey.Key { return c.until }

// More tells whether rows may be left.
func (c *chunk) More() bool { return c.more }

// Progress is where the next page range begins.
func (c *chunk) Progress() rowkey.Key {
	if c.pages == nil {
		return nil
	}
	return c.pages.progress()
}

// Restarted: the table was rewritten, so the ranges that were read mean nothing.
func (c *chunk) Restarted() bool { return c.pages != nil && c.pages.restarted }

// Close ends the transaction.
func (c *chunk) Close() error {
	var err error
	if c.copied != nil {
		err = c.copied.Close()
	}
	c.scanner.rollback()
	return err
}

// start runs the chunk's query.
func (c *chunk) start(ctx context.Context) error {
	if path := c.scanner.searchPath(c.table, c.req.Key); path != "" {
		if _, err := c.scanner.conn.Exec(ctx, path); err != nil {
			return err
		}
	}
	query, err := c.query(ctx)
	if err != nil || query == "" {
		return err
	}
	if timeout := c.scanner.session.config.Advanced.StatementTimeout; timeout > 0 {
		if _, err := c.scanner.conn.Exec(ctx, "SET LOCAL statement_timeout = "+strconv.FormatInt(timeout.Milliseconds(), 10)); err != nil {
			return err
		}
	}
	c.copied, err = c.scanner.conn.CopyOut(ctx, query)
	return err
}

// query is the chunk's COPY; empty: the table has changed so much that the engine will not want its rows.
func (c *chunk) query(ctx context.Context) (string, error) {
	from := c.table.Native.(*relation).sqlOnly() //nolint:forcetypeassert // the catalog sets it
	values, form := c.scanner.session.catalog.types.textColumns(c.table)
	all, end := "COPY (SELECT "+values+" FROM "+from, ") TO STDOUT"+form
	if len(c.req.Key) == 0 {
		var err error
		if c.pages, err = c.pageRange(ctx); err != nil || c.pages == nil {
			return all + end, err
		}
		return all + c.pages.where() + end, nil
	}
	key, err := columnsNamed(c.table, c.req.Key)
	if err != nil {
		return "", nil //nolint:nilerr // the engine compares the keys and starts the table over
	}
	if c.until = c.req.Until; c.until == nil {
		if c.until, err = c.greatestKey(ctx, from, key); err != nil {
			return "", err
		}
	}
	var where []string
	for _, bound := range []struct {
		operator string
		key      rowkey.Key
	}{{">", c.req.After}, {"<=", c.until}} {
		if bound.key == nil {
			continue
		}
		literals, err := keyLiterals(bound.key)
		if err != nil {
			return "", err
		}
		where = append(where, "("+sqlColumns(key)+") "+bound.operator+" "+literals)
	}
	if len(where) > 0 {
		all += " WHERE " + strings.Join(where, " AND ")
	}
	// No parentheses around the columns: ORDER BY (a, b) sorts by a row value, for which no index serves (bug sql-cdc 9).
	return all + " ORDER BY " + sqlColumns(key) + " LIMIT " + strconv.Itoa(c.req.Limit) + end, nil
}

// greatestKey reads the last key in this snapshot; nil: the table is empty.
func (c *chunk) greatestKey(ctx context.Context, from string, key []sqlcapture.Column) (rowkey.Key, error) {
	results, err := c.scanner.conn.Exec(ctx, "SELECT "+sqlColumns(key)+" FROM "+from+" ORDER BY "+strings.ReplaceAll(sqlColumns(key), ", ", " DESC, ")+" DESC LIMIT 1")
	if err != nil || len(results) == 0 || len(results[0].Rows) == 0 {
		return nil, err
	}
	fields := make([][]byte, len(key))
	for i, v := range results[0].Rows[0] {
		if v != nil {
			fields[i] = []byte(*v)
		}
	}
	return appendRowKey(nil, key, fields)
}

// Next returns the next row. A statement timeout ends the chunk at the last whole row.
func (c *chunk) Next() ([]sqlcapture.Value, error) {
	if c.copied == nil {
		return nil, io.EOF
	}
	var err error
	c.fields, err = c.copied.Next(c.fields)
	switch {
	case err == nil:
		c.rows++
		return c.fields, nil
	case errors.Is(err, io.EOF):
		c.more = len(c.req.Key) > 0 && c.rows >= c.req.Limit || c.pages != nil && c.pages.more()
		return nil, io.EOF
	case isTimeout(err) && len(c.req.Key) > 0 && c.rows > 0:
		c.more = true
		return nil, io.EOF
	case isTimeout(err):
		return nil, c.timedOut(err)
	}
	if large, ok := errors.AsType[*pgwire.MessageTooLargeError](err); ok {
		return nil, c.tooLarge(large)
	}
	return nil, c.scanner.scanError(c.req.Table, err)
}

// timedOut is the error of a query that came to nothing in its time, whether it was planned yet or not.
func (c *chunk) timedOut(err error) error {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("a query of the backfill of %s ran into its time limit before it returned a row", c.table),
		Fix: "raise advanced.statement_timeout, or set it to 0s", Err: err,
	}
}

// tooLarge names the row by those key columns that stand in what is known of it, its beginning.
func (c *chunk) tooLarge(err *pgwire.MessageTooLargeError) error {
	var key strings.Builder
	known := c.copied.Known(err.Head)
	for i, column := range c.table.Columns {
		if i < len(known) && slices.Contains(c.table.Key, column.Name) {
			fmt.Fprintf(&key, " %s=%.100s", column.Name, known[i])
		}
	}
	which := "a row"
	if key.Len() > 0 {
		which = "the row with" + key.String()
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("%s of table %s is %d bytes long, and no more than %d can be read", which, c.table, err.Bytes, err.Limit),
		Fix: "shorten its values, or leave the table out", Err: err,
	}
}

// columnsNamed picks columns by name.
func columnsNamed(t *sqlcapture.Table, names []string) ([]sqlcapture.Column, error) {
	list := make([]sqlcapture.Column, 0, len(names))
next:
	for _, name := range names {
		for _, c := range t.Columns {
			if c.Name == name {
				list = append(list, c)
				continue next
			}
		}
		return nil, fmt.Errorf("table %s has no column %q", t, name)
	}
	return list, nil
}

// sqlColumns renders "a", "b".
func sqlColumns(columns []sqlcapture.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quote(c.Name)
	}
	return strings.Join(names, ", ")
}

// keyLiterals renders ('1', 'a'). The literals have no type of their own, so they take the columns', and with it the columns' comparison.
func keyLiterals(key rowkey.Key) (string, error) {
	elements, err := rowkey.Literals(key)
	if err != nil {
		return "", fmt.Errorf("reading the key %x: %w", []byte(key), err)
	}
	texts := make([]string, len(elements))
	for i, e := range elements {
		texts[i] = "NULL"
		if !e.Null {
			texts[i] = pgwire.QuoteLiteral(e.Text)
		}
	}
	return "(" + strings.Join(texts, ", ") + ")", nil
}

func appendRowKey(dst rowkey.Key, columns []sqlcapture.Column, fields [][]byte) (rowkey.Key, error) {
	var err error
	for i, c := range columns {
		if fields[i] == nil {
			dst = rowkey.AppendNull(dst)
			continue
		}
		if dst, err = c.AppendKey(dst, fields[i]); err != nil {
			return nil, fmt.Errorf("encoding key column %q: %w", c.Name, err)
		}
	}
	return dst, nil
}
