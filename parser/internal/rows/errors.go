package rows

import "fmt"

// RowError is a row that cannot be cut. It is skipped; scanning goes on with Next.
type RowError struct {
	Byte   int64  // where the row begins
	Line   int64  // the physical line on which it begins, from 1
	Reason string // without the place
	Raw    []byte // what is skipped, without the end of its last line; valid until the next call of the scanner
}

func (e *RowError) Error() string {
	return fmt.Sprintf("cutting the row at line %d, byte %d: %s", e.Line, e.Byte, e.Reason)
}

// LimitError is a row beyond Options. It is final: what follows the row cannot be trusted to be the next one.
type LimitError struct {
	Byte   int64  // where the row begins
	Line   int64  // the physical line on which it begins, from 1
	Reason string // without the place
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("cutting the row at line %d, byte %d: %s", e.Line, e.Byte, e.Reason)
}

// FormatError is a file that does not have the form that it was said to have, such as a log without a #Fields line. It is final.
type FormatError struct {
	Byte   int64  // where the line begins
	Line   int64  // the physical line, from 1
	Reason string // without the place
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("reading line %d, byte %d: %s", e.Line, e.Byte, e.Reason)
}
