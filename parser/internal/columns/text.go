package columns

import (
	"fmt"
	"math"
	"slices"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/rows"
)

// TextPlan makes documents of rows of text.
type TextPlan struct {
	columns []*column
	program []instruction
	writer  writer
	field   []byte // a field whose escapes are undone
	value   []byte // a value that is joined with what is added
	surplus int64
	most    int // bytes of a document
	names   int // bytes of it that are names and what is added
}

// ForText plans a header. Errors concern the file: two columns at one location, one that the schema forbids, a required location without a column.
func ForText(header []string, o Options) (p *TextPlan, warnings []string, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, nil, err
	}
	if len(header) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("reading the header: %d columns are too many", len(header))
	}
	if err := boundNames(header); err != nil {
		return nil, nil, err
	}
	heads, err := headers(header)
	if err != nil {
		return nil, nil, err
	}
	fields := make([]string, len(heads))
	for i, h := range heads {
		fields[i] = h.field
	}
	root, found, warnings, err := plan(fields, o, o.Schema)
	if err != nil {
		return nil, nil, err
	}
	p = &TextPlan{program: compile(root), most: o.MaxDocument}
	p.names = names(p.program)
	var forbidden []string
	for i, h := range heads {
		s, required := locate(o.Schema, found[i].tokens)
		if s.Types == 0 && !found[i].lost {
			forbidden = append(forbidden, fmt.Sprintf("%q at %s", h.field, pointer(found[i].tokens)))
		}
		p.columns = append(p.columns, newColumn(h, s, o.Schema != nil, required, &o))
	}
	for i := range p.program {
		if in := &p.program[i]; in.kind == field {
			in.prepare(p.columns[in.column])
		}
	}
	if forbidden != nil {
		return nil, nil, fmt.Errorf("placing columns: the schema allows no value for %s; let it allow them, or project the columns to other locations", show(forbidden))
	}
	return p, warnings, nil
}

// plan places columns, and makes the tree of the documents.
func plan(fields []string, o Options, schema *jsonschema.Node) (*node, []placed, []string, error) {
	added, err := parseAdded(o.AddValues, o.OffsetAt)
	if err != nil {
		return nil, nil, nil, err
	}
	projections, err := parseProjections(o.Projections, added)
	if err != nil {
		return nil, nil, nil, err
	}
	found, warnings, err := place(fields, schema, projections, added)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := inside(fields, found); err != nil {
		return nil, nil, nil, err
	}
	root, err := layout(fields, found, schema, added)
	return root, found, warnings, err
}

// Surplus counts the rows that were longer than the header by empty fields.
func (p *TextPlan) Surplus() int64 { return p.surplus }

// Append appends the document of a row, the n-th, counted from 0. Its error is a *FieldError or a *LimitError, and then dst is as long as it was.
func (p *TextPlan) Append(dst []byte, row *rows.Row, d *rows.Dialect, n int64) ([]byte, error) {
	start := len(dst)
	fields := row.Fields
	if len(fields) > len(p.columns) {
		for _, f := range fields[len(p.columns):] {
			if f.Start < f.End {
				return dst, &FieldError{Reason: fmt.Sprintf("%d columns, %d headers", len(fields), len(p.columns))}
			}
		}
		p.surplus++
	}
	if p.names+escaped*len(row.Text) > p.most {
		var err error
		if dst, err = p.makeRoom(dst, row); err != nil {
			return dst, err
		}
	}
	p.writer.frames = p.writer.frames[:0]
	dst = append(dst, '{')
	quote := d.Quote
	if d.Escape != 0 {
		quote = 0 // escapes are not undone in passing
	}
	for i := range p.program {
		in := &p.program[i]
		if in.shortcut != noShortcut && int(in.column) < len(fields) {
			f := fields[in.column]
			if room := in.room(int(f.End - f.Start)); cap(dst)-len(dst) < room {
				dst = slices.Grow(dst, room)
			}
			if end := in.shorten(dst[:cap(dst)], len(dst), row.Text, f, quote); end > 0 {
				dst = dst[:end]
				continue
			}
		}
		var err *FieldError
		if dst, err = p.step(dst, in, row, d, n); err != nil {
			return dst[:start], err
		}
	}
	return dst, nil
}

// step runs any instruction.
func (p *TextPlan) step(dst []byte, in *instruction, row *rows.Row, d *rows.Dialect, n int64) ([]byte, *FieldError) {
	switch in.kind {
	case field, element, merge:
	default:
		return p.writer.run(dst, in, n), nil
	}
	c := p.columns[in.column]
	at := len(dst)
	var v verdict
	var text []byte
	short := int(in.column) >= len(row.Fields)
	switch {
	case short && (c.missing == leaveOut || in.kind == merge):
		v = left
	case short:
		dst, v = c.appendAbsence(appendMember(dst, in.text), c.missing)
	default:
		f := row.Fields[in.column]
		if text = row.Raw(f); f.Flags&rows.Escaped != 0 {
			p.field = d.AppendField(p.field[:0], row.Text, f)
			text = p.field
		}
		dst, v = p.append(dst, c, in, text, f.Flags&rows.Quoted != 0, n)
	}
	if v == written {
		if in.kind == element {
			p.writer.mark(len(dst))
		}
		return dst, nil
	}
	dst = dst[:at]
	switch {
	case v != left && short:
		return dst, &FieldError{Column: c.field, Reason: fmt.Sprintf("the row has no value, %d columns for %d headers, and the schema requires one", len(row.Fields), len(p.columns))}
	case v != left:
		return dst, fieldError(c.field, c.reason(v, text), text)
	case in.kind == element:
		dst = append(appendMember(dst, in.text), "null"...)
	case in.kind == merge:
		dst = in.added.append(appendMember(dst, in.text), nil, n)
	}
	return dst, nil
}

// append appends a field's member.
func (p *TextPlan) append(dst []byte, c *column, in *instruction, text []byte, quoted bool, n int64) ([]byte, verdict) {
	switch {
	case c.unnamed && len(text) == 0:
		return dst, left
	case in.kind == merge:
		// What is added wins: a value that is no object is replaced, whatever its type.
		value, v := c.append(c, p.value[:0], text, quoted)
		if p.value = value; v != written {
			value = nil
		}
		return in.added.append(appendMember(dst, in.text), value, n), written
	}
	return c.append(c, appendMember(dst, in.text), text, quoted)
}
