package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
	configs "github.com/estuary/connectors/protocol/config"
	"github.com/estuary/connectors/protocol/materialize"
)

// sink is the materializer. It holds no connection between calls.
type sink struct {
	config  *config
	dialect *dialect
}

var (
	_ materialize.Materializer     = (*sink)(nil)
	_ materialize.CheckpointReader = (*sink)(nil)
	_ materialize.NeighbourChecker = (*sink)(nil)
)

func newSink(c config) (materialize.Materializer, error) {
	return &sink{config: &c, dialect: c.dialect()}, nil
}

// Close does nothing: every call has closed its own connections.
func (s *sink) Close() error { return nil }

// target is where a binding's rows go.
type target struct {
	name tableName
	// rows is the table that is written to: name, or the one that will take its place.
	rows tableName
	want *sqlsink.Table
}

// shadowSuffix marks the table that takes another's place in the end.
const shadowSuffix = "_flow_new"

func shadow(n tableName) tableName {
	return tableName{n.schema, sqlsink.CutName(n.table, maxNameBytes-len(shadowSuffix)) + shadowSuffix}
}

func (s *sink) target(b *materialize.Binding) (*target, error) {
	r, err := configs.Decode[resource](b.Resource)
	if err != nil {
		return nil, err
	}
	schema, table, err := s.config.path(&r)
	if err != nil {
		return nil, err
	}
	t := &target{name: tableName{schema, table}}
	t.rows = t.name
	if b.Replace {
		t.rows = shadow(t.name)
	}
	if t.want, err = sqlsink.TableOf(s.dialect, b, t.rows.schema, t.rows.table); err != nil {
		return nil, err
	}
	t.want.Extra = r.AdditionalTableCreateSQL
	t.want.Comment = comment + " from " + strings.ReplaceAll(b.Collection.Name, "\x00", "\uFFFD")
	return t, nil
}

func (s *sink) targets(bs []materialize.Binding) ([]*target, error) {
	list := make([]*target, len(bs))
	seen := map[tableName]int{}
	for i := range bs {
		t, err := s.target(&bs[i])
		if err != nil {
			return nil, fmt.Errorf("binding %d: %w", i, err)
		}
		if other, ok := seen[t.rows]; ok {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("the bindings %d and %d both write into table %s", other, i, t.name), Fix: "give one of them another table",
			}
		}
		seen[t.rows] = i
		list[i] = t
	}
	return list, nil
}

// last finds the binding of a resource path among those that were applied last; nil: it was not there.
func last(from []materialize.Binding, path []string) *materialize.Binding {
	// bug materializations 36: bindings were matched by collection and path, so a simultaneous change of both was missed
	i := slices.IndexFunc(from, func(b materialize.Binding) bool { return slices.Equal(b.ResourcePath, path) })
	if i < 0 {
		return nil
	}
	return &from[i]
}

// Validate says what may become of each projection, by the tables as they are.
func (s *sink) Validate(ctx context.Context, bs []materialize.Proposed) (_ []materialize.Constraints, err error) {
	session, err := s.config.connect(ctx, readOnly)
	if err != nil {
		return nil, err
	}
	defer session.close()
	resources := make([]resource, len(bs))
	names := make([]tableName, len(bs))
	var problems []error
	for i := range bs {
		if resources[i], err = configs.Decode[resource](bs[i].Resource); err != nil {
			return nil, fmt.Errorf("binding %d: %w", i, err)
		}
		if names[i].schema, names[i].table, err = s.config.path(&resources[i]); err != nil {
			problems = append(problems, err)
		}
	}
	live, err := session.describe(ctx, names)
	if err != nil {
		return nil, s.config.explain("validating", err)
	}
	out := make([]materialize.Constraints, len(bs))
	asked := map[string]bool{fold(s.config.Schema): true} // Check has looked at this one
	for i := range bs {
		p := &bs[i]
		table := live[names[i]]
		if p.Last == nil {
			if err := s.adoptable(ctx, session, names[i], table); err != nil {
				problems = append(problems, s.config.explain("validating", err))
				continue
			}
		}
		if p.Replace {
			table = nil
		} else if p.Last != nil && p.Last.Backfill == p.Backfill && table == nil {
			if err := s.missed(ctx, session, names[i]); err != nil {
				problems = append(problems, s.config.explain("validating", err))
				continue
			}
		}
		if err := s.permitted(ctx, session, names[i], live[names[i]] != nil, resources[i].DeltaUpdates, asked); err != nil {
			problems = append(problems, s.config.explain("validating", err))
			continue
		}
		var before *sqlsink.Table
		if p.Last != nil {
			before, _ = sqlsink.TableOf(s.dialect, p.Last, names[i].schema, names[i].table) // only of help
		}
		fields, err := sqlsink.Constrain(s.dialect, p, table, before, sqlsink.Options{
			Delta: resources[i].DeltaUpdates, NoDocument: s.config.Advanced.NoFlowDocument, MaxColumns: maxColumns,
		})
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if live[names[i]] != nil && !p.Replace {
			if err := s.obstacles(ctx, session, names[i], resources[i].DeltaUpdates, fields); err != nil {
				problems = append(problems, s.config.explain("validating", err))
				continue
			}
		}
		out[i] = materialize.Constraints{ResourcePath: []string{names[i].schema, names[i].table}, DeltaUpdates: resources[i].DeltaUpdates, Fields: fields}
	}
	return out, errors.Join(problems...)
}

// readOnly makes sure that a session writes nothing.
var readOnly = map[string]string{"default_transaction_read_only": "on"}

// ReadCheckpoints returns what `write` has stored of each table, and fences its sessions off.
func (s *sink) ReadCheckpoints(ctx context.Context, paths [][]string) (_ []json.RawMessage, err error) {
	out := make([]json.RawMessage, len(paths))
	session, err := s.config.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer session.close()
	where := s.checkpointTable()
	names := []tableName{where}
	for _, path := range paths {
		names = append(names, tableName{path[0], path[1]})
	}
	found, err := session.describe(ctx, names)
	if err != nil || found[where] == nil {
		return out, s.config.explain("reading checkpoints", err)
	}
	checkpoints := s.checkpoints(session)
	err = session.inTransaction(ctx, func() (err error) {
		order := make([]int, len(paths))
		for i := range order {
			order[i] = i
		}
		// Everybody locks rows in the order of their names, so that nobody waits for each other.
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(writeOwner(paths[a]), writeOwner(paths[b])) })
		for _, i := range order {
			var text *string
			if text, err = checkpoints.Read(ctx, writeOwner(paths[i]), host()); err != nil {
				return err
			}
			// Of a table that somebody has dropped, the checkpoint counts rows that are gone.
			if text != nil && found[names[i+1]] != nil {
				out[i] = json.RawMessage(*text)
			}
		}
		return nil
	})
	return out, s.config.explain("reading checkpoints", err)
}

// writeOwner is who owns the checkpoint of a table that `write` fills.
func writeOwner(path []string) string {
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = strings.NewReplacer("%", "%25", ".", "%2E").Replace(p) // else two tables with dots in their names could have one owner
	}
	return "write/" + strings.Join(escaped, ".")
}

func (s *sink) checkpointTable() tableName { return tableName{fold(s.config.Schema), checkpointTable} }

func (s *sink) checkpoints(session *session) *sqlsink.Checkpoints {
	return &sqlsink.Checkpoints{Executor: session, Table: s.checkpointTable().sql(), Lock: `SELECT pg_advisory_xact_lock(hashtext('flow ' || $1::text)::bigint)`}
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// memoryBytes bounds the connector's memory: the documents of a transaction (32 MiB, twice while they are sorted), chunks of rows (10 MiB), keys to load
// (4 MiB), lines of input and output, large documents, and the runtime itself.
const memoryBytes = 224 << 20
