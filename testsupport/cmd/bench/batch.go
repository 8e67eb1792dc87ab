package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v4"
)

// batchCommand makes this program the reference of updates.
const batchCommand = "batch-updates"

// batchRows are the updates of one batch, which is one transaction.
const batchRows = 5000

// batchUpdates is what a common program does: it updates every column of each row by its key, in batches of prepared statements. The arguments are the
// table and its key column, the rows come in COPY's text form in the order of the table's columns. It finds the server by libpq's variables.
func batchUpdates(args []string, in io.Reader) (err error) {
	if len(args) != 2 {
		return errors.New("updating in batches: it takes a table and its key column")
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "")
	if err != nil {
		return fmt.Errorf("updating in batches: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	update, err := updateStatement(ctx, conn, args[0], args[1])
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(in, readBytes)
	for done := false; !done; {
		var batch pgx.Batch
		for batch.Len() < batchRows {
			line, readErr := lines.ReadBytes('\n')
			if errors.Is(readErr, io.EOF) {
				done = true
				break
			}
			if readErr != nil {
				return fmt.Errorf("updating in batches: %w", readErr)
			}
			batch.Queue(update, copyFields(bytes.TrimSuffix(line, newline))...)
		}
		if batch.Len() == 0 {
			break
		}
		results := conn.SendBatch(ctx, &batch)
		for range batch.Len() {
			tag, execErr := results.Exec()
			if execErr == nil && tag.RowsAffected() != 1 {
				execErr = fmt.Errorf("an update has changed %d rows", tag.RowsAffected())
			}
			if execErr != nil {
				return fmt.Errorf("updating in batches: %w", errors.Join(execErr, results.Close()))
			}
		}
		if err := results.Close(); err != nil {
			return fmt.Errorf("updating in batches: %w", err)
		}
	}
	return nil
}

// updateStatement has the table's columns as parameters, in their order.
func updateStatement(ctx context.Context, conn *pgx.Conn, table, key string) (string, error) {
	rows, err := conn.Query(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return "", fmt.Errorf("updating in batches: %w", err)
	}
	defer rows.Close()
	var set []string
	where := ""
	for i, c := range rows.FieldDescriptions() {
		assign := pgx.Identifier{string(c.Name)}.Sanitize() + " = $" + strconv.Itoa(i+1)
		if string(c.Name) == key {
			where = assign
		} else {
			set = append(set, assign)
		}
	}
	if where == "" {
		return "", fmt.Errorf("updating in batches: table %s has no column %s", table, key)
	}
	return "UPDATE " + table + " SET " + strings.Join(set, ", ") + " WHERE " + where, nil
}

// copyFields are the values of a row; NULL is nil.
func copyFields(line []byte) []any {
	var values []any
	for field := range bytes.SplitSeq(line, []byte{'\t'}) {
		if string(field) == `\N` {
			values = append(values, nil)
			continue
		}
		values = append(values, unescapeCopy(field))
	}
	return values
}

// unescapeCopy undoes the escapes that the server writes.
func unescapeCopy(field []byte) string {
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field)
	}
	out := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\\' && i+1 < len(field) {
			i++
			if c = field[i]; strings.IndexByte("bfnrtv", c) >= 0 {
				c = "\b\f\n\r\t\v"[strings.IndexByte("bfnrtv", c)]
			}
		}
		out = append(out, c)
	}
	return string(out)
}
