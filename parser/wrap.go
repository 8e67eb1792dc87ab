package parser

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/parser/avro"
	"github.com/estuary/connectors/parser/internal/charset"
	"github.com/estuary/connectors/parser/internal/compress"
	"github.com/estuary/connectors/parser/parquet"
	"github.com/estuary/connectors/parser/proto"
)

// wrap makes an *Error with the file's name of whatever ended the reading; io.EOF stays.
func (r *Reader) wrap(err error) error {
	// A codec may take a source's error for the end, between two frames.
	broken := r.source.failure()
	if err == nil || errors.Is(err, io.EOF) && broken == nil {
		return err
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case broken != nil && !(ok && e.Kind == KindIO):
		e = &Error{Byte: -1, Reason: "reading the input: " + broken.Error(), Kind: KindIO, Err: broken}
	case !ok:
		e = r.locate(err)
	}
	if e.File == "" {
		e.File = r.file
	}
	return e
}

// locate takes from the errors of the packages below what they know of the place.
func (r *Reader) locate(err error) *Error {
	e := &Error{Byte: -1, Reason: err.Error(), Err: err}
	if canceled(err) {
		e.Kind = KindIO
		return e
	}
	if c, ok := errors.AsType[*compress.Error](err); ok {
		if e.Reason = c.Error(); c.Limit {
			e.Kind = KindLimit
		}
		return e
	}
	if m, ok := errors.AsType[*charset.MalformedError](err); ok {
		e.Reason, e.Byte = m.Error(), m.Byte
		return e
	}
	if a, ok := errors.AsType[*avro.Error](err); ok {
		e.Byte, e.Reason, e.Kind = a.Byte, a.Reason, limitIf(a.Limit)
		if a.Block > 0 {
			e.Reason = fmt.Sprintf("Avro block %d: %s", a.Block, a.Reason)
		}
		return e
	}
	if f, ok := errors.AsType[*proto.FramingError](err); ok {
		e.Byte, e.Reason, e.Kind = f.Byte, because(f.Reason, f.Err), limitIf(f.Limit)
		return e
	}
	if p, ok := errors.AsType[*parquet.Error](err); ok {
		e.Byte, e.Column, e.Reason, e.Kind = p.Byte, p.Column, because(p.Reason, p.Err), limitIf(p.Kind == parquet.Limit)
		if p.Group >= 0 {
			e.Reason = fmt.Sprintf("row group %d: %s", p.Group, e.Reason)
		}
		if p.Kind == parquet.IO {
			e.Kind = KindIO
		}
		return e
	}
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) {
		e.Reason = "the zip archive is broken: " + err.Error()
	}
	return e
}

func limitIf(limit bool) Kind {
	if limit {
		return KindLimit
	}
	return KindData
}

func because(reason string, cause error) string {
	if cause == nil {
		return reason
	}
	return reason + ": " + cause.Error()
}
