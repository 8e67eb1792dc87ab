package parquet

import (
	"fmt"
	"io"
)

// Rows goes over the rows of a file. It belongs to one goroutine.
type Rows struct {
	file    *File
	columns []column
	shared  shared
	small   []byte // a row group that is read as a whole

	group   int
	row     int64 // of the group; -1: before its first
	written int   // bytes of this row so far
	err     error
}

// Rows makes a reader whose first Next goes to a row of a row group, both counted from 0. The number of a group's rows stands for the group behind it.
func (f *File) Rows(group int, row int64) (*Rows, error) {
	if group < 0 || group > len(f.groups) || row < 0 || group < len(f.groups) && row > f.groups[group].rows || group == len(f.groups) && row > 0 {
		return nil, fmt.Errorf("starting at row %d of row group %d: the file has no such place", row, group)
	}
	r := &Rows{file: f, group: group, row: row - 1}
	r.columns = make([]column, len(f.leaves))
	// Memory for ranges and batches is shared out among the columns.
	const (
		ranges  = 16 << 20
		batches = 8 << 20 / 6
	)
	n := max(len(f.leaves), 1)
	ahead, batch := min(max(ranges/n, 1<<10), 1<<20), min(max(batches/n, 32), 1024)
	for i := range r.columns {
		c := &r.columns[i]
		c.leaf, c.limits, c.shared = f.leaves[i], &f.limits, &r.shared
		c.src.r, c.src.ahead = f.r, ahead
		c.rep = make([]uint8, 0, batch)
		if c.leaf.maxDef > 0 {
			c.def = make([]uint8, 0, batch)
		}
		c.index = make([]uint32, 0, batch)
	}
	return r, r.openGroup()
}

// openGroup makes the columns read the group, if there is one.
func (r *Rows) openGroup() error {
	if r.group == len(r.file.groups) {
		return nil
	}
	g := &r.file.groups[r.group]
	start, err := r.readSmall(g)
	if err != nil {
		return located(err, "", r.group, -1)
	}
	for i := range r.columns {
		ch := &g.chunks[i]
		var window []byte
		if len(r.small) > 0 && ch.values > 0 {
			window = r.small[ch.start-start : min(ch.end-start, int64(len(r.small)))]
		}
		r.columns[i].open(ch, r.group, window)
	}
	return nil
}

// readSmall reads a group of many small columns in one range.
func (r *Rows) readSmall(g *group) (start int64, err error) {
	const small = 2 << 20
	r.small = r.small[:0]
	var end int64
	for i := range g.chunks {
		if ch := &g.chunks[i]; ch.values > 0 {
			if end == 0 || ch.start < start {
				start = ch.start
			}
			end = max(end, ch.end)
		}
	}
	if end-start > small || end == start || g.rows == 0 {
		return 0, nil
	}
	return start, readAt(r.file.r, sized(&r.small, int(end-start)), start)
}

// closeGroup sees to it that columns which were read to their last row have no more. Those that do not repeat were counted when the file was opened.
func (r *Rows) closeGroup() error {
	rows := r.file.groups[r.group].rows
	for i := range r.columns {
		c := &r.columns[i]
		if c.leaf.maxRep == 0 || c.row < rows || rows == 0 {
			continue
		}
		if _, _, end, err := c.peek(); err != nil {
			return err
		} else if !end {
			return &Error{Kind: Corrupt, Column: c.leaf.path, Group: r.group, Byte: -1, Reason: fmt.Sprintf("it has more than the %d rows of its row group", rows)}
		}
	}
	return nil
}

// Next goes to the next row. At the end of the file it returns io.EOF.
func (r *Rows) Next() error {
	if r.err != nil {
		return r.err
	}
	r.written = 0
	r.row++
	for r.group < len(r.file.groups) && r.row >= r.file.groups[r.group].rows {
		if r.err = r.closeGroup(); r.err != nil {
			return r.err
		}
		r.group, r.row = r.group+1, 0
		if r.err = r.openGroup(); r.err != nil {
			return r.err
		}
	}
	if r.group == len(r.file.groups) {
		r.err = io.EOF
	}
	return r.err
}

// Position is the place of the row behind the current one: what File.Rows takes to go on there.
func (r *Rows) Position() (group int, row int64) {
	if r.group == len(r.file.groups) {
		return r.group, 0
	}
	return r.group, r.row + 1
}

// AppendField appends the JSON of the current row's top-level field i, at most once a row. The boolean is always true: a field that is not there is null. After a
// *ValueError the row is to be left out, and Next goes on; any other error is an *Error and final.
func (r *Rows) AppendField(dst []byte, i int) ([]byte, bool, error) {
	if r.err != nil {
		return dst, false, r.err
	}
	n := r.file.root.children[i]
	before := len(dst)
	var err error
	if n.shape == scalar && r.file.leaves[n.first].maxRep == 0 {
		dst, err = r.columns[n.first].appendFlat(dst, r.row)
	} else {
		dst, err = r.appendNested(dst, n)
	}
	if err != nil {
		return dst[:before], false, r.failed(err)
	}
	if r.written += len(dst) - before; r.written > r.file.limits.Row {
		return dst[:before], false, r.failed(r.rowTooLarge(n))
	}
	return dst, true, nil
}

func (r *Rows) rowTooLarge(n *node) error {
	return &Error{Kind: Limit, Column: n.path, Group: r.group, Byte: -1, Reason: fmt.Sprintf("row %d takes more than %d bytes", r.row, r.file.limits.Row)}
}

// failed remembers errors that are final.
func (r *Rows) failed(err error) error {
	if _, passing := err.(*ValueError); !passing { //nolint:errorlint // made here, never wrapped
		r.err = err
	}
	return err
}

// Close lets go of what decompression needs.
func (r *Rows) Close() { r.shared.codec.close() }
