package sqlcapture

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// maxFills is how many rows one query of flushFills reads again. Their missing values are large ones, and are held at once.
const maxFills = 100

// pendingFill is a create whose row the log did not send whole: a primary key changed, and a TOASTed value did not. The consumer has nothing under the
// new key to merge with, so the missing values are read from the table before the document is written.
type pendingFill struct {
	stream *stream
	plan   *plan
	event  Event // owns its values
	key    rowkey.Key
}

func hasAbsent(values []Value) bool {
	for _, v := range values {
		if IsAbsent(v) {
			return true
		}
	}
	return false
}

func (e *engine) addFill(ctx context.Context, s *stream, p *plan, ev *Event, key rowkey.Key) error {
	if len(e.fills) >= maxFills {
		if err := e.flushFills(ctx); err != nil || s.phase == failed {
			return err
		}
	}
	own := *ev
	own.Before = nil
	own.After = make([]Value, len(ev.After))
	for i, v := range ev.After {
		own.After[i] = v
		if v != nil && !IsAbsent(v) {
			own.After[i] = append(make([]byte, 0, len(v)), v...)
		}
	}
	e.fills = append(e.fills, pendingFill{s, p, own, append(rowkey.Key(nil), key...)})
	return nil
}

func (e *engine) dropFills(s *stream) {
	kept := e.fills[:0]
	for _, f := range e.fills {
		if f.stream != s {
			kept = append(kept, f)
		}
	}
	e.fills = kept
}

// flushFillsOf writes what waits under this key first, so that the key's versions stay in order.
func (e *engine) flushFillsOf(ctx context.Context, s *stream, key rowkey.Key) error {
	for _, f := range e.fills {
		if f.stream == s && bytes.Equal(f.key, key) {
			return e.flushFills(ctx)
		}
	}
	return nil
}

// flushFills reads the missing values in a snapshot that contains the transaction and writes the documents. A value may be newer than its event: the
// later event then follows. A row that is gone is written without them: its delete, or its next key, follows in the log.
func (e *engine) flushFills(ctx context.Context) error {
	if len(e.fills) == 0 {
		return nil
	}
	fills := e.fills
	e.fills = nil
	txn := fills[0].event.Txn
	e.unseen = append(e.unseen, txn.ID)
	if err := e.settle(ctx); err != nil {
		return err
	}
	for start := 0; start < len(fills); {
		if fills[start].stream.phase == failed {
			start++
			continue
		}
		end := start + 1
		for end < len(fills) && fills[end].stream == fills[start].stream && fills[end].plan == fills[start].plan {
			end++
		}
		if err := e.fill(ctx, fills[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// fill completes and writes creates of one table.
func (e *engine) fill(ctx context.Context, fills []pendingFill) error {
	s, p := fills[0].stream, fills[0].plan
	var columns []int
	var names []string
	for i, c := range p.table.Columns {
		for _, f := range fills {
			if IsAbsent(f.event.After[i]) {
				columns, names = append(columns, i), append(names, c.Name)
				break
			}
		}
	}
	keys := make([]rowkey.Key, len(fills))
	for i, f := range fills {
		keys[i] = f.key
	}
	rows, err := e.db.Filler.Fill(ctx, s.name, s.docKey, keys, names)
	if t, ok := errors.AsType[*TableProblem](err); ok {
		return e.fail(s, t.Problem)
	}
	if err != nil {
		return fmt.Errorf("reading unchanged values of %d rows of %s again: %w", len(fills), s.name, err)
	}
	for i := range fills {
		f := &fills[i]
		if i < len(rows) && rows[i] != nil {
			for j, c := range columns {
				if IsAbsent(f.event.After[c]) {
					f.event.After[c] = rows[i][j]
				}
			}
		}
		if err := e.write(s, p, 'c', f.event.After, nil, &f.event); err != nil {
			return err
		}
	}
	return nil
}
