package transact

// Seal marks the records of a binding that are there now: what Split takes. Later ones are combined by themselves until they are sealed, too.
func (c *Combiner) Seal(binding int) {
	s := &c.state[binding]
	for i := range s.runs {
		s.runs[i].sealed = true
	}
	l := &c.added.lists[binding]
	l.sealed = len(l.places)
	s.sealed, s.sealedBytes = s.length, s.size
}

// Sealed returns how many records of all bindings are sealed, and how large they are as JSON.
func (c *Combiner) Sealed() (records int, bytes int64) {
	for i := range c.state {
		records += c.state[i].sealed
		bytes += c.state[i].sealedBytes
	}
	return records, bytes
}

// Split moves what is sealed into a Combiner of its own, for Keys, Loaded and Docs, while this one takes further records; the two may be used at the same
// time. The greatest keys (SetMaxKey) are to be told to that one. reuse is one that an earlier Split made, after its Reset; nil: there is none.
func (c *Combiner) Split(reuse *Combiner) *Combiner {
	out := reuse
	if out == nil {
		out = &Combiner{plans: c.plans, memory: c.memory, pool: c.pool, spool: c.spool}
		out.init(len(c.views))
	}
	out.added, c.added = c.added, out.added
	for i, p := range c.plans {
		from, to := &c.state[i], &out.state[i]
		l := &out.added.lists[i]
		if rest := l.places[l.sealed:]; len(rest) > 0 {
			c.added.copyFrom(out.added, i, rest, p.spans)
			c.added.lists[i].unsorted = l.unsorted
			l.places = l.places[:l.sealed]
		}
		for len(from.runs) > 0 && from.runs[0].sealed {
			to.runs = append(to.runs, from.runs[0])
			from.runs = from.runs[1:]
		}
		to.maxKey = append(to.maxKey[:0], from.maxKey...)
		to.length, to.size = from.sealed, from.sealedBytes
		from.length -= from.sealed
		from.size -= from.sealedBytes
		from.sealed, from.sealedBytes = 0, 0
		out.length += to.length
		out.size += to.size
	}
	c.length -= out.length
	c.size -= out.size
	return out
}
