package simdb

import "github.com/estuary/connectors/sqlcapture"

// snapshot is PostgreSQL's: everything below xmax has ended, apart from the list.
type snapshot struct {
	xmin, xmax uint64
	running    []uint64
	sees       map[*txn]bool
}

func (w *World) snapshot() *snapshot {
	s := &snapshot{xmax: w.completed + 1, sees: map[*txn]bool{}}
	s.xmin = s.xmax
	for _, t := range w.txns {
		switch {
		case t.state == ended:
			s.sees[t] = true
		case t.active() && t.full < s.xmax:
			s.running = append(s.running, t.full)
			s.xmin = min(s.xmin, t.full)
		}
	}
	return s
}

// Contains implements sqlcapture.Snapshot.
func (s *snapshot) Contains(t *sqlcapture.Txn) bool { return s.contains(t.ID) }

// contains widens the 32 bits of the log relative to xmax: the epoch of either side says nothing about the other's.
func (s *snapshot) contains(id sqlcapture.TxnID) bool {
	full := s.xmax + uint64(int64(int32(uint32(id)-uint32(s.xmax)))) //nolint:gosec // the wrap is meant
	if full >= s.xmax {
		return false
	}
	for _, r := range s.running {
		if r == full {
			return false
		}
	}
	return true
}
