package parser

import (
	"errors"

	"github.com/estuary/connectors/parser/avro"
	"github.com/estuary/connectors/parser/internal/columns"
)

// records reads what avro.File and avro.Messages have in common.
type records interface {
	Next() error
	AppendField(dst []byte, i int) ([]byte, bool, error)
}

// avroRecords reads Avro, in a container file or datums back to back.
type avroRecords struct {
	text    *text
	schema  *avro.Schema
	records records
	where   func() position
	begin   func() int64 // of the record or, in a container, of its block
	value   func(dst []byte, i int) ([]byte, bool, error)
	plan    *columns.RecordPlan
}

// undecoded is a text that is not decoded: bytes, and how to get at those of another place.
func undecoded(in *opened) *text {
	t := &text{file: in, in: &rewinder{in: in.stream, keep: true}}
	if in.layers == 0 && in.reopen != nil {
		t.jump = in.reopen
	}
	return t
}

func (r *Reader) beginAvro(in *opened, container bool, from position) error {
	t := undecoded(in)
	var a *avroRecords
	var schema *avro.Schema
	var err error
	o := r.config.avro()
	r.setThreshold(o.ErrorThreshold)
	switch {
	case container:
		a, schema, err = avroFile(t, from)
	case o.Schema != "":
		a, schema, err = avroMessages(t, o, from)
	default:
		return fileError(KindData, "it does not begin as Avro container files do, and no schema for messages is given at format.config.schema")
	}
	if err != nil {
		return err
	}
	if a.plan, err = r.planRecord(schema.Fields()); err != nil {
		return err
	}
	a.value, a.schema = a.records.AppendField, schema
	r.docs = a
	return nil
}

func avroFile(t *text, from position) (*avroRecords, *avro.Schema, error) {
	f, err := avro.NewFile(t.header(), avro.Limits{})
	if err != nil {
		return nil, nil, err
	}
	if !from.Begun {
		t.in.keep = false
	} else {
		in, err := t.at(from.Byte)
		if err != nil {
			return nil, nil, err
		}
		if f, err = avro.ResumeFile(f, in, avro.Position{Byte: from.Byte, Block: int64(from.Group), Index: int(from.Index)}); err != nil {
			return nil, nil, err
		}
	}
	where := func() position {
		at := f.Position()
		return position{Byte: at.Byte, Group: int(at.Block), Index: int64(at.Index)}
	}
	return &avroRecords{text: t, records: f, where: where, begin: func() int64 { return f.Position().Byte }}, f.Schema(), nil
}

func avroMessages(t *text, o Avro, from position) (*avroRecords, *avro.Schema, error) {
	schema, err := avro.Parse([]byte(o.Schema))
	if err != nil {
		return nil, nil, fileError(KindConfig, "reading avro.schema: %w", err)
	}
	framing := avro.Bare
	if o.Framing == string(avro.Single) {
		framing = avro.Single
	}
	in, err := t.at(from.Byte)
	if err != nil {
		return nil, nil, err
	}
	m, err := avro.NewMessages(in, schema, framing, avro.Limits{}, from.Byte)
	if err != nil {
		return nil, nil, err
	}
	return &avroRecords{text: t, records: m, where: func() position { return position{Byte: m.Position()} }, begin: m.Begin}, schema, nil
}

func (a *avroRecords) next(dst []byte, n int64) ([]byte, error) {
	if err := a.records.Next(); err != nil {
		return dst, err
	}
	dst, err := a.plan.Append(dst, n, a.value)
	if bad, ok := errors.AsType[*avro.ValueError](err); ok {
		return dst, &rowError{is: &Error{Byte: a.begin(), Column: bad.Column, Reason: "cannot be written: " + bad.Reason, Value: bad.Value, Err: err}}
	}
	return dst, err
}

func (a *avroRecords) position() position { return a.where() }

func (a *avroRecords) jsonSchema() []byte { return a.schema.JSONSchema(true) }

func (a *avroRecords) close() { a.text.close() }
