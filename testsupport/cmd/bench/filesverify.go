package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// verifyText compares every value's text with DuckDB's, row by row: what a type has made of a value, a number or a truth value, is still its text.
func (f *files) verifyText(ctx context.Context, file, config, from string) error {
	want := f.path("want.ndjson")
	if _, err := f.duckdb.run(ctx, "COPY ("+from+") TO '"+want+"' (FORMAT json)"); err != nil {
		return err
	}
	in, err := os.Open(want)
	if err != nil {
		return fmt.Errorf("reading what DuckDB has written: %w", err)
	}
	lines := bufio.NewReaderSize(in, readBytes)
	row := int64(0)
	compare := &splitter{line: func(line []byte) error {
		theirs, failed := lines.ReadBytes('\n')
		if failed != nil {
			return fmt.Errorf("reading what DuckDB has written: row %d: %w", row, failed)
		}
		a, failed := texts(line)
		if failed != nil {
			return failed
		}
		b, failed := texts(theirs)
		if failed != nil {
			return failed
		}
		if len(a) != len(b)+1 || a["_meta"] == "" {
			return fmt.Errorf("comparing row %d: %d members, DuckDB has %d and no _meta", row, len(a), len(b))
		}
		for name, value := range b {
			if a[name] != value {
				return fmt.Errorf("comparing row %d: %s is %q, DuckDB has %q", row, name, a[name], value)
			}
		}
		row++
		return nil
	}}
	_, err = command{path: f.b.built.parser, args: []string{"parse", "--config", f.path(config)}, stdin: f.path(file)}.run(ctx, compare)
	if err == nil && row != f.rows {
		err = fmt.Errorf("comparing the rows of %s: %d, want %d", file, row, f.rows)
	}
	if err == nil {
		if _, rest := lines.ReadByte(); !errors.Is(rest, io.EOF) {
			err = fmt.Errorf("comparing the rows of %s: DuckDB has more", file)
		}
	}
	if err == nil {
		f.b.progress("%s: every value's text equals DuckDB's", file)
	}
	return errors.Join(err, in.Close(), os.Remove(want))
}

// texts are the members of a flat object by name; strings without quotes and escapes, everything else as it stands.
func texts(line []byte) (map[string]string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, fmt.Errorf("reading a document: %w: %.300s", err, line)
	}
	values := make(map[string]string, len(members))
	for name, raw := range members {
		values[name] = string(raw)
		if bytes.HasPrefix(raw, []byte{'"'}) {
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, fmt.Errorf("reading a value: %w", err)
			}
			values[name] = s
		}
	}
	return values, nil
}
