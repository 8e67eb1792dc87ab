package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

// outBytes is the buffer before stdout.
const outBytes = 256 << 10

// parse writes the documents of a file.
func parse(p process, a arguments, log *logrus.Logger) (err error) {
	c, err := readConfig(a.Config)
	if err != nil {
		return err
	}
	in, file, err := input(p, a.File)
	if err != nil {
		return err
	}
	defer file.Close()
	c.OnWarning = func(sentence string) { log.Warn(sentence) }
	c.OnInfo = func(sentence string) { log.Info(sentence) }
	if a.Rejects != "" {
		rejects, err := os.Create(a.Rejects)
		if err != nil {
			return fmt.Errorf("opening the file of rejects: %w", err)
		}
		out := bufio.NewWriter(rejects)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		c.OnReject = func(bad *parser.Error, raw []byte) {
			_ = lines.Encode(reject{bad.File, bad.Row, bad.Line, bad.Byte, told(bad), string(raw)}) // Flush tells
		}
		defer func() { err = errors.Join(err, out.Flush(), rejects.Close()) }()
	}
	return copyDocuments(p.stdout, c, in)
}

// reject is a line of the file of rejects.
type reject struct {
	File  string `json:"file"`
	Row   int64  `json:"row"`
	Line  int64  `json:"line"`
	Byte  int64  `json:"byte"`
	Error string `json:"error"`
	Raw   string `json:"raw"`
}

// told is an error without its place, which has fields of its own.
func told(bad *parser.Error) string {
	only := *bad
	only.File, only.Row, only.Line, only.Byte = "", 0, 0, -1
	return only.Error()
}

func copyDocuments(stdout io.Writer, c *parser.Config, in parser.Input) (err error) {
	r, err := parser.Open(context.Background(), c, in, parser.Cursor{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	buf := make([]byte, 0, outBytes)
	for {
		doc, err := r.Next(buf)
		if err == nil {
			buf = append(doc, '\n')
			if len(buf) < outBytes/2 {
				continue
			}
		}
		if _, failed := stdout.Write(buf); failed != nil {
			return fmt.Errorf("writing documents: %w", failed)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if buf = buf[:0]; cap(buf) > 4*outBytes { // a large document need not be kept
			buf = make([]byte, 0, outBytes)
		}
	}
}

func readConfig(path string) (*parser.Config, error) {
	var raw []byte
	if path != "" {
		var err error
		if raw, err = os.ReadFile(path); err != nil {
			return nil, &protocol.Problem{Kind: protocol.Config, Summary: "the config cannot be read", Fix: err.Error(), Err: err}
		}
	}
	c, err := config.Decode[parser.Config](raw)
	return &c, err
}

// input is a file, or stdin. A file behind stdin is read like any other.
func input(p process, path string) (parser.Input, *os.File, error) {
	f := p.stdin
	if path != "" && path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return parser.Input{}, nil, fmt.Errorf("opening the file: %w", err)
		}
	}
	in := parser.Input{Size: -1, Once: true, Open: func(context.Context, int64, int64) (io.ReadCloser, error) { return io.NopCloser(f), nil }}
	if f != p.stdin {
		in.Name = f.Name()
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		begin, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return in, f, fmt.Errorf("looking where the input begins: %w", err)
		}
		whole(&in, f, begin, max(0, info.Size()-begin))
	}
	return in, f, nil
}

// whole makes an input one that can be read anywhere.
func whole(in *parser.Input, f *os.File, begin, size int64) {
	in.Once, in.Size = false, size
	in.Open = func(_ context.Context, off, n int64) (io.ReadCloser, error) {
		if n < 0 {
			n = size - off
		}
		return io.NopCloser(io.NewSectionReader(f, begin+off, n)), nil
	}
}
