package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
)

// check answers SUCCEEDED, or FAILED with every problem at once; it fails only when it cannot tell.
func (inv *invocation) check() (int, error) {
	problems := inv.findProblems()
	if problems == nil {
		return 0, inv.print(airbyte.AppendConnectionStatus(nil, ""))
	}
	if !isAnswer(problems) {
		return 0, problems
	}
	return 0, inv.print(airbyte.AppendConnectionStatus(nil, inv.secrets.redact(message(problems))))
}

func (inv *invocation) findProblems() (err error) {
	s, err := inv.open()
	if err != nil {
		return err
	}
	defer closeInto(s, &err)
	ctx := context.Background()
	bs, err := inv.checkedBindings(ctx, s)
	if err != nil {
		return err
	}
	return s.Check(ctx, bs)
}

// checkedBindings returns what is configured; nil: the caller did not say.
func (inv *invocation) checkedBindings(ctx context.Context, s Source) ([]protocol.Binding, error) {
	switch {
	case inv.args.Streams != nil && inv.args.Catalog != nil:
		return nil, errBothSelections()
	case inv.args.Streams != nil:
		return inv.matchStreams(ctx, s)
	case inv.args.Catalog != nil:
		c, err := inv.catalog()
		return catalogBindings(c), err
	}
	return nil, nil
}

// isAnswer tells problems that a person can mend from a check that did not work.
func isAnswer(err error) bool {
	for _, e := range protocol.Problems(err) {
		p, ok := errors.AsType[*protocol.Problem](e)
		if !ok || p.Kind == protocol.System {
			return false
		}
	}
	return true
}

// closeInto closes the source and keeps its error when there is no other.
func closeInto(s Source, err *error) {
	if closeErr := s.Close(); closeErr != nil && *err == nil {
		*err = fmt.Errorf("closing the source: %w", closeErr)
	}
}
