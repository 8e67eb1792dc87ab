package main

const (
	// chunkBytes of rows go out together. A row that is larger makes a chunk of its own.
	chunkBytes = 2 << 20
	// maxBuffers bounds the chunks in memory: three being filled for a binding, and those that the server has not taken yet.
	maxBuffers = 5
)

// goal is what becomes of a chunk's rows.
type goal int

const (
	insert goal = iota // new rows: straight into the table
	replace
	bury
	remove
	finish // no rows: what was staged for the binding is put into its table
)

const goals = 4 // those with rows

// temp is the temporary table that a goal stages its rows in.
func (g goal) temp() tempTable {
	switch g {
	case remove:
		return tempKeys
	case bury:
		return tempGone
	default:
		return tempRows
	}
}

// chunk is rows in COPY text form, or in its binary form, on their way to one place.
type chunk struct {
	b      *binding
	goal   goal
	binary bool
	rows   []byte
}

// buffers hands out a bounded number of buffers.
type buffers struct {
	free chan []byte
	made int
}

func newBuffers() *buffers { return &buffers{free: make(chan []byte, maxBuffers)} }

// get waits until one is free. failed unblocks it: the writer has given up, and nothing comes back.
func (p *buffers) get(failed <-chan struct{}) []byte {
	select {
	case b := <-p.free:
		return b
	default:
	}
	if p.made < maxBuffers {
		p.made++
		return make([]byte, 0, chunkBytes+64<<10)
	}
	select {
	case b := <-p.free:
		return b
	case <-failed:
		return nil
	}
}

// put takes one back. One that has grown for a large row is left to the garbage collector.
func (p *buffers) put(b []byte) {
	if cap(b) > 2*chunkBytes {
		b = make([]byte, 0, chunkBytes+64<<10)
	}
	p.free <- b[:0]
}
