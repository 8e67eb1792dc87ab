package materialize

import (
	"context"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
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
	m, err := inv.open()
	if err != nil {
		return err
	}
	defer closeInto(m, &err)
	return m.Check(context.Background())
}
