package main

import "sync"

// confirmations decides which flush position the next status message carries.
//
// The position that a run starts from is told once; after it every status says 0, "not known". With synchronous_standby_names = '*' a sender that has
// told a flush position counts as a synchronous standby, and commits would wait for acknowledgements that a runner without them never gives; with 0 it
// counts as asynchronous, and the slot stays where it is. From the second confirmation on the runner does acknowledge, and the position is repeated.
type confirmations struct {
	mu    sync.Mutex
	count int
	lsn   uint64
	told  bool
}

func (c *confirmations) add(lsn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.told = false
	c.lsn = max(c.lsn, lsn)
}

func (c *confirmations) next() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told && c.count < 2 {
		return 0
	}
	c.told = true
	return c.lsn
}
