package parser

import (
	"errors"

	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/proto"
)

// messages reads Protobuf.
type messages struct {
	text    *text
	reader  *proto.Reader
	message *proto.Message
	decoder *proto.Decoder
	plan    *columns.RecordPlan
}

func (r *Reader) beginProtobuf(in *opened, from position) error {
	o := r.config.protobuf()
	if o.ProtoFile == "" || o.Message == "" {
		return fileError(KindConfig, "it is Protobuf by its name or content type, but no .proto file and message are given: set format.config.protoFile and message")
	}
	r.setThreshold(o.ErrorThreshold)
	message, err := proto.Parse([]byte(o.ProtoFile), o.Message)
	if err != nil {
		return fileError(KindConfig, "%w", err)
	}
	plan, err := r.planRecord(message.Fields())
	if err != nil {
		return err
	}
	t := undecoded(in)
	bytes, err := t.at(from.Byte)
	if err != nil {
		return err
	}
	framing := proto.Single
	if o.Delimited {
		framing = proto.Delimited
	}
	r.docs = &messages{text: t, reader: proto.NewReader(bytes, framing, 0, from.Byte), message: message, decoder: message.NewDecoder(proto.Limits{}), plan: plan}
	return nil
}

func (m *messages) next(dst []byte, n int64) ([]byte, error) {
	at := m.reader.Position()
	message, err := m.reader.Next()
	if err != nil {
		return dst, err
	}
	if err = m.decoder.Decode(message); err == nil {
		dst, err = m.plan.Append(dst, n, m.decoder.AppendField)
	}
	if bad, ok := errors.AsType[*proto.MessageError](err); ok {
		return dst, &rowError{is: &Error{Byte: at, Column: bad.Field, Reason: bad.Reason, Err: err}, raw: message}
	}
	return dst, err
}

func (m *messages) position() position { return position{Byte: m.reader.Position()} }

func (m *messages) jsonSchema() []byte { return m.message.JSONSchema() }

func (m *messages) close() { m.text.close() }
