package command

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// A person reads the problem alone; what was being done goes to the engineers, and no problem of several is lost.
func TestRedacted_LeavesOutWhatWasBeingDone(t *testing.T) {
	same := func(s string) string { return s }
	one := Problem("the slot is in use", "stop the other reader")
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
		got := Redacted(c.err, same)
		cause := ""
		if got.Err != nil {
			cause = got.Err.Error()
		}
		if got.Error() != c.want || cause != c.cause || got.Kind != protocol.KindOf(c.err) {
			t.Errorf("%s: got %q, cause %q, kind %v", c.name, got, cause, got.Kind)
		}
	}
}

func TestMessage_ListsAtMostTwenty(t *testing.T) {
	var list []error
	for range 25 {
		list = append(list, Problem("it is so", "change it"))
	}
	got := Message(joined(list))
	if lines := strings.Split(got, "\n"); len(lines) != 22 || lines[0] != "25 problems:" || lines[1] != "1. it is so: change it" || lines[21] != "5 more" {
		t.Errorf("got %q", got)
	}
}

// What a connector has listed is one item of the runner's list, and has numbers of its own.
func TestMessage_ListInAList(t *testing.T) {
	said := errors.New("the source ended: 2 problems:\n1. this\n2. that")
	if got, want := Message(joined{said, errors.New("the sink ended: no")}), "2 problems:\n1. the source ended: 2 problems:\n   1. this\n   2. that\n2. the sink ended: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type joined []error

func (j joined) Error() string   { return "joined" }
func (j joined) Unwrap() []error { return j }

func TestOfBinding_NamesWhatIsKnown(t *testing.T) {
	for collection, want := range map[string]string{"": "in the resource of binding 3, unknown key", "public.orders": "in the resource of public.orders, unknown key"} {
		got := OfBinding(3, collection, errors.Join(Problem("unknown key", "correct it"), errors.New("other")))
		if len(got) != 2 || !strings.HasPrefix(got[0].Error(), want) || got[1].Error() != "other" {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
