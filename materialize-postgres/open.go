package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol/materialize"
)

// Open starts a session: it fences off older ones, and tells where they have come to. Tables that are missing are no error yet: somebody who finds the
// database empty wants to know that before anything is written.
func (s *sink) Open(ctx context.Context, req materialize.OpenRequest) (_ materialize.Transactor, _ materialize.Opened, err error) {
	targets, err := s.targets(req.Bindings)
	if err != nil {
		return nil, materialize.Opened{}, err
	}
	session, err := s.config.connect(ctx, nil)
	if err != nil {
		return nil, materialize.Opened{}, err
	}
	t := &transactor{config: s.config, session: session, checkpoints: s.checkpoints(session)}
	opened, err := s.open(ctx, t, req, targets)
	if err != nil {
		session.close()
		return nil, materialize.Opened{}, s.config.explain("opening the session", err)
	}
	return t, opened, nil
}

func (s *sink) open(ctx context.Context, t *transactor, req materialize.OpenRequest, targets []*target) (opened materialize.Opened, err error) {
	where := s.checkpointTable()
	names := []tableName{where}
	for _, g := range targets {
		names = append(names, g.rows)
	}
	live, err := t.session.describe(ctx, names)
	if err != nil {
		return opened, err
	}
	t.bindings = make([]*binding, len(targets))
	for i, g := range targets {
		if t.bindings[i], err = s.newBinding(i, &req.Bindings[i], g, live[g.rows]); err != nil {
			return opened, err
		}
	}
	filled, err := t.filled(ctx)
	if err != nil {
		return opened, err
	}
	for i, b := range t.bindings {
		if !b.delta && !filled[i] {
			opened.NewTables = append(opened.NewTables, i)
		}
	}
	if live[where] == nil {
		opened.Checkpoint.Owner = materialize.Zero
		opened.NoLoadOptimization = slices.Contains(filled, true)
		return opened, nil
	}
	if err := t.session.run(ctx, "SET lock_timeout = '"+lockTimeout+"'"); err != nil {
		return opened, err
	}
	if err := t.session.inTransaction(ctx, func() error { return t.claim(ctx, req, filled) }); err != nil {
		return opened, fmt.Errorf("fencing off older sessions: %w", err)
	}
	if err := t.session.run(ctx, "SET lock_timeout = 0"); err != nil {
		return opened, err
	}
	for _, c := range t.claims {
		opened.NoLoadOptimization = opened.NoLoadOptimization || c.ForeignRows
	}
	opened.Checkpoint = t.checkpoint()
	return opened, nil
}

// filled tells which of the bindings' tables have rows. Those that are only added to are not asked: nothing is loaded from them, and the user need not be
// allowed to read them.
func (t *transactor) filled(ctx context.Context) ([]bool, error) {
	filled := make([]bool, len(t.bindings))
	for i, b := range t.bindings {
		if b.missing || b.delta {
			continue
		}
		rows, _, err := t.session.Execute(ctx, "SELECT EXISTS (SELECT FROM "+b.target.rows.sql()+")")
		if err != nil {
			return nil, fmt.Errorf("looking for rows in table %s: %w", b.target.rows, err)
		}
		filled[i] = *rows[0][0] == "t"
	}
	return filled, nil
}

// claim takes over the rows of the checkpoint table: the task's, or each table's own.
func (t *transactor) claim(ctx context.Context, req materialize.OpenRequest, filled []bool) error {
	if req.Task != "" {
		session := sqlsink.Session{Materialization: req.Task, Range: req.Range, Host: host()}
		for _, b := range t.bindings {
			if !b.missing {
				session.Tables = append(session.Tables, b.target.name.sql(), b.claimed(b.backfill))
			}
		}
		return t.claimOne(ctx, session, t.bindings, filled)
	}
	t.perTable = true
	t.byStateKey = map[string]int{}
	order := slices.Clone(t.bindings)
	// Everybody locks rows in the order of their names, so that nobody waits for each other.
	slices.SortFunc(order, func(a, b *binding) int { return strings.Compare(a.owner, b.owner) })
	claims := make([]*sqlsink.Claimed, len(t.bindings))
	for _, b := range order {
		session := sqlsink.Session{Materialization: b.owner, Range: req.Range, Host: host(), Tables: []string{b.target.name.sql()}}
		if err := t.claimOne(ctx, session, []*binding{b}, filled); err != nil {
			return err
		}
		claims[b.index] = t.claims[len(t.claims)-1]
		t.byStateKey[b.stateKey] = b.index
	}
	t.claims = claims
	return nil
}

func (t *transactor) claimOne(ctx context.Context, session sqlsink.Session, bs []*binding, filled []bool) error {
	c, err := t.checkpoints.Claim(ctx, session)
	if err != nil {
		return err
	}
	t.claims = append(t.claims, c)
	if err := t.lost(c, bs); err != nil {
		return err
	}
	if c.ForeignRows {
		return nil
	}
	for _, b := range bs {
		// A table that is new to this task and has rows got them from somebody else, or before the task's checkpoint was lost.
		if !b.delta && filled[b.index] && (c.Checkpoint == nil || !slices.Contains(c.Before, b.target.name.sql())) {
			log.WithField("table", b.target.name.String()).Info("the table has rows that this task has not written, so every key is loaded")
			return t.checkpoints.MarkForeign(ctx, c)
		}
	}
	return nil
}

// claimed tells, among the tables of a claim, how often a binding had started over.
func (b *binding) claimed(backfill uint32) string {
	return b.target.name.sql() + " " + strconv.FormatUint(uint64(backfill), 10)
}

// lost refuses tables that are gone although the task's checkpoint counts their rows, before apply makes them anew. Somebody who has lost what was applied last
// would go on with tables that stay empty. A binding that starts over since is filled anew. A claim of an earlier version does not tell how often one had.
func (t *transactor) lost(c *sqlsink.Claimed, bs []*binding) error {
	if t.perTable || c.Checkpoint == nil {
		return nil
	}
	var problems []error
	for _, b := range bs {
		name := b.target.name.sql()
		if !b.missing || !slices.Contains(c.Before, name) {
			continue
		}
		var counted uint32
		for _, entry := range c.Before {
			if text, ok := strings.CutPrefix(entry, name+" "); ok {
				n, _ := strconv.ParseUint(text, 10, 32) // 0, if somebody has written something else
				counted = uint32(n)
			}
		}
		if b.backfill <= counted {
			problems = append(problems, vanished(b.target.name))
		}
	}
	return errors.Join(problems...)
}

// checkpoint is what the claimed rows hold: the task's checkpoint, or an object of those of each table.
func (t *transactor) checkpoint() materialize.Checkpoint {
	if !t.perTable {
		if c := t.claims[0].Checkpoint; c != nil {
			return materialize.Checkpoint{Owner: materialize.Stored, JSON: json.RawMessage(*c)}
		}
		return materialize.Checkpoint{Owner: materialize.Zero}
	}
	var b bytes.Buffer
	for i, c := range t.claims {
		if c.Checkpoint == nil || t.bindings[i].replace {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(t.bindings[i].stateKey)
		if err != nil {
			continue // a string never fails
		}
		b.Write(name)
		b.WriteByte(':')
		b.WriteString(*c.Checkpoint)
	}
	if b.Len() == 0 {
		return materialize.Checkpoint{Owner: materialize.Zero}
	}
	return materialize.Checkpoint{Owner: materialize.Stored, JSON: json.RawMessage("{" + b.String() + "}")}
}
