package avro

// skip passes over a value and checks that it can be written later: all that decides where the next value begins.
func (w *walk) skip(n *node) bool {
	ok := true
	switch n.kind {
	case kindNull:
	case kindBoolean:
		_, ok = w.fixed(1)
	case kindInt, kindLong:
		_, ok = w.long()
	case kindFloat:
		_, ok = w.fixed(4)
	case kindDouble:
		_, ok = w.fixed(8)
	case kindBytes, kindString:
		_, ok = w.bytes()
	case kindFixed:
		_, ok = w.fixed(n.size)
	case kindEnum:
		_, ok = w.symbol(n)
	case kindUnion:
		var branch *node
		if branch, ok = w.branch(n); ok {
			ok = w.skip(branch)
		}
	case kindRecord:
		if n.constant != nil {
			return true
		}
		if !w.enter() {
			return false
		}
		for i := range n.fields {
			if !w.skip(n.fields[i].node) {
				return false
			}
		}
		w.leave()
	case kindArray, kindMap:
		return w.skipItems(n)
	}
	return ok
}

func (w *walk) skipItems(n *node) bool {
	if !w.enter() {
		return false
	}
	total := int64(0)
	for {
		count, ok := w.items(n)
		if !ok {
			return false
		}
		if count == 0 {
			w.leave()
			return true
		}
		if n.kind == kindArray && n.item.constant != nil {
			// Blocks are as cheap as their items.
			if total += count; total > int64(w.limits.Value/(len(n.item.constant)+1)) {
				return w.fail(faultLimit, "an array declares %d items without content, more than %d bytes of JSON", total, w.limits.Value)
			}
			continue
		}
		for ; count > 0; count-- {
			if n.kind == kindMap {
				if _, ok := w.bytes(); !ok {
					return false
				}
			}
			if !w.skip(n.item) {
				return false
			}
		}
	}
}

// Span is where the bytes of a field stand in a datum.
type Span struct{ Start, End int32 }

// Cut cuts a datum, which may be followed by more, into the record's fields. It reuses the memory of spans and returns how long the datum is. The limits
// are the defaults. Its error is an *Error.
func (s *Schema) Cut(datum []byte, spans []Span) ([]Span, int, error) {
	w := walk{b: datum, limits: Limits{}.withDefaults()}
	spans, ok := s.cut(&w, spans)
	if !ok {
		return spans, 0, w.err(int64(w.i))
	}
	return spans, w.i, nil
}

// cut is Cut from a place on, to where the place is moved.
func (s *Schema) cut(w *walk, spans []Span) ([]Span, bool) {
	spans = spans[:0]
	w.depth = 1
	for i := range s.root.fields {
		start := w.i
		if !w.skip(s.root.fields[i].node) {
			return spans, false
		}
		spans = append(spans, Span{int32(start), int32(w.i)})
	}
	return spans, true
}

// err makes an error of the fault.
func (w *walk) err(place int64) error {
	return &Error{Byte: place, Reason: w.reason, Limit: w.fault == faultLimit}
}
