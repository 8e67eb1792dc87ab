package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// maxLayers is how often a file may be compressed: an object stored with an encoding, of a file that its writer compressed, twice by mistake.
	maxLayers = 3
	// peekBytes is the buffer before each codec, and what Peek can show: a sample of 64 KiB.
	peekBytes = 64 << 10
)

// Error says why compressed bytes cannot be read. It wraps io.ErrUnexpectedEOF where they end too early.
type Error struct {
	Format Format
	Reason string
	Limit  bool // they may be whole, but demand more than is allowed
	Err    error
}

// Error is one sentence without the file's name.
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Format) + ": " + e.Reason
	}
	return fmt.Sprintf("%s: %s: %v", e.Format, e.Reason, e.Err)
}

// Unwrap returns the codec's error.
func (e *Error) Unwrap() error { return e.Err }

// Stream is what is inside all layers.
type Stream struct {
	// Layers lists what was taken off, outermost first.
	Layers []Format
	// Zip tells that an archive begins here; it is not opened.
	Zip bool

	buffered *below
	codecs   []codec
	ahead    []*Ahead // of codecs

	// Warnings of codecs that work ahead wait for somebody to read.
	mu       sync.Mutex
	warnings []string
	warn     func(string)
}

// codec reads one layer.
type codec interface {
	io.Reader
	close()
}

// Open takes off the layers of r. With none it only looks whether something is compressed: Layers and Zip are as if r were plain. warn hears of bytes
// that were ignored, and may be nil. Errors of r come back as they are, those of compressed bytes as *Error.
func Open(r io.Reader, never bool, warn func(string)) (*Stream, error) {
	return OpenSize(r, -1, never, warn)
}

// OpenSize is Open for a reader of which it is known how many bytes it has, negative: not; a small one needs no large buffer.
func OpenSize(r io.Reader, size int64, never bool, warn func(string)) (*Stream, error) {
	buffer := peekBytes
	if size >= 0 && size < peekBytes {
		buffer = int(size) + 1 // to see the end, too
	}
	s := &Stream{buffered: newBelow(r, buffer)}
	if never {
		return s, nil
	}
	s.warn = warn
	for {
		head, err := s.Peek(magicBytes)
		// A layer that breaks after its first bytes has given these, and they count; its error comes again.
		if err != nil && !errors.Is(err, io.EOF) && (len(head) == 0 || len(s.Layers) == 0) {
			s.Close()
			return nil, err
		}
		format := Detect(head)
		switch {
		case format == None:
			return s, nil
		case format == Zip:
			s.Zip = true
			return s, nil
		case len(s.Layers) == maxLayers:
			s.Close()
			return nil, &Error{Format: format, Limit: true, Reason: fmt.Sprintf("the file is compressed more than %d times", maxLayers)}
		}
		c, err := newCodec(format, s.buffered, s.note)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.Layers, s.codecs = append(s.Layers, format), append(s.codecs, c)
		ahead := NewAhead(c)
		s.ahead = append(s.ahead, ahead)
		s.buffered = newBelow(ahead, peekBytes)
	}
}

// note keeps a warning until the next read, by the goroutine that reads.
func (s *Stream) note(warning string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, warning)
}

func (s *Stream) tell() {
	s.mu.Lock()
	warnings := s.warnings
	s.warnings = nil
	s.mu.Unlock()
	for _, w := range warnings {
		if s.warn != nil {
			s.warn(w)
		}
	}
}

func newCodec(format Format, in *below, warn func(string)) (codec, error) {
	switch format {
	case Gzip:
		return newGzip(in, warn)
	case XZ:
		return newXZ(in)
	case Zstd:
		return newZstd(in)
	case LZ4:
		return newLZ4(in), nil
	case Snappy:
		return newSnappy(in), nil
	default:
		return newBzip2(in), nil
	}
}

// Peek returns the next n bytes, at most 64 KiB, without consuming them; fewer come with an error, io.EOF at the end.
func (s *Stream) Peek(n int) ([]byte, error) {
	head, err := s.buffered.Peek(min(n, s.buffered.Size()))
	if err == nil && len(head) < n && n <= peekBytes { // a small buffer holds more than the reader was said to have
		err = bufio.ErrBufferFull
	}
	return head, err
}

// Read reads what is inside all layers.
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.buffered.Read(p)
	if len(s.codecs) > 0 {
		s.tell()
	}
	return n, err
}

// Close releases the codecs; r of Open stays open.
func (s *Stream) Close() {
	for i := len(s.ahead) - 1; i >= 0; i-- { // the inner ones read from the outer ones
		s.ahead[i].Close()
		s.codecs[i].close()
	}
	s.codecs, s.ahead = nil, nil
}

// failing turns a codec's error into an *Error, unless it came from below: of another layer, or of the source itself. Codecs may take an error that wraps
// io.EOF, or is io.ErrUnexpectedEOF, for the end.
func failing(format Format, below error, err error) error {
	switch inner, ok := errors.AsType[*Error](err); {
	case err != nil && below != nil && below != io.EOF: //nolint:errorlint // one that wraps it is a failure
		return below
	case err == nil || errors.Is(err, io.EOF):
		return err
	case ok:
		return inner
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Format: format, Reason: "the compressed bytes end too early", Err: err}
	default:
		return &Error{Format: format, Reason: "the compressed bytes are broken", Err: err}
	}
}
