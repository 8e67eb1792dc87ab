package transact

import (
	"cmp"
	"slices"
	"sync"
)

// pool keeps blocks of memory for those who have let them go. Combiners that came from one by Split share it.
type pool struct {
	blockBytes int
	keep       int // blocks to keep
	mu         sync.Mutex
	free       [][]byte
}

func (p *pool) get() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, p.blockBytes)
}

func (p *pool) put(blocks [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range blocks {
		if len(b) == p.blockBytes && len(p.free) < p.keep {
			p.free = append(p.free, b)
		}
	}
}

// area holds records in memory: their bytes in blocks, which the garbage collector need not look into, and for each binding a list of where they are.
type area struct {
	pool   *pool
	blocks [][]byte
	fill   int // bytes of the last block that are taken
	used   int // bytes of memory
	lists  []list
}

// list is a binding's records in the order of their arrival, until it is sorted.
type list struct {
	places   []place
	unsorted bool // keys have gone back
	sealed   int  // so many of the first places are sealed
}

// place is where a record is. Those that arrived later have greater blocks and offsets.
type place struct {
	prefix        uint64 // of the packed key
	block, offset uint32
}

const placeBytes = 16

func newArea(p *pool, bindings int) *area { return &area{pool: p, lists: make([]list, bindings)} }

// take returns room for a record of a binding.
func (a *area) take(binding int, prefix uint64, size int) []byte {
	if n := len(a.blocks); n == 0 || a.fill+size > len(a.blocks[n-1]) {
		block := []byte(nil)
		if size > a.pool.blockBytes {
			block = make([]byte, size)
		} else {
			block = a.pool.get()
		}
		a.blocks = append(a.blocks, block)
		a.fill = 0
		a.used += len(block)
	}
	block := len(a.blocks) - 1
	l := &a.lists[binding]
	l.places = append(l.places, place{prefix, uint32(block), uint32(a.fill)})
	a.used += placeBytes
	room := a.blocks[block][a.fill : a.fill+size : a.fill+size]
	a.fill += size
	return room
}

// at returns the bytes from a record on.
func (a *area) at(p place) []byte { return a.blocks[p.block][p.offset:] }

func (a *area) packed(p place) []byte {
	r := viewRecord(a.at(p), 0)
	return r.packed
}

// put stores a record. keyed: the list notes whether keys ascend.
func (a *area) put(binding int, packed, doc []byte, views [][]byte, flags byte, keyed bool) {
	prefix := prefixOf(packed)
	l := &a.lists[binding]
	if n := len(l.places); keyed && n > 0 && !l.unsorted {
		if last := l.places[n-1]; last.prefix >= prefix && (last.prefix > prefix || compareKeys(last.prefix, prefix, a.packed(last), packed) > 0) {
			l.unsorted = true
		}
	}
	b := a.take(binding, prefix, headerBytes+len(packed)+len(doc)+8*len(views))
	putHeader(b, len(packed), len(doc), flags|flagSpans)
	copy(b[headerBytes:], packed)
	copy(b[headerBytes+len(packed):], doc)
	putSpans(b[headerBytes+len(packed)+len(doc):], doc, views)
}

// copyFrom takes records over as they are.
func (a *area) copyFrom(from *area, binding int, places []place, spans int) {
	for _, p := range places {
		b := from.at(p)
		size := sizeOf(b, spans)
		copy(a.take(binding, p.prefix, size), b[:size])
	}
}

// sort orders places by key, then by arrival.
func (a *area) sort(places []place) {
	slices.SortFunc(places, func(x, y place) int {
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		if c := compareKeys(0, 0, a.packed(x), a.packed(y)); c != 0 {
			return c
		}
		if x.block != y.block {
			return cmp.Compare(x.block, y.block)
		}
		return cmp.Compare(x.offset, y.offset)
	})
}

// sorted orders a binding's whole list.
func (a *area) sorted(binding int) []place {
	l := &a.lists[binding]
	if l.unsorted {
		a.sort(l.places)
		l.unsorted = false
	}
	return l.places
}

// clear forgets all records and gives the blocks back.
func (a *area) clear() {
	a.pool.put(a.blocks)
	clear(a.blocks)
	a.blocks, a.fill, a.used = a.blocks[:0], 0, 0
	for i := range a.lists {
		a.lists[i] = list{places: a.lists[i].places[:0]}
	}
}
