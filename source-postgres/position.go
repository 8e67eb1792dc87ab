package main

import (
	"encoding/json"
	"fmt"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

// position is a place in the write-ahead log: the end of a commit, or of what the server has sent outside a transaction. The system identifier tells
// clusters apart, whose positions have nothing to do with each other.
type position struct {
	lsn    uint64
	system string
}

type positionJSON struct {
	LSN    string `json:"lsn"`
	System string `json:"system,omitempty"`
}

// MarshalJSON renders the position for the state document.
func (p position) MarshalJSON() ([]byte, error) {
	return json.Marshal(positionJSON{formatSlotLSN(p.lsn), p.system})
}

// Compare is negative when p is older.
func (p position) Compare(other sqlcapture.Position) int {
	switch o := other.(position); {
	case p.lsn < o.lsn:
		return -1
	case p.lsn > o.lsn:
		return 1
	}
	return 0
}

// String prints the position as the server does.
func (p position) String() string { return formatSlotLSN(p.lsn) }

// parsePosition reads what MarshalJSON wrote, and refuses positions of another cluster.
func parsePosition(raw json.RawMessage, system string) (sqlcapture.Position, error) {
	var form positionJSON
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("reading position %s: %w", raw, err)
	}
	lsn, err := parseSlotLSN(form.LSN)
	if err != nil {
		return nil, err
	}
	if form.System != "" && form.System != system {
		return nil, &protocol.Problem{
			Kind:    protocol.Config,
			Summary: fmt.Sprintf("the state comes from another database cluster (system identifier %s, this one is %s)", form.System, system),
			Fix:     "point the address to the cluster that was captured, or start over without a state (under pipeline: pipeline backfill FILE '*')",
		}
	}
	return position{lsn, system}, nil
}
