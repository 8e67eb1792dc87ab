package parquet

import (
	"errors"
	"fmt"
)

// Kind says what is wrong, for those who decide by it.
type Kind uint8

// Kinds of errors.
const (
	Corrupt     Kind = iota // the bytes contradict the format or each other
	Unsupported             // legal, but not read here: VARIANT, GEOMETRY, encryption, LZO
	Limit                   // larger than Limits allow
	IO                      // the io.ReaderAt failed
)

// Error ends the reading of a file.
type Error struct {
	Kind   Kind
	Column string // dotted path of the column; empty: the file as a whole
	Group  int    // row group, counted from 0; -1: none
	Byte   int64  // offset of the page; -1: none
	Reason string
	Err    error // its cause, if another package found it
}

func (e *Error) Error() string {
	text := e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	switch {
	case e.Byte >= 0:
		return fmt.Sprintf("reading column %s, row group %d, page at byte %d: %s", e.Column, e.Group, e.Byte, text)
	case e.Group >= 0 && e.Column != "":
		return fmt.Sprintf("reading column %s, row group %d: %s", e.Column, e.Group, text)
	case e.Group >= 0:
		return fmt.Sprintf("reading row group %d: %s", e.Group, text)
	case e.Column != "":
		return fmt.Sprintf("reading column %s: %s", e.Column, text)
	}
	return "reading parquet file: " + text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ValueError is about one value that has no JSON form. Its row is lost, the rows behind it can be read.
type ValueError struct {
	Column string // dotted path
	Reason string // "is not UTF-8"
	Value  string // what there is, as Go text, at most 100 bytes
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("writing column %s: value %s %s", e.Column, e.Value, e.Reason)
}

// problem is an error inside a page or structure, before it is known where that lies.
type problem struct {
	kind   Kind
	reason string
	err    error
}

func (p *problem) Error() string {
	if p.err != nil {
		return p.reason + ": " + p.err.Error()
	}
	return p.reason
}

func (p *problem) Unwrap() error { return p.err }

func corrupt(format string, args ...any) error {
	return &problem{kind: Corrupt, reason: fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return &problem{kind: Unsupported, reason: fmt.Sprintf(format, args...)}
}

func tooLarge(format string, args ...any) error {
	return &problem{kind: Limit, reason: fmt.Sprintf(format, args...)}
}

// located makes an Error of a problem.
func located(err error, column string, group int, at int64) error {
	var p *problem
	if !errors.As(err, &p) {
		return err
	}
	return &Error{Kind: p.kind, Column: column, Group: group, Byte: at, Reason: p.reason, Err: p.err}
}

// recovered is deferred around calls into other packages: a panic on bytes of a stranger becomes an error.
func recovered(err *error, doing string) {
	if p := recover(); p != nil {
		*err = corrupt("%s: %v", doing, p)
	}
}
