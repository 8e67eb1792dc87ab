package command

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// maxProblems is how many problems one message lists.
const maxProblems = 20

// Message renders an error for people: a sentence, or a numbered list when several are joined.
func Message(err error) string {
	list := protocol.Problems(err)
	if len(list) == 1 {
		return sentence(list[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems:", len(list))
	for i, e := range list {
		if i == maxProblems {
			fmt.Fprintf(&b, "\n%d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, strings.ReplaceAll(sentence(e), "\n", "\n   ")) // a list in a list, as of a connector, stands out
	}
	return b.String()
}

// sentence is what a person reads of one error: the problem, without what was being done when it was met (detail has that). An error in whose chain
// several are joined stays whole.
func sentence(err error) string {
	if p := wrappedProblem(err); p != nil {
		return p.Error()
	}
	return err.Error()
}

// detail is what engineers want to know besides the sentence: what was being done, and the cause. Empty: nothing.
func detail(err error) string {
	cause := Cause(err)
	if p := wrappedProblem(err); p == nil || err.Error() == p.Error() {
		return cause
	}
	if cause == "" {
		return err.Error()
	}
	return err.Error() + ": " + cause
}

// Cause is the error behind the first problem of a chain, for engineers. Empty: there is none.
func Cause(err error) string {
	if p, ok := errors.AsType[*protocol.Problem](err); ok && p.Err != nil {
		return p.Err.Error()
	}
	return ""
}

// wrappedProblem follows a chain without branches to its first problem; nil: there is none.
func wrappedProblem(err error) *protocol.Problem {
	for ; err != nil; err = errors.Unwrap(err) {
		if p, ok := err.(*protocol.Problem); ok { //nolint:errorlint // each link is looked at by itself
			return p
		}
	}
	return nil
}

// Redacted makes one problem without secrets of an error, which may be several joined.
func Redacted(err error, redact func(string) string) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.KindOf(err), Summary: redact(Message(err))}
	if cause := detail(err); cause != "" {
		p.Err = errors.New(redact(cause))
	}
	return p
}

// Problem is an error of kind Config.
func Problem(summary, fix string) *protocol.Problem {
	return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix}
}

// Panicked makes an error of what was recovered, with the stack as its cause. Call it where the panic is recovered.
func Panicked(recovered any) error {
	return &protocol.Problem{
		Kind: protocol.System, Summary: fmt.Sprintf("the connector met a bug: %v", recovered), Err: errors.New(string(debug.Stack())),
	}
}

// OfBinding says of each problem of a resource which binding has it: that of a collection, by its name, or if that is not known ("") by its number.
func OfBinding(binding int, collection string, err error) []error {
	which := fmt.Sprintf("binding %d", binding)
	if collection != "" {
		which = collection
	}
	list := protocol.Problems(err)
	for i, e := range list {
		if p, ok := errors.AsType[*protocol.Problem](e); ok {
			of := *p
			of.Summary = fmt.Sprintf("in the resource of %s, %s", which, p.Summary)
			list[i] = &of
		}
	}
	return list
}

// IsAnswer tells problems that a person can mend from a check that did not work.
func IsAnswer(err error) bool {
	for _, e := range protocol.Problems(err) {
		p, ok := errors.AsType[*protocol.Problem](e)
		if !ok || p.Kind == protocol.System {
			return false
		}
	}
	return true
}

// CloseInto closes c and keeps its error when there is no other. what names c: "the source".
func CloseInto(c io.Closer, what string, err *error) {
	if closeErr := c.Close(); closeErr != nil && *err == nil {
		*err = fmt.Errorf("closing %s: %w", what, closeErr)
	}
}
