package rows

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// W3C cuts logs in the W3C Extended Log File Format (https://www.w3.org/TR/WD-logfile.html) into rows. A line that begins with # is a directive; #Fields names
// the columns of the entries after it, and may come again. Entries are separated by TAB if the first #Fields or the first entry has one, otherwise by runs of
// blanks: CloudFront writes a blank between names and TABs between values, IIS blanks everywhere. A string in double quotes ends in its line.
//
// A lone - means that there is no value; it comes as it stands, and is a field without the flag Quoted.
type W3C struct {
	window
	options  Options
	at       W3CPosition // of pos
	separate bool        // the separator is known
	names    []string
	bound    int // how often #Fields was read
	failed   error
	fields   []Field
	row      Row
}

// W3CPosition is where the next line begins and what must be known to go on there.
type W3CPosition struct {
	Byte   int64 // of the decoded text
	Line   int64 // physical line, from 1
	Fields int64 // byte of the #Fields that holds; -1: there was none yet
	Tab    bool  // TABs separate, not blanks; false where no entry was read yet
}

// NewW3C begins at the first byte of a log.
func NewW3C(r io.Reader, o Options) *W3C {
	o = o.withDefaults()
	return &W3C{
		window: newWindow(r, 0, o), options: o, at: W3CPosition{Line: 1, Fields: -1},
		fields: make([]Field, min(32, o.MaxColumns)),
	}
}

// ResumeW3C goes on at a position that is behind an entry: r begins at at.Byte, directive is the text from at.Fields on, its first line at least.
func ResumeW3C(r io.Reader, directive []byte, at W3CPosition, o Options) (*W3C, error) {
	w := NewW3C(r, o)
	w.base, w.at, w.separate = at.Byte, at, true
	line, _, _ := bytes.Cut(directive, []byte{'\n'})
	list, ok := fieldsDirective(bytes.TrimSuffix(line, []byte{'\r'}))
	if !ok {
		return nil, fmt.Errorf("resuming a log at byte %d: no #Fields at byte %d", at.Byte, at.Fields)
	}
	return w, w.bind(list, at.Fields)
}

// Position is where the next line begins.
func (w *W3C) Position() W3CPosition {
	w.at.Byte = w.base + int64(w.pos)
	return w.at
}

// Fields are the names of the columns of the row that Next returned last; a new slice after each #Fields.
func (w *W3C) Fields() []string { return w.names }

// Bound counts the #Fields that were read: when it changed, Fields did.
func (w *W3C) Bound() int { return w.bound }

// Dialect undoes doubled quotes: for Dialect.AppendField.
func (w *W3C) Dialect() Dialect {
	d := Dialect{Delimiter: " ", Quote: '"', End: LineEnd}
	if w.at.Tab {
		d.Delimiter = "\t"
	}
	return d
}

// Next returns the next entry; io.EOF; a *RowError for an entry with an unclosed quote or another number of fields than #Fields names, after which one may go
// on; a *FormatError, a *LimitError or the reader's error, which are final.
func (w *W3C) Next() (*Row, error) {
	for w.failed == nil {
		line, next, err := w.nextLine()
		if err != nil {
			w.failed = err
			break
		}
		start, at := w.base+int64(w.pos), w.at.Line
		w.pos += next
		w.at.Line++
		switch {
		case len(bytes.Trim(line, " \t")) == 0:
		case line[0] == '#':
			if list, ok := fieldsDirective(line); ok {
				if err := w.bind(list, start); err != nil {
					w.failed = &FormatError{Byte: start, Line: at, Reason: err.Error()}
				}
			}
		case w.names == nil:
			w.failed = &FormatError{Byte: start, Line: at, Reason: "an entry stands before the first #Fields, which has to name its columns"}
		default:
			if !w.separate {
				w.separate = true
				w.at.Tab = w.at.Tab || hasTab(line)
			}
			return w.entry(line, start, at)
		}
	}
	return nil, w.failed
}

// nextLine is the next line without its end, and its length with it.
func (w *W3C) nextLine() (line []byte, length int, err error) {
	for searched := 0; ; {
		b := w.buf[w.pos:w.end]
		searched = min(searched, len(b)) // a Ctrl-Z at the end is gone
		if i := bytes.IndexByte(b[searched:], '\n'); i >= 0 {
			length = searched + i + 1
			line = bytes.TrimSuffix(b[:length-1], []byte{'\r'})
		} else if length = len(b); w.eof() || length >= w.options.MaxRow+2 { // 2: a CRLF
			line = b
		} else {
			searched = len(b)
		}
		switch {
		case len(line) > w.options.MaxRow:
			return nil, 0, &LimitError{Byte: w.base + int64(w.pos), Line: w.at.Line, Reason: fmt.Sprintf("it is longer than %d bytes", w.options.MaxRow)}
		case line != nil && length > 0:
			return line, length, nil
		case !w.fill():
			return nil, 0, w.err
		}
	}
}

// fieldsDirective returns what a directive #Fields lists.
func fieldsDirective(line []byte) (list []byte, ok bool) {
	const name = "#fields"
	if len(line) <= len(name) || !strings.EqualFold(string(line[:len(name)]), name) {
		return nil, false
	}
	list = bytes.TrimLeft(line[len(name):], " \t")
	return bytes.CutPrefix(list, []byte{':'})
}

// bind makes list, which stands at a byte, the columns.
func (w *W3C) bind(list []byte, at int64) error {
	w.names = strings.Fields(string(list))
	w.at.Fields = at
	w.bound++
	if len(w.names) == 0 {
		return fmt.Errorf("#Fields names no column")
	}
	if len(w.names) > w.options.MaxColumns {
		return fmt.Errorf("#Fields names %d columns, more than %d", len(w.names), w.options.MaxColumns)
	}
	if !w.separate {
		w.at.Tab = w.at.Tab || hasTab(bytes.Trim(list, " \t"))
	}
	for len(w.fields) < len(w.names) {
		w.fields = make([]Field, len(w.names))
	}
	return nil
}

// entry cuts a line that is not blank.
func (w *W3C) entry(line []byte, start, at int64) (*Row, error) {
	n, lenient, unclosed := splitEntry(line, w.at.Tab, w.fields[:len(w.names)])
	reason := ""
	switch {
	case unclosed:
		reason = fmt.Sprintf("unterminated quoted field opened at line %d: no closing quote before the end of the line", at)
	case n != len(w.names):
		reason = fmt.Sprintf("%d fields where #Fields names %d", n, len(w.names))
	}
	if reason != "" {
		return nil, &RowError{Byte: start, Line: at, Reason: reason, Raw: line}
	}
	w.row = Row{Text: line, Fields: w.fields[:n], Byte: start, Line: at, Lenient: lenient}
	return &w.row, nil
}
