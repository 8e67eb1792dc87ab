package source

import (
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
		return list[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems:", len(list))
	for i, e := range list {
		if i == maxProblems {
			fmt.Fprintf(&b, "\n%d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, e.Error())
	}
	return b.String()
}

// problem is an error of kind Config.
func problem(summary, fix string) *protocol.Problem {
	return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix}
}
