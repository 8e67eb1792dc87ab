package transact

import (
	"bytes"
	"fmt"
	"slices"
)

// Options bound a Combiner.
type Options struct {
	// MemoryBytes is what records may take in memory; 0: 32 MiB. Loaded documents may take half as much besides. One record is held however large it is.
	MemoryBytes int
	// Dir is where the temporary file goes; empty: the system's.
	Dir string
	// SpillBytes bounds the temporary file; 0: 4 GiB.
	SpillBytes int64
}

// Combiner holds the documents of a transaction. It is used by one goroutine at a time, but Loaded may be called while another one walks through Keys.
type Combiner struct {
	plans  []*plan
	memory int
	pool   *pool
	spool  *spool

	added, loaded *area
	state         []bindingState
	views, left   [][]byte // scratch of Add and of Loaded, as long as the most pointers
	packed, lkey  []byte   // likewise
	length        int
	size          int64
}

// bindingState is what a Combiner holds of a binding outside of its areas.
type bindingState struct {
	runs, loadedRuns []run // oldest first; sealed ones before the others
	maxKey           []byte
	// base is the greatest key that the destination had when the transaction began; known: there was none greater.
	base  []byte
	known bool
	// What is sealed.
	sealed      int
	sealedBytes int64
	length      int
	size        int64
}

// New makes a Combiner of bindings, which Add and the others name by their index.
func New(bs []Binding, o Options) (*Combiner, error) {
	c := &Combiner{memory: o.MemoryBytes, spool: &spool{dir: o.Dir, limit: o.SpillBytes}}
	if c.memory == 0 {
		c.memory = 32 << 20
	}
	if c.spool.limit == 0 {
		c.spool.limit = 4 << 30
	}
	most := 0
	for _, b := range bs {
		p, err := newPlan(b)
		if err != nil {
			return nil, err
		}
		c.plans = append(c.plans, p)
		most = max(most, p.spans+1)
	}
	block := min(max(c.memory/16, 4<<10), 1<<20)
	c.pool = &pool{blockBytes: block, keep: 2 * c.memory / block}
	c.init(most)
	return c, nil
}

func (c *Combiner) init(pointers int) {
	c.added, c.loaded = newArea(c.pool, len(c.plans)), newArea(c.pool, len(c.plans))
	c.state = make([]bindingState, len(c.plans))
	c.views, c.left = make([][]byte, pointers), make([][]byte, pointers)
}

// Add takes a record, which it copies. lengths are those of its members, see rawjson.Extractor; nil: not told. An error is a *protocol.Problem; the record is
// not there then, and the others still are.
func (c *Combiner) Add(binding int, doc, lengths []byte) error {
	p := c.plans[binding]
	views := c.views[:p.spans+1]
	packed, flags, err := p.scan(c.packed[:0], doc, lengths, views)
	if err != nil {
		return err
	}
	c.packed = packed
	c.added.put(binding, packed, doc, views[:p.spans], flags, !p.Delta)
	s := &c.state[binding]
	s.length++
	s.size += int64(len(doc))
	c.length++
	c.size += int64(len(doc))
	if !p.Delta && bytes.Compare(packed, s.maxKey) > 0 {
		s.maxKey = append(s.maxKey[:0], packed...)
	}
	if c.added.used > c.memory {
		return c.spill()
	}
	return nil
}

// Len returns how many records were added.
func (c *Combiner) Len() int { return c.length }

// Bytes returns how large the added records are as JSON.
func (c *Combiner) Bytes() int64 { return c.size }

// SetMaxKey tells the greatest key that the destination has, so that greater ones are not loaded; nil: the table is empty. Not known: every key is loaded.
func (c *Combiner) SetMaxKey(binding int, packed []byte, known bool) {
	s := &c.state[binding]
	s.base, s.known = slices.Clone(packed), known
	if bytes.Compare(packed, s.maxKey) > 0 {
		s.maxKey = slices.Clone(packed)
	}
}

// MaxKey returns the greatest key that the destination has when this transaction is committed; nil: it is unknown, or there is none.
func (c *Combiner) MaxKey(binding int) []byte {
	if s := &c.state[binding]; s.known {
		return s.maxKey
	}
	return nil
}

// Loaded takes a document that the destination has, which it copies.
func (c *Combiner) Loaded(binding int, doc []byte) error {
	if binding < 0 || binding >= len(c.plans) || c.plans[binding].Delta {
		return fmt.Errorf("the destination returned a document of binding %d, for which no key was asked", binding)
	}
	p := c.plans[binding]
	views := c.left[:p.spans+1]
	packed, flags, err := p.scan(c.lkey[:0], doc, nil, views)
	if err != nil {
		return fmt.Errorf("reading a document that the destination returned: %w", err)
	}
	c.lkey = packed
	c.loaded.put(binding, packed, doc, views[:p.spans], flags|flagLoaded, true)
	if c.loaded.used > c.memory/2 {
		return c.spillLoaded()
	}
	return nil
}

// Reset forgets the records, for the next transaction; what was stored now is the base of the greatest keys.
func (c *Combiner) Reset() {
	c.added.clear()
	c.loaded.clear()
	c.length, c.size = 0, 0
	for i := range c.state {
		s := &c.state[i]
		for _, r := range append(s.runs, s.loadedRuns...) {
			c.spool.free(r)
		}
		*s = bindingState{runs: s.runs[:0], loadedRuns: s.loadedRuns[:0], maxKey: s.maxKey, base: append(s.base[:0], s.maxKey...), known: s.known}
	}
}

// Close lets everything go, of the Combiners that came from this one by Split, too.
func (c *Combiner) Close() error {
	c.added, c.loaded = nil, nil
	if err := c.spool.close(); err != nil {
		return fmt.Errorf("closing the temporary file: %w", err)
	}
	return nil
}
