package pgwire

import (
	"context"
	"sync"
	"sync/atomic"
)

// block is a piece of memory that messages are read into and whose bytes stay as they are while anybody holds it.
type block struct {
	pool *blockPool
	buf  []byte
	refs atomic.Int32
}

// blockPool hands out at most limit blocks at a time to those who hold on to what they have read.
type blockPool struct {
	limit int

	mu   sync.Mutex // guards the fields below
	free []*block
	out  int
	// freed has a value whenever a block came back since it was last looked at.
	freed chan struct{}
}

func newBlockPool(limit int) *blockPool {
	return &blockPool{limit: limit, freed: make(chan struct{}, 1)}
}

// get returns a block of at least size bytes with one reference. While the limit is reached it waits for one to come back, unless all of those that are
// out are the caller's own (own of them): nobody else would give one back.
func (p *blockPool) get(ctx context.Context, size, own int) (*block, error) {
	for {
		if b := p.take(size, own); b != nil {
			return b, nil
		}
		select {
		case <-p.freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (p *blockPool) take(size, own int) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out >= p.limit && p.out > own {
		return nil
	}
	p.out++
	var b *block
	if last := len(p.free) - 1; last >= 0 && size <= blockSize {
		b = p.free[last]
		p.free = p.free[:last]
	} else {
		b = &block{pool: p, buf: make([]byte, max(size, blockSize))}
	}
	b.refs.Store(1)
	return b
}

// release drops one reference; the last one gives the block back. Blocks that grew for one large message are left to the garbage collector.
func (b *block) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	p := b.pool
	p.mu.Lock()
	p.out--
	if len(b.buf) == blockSize && len(p.free) < p.limit {
		p.free = append(p.free, b)
	}
	p.mu.Unlock()
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// Hold keeps the payloads of a batch of messages valid. The zero value holds nothing. It may be released by another goroutine than the reader's, and
// used again after that.
type Hold struct{ blocks []*block }

// Release ends the hold: the payloads may not be used any more. Releasing twice is harmless.
func (h *Hold) Release() {
	for i, b := range h.blocks {
		b.release()
		h.blocks[i] = nil
	}
	h.blocks = h.blocks[:0]
}
