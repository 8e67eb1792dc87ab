package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// transactor runs the transactions of a session, on one connection: the rows and the checkpoint that covers them become durable together, in Commit.
type transactor struct {
	config      *config
	session     *session
	checkpoints *sqlsink.Checkpoints
	bindings    []*binding
	// claims has the task's row of the checkpoint table, or with perTable one for each binding; empty: that table is missing.
	claims     []*sqlsink.Claimed
	perTable   bool
	byStateKey map[string]int
	// begun: a database transaction is open, with rows in it.
	begun bool
	// touched are the claimed rows whose tables it has rows of.
	touched map[int]bool
	// replacing are bindings whose new tables the next Commit puts in place.
	replacing []*binding
	buffers   *buffers
}

var (
	_ materialize.Transactor = (*transactor)(nil)
	_ materialize.Loader     = (*transactor)(nil)
	_ materialize.Replacer   = (*transactor)(nil)
	_ materialize.Upserter   = (*transactor)(nil)
)

// present tells what is wrong when the table of a binding, or a column of it, is missing. That is no error before somebody writes: a runner opens a session
// to learn of the checkpoint, and applies afterwards.
func (b *binding) present() error {
	if b.lacks != "" {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("table %s has no column for field %q", b.target.rows, b.lacks), Fix: "apply the materialization again, which adds it",
		}
	}
	if b.missing {
		return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("table %s does not exist", b.target.rows), Fix: "apply the materialization again, which makes it"}
	}
	return nil
}

func (t *transactor) begin(ctx context.Context) error {
	if t.begun {
		return nil
	}
	if err := t.session.run(ctx, "BEGIN"); err != nil {
		return t.config.explain("beginning a transaction", err)
	}
	t.begun = true
	return nil
}

// empty empties the temporary tables that were used before in this transaction: otherwise its end does that.
func (t *transactor) empty(ctx context.Context) error {
	for _, b := range t.bindings {
		for temp := range b.used {
			if err := t.session.run(ctx, "TRUNCATE "+b.temp(temp)); err != nil {
				return t.config.explain("emptying a temporary table", err)
			}
		}
		clear(b.used)
	}
	return nil
}

// Commit stores the checkpoint and ends the transaction. After that all effects are durable, so there is no state.
func (t *transactor) Commit(ctx context.Context, checkpoint []byte) ([]byte, error) {
	if len(t.claims) == 0 {
		if len(t.bindings) == 0 && t.perTable {
			return nil, nil
		}
		where := tableName{fold(t.config.Schema), checkpointTable}
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("table %s does not exist", where), Fix: "apply the materialization again, which makes it"}
	}
	stored, err := t.store(checkpoint)
	if err != nil {
		return nil, err
	}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	for _, b := range t.replacing {
		sql, err := t.swap(ctx, b)
		if err == nil {
			err = t.session.run(ctx, sql)
		}
		if err != nil {
			return nil, t.config.explain("putting the new rows of table "+b.target.name.String()+" in place", err)
		}
	}
	for i, c := range t.claims {
		text, named := stored[i]
		if !named && !t.touched[i] {
			continue
		}
		err := t.checkpoints.Store(ctx, c, text)
		if errors.Is(err, sqlsink.ErrFenced) {
			return nil, t.fenced(ctx, c)
		}
		if err != nil {
			return nil, t.config.explain("storing the checkpoint", err)
		}
	}
	if err := t.session.run(ctx, "COMMIT"); err != nil {
		return nil, t.explainCommit(err)
	}
	for _, b := range t.replacing {
		b.replaced()
	}
	t.begun, t.touched, t.replacing = false, nil, nil
	for _, b := range t.bindings {
		clear(b.used)
	}
	return nil, nil
}

// store splits a checkpoint into what each claimed row is to hold. With one row for all, a transaction without a checkpoint leaves it as it is.
func (t *transactor) store(checkpoint []byte) (map[int]*string, error) {
	stored := map[int]*string{}
	if !t.perTable {
		stored[0] = nil
		if len(checkpoint) > 0 {
			text := string(checkpoint)
			stored[0] = &text
		}
		return stored, nil
	}
	var members map[string]json.RawMessage
	if len(checkpoint) > 0 {
		if err := json.Unmarshal(checkpoint, &members); err != nil {
			return nil, fmt.Errorf("reading the checkpoint: %w", err)
		}
	}
	for name, raw := range members {
		i, ok := t.byStateKey[name]
		if !ok {
			return nil, fmt.Errorf("the checkpoint has a member %q, which is no binding's", name)
		}
		text := string(raw)
		stored[i] = &text
	}
	return stored, nil
}

// fenced gives the transaction up, and says who has taken over.
func (t *transactor) fenced(ctx context.Context, c *sqlsink.Claimed) error {
	t.begun = false
	if err := t.session.run(ctx, "ROLLBACK"); err != nil {
		return t.config.explain("rolling back", err)
	}
	newer, err := t.checkpoints.Newer(ctx, c)
	if err != nil {
		return t.config.explain("looking up the newer session", err)
	}
	return newer
}

// Acknowledge has nothing to do: Commit has done it.
func (t *transactor) Acknowledge(context.Context, [][]byte) ([]byte, error) { return nil, nil }

// Close ends the session; what was not committed is gone.
func (t *transactor) Close() error {
	t.session.close()
	return nil
}

// Upserts tells that Store inserts what Doc.Exists wrongly says is there.
func (t *transactor) Upserts(binding int) bool { return !t.bindings[binding].delta }
