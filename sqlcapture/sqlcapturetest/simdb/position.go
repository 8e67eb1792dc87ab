package simdb

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/estuary/connectors/sqlcapture"
)

// Position is the end of a commit record.
type Position int64

// Compare implements sqlcapture.Position.
func (p Position) Compare(o sqlcapture.Position) int {
	q := o.(Position)
	switch {
	case p < q:
		return -1
	case p > q:
		return 1
	}
	return 0
}

// String implements sqlcapture.Position.
func (p Position) String() string { return strconv.FormatInt(int64(p), 10) }

// MarshalJSON implements sqlcapture.Position: a string, as most databases write theirs.
func (p Position) MarshalJSON() ([]byte, error) { return []byte(`"` + p.String() + `"`), nil }

// ParsePosition reads what MarshalJSON wrote.
func ParsePosition(raw json.RawMessage) (sqlcapture.Position, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("reading position %s: %w", raw, err)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reading position %s: %w", raw, err)
	}
	return Position(n), nil
}
