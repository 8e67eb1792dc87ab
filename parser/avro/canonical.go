package avro

import (
	"strconv"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// canonical renders a type in the specification's Parsing Canonical Form: full names, no attributes but those that decide about bytes, no blanks.
func canonical(n *node) []byte {
	return appendCanonical(nil, n, map[*node]bool{})
}

func appendCanonical(dst []byte, n *node, defined map[*node]bool) []byte {
	if n.name != "" {
		if defined[n] {
			return jsontext.AppendString(dst, []byte(n.name))
		}
		defined[n] = true
		dst = jsontext.AppendString(append(dst, `{"name":`...), []byte(n.name))
	}
	switch n.kind {
	case kindRecord:
		dst = append(dst, `,"type":"record","fields":[`...)
		for i, f := range n.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(append(dst, `{"name":`...), []byte(f.name))
			dst = append(appendCanonical(append(dst, `,"type":`...), f.node, defined), '}')
		}
		return append(dst, "]}"...)
	case kindEnum:
		dst = append(dst, `,"type":"enum","symbols":[`...)
		for i, symbol := range n.quoted {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, symbol...)
		}
		return append(dst, "]}"...)
	case kindFixed:
		return append(strconv.AppendInt(append(dst, `,"type":"fixed","size":`...), int64(n.size), 10), '}')
	case kindArray:
		return append(appendCanonical(append(dst, `{"type":"array","items":`...), n.item, defined), '}')
	case kindMap:
		return append(appendCanonical(append(dst, `{"type":"map","values":`...), n.item, defined), '}')
	case kindUnion:
		for i, b := range n.branches {
			dst = appendCanonical(append(dst, "[,"[min(i, 1)]), b, defined)
		}
		return append(dst, ']')
	default:
		return append(append(append(dst, '"'), primitives[n.kind]...), '"')
	}
}

// describe names a type for an error.
func (n *node) describe() string {
	switch n.kind {
	case kindRecord:
		return "the record " + n.name
	case kindEnum:
		return "the enum " + n.name
	case kindFixed:
		return "the fixed " + n.name
	case kindArray:
		return "an array"
	case kindMap:
		return "a map"
	case kindUnion:
		return "a union"
	case kindInt:
		return "an int"
	default:
		return "a " + primitives[n.kind]
	}
}

// The specification's CRC-64-AVRO: this value is the fingerprint of nothing, and the polynomial.
const emptyFingerprint = 0xc15d213aa4d7a795

var fingerprints = func() (table [256]uint64) {
	for i := range table {
		f := uint64(i)
		for range 8 {
			f = f>>1 ^ emptyFingerprint&-(f&1)
		}
		table[i] = f
	}
	return table
}()

func fingerprint(text []byte) uint64 {
	f := uint64(emptyFingerprint)
	for _, c := range text {
		f = f>>8 ^ fingerprints[byte(f)^c]
	}
	return f
}

// Fingerprint returns the CRC-64-AVRO of the schema's canonical form, by which single-object encoding names a schema.
func (s *Schema) Fingerprint() uint64 { return fingerprint(s.text) }
