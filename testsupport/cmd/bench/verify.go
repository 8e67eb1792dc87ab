package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/fixture"
	"github.com/estuary/connectors/testsupport/wire"
)

// verification reads a whole run, which is never a timed one: one checksum for each column, how many records of each kind, and the last STATE.
type verification struct {
	columns   checksums
	kinds     map[string]int64 // by op: c, u, d
	lastState *wire.State
	lines     int64
	splitter
}

func newVerification() *verification {
	v := &verification{columns: make(checksums, len(fixture.Columns)), kinds: map[string]int64{}}
	v.splitter.line = v.take
	return v
}

func (v *verification) records() int64 { return v.kinds["c"] + v.kinds["u"] + v.kinds["d"] }

// lineBytes is how long a line is, on average.
func (v *verification) lineBytes() int64 { return v.bytes / v.lines }

func (v *verification) take(line []byte) error {
	v.lines++
	m, err := wire.Airbyte(line)
	switch {
	case err != nil:
		return err
	case m.State != nil:
		state := *m.State
		state.Raw = append(json.RawMessage(nil), state.Raw...) // the line's memory is used again
		v.lastState = &state
	case m.Trace != nil && m.Trace.Type == "ERROR":
		return fmt.Errorf("verifying a run: the connector says %s", m.Trace.Message)
	case m.Record != nil:
		return v.record(m.Record.Data)
	}
	return nil
}

// meta is what every document carries, whole.
type meta struct {
	Op     string `json:"op"`
	Source struct {
		Timestamp int64   `json:"ts_ms"`
		Schema    string  `json:"schema"`
		Table     string  `json:"table"`
		Snapshot  bool    `json:"snapshot"`
		Loc       []int64 `json:"loc"`
		TxID      uint64  `json:"txid"`
	} `json:"source"`
}

func (v *verification) record(data json.RawMessage) error {
	members, err := wire.Object(data)
	if err != nil {
		return err
	}
	var m meta
	if err = json.Unmarshal(members["_meta"], &m); err != nil {
		return fmt.Errorf("verifying a run: _meta %.200s: %w", members["_meta"], err)
	}
	from := m.Source
	whole := from.Schema+"."+from.Table == table && len(from.Loc) == 3 && (from.Snapshot || from.TxID != 0 && from.Timestamp != 0)
	if !whole || (m.Op != "c" && m.Op != "u" && m.Op != "d") {
		return fmt.Errorf("verifying a run: _meta is not whole: %.300s", members["_meta"])
	}
	v.kinds[m.Op]++
	if m.Op == "d" { // of a deleted row the log has the key only
		return nil
	}
	for i, name := range fixture.Columns {
		text, null, err := canonical(members[name])
		if err != nil {
			return fmt.Errorf("verifying a run: column %s: %w", name, err)
		}
		if !null {
			v.columns[i].add(text)
		}
	}
	return nil
}

// matches compares the run's columns with those of the table's rows for which a condition is true.
func (v *verification) matches(ctx context.Context, conn *pgx.Conn, where string) error {
	want, err := tableChecksums(ctx, conn, where)
	if err != nil {
		return err
	}
	return v.columns.equal(want)
}
