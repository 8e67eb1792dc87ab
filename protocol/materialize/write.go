package materialize

import (
	"context"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// write is the command of that name: messages of an Airbyte source on stdin, its STATEs on stdout once what came before them is committed.
//
// Two goroutines share the work: the writer reads and combines, the committer loads, stores and commits what the writer has split off. Each table has its own
// checkpoint, which holds the last STATE of its stream and is committed with the rows.
func (inv *invocation) write() (exit int, err error) {
	streams, err := inv.destinationCatalog()
	if err != nil {
		return 0, err
	}
	m, err := inv.open()
	if err != nil {
		return 0, err
	}
	defer closeInto(m, &err)
	ctx := context.Background()
	if err := m.Check(ctx); err != nil {
		return 0, err
	}
	tables, err := inv.prepareTables(ctx, m, streams)
	if err != nil {
		return 0, err
	}
	if err := applyTables(ctx, m, tables); err != nil {
		return 0, err
	}
	return 0, inv.writeInto(ctx, m, tables)
}

func (inv *invocation) destinationCatalog() ([]airbyte.DestinationStream, error) {
	raw, err := command.ReadInput("catalog", inv.args.Catalog)
	if err != nil {
		return nil, err
	}
	return airbyte.DecodeDestinationCatalog(raw)
}

// applyTables makes the tables what the bindings ask for.
func applyTables(ctx context.Context, m Materializer, tables []*table) error {
	plan, err := m.Apply(ctx, nil, bindingsOf(tables), nil)
	if err != nil {
		return err
	}
	return plan.Run(ctx)
}

// writeInto opens the tables and writes until stdin ends.
func (inv *invocation) writeInto(ctx context.Context, m Materializer, tables []*table) (err error) {
	t, opened, err := m.Open(ctx, OpenRequest{Bindings: bindingsOf(tables), Range: protocol.FullRange})
	if err != nil {
		return err
	}
	defer command.CloseInto(t, "the destination", &err)
	c, err := inv.newCommitter(t, opened, tables)
	if err != nil {
		return err
	}
	if _, err := t.Acknowledge(ctx, nil); err != nil {
		return err
	}
	w, err := inv.newWriter(tables)
	if err != nil {
		return err
	}
	defer command.CloseInto(w.combiner, "the combiner", &err)
	inv.Graceful()
	return w.run(ctx, c, newInput(inv.Stdin))
}

// remembered reads the checkpoints of tables from what Open returned.
func remembered(opened Opened, tables []*table) error {
	if opened.Checkpoint.Owner != Stored {
		return nil
	}
	members, err := objectOf(opened.Checkpoint.JSON)
	if err != nil {
		return fmt.Errorf("reading the checkpoints in the destination: %w", err)
	}
	var problems []error
	for _, t := range tables {
		if t.checkpoint, err = decodeTableCheckpoint(members[t.binding.StateKey]); err != nil {
			problems = append(problems, fmt.Errorf("reading the checkpoint of table %s in the destination: %w", t.path(), err))
		}
	}
	return errors.Join(problems...)
}
