package materialize

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// state prints the STATEs that the tables of a catalog hold, as one list for a source's --state. From then on no write that is still running can add
// anything, so that a source which starts there repeats nothing.
func (inv *invocation) state() (exit int, err error) {
	streams, err := inv.destinationCatalog()
	if err != nil {
		return 0, err
	}
	m, err := inv.open()
	if err != nil {
		return 0, err
	}
	defer closeInto(m, &err)
	reader, ok := m.(CheckpointReader)
	if !ok {
		return 0, command.Problem(inv.connector.name+" keeps no STATEs in its destination", "keep those that write prints")
	}
	ctx := context.Background()
	tables, err := inv.proposeTables(ctx, m, streams)
	if err != nil {
		return 0, err
	}
	paths := make([][]string, len(tables))
	for i, t := range tables {
		paths[i] = t.binding.ResourcePath
	}
	raw, err := reader.ReadCheckpoints(ctx, paths)
	if err != nil {
		return 0, err
	}
	for i, t := range tables {
		if t.checkpoint, err = decodeTableCheckpoint(raw[i]); err != nil {
			return 0, fmt.Errorf("reading the checkpoint of table %s in the destination: %w", t.path(), err)
		}
	}
	list, err := statesOf(tables)
	if err != nil {
		return 0, err
	}
	return 0, inv.Print(list)
}

// statesOf renders the states of tables as a list. One that covers all streams is there once, and only when all tables agree on it.
func statesOf(tables []*table) ([]byte, error) {
	var list [][]byte
	var common *table // the first with a state that covers all streams
	for _, t := range tables {
		own, err := ofOneStream(t)
		if err != nil {
			return nil, err
		}
		switch {
		case !own && common == nil:
			common = t
		case own && t.checkpoint.State != nil:
			list = append(list, t.checkpoint.State)
		}
	}
	if common != nil {
		list = [][]byte{common.checkpoint.State}
		var others []string
		for _, t := range tables {
			if !bytes.Equal(t.checkpoint.State, common.checkpoint.State) {
				others = append(others, t.path())
			}
		}
		if others != nil {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("the source keeps one state for all streams, and the tables hold different ones: %s not the one of %s",
					strings.Join(others, ", "), common.path()),
				Fix: "start the source anew for these streams together, without a state",
			}
		}
	}
	return append(append([]byte("["), bytes.Join(list, []byte(","))...), "]\n"...), nil
}

// ofOneStream tells whether a table's state covers its stream alone, or there is none.
func ofOneStream(t *table) (bool, error) {
	if t.checkpoint.State == nil {
		return true, nil
	}
	var s struct {
		Kind airbyte.StateKind `json:"type"`
	}
	if err := json.Unmarshal(t.checkpoint.State, &s); err != nil {
		return false, fmt.Errorf("reading the STATE of table %s in the destination: %w", t.path(), err)
	}
	return s.Kind == airbyte.StreamKind, nil
}
