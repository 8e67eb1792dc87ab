package rows

import (
	"bytes"
	"fmt"
	"io"
)

// Scanner cuts CSV and its kin into rows.
type Scanner struct {
	window
	dialect Dialect
	options Options
	plain   bool // cutPlain is enough
	begun   bool
	sep     string // the delimiter that a line sep= named
	line    int64  // physical line at pos, from 1
	failed  error
	fields  []Field // at full length; a cut fills it from the front
	row     Row
}

// NewScanner begins at a byte and a line of the text, where a row begins. At byte 0, Options.SkipLines lines and a line sep=; come first and are dropped. The
// dialect is as Detect returned it.
func NewScanner(r io.Reader, d Dialect, o Options, byte, line int64) *Scanner {
	o = o.withDefaults()
	if d.Escape == d.Quote {
		d.Escape = 0 // a doubled quote is one quote anyway
	}
	s := &Scanner{window: newWindow(r, byte, o), dialect: d, options: o, line: line, begun: byte > 0}
	if s.failed = d.check(); s.failed == nil {
		s.plain = len(d.Delimiter) == 1 && d.Escape == 0 && d.End != AnyEnd
		s.keepZ = d.Delimiter[0] == ctrlZ || d.Quote == ctrlZ || d.Escape == ctrlZ || d.End == ctrlZ
	}
	s.fields = make([]Field, min(32, o.MaxColumns))
	return s
}

// Position is where the next row, comment or blank line begins: what NewScanner takes to go on there.
func (s *Scanner) Position() (byte, line int64) { return s.base + int64(s.pos), s.line }

// cut is what an attempt to cut one row came to. Indexes count from the row's first byte.
type cut struct {
	state   state
	text    int  // length of the row without its end; runOver: where the quote that opens another field ends
	next    int  // where the row behind it begins; runOver: how much was looked at
	fields  int  // how many of Scanner.fields
	lenient int  // how many of these are
	quote   int  // where the quoted field begins that is not closed
	lines   bool // line ends may be inside
}

type state uint8

const (
	whole    state = iota // the row is there
	blank                 // a line without a byte is there
	partial               // the row goes on behind the data
	unclosed              // the same, in a quoted field
	runOver               // a quoted field is not closed before one of a later line opens
	tooWide               // there are more than Options.MaxColumns fields
)

// Next returns the next row; io.EOF; a *RowError, after which one may go on; a *LimitError or the reader's error, which are final.
func (s *Scanner) Next() (*Row, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if !s.begun {
		s.begin()
	}
	for {
		if s.dialect.Comment != "" {
			s.skipComments()
		}
		if s.pos == s.end {
			if !s.fill() {
				return nil, s.fail(s.err)
			}
			continue
		}
		if c := s.buf[s.pos]; (c == '\r' || c == s.dialect.End.byte()) && s.skipBlankLines() {
			continue
		}
		var c cut
		if s.plain {
			c = s.cutPlain(s.unread(), s.waiting(), s.eof())
		} else {
			c = s.cutGeneral(s.unread(), s.waiting(), s.eof())
		}
		switch {
		case c.state == whole && c.text <= s.options.MaxRow:
			return s.take(c), nil
		case c.state == blank:
			s.pos += c.next
			s.line++
		case c.state == runOver && c.next <= s.options.MaxRow+2:
			return nil, s.resyncRunOver(c)
		case c.state == whole || c.state == tooWide || s.waiting() >= s.options.MaxRow+2: // 2: a CRLF
			return nil, s.tooBig()
		case c.state == unclosed && s.eof():
			return nil, s.resync(c.quote, s.waiting(), "no closing quote before the end of the file")
		case !s.fill():
			return nil, s.fail(s.err)
		}
	}
}

// take makes c the row.
func (s *Scanner) take(c cut) *Row {
	row := &s.row
	row.Text, row.Fields, row.Lenient = s.buf[s.pos:s.pos+c.text], s.fields[:c.fields], c.lenient
	row.Byte, row.Line = s.base+int64(s.pos), s.line
	s.pos += c.next
	s.line++
	if c.lines {
		s.line += countLines(row.Text, s.dialect.End)
	}
	return row
}

// fail makes err the end.
func (s *Scanner) fail(err error) error {
	s.failed = err
	return err
}

func (s *Scanner) limit(reason string) error {
	return &LimitError{Byte: s.base + int64(s.pos), Line: s.line, Reason: reason}
}

// tooBig judges a row beyond a bound by what is within MaxRow alone, and by whether the text ends there: whether more of it has been read is chance.
func (s *Scanner) tooBig() error {
	if s.waiting() > s.options.MaxRow { // a row with too many fields is told at once
		s.need(s.options.MaxRow + 3)
	}
	within := min(s.options.MaxRow+2, s.waiting())
	switch c := s.cutGeneral(s.unread(), within, false); c.state {
	case unclosed:
		return s.resync(c.quote, within, fmt.Sprintf("no closing quote within the row limit of %d bytes", s.options.MaxRow))
	case runOver:
		return s.resyncRunOver(c)
	case tooWide:
		return s.fail(s.limit(fmt.Sprintf("it has more than %d fields", s.options.MaxColumns)))
	default:
		return s.fail(s.limit(fmt.Sprintf("it is longer than %d bytes", s.options.MaxRow)))
	}
}

func (s *Scanner) resyncRunOver(c cut) error {
	line := s.line + countLines(s.unread()[:c.text], s.dialect.End)
	return s.resync(c.quote, c.text, fmt.Sprintf("a field of line %d opens with a quote before a closing one", line))
}

// resync skips to the line behind the one on which a quoted field was opened that is not closed before end.
func (s *Scanner) resync(quote, end int, why string) error {
	b := s.unread()[:end]
	text, next := len(b), len(b)
	last := s.eof() && end == s.waiting()
	search := b[quote:]
	if !last {
		search = b[quote : end-1] // a CR there may be half of a CRLF
	}
	if i := lineEnd(search, s.dialect.End); i >= 0 {
		text, next = quote+i, quote+i+1
	} else if !last {
		return s.fail(s.limit(fmt.Sprintf("it is longer than %d bytes, in a quoted field", s.options.MaxRow)))
	}
	if next < len(b) && b[next] == '\n' && b[next-1] == '\r' && s.dialect.End == AnyEnd {
		next++
	}
	if next > text && b[text-1] == '\r' && s.dialect.End == LineEnd {
		text--
	}
	opened := s.line + countLines(b[:quote], s.dialect.End)
	err := &RowError{
		Byte: s.base + int64(s.pos), Line: s.line, Raw: b[:text],
		Reason: fmt.Sprintf("unterminated quoted field opened at line %d: %s", opened, why),
	}
	s.pos += next
	s.line += countLines(b[:next], s.dialect.End)
	return err
}

// begin drops what precedes the first row.
func (s *Scanner) begin() {
	s.begun = true
	for range s.options.SkipLines {
		if !s.skipLine(s.dialect.End) {
			return
		}
		s.line++
	}
	s.need(longestSep)
	if sep, n := sepLine(s.buf[s.pos:s.end], s.dialect.End); n > 0 {
		s.sep = sep
		s.pos += n
		s.line++
	}
}

// skipBlankLines skips lines without a byte, of which a small compressed file may have very many. One that may go on behind the data is left to cut.
func (s *Scanner) skipBlankLines() bool {
	b, at := s.buf[s.pos:s.end], 0
	eol, crlf := s.dialect.End.byte(), s.dialect.End == LineEnd || s.dialect.End == AnyEnd
	for at < len(b) {
		if b[at] == eol {
			at++
		} else if crlf && b[at] == '\r' && at+1 < len(b) && b[at+1] == '\n' {
			at += 2
		} else {
			break
		}
		s.line++
	}
	s.pos += at
	return at > 0
}

// skipComments skips the comments that wait.
func (s *Scanner) skipComments() {
	for {
		s.need(len(s.dialect.Comment))
		if !bytes.HasPrefix(s.buf[s.pos:s.end], []byte(s.dialect.Comment)) {
			return
		}
		s.skipLine(s.dialect.End)
		s.line++
	}
}
