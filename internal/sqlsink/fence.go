package sqlsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// Executor runs one statement whose $1, $2, … are params, nil for NULL. It returns the rows as text, and how many rows the statement touched.
type Executor interface {
	Execute(ctx context.Context, sql string, params ...*string) (rows [][]*string, touched int64, err error)
}

// CheckpointTable is the name of the table of checkpoints.
const CheckpointTable = "flow_checkpoints_v1"

// Checkpoints is the table of checkpoints: a row for each materialization and range of keys, with the fence that tells its newest session from older ones.
type Checkpoints struct {
	Executor Executor
	// Table is its qualified, quoted name.
	Table string
	// Lock holds until the transaction's end and lets one session at a time claim rows of a materialization, whose name is $1.
	Lock string
}

// CreateCheckpoints is the statement that makes the table, for databases with these types. tables lists the tables that the session writes to, so that
// whoever empties one can fence it off.
func CreateCheckpoints(table string) string {
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
	materialization text NOT NULL,
	key_begin bigint NOT NULL,
	key_end bigint NOT NULL,
	fence bigint NOT NULL,
	checkpoint text,
	opened_at timestamp with time zone NOT NULL,
	host text NOT NULL,
	tables text[] NOT NULL,
	foreign_rows boolean NOT NULL,
	PRIMARY KEY (materialization, key_begin, key_end)
)`, table)
}

// FenceOff is the statement that ends the sessions that write to a table: what they have not committed by then never comes. It belongs into the
// transaction that empties the table. table and host, the one that does so, are string literals.
func FenceOff(checkpoints, table, host string) string {
	return fmt.Sprintf("UPDATE %s SET fence = fence + 1, opened_at = now(), host = %s WHERE %s = ANY (tables)", checkpoints, host, table)
}

// Forget is the statement that voids the checkpoint of a materialization whose rows are gone, and ends its sessions. It belongs into the transaction that makes
// the table anew. materialization and host are string literals.
func Forget(checkpoints, materialization, host string) string {
	return fmt.Sprintf("UPDATE %s SET fence = fence + 1, checkpoint = NULL, opened_at = now(), host = %s WHERE materialization = %s", checkpoints, host, materialization)
}

// Session says who claims.
type Session struct {
	Materialization string
	Range           protocol.Range
	Host            string
	// Tables are the tables it writes to, as FenceOff is told.
	Tables []string
}

// Claimed is a claimed row.
type Claimed struct {
	Session
	// Checkpoint is nil when the row has none.
	Checkpoint *string
	// ForeignRows: there were rows in one of its tables that the task had not written.
	ForeignRows bool
	// Before are the tables that the session before wrote to.
	Before []string

	fence string
}

// Claim takes over the range of a materialization, inside a transaction of the caller's: it fences off every session whose range overlaps, and takes on the
// checkpoint of the narrowest row that covers the range, so that the child of a split goes on where its parent was.
func (k *Checkpoints) Claim(ctx context.Context, s Session) (*Claimed, error) {
	begin, end := number(s.Range.Begin), number(s.Range.End)
	if _, _, err := k.Executor.Execute(ctx, k.Lock, &s.Materialization); err != nil {
		return nil, err
	}
	_, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`UPDATE %s SET fence = fence + 1 WHERE materialization = $1 AND key_end >= $2::bigint AND key_begin <= $3::bigint`, k.Table),
		&s.Materialization, begin, end)
	if err != nil {
		return nil, err
	}
	rows, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`SELECT key_begin, key_end, fence, checkpoint, foreign_rows, array_to_json(tables) FROM %s
		WHERE materialization = $1 AND key_begin <= $2::bigint AND key_end >= $3::bigint ORDER BY key_end - key_begin LIMIT 1`, k.Table), &s.Materialization, begin, end)
	if err != nil {
		return nil, err
	}
	c := &Claimed{Session: s, fence: "1"}
	exact := false
	if len(rows) > 0 {
		row := rows[0]
		c.fence, c.Checkpoint, c.ForeignRows = *row[2], row[3], *row[4] == "t"
		exact = *row[0] == *begin && *row[1] == *end
		if err := json.Unmarshal([]byte(*row[5]), &c.Before); err != nil {
			return nil, fmt.Errorf("reading the tables of the session before: %w", err)
		}
	}
	tables := ArrayLiteral(s.Tables)
	if exact {
		_, _, err = k.Executor.Execute(ctx, fmt.Sprintf(`UPDATE %s SET opened_at = now(), host = $4, tables = $5
			WHERE materialization = $1 AND key_begin = $2::bigint AND key_end = $3::bigint`, k.Table), &s.Materialization, begin, end, &s.Host, &tables)
		return c, err
	}
	foreign := strconv.FormatBool(c.ForeignRows)
	_, _, err = k.Executor.Execute(ctx, fmt.Sprintf(`INSERT INTO %s (materialization, key_begin, key_end, fence, checkpoint, opened_at, host, tables, foreign_rows)
		VALUES ($1, $2, $3, $4, $5, now(), $6, $7, $8)`, k.Table), &s.Materialization, begin, end, &c.fence, c.Checkpoint, &s.Host, &tables, &foreign)
	return c, err
}

// MarkForeign remembers that there are rows that the task has not written.
func (k *Checkpoints) MarkForeign(ctx context.Context, c *Claimed) error {
	c.ForeignRows = true
	_, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`UPDATE %s SET foreign_rows = true WHERE materialization = $1 AND key_begin = $2 AND key_end = $3`, k.Table),
		&c.Materialization, number(c.Range.Begin), number(c.Range.End))
	return err
}

// ErrFenced tells that the row's fence is not the one that was claimed: nothing of this session may be committed. Newer says by whom.
var ErrFenced = errors.New("a newer session has claimed this checkpoint")

// Store writes a checkpoint inside the transaction of the rows that it covers; nil leaves it as it is and only looks at the fence. After ErrFenced the
// transaction must be rolled back.
func (k *Checkpoints) Store(ctx context.Context, c *Claimed, checkpoint *string) error {
	_, touched, err := k.Executor.Execute(ctx, fmt.Sprintf(`UPDATE %s SET checkpoint = coalesce($5::text, checkpoint)
		WHERE materialization = $1 AND key_begin = $2 AND key_end = $3 AND fence = $4`, k.Table),
		&c.Materialization, number(c.Range.Begin), number(c.Range.End), &c.fence, checkpoint)
	if err == nil && touched == 0 {
		err = ErrFenced
	}
	return err
}

// Read fences off the sessions of a materialization, without claiming anything, and returns its checkpoint; nil: there is none.
func (k *Checkpoints) Read(ctx context.Context, materialization, host string) (*string, error) {
	rows, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`UPDATE %s SET fence = fence + 1, opened_at = now(), host = $2 WHERE materialization = $1
		RETURNING checkpoint, key_end - key_begin`, k.Table), &materialization, &host)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	widest := rows[0]
	for _, r := range rows[1:] {
		if len(*r[1]) > len(*widest[1]) || len(*r[1]) == len(*widest[1]) && *r[1] > *widest[1] {
			widest = r
		}
	}
	return widest[0], nil
}

// Newer describes the newest session that overlaps a claimed row, outside of any transaction of its own.
func (k *Checkpoints) Newer(ctx context.Context, c *Claimed) (*materialize.FencedError, error) {
	rows, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`SELECT extract(epoch FROM opened_at)::bigint, host FROM %s
		WHERE materialization = $1 AND key_end >= $2 AND key_begin <= $3 ORDER BY opened_at DESC LIMIT 1`, k.Table),
		&c.Materialization, number(c.Range.Begin), number(c.Range.End))
	if err != nil {
		return nil, err
	}
	e := &materialize.FencedError{Host: "unknown"}
	if len(rows) > 0 {
		seconds, err := strconv.ParseInt(*rows[0][0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading when the newer session was opened: %w", err)
		}
		e.Since, e.Host = time.Unix(seconds, 0), *rows[0][1]
	}
	return e, nil
}

// Other is a materialization besides the one that asks.
type Other struct {
	Materialization string
	Tables          []string // those that were asked about, as FenceOff is told
	Since           time.Time
}

// Others lists the materializations, besides one, whose sessions write to any of these tables.
func (k *Checkpoints) Others(ctx context.Context, materialization string, tables []string) ([]Other, error) {
	list := ArrayLiteral(tables)
	rows, _, err := k.Executor.Execute(ctx, fmt.Sprintf(`SELECT materialization, extract(epoch FROM max(opened_at))::bigint, array_to_json(array_agg(DISTINCT t))
		FROM %s CROSS JOIN LATERAL unnest(tables) t WHERE materialization <> $1 AND t = ANY ($2::text[]) GROUP BY materialization ORDER BY materialization`, k.Table),
		&materialization, &list)
	if err != nil {
		return nil, err
	}
	others := make([]Other, len(rows))
	for i, r := range rows {
		seconds, err := strconv.ParseInt(*r[1], 10, 64)
		if err == nil {
			err = json.Unmarshal([]byte(*r[2]), &others[i].Tables)
		}
		if err != nil {
			return nil, fmt.Errorf("reading who else writes to the tables: %w", err)
		}
		others[i].Materialization, others[i].Since = *r[0], time.Unix(seconds, 0)
	}
	return others, nil
}

// ArrayLiteral is the text form of an array of texts.
func ArrayLiteral(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

func number(n uint32) *string {
	text := strconv.FormatUint(uint64(n), 10)
	return &text
}
