package main

import (
	"context"
	"fmt"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// applyPlan is what Apply found to do. Each step is a transaction of its own; the next Apply goes on after the last one that was done.
type applyPlan struct {
	config *config
	steps  []sqlsink.Step
	tables []tableName // that they may be about
}

var _ materialize.Plan = (*applyPlan)(nil)

// Steps are the statements.
func (p *applyPlan) Steps() []string {
	list := make([]string, len(p.steps))
	for i, s := range p.steps {
		list[i] = s.SQL
	}
	return list
}

// lockTimeout bounds the wait for somebody who holds a table that is to be changed: until then, everybody else waits behind us.
const lockTimeout = "60s"

// Run executes them, in order.
func (p *applyPlan) Run(ctx context.Context) error {
	if len(p.steps) == 0 {
		return nil
	}
	session, err := p.config.connect(ctx, map[string]string{"lock_timeout": lockTimeout})
	if err != nil {
		return err
	}
	defer session.close()
	for _, n := range p.tables {
		session.seen(n)
	}
	// Two that start at the same moment would make the table of checkpoints at the same moment, and IF NOT EXISTS does not help against that.
	if err := session.run(ctx, "SELECT pg_advisory_lock(hashtextextended('flow apply', 0))"); err != nil {
		return p.config.explain("waiting for somebody else who changes the database", err)
	}
	for _, step := range p.steps {
		log.WithFields(log.Fields{"table": step.Table, "sql": step.SQL}).Info("changing the destination")
		// bug materializations 49: the error of a statement did not say of which table
		if err := session.run(ctx, step.SQL); err != nil {
			return p.config.explainStep(step, err)
		}
	}
	return nil
}

// Apply compares the database with what to asks for.
func (s *sink) Apply(ctx context.Context, from, to []materialize.Binding, _ materialize.State) (materialize.Plan, error) {
	targets, err := s.targets(to)
	if err != nil {
		return nil, err
	}
	session, err := s.config.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer session.close()
	p := &applyPlan{config: s.config, tables: []tableName{s.checkpointTable()}}
	if err := s.foundations(ctx, session, targets, p); err != nil {
		return nil, s.config.explain("looking at the database", err)
	}
	names := make([]tableName, len(targets))
	for i, t := range targets {
		names[i] = t.rows
	}
	p.tables = append(p.tables, names...)
	live, err := session.describe(ctx, names)
	if err != nil {
		return nil, s.config.explain("looking at the database", err)
	}
	for i, t := range targets {
		steps, err := s.diff(ctx, session, t, last(from, to[i].ResourcePath), &to[i], live[t.rows])
		if err != nil {
			return nil, s.config.explain("planning table "+t.name.String(), err)
		}
		p.steps = append(p.steps, steps...)
	}
	return p, nil
}

// foundations are the schemas, the one of the checkpoints first, and the table of checkpoints.
func (s *sink) foundations(ctx context.Context, session *session, targets []*target, p *applyPlan) error {
	// bug materializations 59: the default schema was not created because no binding used it, but the metadata tables live there
	schemas := []string{fold(s.config.Schema)}
	for _, t := range targets {
		schemas = append(schemas, t.name.schema)
	}
	existing, err := session.existing(ctx, schemas)
	if err != nil {
		return err
	}
	for _, name := range schemas {
		if !existing[name] {
			p.steps = append(p.steps, sqlsink.Step{Table: name, SQL: s.dialect.CreateSchema(name)})
			existing[name] = true
		}
	}
	where := s.checkpointTable()
	found, err := session.describe(ctx, []tableName{where})
	if err != nil {
		return err
	}
	if found[where] == nil {
		p.steps = append(p.steps, sqlsink.Step{Table: where.String(), SQL: sqlsink.CreateCheckpoints(where.sql())})
	}
	return nil
}

// diff are the steps of one table.
func (s *sink) diff(ctx context.Context, session *session, t *target, before, b *materialize.Binding, live *sqlsink.Live) ([]sqlsink.Step, error) {
	if b.Replace {
		// The table that readers see goes in the end, so it has to be one of ours.
		seen, err := session.describe(ctx, []tableName{t.name})
		if err != nil {
			return nil, err
		}
		if err := s.adoptable(ctx, session, t.name, seen[t.name]); err != nil {
			return nil, err
		}
		return s.fresh(t, live)
	}
	var change sqlsink.Change
	if before != nil {
		change.Backfill = before.Backfill != b.Backfill
		change.Last, _ = sqlsink.TableOf(s.dialect, before, t.name.schema, t.name.table) // only of help: what it says no longer counts
		if before.DeltaUpdates && !b.DeltaUpdates && !change.Backfill {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("table %s was filled by delta updates, so it may hold several rows for one key", t.name),
				Fix: "raise the binding's backfill counter (pipeline backfill FILE STREAM), which empties the table and starts over, or keep delta_updates",
			}
		}
	}
	if before == nil {
		if err := s.adoptable(ctx, session, t.name, live); err != nil {
			return nil, err
		}
	}
	steps, warnings, err := sqlsink.Diff(s.dialect, t.want, live, change)
	for _, w := range warnings {
		log.Warn(w)
	}
	if err == nil && live == nil {
		err = s.startsEmpty(ctx, session, t.name, before != nil && !change.Backfill, steps)
	}
	return steps, err
}

// startsEmpty looks at a table that is about to be made although a checkpoint may count what was in one of its name. The runner would go on from there, and
// the rows of before would be missing for ever: a task is refused, and the checkpoint that `write` has stored goes with the first of the steps.
func (s *sink) startsEmpty(ctx context.Context, session *session, name tableName, filled bool, steps []sqlsink.Step) error {
	write, task, err := s.counted(ctx, session, name)
	switch {
	case err != nil:
		return err
	case task && filled:
		return vanished(name)
	case write:
		steps[0].SQL = sqlsink.Forget(s.checkpointTable().sql(), literal(writeOwner([]string{name.schema, name.table})), literal(host())) + ";\n" + steps[0].SQL
	}
	return nil
}

// missed refuses a table that is not there although a task's checkpoint counts its rows.
func (s *sink) missed(ctx context.Context, session *session, name tableName) error {
	if _, task, err := s.counted(ctx, session, name); err != nil || !task {
		return err
	}
	return vanished(name)
}

func vanished(name tableName) error {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("table %s is gone, and the checkpoint counts the rows that were in it", name),
		Fix: "bring it back (was it renamed?), or raise the binding's backfill counter (pipeline backfill FILE STREAM), which fills it anew",
	}
}

// counted tells whose checkpoints count the rows of a table: that of `write`, and a task's.
func (s *sink) counted(ctx context.Context, session *session, name tableName) (write, task bool, err error) {
	where := s.checkpointTable()
	found, err := session.describe(ctx, []tableName{where})
	if err != nil || found[where] == nil {
		return false, false, err
	}
	text, owner := name.sql(), writeOwner([]string{name.schema, name.table})
	rows, _, err := session.Execute(ctx, "SELECT (materialization = $2)::text FROM "+where.sql()+" WHERE $1 = ANY (tables) AND checkpoint IS NOT NULL", &text, &owner)
	for _, r := range rows {
		write = write || *r[0] == "true"
		task = task || *r[0] != "true"
	}
	return write, task, err
}

// adoptable refuses a table that no materialization has made, unless the user wants it; live nil: there is none.
func (s *sink) adoptable(ctx context.Context, session *session, name tableName, live *sqlsink.Live) error {
	switch {
	case live == nil:
		return nil
	case live.Kind != "":
		return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%s is %s", name, live.Kind), Fix: "use another table's name"}
	case live.Ours, s.config.Advanced.AdoptTables:
		return nil
	}
	known, err := s.known(ctx, session, name)
	if err != nil || known {
		return err
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("table %s exists, and no materialization has made it", name),
		Fix: "use another table's name, or set advanced.adopt_tables to write to it nevertheless",
	}
}

// fresh makes an empty table beside the one that it will replace. What an earlier run has left of it goes.
func (s *sink) fresh(t *target, live *sqlsink.Live) ([]sqlsink.Step, error) {
	var steps []sqlsink.Step
	if live != nil {
		if live.Kind != "" || !live.Ours {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("table %s stands where the new rows of %s are to be gathered, and no materialization has made it", t.rows, t.name),
				Fix: "rename it",
			}
		}
		steps = append(steps, sqlsink.Step{Table: t.rows.String(), SQL: "DROP TABLE IF EXISTS " + t.rows.sql()})
	}
	return append(steps, sqlsink.Step{Table: t.rows.String(), SQL: s.dialect.Create(t.want)}), nil
}

// known tells whether a session has written to the table before, so that it is ours although somebody has changed its comment.
func (s *sink) known(ctx context.Context, session *session, name tableName) (bool, error) {
	where := s.checkpointTable()
	found, err := session.describe(ctx, []tableName{where})
	if err != nil || found[where] == nil {
		return false, err
	}
	text := name.sql()
	rows, _, err := session.Execute(ctx, "SELECT FROM "+where.sql()+" WHERE $1 = ANY (tables) LIMIT 1", &text)
	return len(rows) > 0, err
}
