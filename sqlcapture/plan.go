package sqlcapture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// maxDocument bounds one document, in bytes: sinks and runners refuse larger lines, so the run ends with a sentence that names the row.
const maxDocument = 64 << 20

// plan encodes the rows of one description of a table. It is made once for each description; nothing is looked up by name per row.
type plan struct {
	table  *Table
	names  [][]byte // "name": of each column, quoted, with the colon
	key    []int    // the stream's key columns, as indexes into table.Columns; nil: keyless
	docKey []int    // the documents' key: key, unless the runner configured another

	ends []int // where the members of the last document end in its buffer
}

// newPlan pairs a description with a stream's keys, given by column name. It fails when a key column is missing or unfit.
func newPlan(t *Table, key, docKey []string) (*plan, error) {
	p := &plan{table: t, names: make([][]byte, len(t.Columns))}
	for i, c := range t.Columns {
		p.names[i] = append(appendQuoted(nil, c.Name), ':')
	}
	var err error
	if p.key, err = columnIndexes(t, key); err != nil {
		return nil, err
	}
	if p.docKey, err = columnIndexes(t, docKey); err != nil {
		return nil, err
	}
	return p, nil
}

func columnIndexes(t *Table, names []string) ([]int, error) {
	var list []int
next:
	for _, name := range names {
		for i, c := range t.Columns {
			if c.Name == name {
				if c.AppendKey == nil {
					return nil, fmt.Errorf("column %q of %s cannot be part of a key: its type is %s", name, t, c.Type)
				}
				list = append(list, i)
				continue next
			}
		}
		return nil, fmt.Errorf("table %s has no column %q, which is part of the key", t, name)
	}
	return list, nil
}

// String returns schema.name.
func (n TableName) String() string { return n.Schema + "." + n.Name }

// appendKey appends the key of a row; values that after lacks are taken from before. ok is false when neither has them.
func (p *plan) appendKey(dst rowkey.Key, columns []int, after, before []Value) (key rowkey.Key, ok bool, err error) {
	for _, i := range columns {
		v := Absent()
		if i < len(after) {
			v = after[i]
		}
		if IsAbsent(v) && i < len(before) {
			v = before[i]
		}
		switch {
		case IsAbsent(v):
			return dst, false, nil
		case v == nil:
			dst = rowkey.AppendNull(dst)
		default:
			if dst, err = p.table.Columns[i].AppendKey(dst, v); err != nil {
				return dst, false, fmt.Errorf("encoding key column %q of %s: %w", p.table.Columns[i].Name, p.table, err)
			}
		}
	}
	return dst, true, nil
}

// appendColumns appends "name":value, for each value that is present, and notes in ends where they end.
func (p *plan) appendColumns(dst []byte, values []Value) ([]byte, error) {
	if len(values) != len(p.table.Columns) {
		return dst, fmt.Errorf("table %s: a row has %d values for %d columns", p.table, len(values), len(p.table.Columns))
	}
	var err error
	ends := p.ends
	for i, v := range values {
		if v == nil {
			dst = append(dst, p.names[i]...)
			dst = append(dst, "null,"...)
			ends = append(ends, len(dst)-1)
			continue
		}
		if IsAbsent(v) {
			continue
		}
		dst = append(dst, p.names[i]...)
		if dst, err = p.table.Columns[i].AppendJSON(dst, v); err != nil {
			return dst, fmt.Errorf("encoding column %q of %s: %w", p.table.Columns[i].Name, p.table, err)
		}
		ends = append(ends, len(dst))
		dst = append(dst, ',')
	}
	p.ends = ends
	return dst, nil
}

// endDocument closes _meta, the last member, and the document.
func (p *plan) endDocument(dst []byte) []byte {
	p.ends = append(p.ends, len(dst)+1)
	return append(dst, '}', '}')
}

// rewritesKey tells whether an update gave a column of the key another form of an equal value, as 1.5 for 1.50: whoever compares what is printed sees
// another key.
func (p *plan) rewritesKey(e *Event) bool {
	for _, i := range p.docKey {
		if i < len(e.After) && i < len(e.Before) && !IsAbsent(e.After[i]) && !IsAbsent(e.Before[i]) && !bytes.Equal(e.After[i], e.Before[i]) {
			return true
		}
	}
	return false
}

// appendRow appends the document of the n-th row of a backfill.
func (p *plan) appendRow(dst []byte, values []Value, n int64, enc SourceEncoder) ([]byte, error) {
	dst, p.ends = append(dst, '{'), p.ends[:0]
	dst, err := p.appendColumns(dst, values)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `"_meta":{"op":"c","source":`...)
	dst = enc.AppendRow(dst, p.table, n)
	return p.endDocument(dst), nil
}

// appendEvent appends the document of a change. image is what stands at the root; before, if not nil, goes to _meta.
func (p *plan) appendEvent(dst []byte, op byte, image, before []Value, e *Event, enc SourceEncoder) ([]byte, error) {
	dst, p.ends = append(dst, '{'), p.ends[:0]
	dst, err := p.appendColumns(dst, image)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `"_meta":{"op":"`...)
	dst = append(dst, op)
	dst = append(dst, `","source":`...)
	dst = enc.AppendEvent(dst, e)
	if before != nil {
		dst = append(dst, `,"before":{`...)
		start, members := len(dst), len(p.ends)
		if dst, err = p.appendColumns(dst, before); err != nil {
			return dst, err
		}
		p.ends = p.ends[:members]
		if len(dst) > start {
			dst = dst[:len(dst)-1] // the last comma
		}
		dst = append(dst, '}')
	}
	return p.endDocument(dst), nil
}

// largest names the column with the longest value, for the error about a document that is too large.
func (p *plan) largest(values []Value) (name string, bytes int) {
	for i, v := range values {
		if len(v) >= bytes && i < len(p.table.Columns) {
			name, bytes = p.table.Columns[i].Name, len(v)
		}
	}
	return name, bytes
}

// appendQuoted appends name as a JSON string, without HTML escapes.
func appendQuoted(dst []byte, name string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(name); err != nil {
		return strconv.AppendQuote(dst, name) // cannot happen: every string encodes
	}
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}
