package parser

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/estuary/connectors/parser/internal/compress"
)

// Open begins to read a file: it takes its layers off, finds out its format and reads its header. from is where another Reader stopped; the zero Cursor is the
// start. A cursor of another config or of another size of the file is worth nothing: then it reads from the start, and warns. Errors are *Error.
//
// The context holds for the reading, too.
func Open(ctx context.Context, c *Config, in Input, from Cursor) (*Reader, error) {
	r := &Reader{config: c, source: newSource(ctx, in)}
	r.what = described{name: in.Name, contentType: in.ContentType, contentEncoding: in.ContentEncoding}
	for _, over := range []struct {
		field *string
		value string
	}{{&r.what.name, c.Filename}, {&r.what.contentType, c.ContentType}, {&r.what.contentEncoding, c.ContentEncoding}} {
		if over.value != "" {
			*over.field = over.value
		}
	}
	r.file = r.name()
	if err := r.open(from.at); err != nil { //nolint:contextcheck // the source has the caller's
		r.fail(err)
		return nil, r.failed
	}
	return r, nil
}

// name is that of the file, or what stands for it in messages.
func (r *Reader) name() string {
	if r.what.name == "" {
		return "input"
	}
	return r.what.name
}

func (r *Reader) open(from cursor) error {
	if err := r.config.check(); err != nil {
		return fileError(KindConfig, "%w", err)
	}
	r.at = cursor{Config: r.config.hash(), Size: max(0, r.source.size)}
	switch {
	case from == cursor{}:
	case from.Config != r.at.Config:
		r.warnFile("the config has changed since it was read in part; it is read from the start")
		from = cursor{}
	case from.Size != r.at.Size:
		r.warnFile("it had %d bytes when it was read in part and has %d now; it is read from the start", from.Size, r.at.Size)
		from = cursor{}
	default:
		r.at = from
	}
	if r.source.size == 0 {
		r.docs = nothing{}
		return nil
	}
	body, err := r.first()
	if err != nil {
		return err
	}
	in := &opened{body: body, source: r.source, size: r.source.size}
	if r.source.again() {
		in.reopen = r.source.from
	}
	if err := r.begin(r.what, in, from); err != nil {
		return err
	}
	r.row = from.Row
	return nil
}

// first opens the file at its start: as much as detection sees where the file will be read at random, as its name and its first bytes agree, else all of it.
func (r *Reader) first() (io.ReadCloser, error) {
	k := r.config.Format.kind()
	if k == auto {
		k = r.config.kindOf(r.what)
	}
	if !r.source.again() || r.source.size <= sampleBytes || k != parqKind && r.what.promised() != compress.Zip {
		return r.source.from(0)
	}
	body, err := r.source.part(0, sampleBytes)
	if err != nil {
		return nil, err
	}
	head := make([]byte, len(parquetMagic))
	if _, err := io.ReadFull(body, head); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	if bytes.Equal(head, parquetMagic) || bytes.Equal(head, parquetEncrypted) || compress.Detect(head) == compress.Zip {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), body), body}, nil
	}
	if err := body.Close(); err != nil {
		return nil, err
	}
	return r.source.from(0)
}
