package materialize

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/internal/rawjson"
)

const (
	blockBytes = 256 << 10 // of one read
	// blocksAhead is how many blocks are read before somebody takes them. When that many wait, the runner has to.
	blocksAhead = 4
)

var (
	errInterrupted = errors.New("interrupted")
	errEnded       = errors.New("the runner ended")
	errUnread      = errors.New("stdout is gone")
)

// input reads stdin in a goroutine of its own, in blocks of whole lines.
type input struct {
	blocks chan []byte // closed at the end
	free   chan []byte // for the next reads
	block  []byte      // what was received last
	rest   []byte      // its lines that were not handed out
	end    error       // why blocks was closed; nil: the end of stdin
	// gone is closed when nobody reads stdout any more: what comes then is not worth waiting for.
	gone <-chan struct{}
}

func newInput(r io.Reader) *input {
	in := &input{blocks: make(chan []byte, blocksAhead), free: make(chan []byte, blocksAhead+2)}
	go in.read(r) // ends with the process at the latest: a read of stdin cannot be interrupted
	return in
}

// read blocks when blocksAhead blocks wait.
func (in *input) read(r io.Reader) {
	defer close(in.blocks)
	buf, n := in.buffer(), 0
	for {
		if n == len(buf) { // a line that is longer than the buffer
			buf = append(buf, make([]byte, len(buf))...)
		}
		got, err := r.Read(buf[n:])
		n += got
		if last := bytes.LastIndexByte(buf[n-got:n], '\n'); last >= 0 {
			whole := n - got + last + 1
			next := in.buffer()
			for len(next) <= n-whole {
				next = append(next, make([]byte, len(next))...)
			}
			rest := copy(next, buf[whole:n])
			in.blocks <- buf[:whole]
			buf, n = next, rest
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			in.end = fmt.Errorf("reading stdin: %w", err)
		} else if rawjson.Valid(buf[:n]) == nil { // a last line without its newline counts when it is whole; the runner was killed while it wrote another
			in.blocks <- buf[:n]
		}
		return
	}
}

// buffer returns one that is used no more, if there is one.
func (in *input) buffer() []byte {
	select {
	case b := <-in.free:
		return b
	default:
		return make([]byte, blockBytes)
	}
}

// next returns the next line that is not blank; it is valid until the next call. At the end the error is errEnded, or what went wrong; errInterrupted: one of
// the channels was closed meanwhile, nil channels never are; errUnread: gone was.
func (in *input) next(stop, done <-chan struct{}) ([]byte, error) {
	for {
		for len(in.rest) > 0 {
			line, rest := in.rest, []byte(nil)
			if i := bytes.IndexByte(in.rest, '\n'); i >= 0 {
				line, rest = in.rest[:i], in.rest[i+1:]
			}
			in.rest = rest
			if line = bytes.TrimSpace(line); len(line) > 0 {
				return line, nil
			}
		}
		if err := in.receive(stop, done); err != nil {
			return nil, err
		}
	}
}

// receive takes the next block.
func (in *input) receive(stop, done <-chan struct{}) error {
	if cap(in.block) > 0 && cap(in.block) <= 4*blockBytes {
		select {
		case in.free <- in.block[:cap(in.block)]:
		default:
		}
	}
	in.block = nil
	select {
	case b, ok := <-in.blocks:
		if !ok && in.end != nil {
			return in.end
		}
		if !ok {
			return errEnded
		}
		in.block, in.rest = b, b
		return nil
	case <-stop:
		return errInterrupted
	case <-done:
		return errInterrupted
	case <-in.gone:
		return errUnread
	}
}
