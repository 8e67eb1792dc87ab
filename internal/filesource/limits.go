package filesource

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// limits bound what runs ahead of the emitter. The sum of the buffers is MemoryBytes.
type limits struct {
	small      int64 // objects up to this size are fetched whole, ahead
	large      int64 // from this size on an object that is read from its start is fetched in ranges
	rangeSize  int64
	ranges     int   // in flight, of one object
	inFlight   int   // requests for small objects
	aheadBytes int64 // small objects that are fetched and not parsed
	unitFiles  int   // small files that share batches
	unitBytes  int64

	workers    int
	batches    int // finished ones of a unit that wait for the emitter
	batchBytes int // a batch is handed over at this size

	patchBytes int64         // of documents, inside a file
	patchEvery time.Duration // a patch may come after this time, whatever the state's size
	stateShare int64         // or after this many times the state's size: a plain runner is sent the whole state each time
}

func defaultLimits() limits {
	workers := runtime.GOMAXPROCS(0)
	return limits{
		small: 1 << 20, large: 32 << 20, rangeSize: 8 << 20, ranges: 4, inFlight: 64, aheadBytes: 32 << 20, unitFiles: 64, unitBytes: 256 << 10,
		workers: workers, batches: max(1, 16/workers), batchBytes: 192 << 10,
		patchBytes: 4 << 20, patchEvery: 10 * time.Second, stateShare: 8,
	}
}

// MemoryBytes bounds the memory of a source: small objects ahead (32 MiB), the ranges of one large object (40), waiting batches (16 of about 256 KiB),
// what decompression and parsing of two files hold, the state, and the runtime itself.
const MemoryBytes = 160 << 20

// budget hands out bytes, in the order in which they are asked for.
type budget struct {
	mu   sync.Mutex
	free int64
	more chan struct{} // closed when some were given back
}

func newBudget(n int64) *budget { return &budget{free: n, more: make(chan struct{})} }

// try takes n bytes if they are free.
func (b *budget) try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free < n {
		return false
	}
	b.free -= n
	return true
}

// take waits for n bytes. One goroutine at a time calls it.
func (b *budget) take(ctx context.Context, n int64) error {
	for {
		b.mu.Lock()
		if b.free >= n {
			b.free -= n
			b.mu.Unlock()
			return nil
		}
		more := b.more
		b.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += n
	close(b.more)
	b.more = make(chan struct{})
}
