package proto

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// JSONSchema describes the documents: objects that are open at their root, with those fields required that are always written. Messages that hold themselves, and what would
// make the schema larger than schemaSize, are objects of which nothing is said.
func (m *Message) JSONSchema() []byte {
	s := schemaWriter{}
	s.message(m.plan)
	return s.dst
}

const schemaSize = 256 << 10

type schemaWriter struct {
	dst  []byte
	open []*plan
}

func (s *schemaWriter) text(text string) { s.dst = append(s.dst, text...) }

func (s *schemaWriter) message(m *plan) {
	if text, ok := wellKnownSchemas[m.name]; ok {
		s.text(text)
		return
	}
	for _, outer := range s.open {
		if outer == m {
			s.text(`{"type":"object"}`)
			return
		}
	}
	if len(s.dst) > schemaSize {
		s.text(`{"type":"object"}`)
		return
	}
	s.open = append(s.open, m)
	s.text(`{"type":"object"`)
	separator := `,"required":[`
	for i := range m.fields {
		if f := &m.fields[i]; !f.presence || f.required {
			s.text(separator)
			s.dst = jsontext.AppendString(s.dst, []byte(f.name))
			separator = ","
		}
	}
	if separator == "," {
		s.text("]")
	}
	separator = `,"properties":{`
	for i := range m.fields {
		s.text(separator)
		s.dst = append(s.dst, m.fields[i].member...)
		s.field(&m.fields[i])
		separator = ","
	}
	if len(m.fields) > 0 {
		s.text("}")
	}
	s.text("}")
	s.open = s.open[:len(s.open)-1]
}

func (s *schemaWriter) field(f *field) {
	switch {
	case f.dict:
		s.text(`{"type":"object","additionalProperties":`)
		s.value(&f.message.fields[1])
		s.text("}")
	case f.list:
		s.text(`{"type":"array","items":`)
		s.value(f)
		s.text("}")
	default:
		s.value(f)
	}
}

func (s *schemaWriter) value(f *field) {
	switch f.kind {
	case protoreflect.BoolKind:
		s.text(`{"type":"boolean"}`)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		s.text(`{"type":"integer"}`)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		s.text(integerText)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		s.text(numberText)
	case protoreflect.BytesKind:
		s.text(`{"type":"string","contentEncoding":"base64"}`)
	case protoreflect.EnumKind:
		if f.enum.null {
			s.text(`{"type":"null"}`)
			return
		}
		s.text(`{"type":["string","integer"]}`) // a number that has no name
	case protoreflect.StringKind:
		s.text(`{"type":"string"}`)
	case protoreflect.MessageKind, protoreflect.GroupKind:
		s.message(f.message)
	}
}

const (
	integerText = `{"type":"string","format":"integer"}`
	numberText  = `{"type":["number","string"]}` // "NaN", "Infinity", "-Infinity"
)

var wellKnownSchemas = map[protoreflect.FullName]string{
	"google.protobuf.Timestamp":   `{"type":"string","format":"date-time"}`,
	"google.protobuf.Duration":    `{"type":"string"}`,
	"google.protobuf.FieldMask":   `{"type":"string"}`,
	"google.protobuf.Any":         `{"type":"object"}`,
	"google.protobuf.Struct":      `{"type":"object"}`,
	"google.protobuf.ListValue":   `{"type":"array"}`,
	"google.protobuf.Value":       `{}`,
	"google.protobuf.BoolValue":   `{"type":"boolean"}`,
	"google.protobuf.Int32Value":  `{"type":"integer"}`,
	"google.protobuf.UInt32Value": `{"type":"integer"}`,
	"google.protobuf.Int64Value":  integerText,
	"google.protobuf.UInt64Value": integerText,
	"google.protobuf.FloatValue":  numberText,
	"google.protobuf.DoubleValue": numberText,
	"google.protobuf.StringValue": `{"type":"string"}`,
	"google.protobuf.BytesValue":  `{"type":"string","contentEncoding":"base64"}`,
}
