package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/testsupport/fixture"
)

// plainLoopCommand makes this program the loop itself, so that its CPU time is a process's own like the connector's.
const plainLoopCommand = "plain-loop"

func executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return self, nil
}

// plainLoop is what a capture would be if it did nothing but move text: it reads the table by COPY through a common driver, and writes for each row a line
// of the given length with the columns by name. No types, no keys, no position, no state. It finds the server by libpq's variables.
func plainLoop(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("running the plain loop: it takes the length of a line")
	}
	lineBytes, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("running the plain loop: %w", err)
	}
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, "")
	if err != nil {
		return fmt.Errorf("running the plain loop: %w", err)
	}
	w := &loopWriter{out: out, lineBytes: lineBytes}
	_, err = conn.CopyTo(ctx, w, "COPY "+table+" TO STDOUT")
	return errors.Join(err, w.flush(), conn.Close(ctx))
}

const loopBlock = 64 << 10

// loopWriter gets one row of COPY's text with each Write.
type loopWriter struct {
	out       io.Writer
	buf       []byte
	lineBytes int
}

func (w *loopWriter) Write(row []byte) (int, error) {
	begin := len(w.buf)
	w.buf = append(w.buf, `{"type":"RECORD","record":{"stream":"wide","data":{`...)
	rest := bytes.TrimSuffix(row, newline)
	for _, name := range fixture.Columns {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte{'\t'})
		w.buf = append(append(append(w.buf, '"'), name...), `":"`...)
		w.appendText(field)
		w.buf = append(w.buf, `",`...)
	}
	w.buf = append(w.buf, `"_meta":"`...)
	for len(w.buf)-begin < w.lineBytes-len(loopClosing) {
		missing := w.lineBytes - len(loopClosing) - (len(w.buf) - begin)
		w.buf = append(w.buf, loopFiller[:min(missing, len(loopFiller))]...)
	}
	w.buf = append(w.buf, loopClosing...)
	if len(w.buf) < loopBlock {
		return len(row), nil
	}
	return len(row), w.flush()
}

const (
	loopFiller  = "................................................................................................................................"
	loopClosing = "\"}}}\n"
)

// appendText escapes what JSON wants escaped; COPY's own escapes have a backslash, which is doubled.
func (w *loopWriter) appendText(field []byte) {
	plain := 0
	for i, c := range field {
		if c == '"' || c == '\\' {
			w.buf = append(append(w.buf, field[plain:i]...), '\\')
			plain = i
		}
	}
	w.buf = append(w.buf, field[plain:]...)
}

func (w *loopWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
