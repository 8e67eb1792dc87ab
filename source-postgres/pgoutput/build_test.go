package pgoutput

import (
	"encoding/binary"
	"strings"

	"github.com/estuary/connectors/sqlcapture"
)

// build makes a message's bytes: strings are zero-terminated, numbers have their Go type's width.
func build(kind byte, parts ...any) []byte {
	b := []byte{kind}
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			b = append(append(b, part...), 0)
		case []byte:
			b = append(b, part...)
		case byte:
			b = append(b, part)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, part)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, part)
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(part))
		case uint64:
			b = binary.BigEndian.AppendUint64(b, part)
		default:
			panic("what is this?")
		}
	}
	return b
}

// row makes a tuple's bytes. NULL and UNCHANGED stand for themselves.
func row(values ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(values)))
	for _, v := range values {
		switch v {
		case "NULL":
			b = append(b, 'n')
		case "UNCHANGED":
			b = append(b, 'u')
		default:
			b = binary.BigEndian.AppendUint32(append(b, 't'), uint32(len(v)))
			b = append(b, v...)
		}
	}
	return b
}

// describeItems is the description of public.items(id int key, name text, note text), with OID 42.
func describeItems(identity byte, keys ...byte) []byte {
	parts := []any{uint32(42), "public", "items", identity, uint16(3)}
	for i, name := range []string{"id", "name", "note"} {
		parts = append(parts, keys[i], name, []uint32{23, 25, 25}[i], int32(-1))
	}
	return build('R', parts...)
}

// show renders values for comparing.
func show(vs []sqlcapture.Value) string {
	if vs == nil {
		return "none"
	}
	var out []string
	for _, v := range vs {
		switch {
		case sqlcapture.IsAbsent(v):
			out = append(out, "ABSENT")
		case v == nil:
			out = append(out, "NULL")
		default:
			out = append(out, string(v))
		}
	}
	return strings.Join(out, "|")
}
