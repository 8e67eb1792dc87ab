package parser

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says whose matter an error is.
type Kind int

const (
	// KindData is in the file; the zero value.
	KindData Kind = iota
	// KindConfig is in the configuration, or in how it fits the file.
	KindConfig
	// KindLimit is a file that demands more than is allowed.
	KindLimit
	// KindIO is a source that could not be read; trying again may help.
	KindIO
)

// String returns the kind's name in logs: data, config, limit or io.
func (k Kind) String() string {
	switch k {
	case KindConfig:
		return "config"
	case KindLimit:
		return "limit"
	case KindIO:
		return "io"
	case KindData:
	}
	return "data"
}

// maxValue bounds what an error repeats of a file, in bytes.
const maxValue = 100

// Error is what a file fails with, or a row is rejected for.
type Error struct {
	File   string // its name, and behind a colon that of a zip archive's member
	Row    int64  // 1-based, of data rows or documents; 0: the file as a whole
	Line   int64  // 1-based, physical, where the row begins; 0: the format has no lines
	Byte   int64  // of the file, or of what is inside its layers and encoding; -1: unknown
	Column string // as the file names it; empty: the row as a whole
	Reason string // the sentence
	Value  string // what was found there, clipped to 100 bytes; empty where the reason says all
	Kind   Kind
	Err    error // the cause, if another package found it
}

// Error is one sentence: where, what, and the value.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	var place []string
	if e.Row > 0 {
		place = append(place, "row "+strconv.FormatInt(e.Row, 10))
	}
	if e.Line > 0 {
		place = append(place, "line "+strconv.FormatInt(e.Line, 10))
	}
	if e.Byte >= 0 && (e.Row > 0 || e.Line > 0 || e.Byte > 0) {
		place = append(place, "byte "+strconv.FormatInt(e.Byte, 10))
	}
	if len(place) > 0 {
		b.WriteString(strings.Join(place, ", "))
		b.WriteString(": ")
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q: ", e.Column)
	}
	if e.Value != "" {
		fmt.Fprintf(&b, "value %q ", e.Value)
	}
	b.WriteString(e.Reason)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// clip cuts what an error repeats, at a whole character.
func clip(s string) string {
	if len(s) <= maxValue {
		return s
	}
	end := maxValue - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// ErrNoFormat says that the format has to be given. Errors that wrap it name the place in the configuration of a source.
var ErrNoFormat = errors.New("neither its name nor its content type nor its first bytes tell the format")

// fileError is about the file as a whole.
func fileError(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Byte: -1, Reason: err.Error(), Kind: kind, Err: errors.Unwrap(err)}
}

// rowError is what is wrong with one row; the next one can be read.
type rowError struct {
	is  *Error
	raw []byte // the row as it stands in the file; valid until the next one
}

func (e *rowError) Error() string { return e.is.Error() }

// canceled tells whether reading was stopped, rather than failed.
func canceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
