package transact

import "github.com/estuary/connectors/internal/rawjson"

// spill writes what is in memory into runs, for each binding what is sealed and the rest by themselves.
func (c *Combiner) spill() error {
	for i := range c.plans {
		l := &c.added.lists[i]
		sealed, rest := l.places[:l.sealed], l.places[l.sealed:]
		for _, part := range []struct {
			places []place
			sealed bool
		}{{sealed, true}, {rest, false}} {
			if len(part.places) == 0 {
				continue
			}
			if l.unsorted {
				c.added.sort(part.places)
			}
			r, err := c.spool.write(func(w *runWriter) error { return c.writePlaces(w, i, c.added, part.places) })
			if err != nil {
				return err
			}
			r.sealed = part.sealed
			c.state[i].runs = append(c.state[i].runs, r) // Seal seals the runs that are there, so sealed ones come first
		}
		if err := c.mergeRuns(i); err != nil {
			return err
		}
	}
	c.added.clear()
	return nil
}

func (c *Combiner) spillLoaded() error {
	for i := range c.plans {
		places := c.loaded.sorted(i)
		if len(places) == 0 {
			continue
		}
		r, err := c.spool.write(func(w *runWriter) error { return c.writePlaces(w, i, c.loaded, places) })
		if err != nil {
			return err
		}
		c.state[i].loadedRuns = append(c.state[i].loadedRuns, r)
	}
	c.loaded.clear()
	return nil
}

// writePlaces writes records of one binding, sorted if it is keyed.
func (c *Combiner) writePlaces(w *runWriter, binding int, a *area, places []place) error {
	p := c.plans[binding]
	in := cursor{plan: p, area: a, places: places}
	if !p.Delta {
		m := &merge{}
		if err := m.add(&in); err != nil {
			return err
		}
		return c.writeMerged(w, p, m)
	}
	for {
		ok, err := in.next()
		if !ok || err != nil {
			return err
		}
		if err := w.appendRecord(&in.record); err != nil {
			return err
		}
	}
}

// writeMerged joins the records of each key, as far as it can be done without what stands to their left.
func (c *Combiner) writeMerged(w *runWriter, p *plan, m *merge) error {
	f := fold{plan: p}
	for {
		f.begin()
		ok, err := m.group(f.add)
		if !ok || err != nil {
			return err
		}
		if err := f.end(); err != nil {
			return err
		}
		if err := w.appendRecord(&record{packed: f.packed, doc: f.doc, spans: f.spans, flags: f.flags}); err != nil {
			return err
		}
	}
}

// maxRuns is how many runs a binding may have before they are merged: each costs a buffer while it is read.
const maxRuns = 128

// mergeRuns makes one run of a keyed binding's many, which are small then: its keys are few. Larger ones stay, so that the temporary file never holds both
// forms of more than half of what it may.
func (c *Combiner) mergeRuns(binding int) error {
	s, p := &c.state[binding], c.plans[binding]
	if len(s.runs) < maxRuns || p.Delta || c.spool.total() > c.spool.limit/2 {
		return nil
	}
	sealed := 0
	for sealed < len(s.runs) && s.runs[sealed].sealed {
		sealed++
	}
	var after []run
	for _, runs := range [][]run{s.runs[:sealed], s.runs[sealed:]} {
		if len(runs) == 0 {
			continue
		}
		r, err := c.mergeInto(p, runs)
		if err != nil {
			return err
		}
		r.sealed = runs[0].sealed
		after = append(after, r)
	}
	for _, r := range s.runs {
		c.spool.free(r)
	}
	s.runs = append(s.runs[:0], after...)
	return nil
}

func (c *Combiner) mergeInto(p *plan, runs []run) (run, error) {
	m := &merge{}
	for rank, r := range runs {
		if err := m.add(&cursor{plan: p, reader: c.spool.read(r, c.readBuffer(len(runs))), rank: rank}); err != nil {
			return run{}, err
		}
	}
	return c.spool.write(func(w *runWriter) error { return c.writeMerged(w, p, m) })
}

// readBuffer is smaller when there are many runs.
func (c *Combiner) readBuffer(runs int) []byte {
	return make([]byte, min(max(4<<20/max(runs, 1), 4<<10), runBytes))
}

// appendRecord writes a record with or without its list of offsets.
func (w *runWriter) appendRecord(r *record) error {
	flags := r.flags &^ flagSpans
	if r.spans != nil {
		flags |= flagSpans
	}
	var header [headerBytes]byte
	putHeader(header[:], len(r.packed), len(r.doc), flags)
	for _, b := range [][]byte{header[:], r.packed, r.doc, r.spans} {
		if err := w.append(b); err != nil {
			return err
		}
	}
	return nil
}

// sources puts what there is of a binding into a merge, loaded documents first.
func (c *Combiner) sources(m *merge, binding int, loaded bool) error {
	s, p := &c.state[binding], c.plans[binding]
	rank := 0
	add := func(in *cursor) error {
		in.plan, in.rank = p, rank
		rank++
		return m.add(in)
	}
	all := len(s.runs)
	if loaded { // else they may grow meanwhile
		all += len(s.loadedRuns)
		for _, r := range s.loadedRuns {
			if err := add(&cursor{reader: c.spool.read(r, c.readBuffer(all))}); err != nil {
				return err
			}
		}
		if err := add(&cursor{area: c.loaded, places: c.loaded.sorted(binding)}); err != nil {
			return err
		}
	}
	for _, r := range s.runs {
		if err := add(&cursor{reader: c.spool.read(r, c.readBuffer(all))}); err != nil {
			return err
		}
	}
	return add(&cursor{area: c.added, places: c.added.sorted(binding)})
}

// viewsOf finds the keys and values of a record in views, which is as long as the plan's pointers.
func (p *plan) viewsOf(r *record, views [][]byte) error {
	if r.spans != nil {
		for i := range p.spans {
			views[i] = r.span(i)
		}
		return nil
	}
	if err := p.extractor.Extract(r.doc, views); err != nil {
		return p.documentProblem(err.Error(), err)
	}
	for i, v := range views[:p.spans] {
		if rawjson.IsNull(v) {
			views[i] = nil
		}
	}
	return nil
}
