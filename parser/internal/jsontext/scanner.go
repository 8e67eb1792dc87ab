package jsontext

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// Options bound what a Scanner takes.
type Options struct {
	MaxValue int // bytes of one value; 0 = 64 MiB
	MaxDepth int // objects and arrays inside each other, the value itself included; 0 = 512
	Text     int // bytes of the stream, as far as they are known: a short one needs no large buffer; 0 = unknown
}

func (o Options) withDefaults() Options {
	if o.MaxValue == 0 {
		o.MaxValue = 64 << 20
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = 512
	}
	return o
}

const (
	smallBuffer = 128 << 10
	maxRejected = 4 << 10
)

// Position is a place between two values.
type Position struct {
	Byte    int64
	Line    int64 // line ends before it
	InArray bool  // behind an element of a top-level array
}

// Value is an object of a stream, valid until the next call of its Scanner.
type Value struct {
	Raw  []byte // as written, but for escapes of lone surrogates, which have become \ufffd
	Byte int64  // of its first byte in the stream
	Line int64  // of its first byte, from 1

	Lines   bool // line ends, LF or CR, stand between its tokens
	Unicode bool // a string in it has an escape \u
	Same    bool // its members and those of objects in it have the names of the value before, in that order
}

// SyntaxError tells where text is no JSON, or no object. The Scanner can go on behind it with Resync.
type SyntaxError struct {
	Byte   int64
	Line   int64 // from 1
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reading JSON at byte %d, line %d: %s", e.Byte, e.Line, e.Reason)
}

// LimitError tells that a value is too large or too deep. It is final.
type LimitError struct {
	Byte   int64
	Line   int64 // from 1
	Reason string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("reading JSON at byte %d, line %d: %s", e.Byte, e.Line, e.Reason)
}

// Scanner reads the objects of a stream: concatenated with any blanks or none between them, each on a line, each behind a record separator (RFC 7464),
// or as elements of top-level arrays, which are never held as a whole. It is not safe for concurrent use.
type Scanner struct {
	r        io.Reader
	o        Options
	checker  checker
	buf      []byte // what was read and not yet returned is buf[at:end], padding zeros behind it
	at, end  int
	base     int64 // of buf[0] in the stream
	counted  int   // lines are counted up to this place of buf
	lines    int64 // line ends before it
	inArray  bool
	first    bool     // in an array, before its first element
	position Position // that Position returns
	err      error    // of r; io.EOF at its end
	failed   error    // of Next, kept until Resync
	bad      int64    // where the value begins that failed
	rejected []byte
}

// NewScanner returns a Scanner of r, whose first byte is the one at the given position; the zero Position is the start of a stream.
func NewScanner(r io.Reader, o Options, at Position) *Scanner {
	o = o.withDefaults()
	buffer := smallBuffer
	if o.Text > 0 {
		buffer = min(buffer, o.Text)
	}
	return &Scanner{
		r: r, o: o, checker: checker{maxDepth: o.MaxDepth}, buf: make([]byte, buffer+padding),
		base: at.Byte, lines: at.Line, inArray: at.InArray, position: at,
	}
}

// Position returns the place behind the value that Next returned last, or behind the line that Resync gave up.
func (s *Scanner) Position() Position {
	return s.position
}

// mark makes the place that has been reached the one that Position returns.
func (s *Scanner) mark() {
	s.count(s.at)
	s.position = Position{Byte: s.base + int64(s.at), Line: s.lines, InArray: s.inArray}
}

// Next returns the next object. Its errors are io.EOF at the end of the stream, *SyntaxError, *LimitError, and those of the reader.
func (s *Scanner) Next() (Value, error) {
	if s.failed != nil {
		return Value{}, s.failed
	}
	start, err := s.start()
	if err != nil {
		s.failed = err
		return Value{}, err
	}
	for {
		n, found := s.checker.check(s.buf[start:], s.end-start)
		if found != incomplete && n > s.o.MaxValue || found == incomplete && s.end-start > s.o.MaxValue {
			return Value{}, s.limit(start, start, fmt.Sprintf("the value is larger than %d bytes", s.o.MaxValue))
		}
		switch found {
		case complete:
			s.count(start)
			value := Value{Raw: s.buf[start : start+n : start+n], Byte: s.base + int64(start), Line: s.lines + 1, Lines: s.checker.lines, Unicode: s.checker.unicode, Same: s.checker.names.same()}
			s.at, s.first = start+n, false
			if !s.checker.lineEnd {
				s.counted = s.at
			}
			s.mark()
			return value, nil
		case malformed:
			return Value{}, s.syntax(start, start+n, s.checker.reason)
		case tooDeep:
			return Value{}, s.limit(start, start+n, fmt.Sprintf("more than %d objects and arrays are nested", s.o.MaxDepth))
		case incomplete:
		}
		if s.err != nil {
			return Value{}, s.cut(start)
		}
		s.at = start
		s.more()
		start = s.at
	}
}

// start passes over what may stand between values and returns the place of the next one's brace.
func (s *Scanner) start() (int, error) {
	separated := !s.inArray // a value may begin here
	for i := s.at; ; {
		if i >= s.end {
			if s.err == nil {
				s.at = i
				s.more()
				i = s.at
				continue
			}
			s.at = i
			switch {
			case !ended(s.err):
				return 0, fmt.Errorf("reading JSON at byte %d: %w", s.base+int64(i), s.err)
			case s.inArray:
				return 0, s.syntax(i, i, "the text ends inside an array")
			}
			return 0, io.EOF
		}
		c := s.buf[i]
		switch {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == recordSeparator && !s.inArray:
			i++
		case c == '[' && !s.inArray:
			i++
			s.inArray, s.first, separated = true, true, true
		case c == ']' && s.inArray && (!separated || s.first):
			i++
			s.inArray, s.first, separated = false, false, true
		case c == ',' && !separated:
			i++
			separated = true
		case c == '{' && separated:
			return i, nil
		default:
			if !utf8.FullRune(s.buf[i:s.end]) && s.err == nil {
				s.at = i // a character that is named whole
				s.more()
				i = s.at
				continue
			}
			return 0, s.syntax(i, i, s.unexpected(i, separated))
		}
	}
}

// recordSeparator stands before each text of a JSON text sequence.
const recordSeparator = 0x1e

// unexpected tells what is wrong with a character that begins no object.
func (s *Scanner) unexpected(i int, separated bool) string {
	what := character(s.buf[i:s.end])
	if !separated {
		return `"," or "]" was expected, not ` + what
	}
	switch c := s.buf[i]; {
	case c == '"':
		what = "a string"
	case c == '[':
		what = "an array inside an array"
	case c == '-' || c-'0' <= 9:
		what = "a number"
	case c == 't' || c == 'f' || c == 'n':
		what = "a value that begins with " + what
	}
	return "each document must be an object; here is " + what
}

// more reads. It moves the value that has begun to the front, and as long as that fills more than a small part of the buffer it reads until there is
// twice as much: a value is checked anew each time, and its bytes are to be looked at a few times only, however small the pieces of the reader are.
func (s *Scanner) more() {
	s.count(s.at)
	have := copy(s.buf, s.buf[s.at:s.end])
	s.base += int64(s.at)
	s.at, s.counted = 0, 0
	s.end = have
	space, limit := len(s.buf)-padding, s.o.MaxValue+smallBuffer
	if have > space/2 && space < limit {
		space = min(2*space, limit)
		grown := make([]byte, space+padding)
		copy(grown, s.buf[:have])
		s.buf = grown
	}
	enough := have + 1
	if have >= smallBuffer/32 {
		enough = min(2*have, space)
	}
	space = min(space, max(enough, smallBuffer))
	for empty := 0; s.end < enough && s.err == nil; {
		n, err := s.r.Read(s.buf[s.end:space])
		s.end += n
		s.err = err
		if empty++; n > 0 {
			empty = 0
		} else if empty == 100 && err == nil {
			s.err = io.ErrNoProgress
		}
	}
	clear(s.buf[s.end : s.end+padding])
}

// count brings the number of lines up to a place of the buffer.
func (s *Scanner) count(place int) {
	if place > s.counted {
		s.lines += int64(bytes.Count(s.buf[s.counted:place], []byte{'\n'}))
		s.counted = place
	}
}

// line returns the line of a place of the buffer, from 1.
func (s *Scanner) line(place int) int64 {
	s.count(s.at)
	return s.lines + int64(bytes.Count(s.buf[s.at:place], []byte{'\n'})) + 1
}

// syntax makes the error of a value that begins at start and is wrong at place.
func (s *Scanner) syntax(start, place int, reason string) error {
	s.bad = s.base + int64(start)
	s.failed = &SyntaxError{Byte: s.base + int64(place), Line: s.line(place), Reason: reason}
	return s.failed
}

func (s *Scanner) limit(start, place int, reason string) error {
	s.bad = s.base + int64(start)
	s.failed = &LimitError{Byte: s.base + int64(place), Line: s.line(place), Reason: reason}
	return s.failed
}

// cut makes the error of a value that begins at start and has no end.
func (s *Scanner) cut(start int) error {
	text := s.buf[start:s.end]
	if !ended(s.err) {
		s.failed = fmt.Errorf("reading JSON at byte %d: %w", s.base+int64(s.end), s.err)
		return s.failed
	}
	if bad := invalidUTF8(text); bad >= 0 && utf8.FullRune(text[bad:]) {
		return s.syntax(start, start+bad, fmt.Sprintf("the byte 0x%02x is no UTF-8", text[bad]))
	}
	return s.syntax(start, s.end, fmt.Sprintf("the text ends inside the object that begins at byte %d", s.base+int64(start)))
}

// ended tells the end of a stream from an error that wraps io.EOF, as that of a broken connection may.
func ended(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped one is no end
}
