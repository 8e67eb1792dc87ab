package parquet

import "github.com/estuary/connectors/parser/internal/jsontext"

// JSONSchema describes the documents of the file: an object that is open at its root, all fields required, null as a type of those that may be null.
func (f *File) JSONSchema() []byte { return f.appendSchema(nil, f.root) }

func (f *File) appendSchema(dst []byte, n *node) []byte {
	switch n.shape {
	case scalar:
		return f.leaves[n.first].appendSchema(dst, n.optional)
	case object:
		return f.appendObjectSchema(dst, n, n.children)
	case dict:
		dst = append(dst, `{"type":`...)
		dst = append(appendTypes(dst, n.optional, "object"), `,"additionalProperties":`...)
		return append(f.appendMapValue(dst, n), '}')
	case list, pairs:
	}
	dst = append(dst, `{"type":`...)
	dst = append(appendTypes(dst, n.optional, "array"), `,"items":`...)
	if n.shape == list {
		return append(f.appendSchema(dst, n.children[0]), '}')
	}
	dst = append(dst, `{"type":"object","required":["key","value"],"properties":{"key":`...)
	dst = append(f.appendSchema(dst, n.children[0]), `,"value":`...)
	return append(f.appendMapValue(dst, n), "}}}"...)
}

func (f *File) appendMapValue(dst []byte, n *node) []byte {
	if len(n.children) == 1 {
		return append(dst, `{"type":"null"}`...)
	}
	return f.appendSchema(dst, n.children[1])
}

func (f *File) appendObjectSchema(dst []byte, n *node, members []*node) []byte {
	dst = append(dst, `{"type":`...)
	dst = appendTypes(dst, n.optional, "object")
	if len(members) == 0 {
		return append(dst, '}')
	}
	dst = append(dst, `,"required":[`...)
	for i, child := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, []byte(child.name))
	}
	dst = append(dst, `],"properties":{`...)
	for i, child := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.appendSchema(append(dst, child.member...), child)
	}
	return append(dst, "}}"...)
}

// appendSchema describes the values of a column. Times without a zone have no format, for RFC 3339 demands one.
func (l *leaf) appendSchema(dst []byte, optional bool) []byte {
	types, more := []string{"string"}, ""
	switch l.kind {
	case boolean:
		types = []string{"boolean"}
	case integer, unsigned:
		types = []string{"integer"}
	case float16, float32Kind, float64Kind:
		types = []string{"number", "string"} // "NaN", "Infinity", "-Infinity"
	case decimal:
		more = `,"format":"number"`
	case date:
		more = `,"format":"date"`
	case timestamp:
		if l.utc {
			more = `,"format":"date-time"`
		}
	case int96:
		more = `,"format":"date-time"`
	case interval, clock, text: // the formats of durations and times know no fractions of seconds and demand a zone
	case uuid:
		more = `,"format":"uuid"`
	case embedded:
		return append(dst, "{}"...)
	case opaque:
		more = `,"contentEncoding":"base64"`
	case null:
		return append(dst, `{"type":"null"}`...)
	}
	dst = append(dst, `{"type":`...)
	dst = append(appendTypes(dst, optional, types...), more...)
	return append(dst, '}')
}

// appendTypes appends one type as a string, several as an array.
func appendTypes(dst []byte, optional bool, types ...string) []byte {
	if optional {
		types = append(types[:len(types):len(types)], "null")
	}
	if len(types) == 1 {
		return jsontext.AppendString(dst, []byte(types[0]))
	}
	dst = append(dst, '[')
	for i, t := range types {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, []byte(t))
	}
	return append(dst, ']')
}
