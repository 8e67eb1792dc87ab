package parser

import (
	"bytes"
	"errors"
	"io"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/columns"
)

// beginText reads text formats.
func (r *Reader) beginText(d described, in *opened, k, explicit kind, from position) error {
	_, hint := mediaType(d.contentType)
	encoding := ""
	switch k {
	case csvKind, tsvKind:
		encoding = r.config.delimited(k).Encoding
	case jsonKind:
		encoding = r.config.json().Encoding
	case w3cKind:
		encoding = r.config.w3c().Encoding
	default:
		for _, e := range []string{r.config.delimited(csvKind).Encoding, r.config.json().Encoding, r.config.w3c().Encoding} {
			if encoding == "" {
				encoding = e
			}
		}
	}
	t, err := newText(in, encoding, hint, k, r.warnFile)
	if err != nil {
		return err
	}
	if k == auto {
		k = byFirstBytes(t.sample)
	}
	switch {
	case explicit == auto && isXML(t.sample):
		return fileError(KindData, "it is XML, which is not supported")
	case k == csvKind, k == tsvKind:
		return r.beginDelimited(t, k, from)
	case k == jsonKind:
		return r.beginJSON(t, from)
	case k == w3cKind:
		return r.beginW3C(t, from)
	case len(bytes.TrimSpace(t.sample)) == 0 && t.whole:
		r.docs = nothing{}
		t.close()
		return nil
	}
	return fileError(KindConfig, "%w: set parser.format to one of %s", ErrNoFormat, kindNames())
}

// setThreshold makes the window that holds rows back.
func (r *Reader) setThreshold(percent int) {
	if r.threshold = percent; percent > 0 && percent < 100 {
		r.window = newWindow(percent)
	}
}

// columnOptions are those of a plan.
func (r *Reader) columnOptions() (columns.Options, error) {
	o := columns.Options{Projections: r.config.Projections, AddValues: r.config.AddValues, OffsetAt: r.config.AddRecordOffset}
	if len(r.config.Schema) == 0 {
		return o, nil
	}
	var err error
	if o.Schema, err = jsonschema.Parse(r.config.Schema); err != nil {
		return o, fileError(KindConfig, "reading the schema: %w", err)
	}
	return o, nil
}

// planned tells of a plan's warnings, and makes its error one of the file: config and header do not fit.
func (r *Reader) planned(warnings []string, err error) error {
	for _, w := range warnings {
		r.warnFile("%s", w)
	}
	if l, ok := errors.AsType[*columns.LimitError](err); ok {
		return fileError(KindLimit, "%w", l)
	}
	if err != nil {
		return fileError(KindConfig, "%w", err)
	}
	return nil
}

// nothing has no documents.
type nothing struct{}

func (nothing) next(dst []byte, _ int64) ([]byte, error) { return dst, io.EOF }
func (nothing) position() position                       { return position{} }
func (nothing) close()                                   {}
