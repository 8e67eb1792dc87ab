package source

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// A person reads the problem alone; what was being done goes to the engineers, and no problem of several is lost.
func TestRedactedProblem_LeavesOutWhatWasBeingDone(t *testing.T) {
	same := func(s string) string { return s }
	one := problem("the slot is in use", "stop the other reader")
	caused := &protocol.Problem{Kind: protocol.Transient, Summary: "the server is away", Fix: "try again", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		name, want, cause string
		err               error
	}{
		{"plain", "the slot is in use: stop the other reader", "", one},
		{"wrapped", "the slot is in use: stop the other reader", "opening the log: the slot is in use: stop the other reader", fmt.Errorf("opening the log: %w", one)},
		{"wrapped, with a cause", "the server is away: try again", "scanning a: the server is away: try again: i/o timeout", fmt.Errorf("scanning a: %w", caused)},
		{"joined inside", "both: the slot is in use: stop the other reader\nthe server is away: try again", "", fmt.Errorf("both: %w", errors.Join(one, caused))},
		{"no problem at all", "reading a: EOF", "", errors.New("reading a: EOF")},
	} {
		got := redactedProblem(c.err, same)
		cause := ""
		if got.Err != nil {
			cause = got.Err.Error()
		}
		if got.Error() != c.want || cause != c.cause || got.Kind != protocol.KindOf(c.err) {
			t.Errorf("%s: got %q, cause %q, kind %v", c.name, got, cause, got.Kind)
		}
	}
}

// Runners add flags of their own, so only what is nearly one of ours is taken for a slip.
func TestMeant(t *testing.T) {
	for arg, want := range map[string]string{
		"--confg": "--config", "--stream=a": "--streams", "--tial": "", "--tails": "--tail", "--states": "--state", "--log.level=warn": "", "--range": "", "c.json": "", "-x": "",
	} {
		if got := meant(arg); got != want {
			t.Errorf("%s: got %q, want %q", arg, got, want)
		}
	}
}
