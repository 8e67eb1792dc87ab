package protocol

import (
	"errors"
	"strings"
)

// Kind decides what a runner does about an error.
type Kind int

const (
	// System is a bug or an unknown failure; the zero value.
	System Kind = iota
	// Config needs a person to act: a wrong password, a missing grant.
	Config
	// Transient may pass by itself: a lost connection, a server that restarts.
	Transient
)

// String returns the kind's name in logs: system, config or transient.
func (k Kind) String() string {
	switch k {
	case Config:
		return "config"
	case Transient:
		return "transient"
	case System:
	}
	return "system"
}

// Problem is an error for people: one plain sentence, what to do about it, and the SQL (or other command) that does it. Never holds a secret.
type Problem struct {
	Kind    Kind
	Summary string // "user flow_capture may not read public.orders"
	Fix     string // "grant it SELECT"
	SQL     string // ready to paste; may hold several statements
	Err     error  // the cause, for logs
}

// Error renders summary, fix and SQL as one line.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Summary)
	if p.Fix != "" {
		b.WriteString(": ")
		b.WriteString(p.Fix)
	}
	if p.SQL != "" {
		b.WriteString(": ")
		b.WriteString(p.SQL)
	}
	return b.String()
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// KindOf returns the kind of the first Problem in err's chain, else System.
func KindOf(err error) Kind {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Kind
	}
	return System
}

// Problems flattens joined errors into a list, in order; errors that are no *Problem are kept as they are.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range joined.Unwrap() {
			list = append(list, Problems(e)...)
		}
		return list
	}
	return []error{err}
}
