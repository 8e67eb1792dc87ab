package parquet

import "fmt"

// appendNested appends a field that is made of several columns, or of several values of one.
func (r *Rows) appendNested(dst []byte, n *node) ([]byte, error) {
	for i := n.first; i < n.last; i++ {
		c := &r.columns[i]
		if c.leaf.maxRep > 0 || c.row != r.row {
			if err := c.skipTo(r.row); err != nil {
				return dst, err
			}
		}
	}
	dst, err := r.appendNode(dst, n, len(dst))
	if err != nil {
		return dst, err
	}
	for i := n.first; i < n.last; i++ {
		rep, _, _, err := r.columns[i].peek()
		if err != nil {
			return dst, err
		}
		if rep != 0 || r.columns[i].row != r.row+1 {
			return dst, r.disagreement(n)
		}
	}
	return dst, nil
}

// disagreement is the error for columns whose levels contradict each other.
func (r *Rows) disagreement(n *node) error {
	return &Error{Kind: Corrupt, Column: n.path, Group: r.group, Byte: -1, Reason: fmt.Sprintf("row %d: its columns disagree about what is there", r.row)}
}

// appendNode appends what is under n. The row's field began at start of dst.
func (r *Rows) appendNode(dst []byte, n *node, start int) ([]byte, error) {
	if n.first == n.last {
		return append(dst, "{}"...), nil // a group without fields
	}
	if len(dst)-start > r.file.limits.Row {
		return dst, r.rowTooLarge(n)
	}
	c := &r.columns[n.first]
	_, def, end, err := c.peek()
	if err != nil {
		return dst, err
	}
	if end {
		return dst, r.disagreement(n)
	}
	if def < n.def {
		return append(dst, "null"...), r.passAll(n, n.def)
	}
	switch n.shape {
	case scalar:
		return c.takeNext(dst)
	case object:
		return r.appendObject(dst, n, start)
	case list, dict, pairs:
	}
	open, shut := byte('['), byte(']')
	if n.shape == dict {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	if def < n.elementDef {
		return append(dst, shut), r.passAll(n, n.elementDef)
	}
	for {
		if dst, err = r.appendElement(dst, n, start); err != nil {
			return dst, err
		}
		again, err := r.repeats(n)
		if err != nil {
			return dst, err
		}
		if !again {
			return append(dst, shut), nil
		}
		dst = append(dst, ',')
	}
}

func (r *Rows) appendObject(dst []byte, n *node, start int) ([]byte, error) {
	dst = append(dst, '{')
	for i, child := range n.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, child.member...)
		var err error
		if dst, err = r.appendNode(dst, child, start); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendElement appends one element of a list or map.
func (r *Rows) appendElement(dst []byte, n *node, start int) ([]byte, error) {
	if n.shape == list {
		return r.appendNode(dst, n.children[0], start)
	}
	if n.shape == pairs {
		dst = append(dst, `{"key":`...)
	}
	before := len(dst)
	dst, err := r.appendNode(dst, n.children[0], start)
	if err != nil {
		return dst, err
	}
	if n.shape == dict {
		if dst[before] != '"' {
			return dst, &ValueError{Column: n.path, Reason: "cannot be the key of a map", Value: "null"}
		}
		dst = append(dst, ':')
	} else {
		dst = append(dst, `,"value":`...)
	}
	if len(n.children) == 1 {
		dst = append(dst, "null"...) // a set
	} else if dst, err = r.appendNode(dst, n.children[1], start); err != nil {
		return dst, err
	}
	if n.shape == pairs {
		dst = append(dst, '}')
	}
	return dst, nil
}

// repeats says whether another element of n follows. All its columns must agree.
func (r *Rows) repeats(n *node) (bool, error) {
	first := 0
	for i := n.first; i < n.last; i++ {
		rep, _, _, err := r.columns[i].peek()
		if err != nil {
			return false, err
		}
		if i == n.first {
			first = rep
		}
		if rep != first || rep > n.rep {
			return false, r.disagreement(n)
		}
	}
	return first == n.rep, nil
}

// passAll passes the one value that each column below n has for something that is not there: its definition level is below def.
func (r *Rows) passAll(n *node, def int) error {
	for i := n.first; i < n.last; i++ {
		c := &r.columns[i]
		_, d, end, err := c.peek()
		if err != nil {
			return err
		}
		if end || d >= def {
			return r.disagreement(n)
		}
		if err := c.pass(); err != nil {
			return err
		}
	}
	return nil
}
