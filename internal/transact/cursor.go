package transact

// cursor walks the records of one binding in one place: the memory, or a run.
type cursor struct {
	plan   *plan
	area   *area // of memory; nil: a run
	places []place
	reader *runReader
	rank   int // orders records of one key: lower ones are older

	record
	prefix uint64
}

// next moves to the next record. The one before stays valid when it is in memory.
func (c *cursor) next() (ok bool, err error) {
	if c.area != nil {
		if len(c.places) == 0 {
			return false, nil
		}
		p := c.places[0]
		c.places = c.places[1:]
		c.prefix = p.prefix
		c.record = viewRecord(c.area.at(p), c.plan.spans)
		return true, nil
	}
	b, err := c.reader.next(c.plan.spans)
	if b == nil || err != nil {
		return false, err
	}
	c.record = viewRecord(b, c.plan.spans)
	c.prefix = prefixOf(c.packed)
	return true, nil
}

func (c *cursor) before(d *cursor) bool {
	if cmp := compareKeys(c.prefix, d.prefix, c.packed, d.packed); cmp != 0 {
		return cmp < 0
	}
	return c.rank < d.rank
}

// merge hands out the records of a keyed binding in the order of (key, age), a key at a time.
type merge struct {
	heap []*cursor
	// parked cursors of runs stay at a record that has been handed out, so that it stays valid; a run has one record a key.
	parked []*cursor
}

// add puts a cursor in, before the first record.
func (m *merge) add(c *cursor) error {
	ok, err := c.next()
	if ok {
		m.push(c)
	}
	return err
}

func (m *merge) push(c *cursor) {
	m.heap = append(m.heap, c)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *merge) pop() {
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	m.down()
}

func (m *merge) down() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heap[child].before(m.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// group calls f with each record of the next key, oldest first. What f gets is valid until the next group. ok is false at the end.
func (m *merge) group(f func(r *record) error) (ok bool, err error) {
	for _, c := range m.parked {
		if err := m.add(c); err != nil {
			return false, err
		}
	}
	m.parked = m.parked[:0]
	if len(m.heap) == 0 {
		return false, nil
	}
	prefix, packed := m.heap[0].prefix, m.heap[0].packed
	for {
		c := m.heap[0]
		if err := f(&c.record); err != nil {
			return false, err
		}
		more := false
		if c.area != nil {
			if more, err = c.next(); err != nil {
				return false, err
			}
		} else {
			m.parked = append(m.parked, c)
		}
		if more {
			m.down()
		} else {
			m.pop()
		}
		if len(m.heap) == 0 || compareKeys(prefix, m.heap[0].prefix, packed, m.heap[0].packed) != 0 {
			return true, nil
		}
	}
}
