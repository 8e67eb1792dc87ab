package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// maxProblems is how many problems one message lists.
const maxProblems = 20

// message renders an error for people: a sentence, or a numbered list when several are joined.
func message(err error) string {
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
		fmt.Fprintf(&b, "\n%d. %s", i+1, sentence(e))
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
	cause := internal(err)
	if p := wrappedProblem(err); p == nil || err.Error() == p.Error() {
		return cause
	}
	if cause == "" {
		return err.Error()
	}
	return err.Error() + ": " + cause
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

// problem is an error of kind Config.
func problem(summary, fix string) *protocol.Problem {
	return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix}
}
