package source

import (
	"context"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// check answers SUCCEEDED, or FAILED with every problem at once; it fails only when it cannot tell.
func (inv *invocation) check() (int, error) {
	problems := inv.findProblems()
	if problems == nil {
		return 0, inv.Print(airbyte.AppendConnectionStatus(nil, ""))
	}
	if !command.IsAnswer(problems) {
		return 0, problems
	}
	return 0, inv.Print(airbyte.AppendConnectionStatus(nil, inv.Secrets.Redact(command.Message(problems))))
}

func (inv *invocation) findProblems() (err error) {
	s, err := inv.open()
	if err != nil {
		return err
	}
	defer command.CloseInto(s, "the source", &err)
	ctx := context.Background()
	bs, err := inv.checkedBindings(ctx, s)
	if err != nil {
		return err
	}
	return s.Check(ctx, "", bs)
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
