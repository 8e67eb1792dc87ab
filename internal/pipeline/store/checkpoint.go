package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// Checkpoint is the runner's checkpoint after a transaction, as the sink and the store hold it.
type Checkpoint struct {
	Pipeline string `json:"pipeline"`
	// Epoch is raised by `pipeline reset`: a checkpoint of another epoch does not count.
	Epoch uint64 `json:"epoch"`
	// Txn counts the transactions of the epoch, from 1.
	Txn uint64 `json:"txn"`
	// Capture is the source's state.
	Capture json.RawMessage `json:"capture"`
	// Backfill counts by a stream's path how often it has started over in the sink.
	Backfill map[string]uint32 `json:"backfill"`
	// Resets counts those of them that the source asked for: it has gone on from its state, which keeps its name.
	Resets map[string]uint32 `json:"resets,omitempty"`
	// MaxKeys holds by the sink's state key the greatest packed key that was stored; an empty one: nothing was yet.
	MaxKeys map[string][]byte `json:"maxKeys"`
}

// Parse reads a stored checkpoint.
func Parse(raw []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, &protocol.Problem{
			Kind: protocol.Config, Summary: "the checkpoint is none that pipeline wrote", Fix: "somebody else writes to this destination under the same name: choose another name", Err: err,
		}
	}
	return c, nil
}

// JSON renders the checkpoint, the same bytes for the same checkpoint.
func (c Checkpoint) JSON() json.RawMessage {
	raw, err := json.Marshal(c)
	if err != nil {
		panic("store: rendering a checkpoint: " + err.Error()) // numbers, strings and valid raw JSON only
	}
	return raw
}

// Path names a stream by its resource path.
func Path(resourcePath []string) string { return strings.Join(resourcePath, "/") }

// String is for messages.
func (c Checkpoint) String() string { return fmt.Sprintf("transaction %d of epoch %d", c.Txn, c.Epoch) }
