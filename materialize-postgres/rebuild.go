package main

import (
	"slices"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/internal/sqlsink"
)

// builder rebuilds a document from its columns.
type builder struct {
	decoders []decoder
	must     []bool
	root     *member
}

// member is a place of the document: an object of members, or a column's value.
type member struct {
	name    []byte // quoted, with its colon
	column  int    // negative: an object
	members []*member
}

func newBuilder(columns []sqlsink.Column, liveTypes []string) (*builder, error) {
	b := &builder{root: &member{column: -1}}
	// Short pointers first, so that a value that holds others is met before them.
	type place struct {
		column int
		tokens []string
	}
	var places []place
	for i, c := range columns {
		b.decoders = append(b.decoders, newDecoder(c.Shape, liveTypes[i]))
		b.must = append(b.must, c.Must)
		p, err := rawjson.ParsePointer(c.Pointer)
		if err != nil {
			return nil, err
		}
		places = append(places, place{i, p.Tokens()})
	}
	slices.SortStableFunc(places, func(x, y place) int { return len(x.tokens) - len(y.tokens) })
	for _, p := range places {
		b.root.put(p.tokens, p.column)
	}
	return b, nil
}

// put adds a column's place, unless a value that holds it is there already.
func (m *member) put(tokens []string, column int) {
	for i, token := range tokens {
		name := append(rawjson.AppendQuoted(nil, []byte(token)), ':')
		at := slices.IndexFunc(m.members, func(c *member) bool { return string(c.name) == string(name) })
		if at >= 0 && (m.members[at].column >= 0 || i == len(tokens)-1) {
			return
		}
		if at < 0 {
			c := &member{name: name, column: -1}
			if i == len(tokens)-1 {
				c.column = column
			}
			m.members = append(m.members, c)
			at = len(m.members) - 1
		}
		m = m.members[at]
	}
}

// append appends the document of a row; nil is NULL. What is null is left out, unless the schema promises that it is there.
func (b *builder) append(dst []byte, fields [][]byte) ([]byte, error) {
	dst, _, err := b.appendMember(dst, b.root, fields)
	return dst, err
}

// appendMember tells, too, whether anything was written inside an object.
func (b *builder) appendMember(dst []byte, m *member, fields [][]byte) (_ []byte, some bool, err error) {
	if m.column >= 0 {
		if fields[m.column] == nil {
			return append(dst, "null"...), b.must[m.column], nil
		}
		dst, err = b.decoders[m.column](dst, fields[m.column])
		return dst, true, err
	}
	dst = append(dst, '{')
	for _, c := range m.members {
		start := len(dst)
		if some {
			dst = append(dst, ',')
		}
		dst = append(dst, c.name...)
		var written bool
		if dst, written, err = b.appendMember(dst, c, fields); err != nil {
			return dst, some, err
		}
		if written {
			some = true
		} else {
			dst = dst[:start]
		}
	}
	return append(dst, '}'), some, nil
}
