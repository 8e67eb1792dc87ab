package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
)

// CheckNeighbours finds other materializations that write to the task's tables: the rows of both would mix, and a deletion of one takes rows of the other.
// What `write` has written does not count: its tables are claimed one by one, and the newest session has them.
func (s *sink) CheckNeighbours(ctx context.Context, task string, paths [][]string) error {
	session, err := s.config.connect(ctx, readOnly)
	if err != nil {
		return err
	}
	defer session.close()
	where, err := checkpointTables(ctx, session)
	if err != nil {
		return s.config.explain("looking for tables of checkpoints", err)
	}
	tables, names, writers := make([]string, len(paths)), map[string]string{}, map[string]bool{}
	for i, path := range paths {
		name := tableName{path[0], path[1]}
		tables[i] = name.sql()
		names[tables[i]] = name.String()
		writers[writeOwner(path)] = true
	}
	var problems []error
	for _, at := range where {
		k := sqlsink.Checkpoints{Executor: session, Table: at.sql()}
		others, err := k.Others(ctx, task, tables)
		if err != nil {
			return s.config.explain("looking for other materializations of the tables", err)
		}
		for _, o := range others {
			if !writers[o.Materialization] {
				problems = append(problems, shared(o, names, at))
			}
		}
	}
	return errors.Join(problems...)
}

// checkpointTables are those of all schemas that the user may read: the configuration chooses the schema, and another materialization may have chosen another.
func checkpointTables(ctx context.Context, session *session) ([]tableName, error) {
	name := checkpointTable
	rows, _, err := session.Execute(ctx, `SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tables' AND a.atttypid = 'text[]'::regtype
		WHERE c.relname = $1 AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname`, &name)
	if err != nil {
		return nil, err
	}
	list := make([]tableName, len(rows))
	for i, r := range rows {
		list[i] = tableName{*r[0], checkpointTable}
	}
	return list, nil
}

// shared is the problem with another materialization, whose checkpoint stands in a table.
func shared(o sqlsink.Other, names map[string]string, at tableName) error {
	list := make([]string, len(o.Tables))
	for i, t := range o.Tables {
		list[i] = names[t]
	}
	slices.Sort(list)
	what := "table " + list[0] + " is"
	if len(list) > 1 {
		what = "tables " + enumerate(list, 5) + " are"
	}
	return &protocol.Problem{
		Kind: protocol.Config,
		Summary: fmt.Sprintf("%s written by the materialization named %s as well (its last session began %s), and the rows of both would mix",
			what, o.Materialization, o.Since.UTC().Format(time.RFC3339)),
		Fix: fmt.Sprintf("use another table or schema for one of them; if %s is this one's former name, give it back (name: in the file of a pipeline); if it is gone for good, remove its row", o.Materialization),
		SQL: "DELETE FROM " + at.sql() + " WHERE materialization = " + literal(o.Materialization) + ";",
	}
}

// enumerate lists names, the first most of them.
func enumerate(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
