package sqlcapture

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// bindingState is a stream's part of the state document, keyed by table. A released member is never renamed: testdata/state holds every shape.
type bindingState struct {
	Mode string `json:"mode"` // pending, backfill, active, missing
	// Key is the scan's key by column name.
	Key []string `json:"key,omitempty"`
	// Scanned and Until are rowkey bytes in base64.
	Scanned rowkey.Key `json:"scanned,omitempty"`
	Until   rowkey.Key `json:"until,omitempty"`
	// Order is the order that Scanned and Until are places in (keyOrder); "" in states of releases that did not write it.
	Order string `json:"order,omitempty"`
	Paged bool   `json:"paged,omitempty"`
	Rows  int64  `json:"rows,omitempty"`
	// Identity, Leaves and Columns are the table's as last seen.
	Identity string `json:"identity,omitempty"`
	Leaves   string `json:"leaves,omitempty"`
	Columns  string `json:"columns,omitempty"`
	// Delivery is how the log delivered the table when last seen; nil in states of releases that did not write it.
	Delivery *Delivery `json:"delivery,omitempty"`
	// Position is the stream's own, while the shared one is behind it.
	Position json.RawMessage `json:"position,omitempty"`
	// Held: the stream failed at Position while others went on, so the shared one does not count.
	Held bool `json:"held,omitempty"`
	// Reset is why the backfill started over, until a checkpoint covers the first chunk of the new one.
	Reset string `json:"reset,omitempty"`
}

// sharedState is the part that all streams share.
type sharedState struct {
	Position json.RawMessage `json:"position,omitempty"`
}

var phaseNames = [...]string{pending: "pending", backfill: "backfill", active: "active", missing: "missing", failed: "failed"}

// loadState takes over what a binding's state says, and returns the position up to which the stream is covered; nil: it has no state.
func (e *engine) loadState(s *stream, b protocol.Binding) (Position, error) {
	if len(b.State) == 0 || string(b.State) == "null" {
		return nil, nil
	}
	var st bindingState
	if err := json.Unmarshal(b.State, &st); err != nil {
		return nil, badState(s, err)
	}
	var shared sharedState
	if len(b.Shared) > 0 {
		if err := json.Unmarshal(b.Shared, &shared); err != nil {
			return nil, badState(s, err)
		}
	}
	var at Position
	if st.Held && len(st.Position) > 0 {
		shared.Position, s.dirty = nil, true // the first STATE of this run takes it back
	}
	for _, raw := range []json.RawMessage{shared.Position, st.Position} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		p, err := e.db.ParsePosition(raw)
		if _, told := errors.AsType[*protocol.Problem](err); told {
			return nil, err
		}
		if err != nil {
			return nil, badState(s, err)
		}
		if at == nil || p.Compare(at) > 0 {
			at = p
		}
	}
	switch st.Mode {
	case "pending", "missing":
	case "backfill":
		s.phase = backfill
	case "active":
		s.phase = active
	case "":
		return nil, nil
	default:
		return nil, badState(s, fmt.Errorf("unknown mode %q", st.Mode))
	}
	if at == nil {
		return nil, badState(s, fmt.Errorf("it holds no position"))
	}
	if s.phase != pending {
		s.identity, s.leaves, s.columns, s.delivery = st.Identity, st.Leaves, st.Columns, st.Delivery
		s.scanned, s.until, s.paged, s.rows = st.Scanned, st.Until, st.Paged, st.Rows
	}
	s.stateMode, s.stateKey, s.stateOrder = st.Mode, st.Key, st.Order
	if st.Reset != "" {
		s.resetReason, s.resetDue = st.Reset, true
	}
	s.given = at
	return at, nil
}

// outdated says why what the given state tells of the table means nothing any more; "" when it does.
func (s *stream) outdated() string {
	switch {
	case s.stateMode == "missing":
		return "the table came back"
	case s.phase != backfill && s.phase != active:
		return ""
	case !sameNames(s.stateKey, s.key):
		return fmt.Sprintf("its key changed from %v to %v", s.stateKey, s.key)
	case s.phase == backfill && s.stateOrder != "" && s.stateOrder != s.order:
		return orderChanged
	}
	return ""
}

func badState(s *stream, err error) error {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("the state of stream %s cannot be read (%s)", s.name, err),
		Fix: "give back a state that this connector printed, or none to start over (under pipeline: pipeline backfill FILE STREAM)", Err: err,
	}
}

// orderOfScan is the order that scanned is a place in; empty when nothing is to be scanned after it.
func (s *stream) orderOfScan() string {
	if s.scanned == nil {
		return ""
	}
	return s.order
}

// statePatch renders the stream's state as a merge patch: members that are empty become null, which deletes them.
func (s *stream) statePatch() ([]byte, error) {
	if s.held != nil {
		raw, err := s.held.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("rendering position %s: %w", s.held, err)
		}
		return fmt.Appendf(nil, `{"held":true,"position":%s}`, raw), nil // the rest stays as it was at the last checkpoint
	}
	st := bindingState{
		Mode: phaseNames[s.phase], Key: s.key, Scanned: s.scanned, Until: s.until, Order: s.orderOfScan(), Paged: s.paged, Rows: s.rows,
		Identity: s.identity, Leaves: s.leaves, Columns: s.columns, Delivery: s.delivery, Reset: s.resetReason,
	}
	if s.own != nil {
		raw, err := s.own.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("rendering position %s: %w", s.own, err)
		}
		st.Position = raw
	}
	doc, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("rendering the state of %s: %w", s.name, err)
	}
	present := map[string]json.RawMessage{}
	if err := json.Unmarshal(doc, &present); err != nil {
		return nil, fmt.Errorf("rendering the state of %s: %w", s.name, err)
	}
	for _, name := range []string{"key", "scanned", "until", "order", "paged", "rows", "identity", "leaves", "columns", "delivery", "position", "held", "reset"} {
		if _, ok := present[name]; !ok {
			present[name] = json.RawMessage("null")
		}
	}
	return json.Marshal(present)
}
