package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/estuary/connectors/sqlcapture"
)

// snapshot is what pg_current_snapshot() returns: 64-bit transaction ids.
type snapshot struct {
	xmin, xmax uint64
	running    []uint64 // ascending
}

// parseSnapshot reads xmin:xmax:running,running.
func parseSnapshot(text string) (*snapshot, error) {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("reading snapshot %q: it does not have three parts", text)
	}
	var s snapshot
	var err error
	if s.xmin, err = strconv.ParseUint(parts[0], 10, 64); err == nil {
		s.xmax, err = strconv.ParseUint(parts[1], 10, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %q: %w", text, err)
	}
	if parts[2] == "" {
		return &s, nil
	}
	for id := range strings.SplitSeq(parts[2], ",") {
		x, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading snapshot %q: %w", text, err)
		}
		s.running = append(s.running, x)
	}
	slices.Sort(s.running)
	return &s, nil
}

// Contains tells whether the snapshot sees a transaction of the log.
func (s *snapshot) Contains(txn *sqlcapture.Txn) bool { return s.sees(txn.ID) }

// sees takes the 32-bit id that the log has. It is widened relative to the snapshot, never by the snapshot's epoch: around a wrap-around the two may
// be of different epochs, and the epoch's answer would wait for ever or lose rows (sql-cdc §4.2).
func (s *snapshot) sees(id sqlcapture.TxnID) bool {
	full := s.widen(id)
	if full >= s.xmax {
		return false
	}
	_, listed := slices.BinarySearch(s.running, full)
	return !listed
}

func (s *snapshot) widen(id sqlcapture.TxnID) uint64 {
	return s.xmax + uint64(int64(int32(uint32(id)-uint32(s.xmax)))) //nolint:gosec // the circular difference is the point
}
