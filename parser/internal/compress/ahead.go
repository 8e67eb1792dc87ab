package compress

import "io"

const (
	// aheadAfter is how much of a layer is read before a goroutine is worth its start: small files have none.
	aheadAfter = 512 << 10
	// aheadBuffers of aheadBytes each are decompressed while others are read.
	aheadBuffers = 4
	aheadBytes   = 128 << 10
)

// Ahead decompresses on another core than the one that reads: its goroutine fills buffers, of which there are four, and waits when all of them are full.
// Close stops it, and waits until the reader below returns.
type Ahead struct {
	in    io.Reader
	read  int64
	full  chan filled
	empty chan []byte
	stop  chan struct{}
	done  chan struct{}
	held  []byte // of full, in the hands of Read
	rest  []byte // of held
	err   error
}

type filled struct {
	buffer []byte
	err    error
}

// NewAhead reads from a reader that nobody else touches until Close has returned.
func NewAhead(in io.Reader) *Ahead { return &Ahead{in: in} }

func (a *Ahead) Read(p []byte) (int, error) {
	if a.read < aheadAfter && a.err == nil {
		n, err := a.in.Read(p)
		a.read += int64(n)
		a.err = err
		return n, err
	}
	if a.full == nil && a.err == nil {
		a.start()
	}
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.held != nil {
			a.empty <- a.held[:cap(a.held)]
		}
		next := <-a.full
		a.held, a.rest, a.err = next.buffer, next.buffer, next.err
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *Ahead) start() {
	a.full, a.empty = make(chan filled, aheadBuffers), make(chan []byte, aheadBuffers)
	a.stop, a.done = make(chan struct{}), make(chan struct{})
	for range aheadBuffers {
		a.empty <- make([]byte, aheadBytes)
	}
	go a.run()
}

// run fills buffers until the reader below ends or fails, or Close is called. It never blocks on full, which has room for all buffers there are.
func (a *Ahead) run() {
	defer close(a.done)
	for {
		var buffer []byte
		select {
		case buffer = <-a.empty:
		case <-a.stop:
			return
		}
		n := 0
		var err error
		for n < len(buffer) && err == nil {
			var k int
			k, err = a.in.Read(buffer[n:])
			n += k
			select {
			case <-a.stop:
				return
			default:
			}
		}
		a.full <- filled{buffer[:n], err}
		if err != nil {
			return
		}
	}
}

// Close stops reading ahead. The reader below is nobody's then.
func (a *Ahead) Close() {
	if a.full != nil {
		close(a.stop)
		<-a.done
		a.full = nil
	}
	a.err, a.rest = io.ErrClosedPipe, nil
}
