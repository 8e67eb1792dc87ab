package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// Check looks for everything that would stop a materialization, and writes nothing.
func (s *sink) Check(ctx context.Context) error {
	session, err := s.config.connect(ctx, readOnly)
	if err != nil {
		return err
	}
	defer session.close()
	rows, _, err := session.Execute(ctx, `SELECT pg_is_in_recovery(), current_database(), has_database_privilege(current_database(), 'TEMPORARY')`)
	if err != nil {
		return s.config.explain("checking the server", err)
	}
	r := rows[0]
	yes := func(i int) bool { return r[i] != nil && *r[i] == "t" }
	var errs []error
	found := func(summary, fix, sql string) {
		errs = append(errs, &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix, SQL: sql})
	}
	user, database := quote(s.config.User), quote(*r[1])
	if yes(0) {
		found(fmt.Sprintf("the server at %s is a standby, which takes no writes", s.config.Address), "use the address of the primary (a cluster's writer endpoint)", "")
		return errors.Join(errs...)
	}
	if !yes(2) {
		found(fmt.Sprintf("user %q may not make temporary tables in database %q", s.config.User, *r[1]), "grant it", "GRANT TEMPORARY ON DATABASE "+database+" TO "+user+";")
	}
	if err := s.mayCreateIn(ctx, session, fold(s.config.Schema)); err != nil {
		errs = append(errs, s.config.explain("checking the schema", err))
	}
	where := s.checkpointTable()
	live, err := session.describe(ctx, []tableName{where})
	if err != nil {
		return errors.Join(append(errs, s.config.explain("looking at the table of checkpoints", err))...)
	}
	if live[where] != nil {
		name := where.sql()
		rows, _, err := session.Execute(ctx, `SELECT has_table_privilege($1::regclass, 'SELECT') AND has_table_privilege($1::regclass, 'INSERT') AND has_table_privilege($1::regclass, 'UPDATE')`, &name)
		if err != nil {
			return errors.Join(append(errs, s.config.explain("looking at the table of checkpoints", err))...)
		}
		if *rows[0][0] != "t" {
			found(fmt.Sprintf("user %q may not use table %s, which holds the checkpoints", s.config.User, where), "grant it", "GRANT SELECT, INSERT, UPDATE ON "+name+" TO "+user+";")
		}
	}
	return errors.Join(errs...)
}

// permitted returns what keeps the user from making the table, or from writing to it where it exists. A schema is asked about once.
func (s *sink) permitted(ctx context.Context, session *session, name tableName, exists, delta bool, asked map[string]bool) error {
	switch {
	case exists:
		return s.mayWrite(ctx, session, name, delta)
	case asked[name.schema]:
		return nil
	}
	asked[name.schema] = true
	return s.mayCreateIn(ctx, session, name.schema)
}

// mayCreateIn returns what keeps the user from making tables in the schema, which is created when missing.
func (s *sink) mayCreateIn(ctx context.Context, session *session, schema string) error {
	rows, _, err := session.Execute(ctx, `SELECT has_database_privilege(current_database(), 'CREATE'),
		(SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace WHERE nspname = $1)`, &schema)
	if err != nil {
		return err
	}
	database, granted := rows[0][0], rows[0][1]
	user := quote(s.config.User)
	switch {
	case granted == nil && *database != "t":
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("schema %q does not exist, and user %q may not create it", schema, s.config.User),
			Fix: "create it for the user", SQL: "CREATE SCHEMA " + quote(schema) + " AUTHORIZATION " + user + ";",
		}
	case granted != nil && *granted != "t":
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("user %q may not create tables in schema %q", s.config.User, schema),
			Fix: "grant it", SQL: "GRANT USAGE, CREATE ON SCHEMA " + quote(schema) + " TO " + user + ";",
		}
	}
	return nil
}

// mayWrite returns what keeps the user from writing to a table that exists.
func (s *sink) mayWrite(ctx context.Context, session *session, name tableName, delta bool) error {
	needed := []string{"INSERT"}
	if !delta {
		needed = []string{"SELECT", "INSERT", "UPDATE"}
		if s.config.HardDelete {
			needed = append(needed, "DELETE")
		}
	}
	quoted, list := name.sql(), strings.Join(needed, ",")
	rows, _, err := session.Execute(ctx, `SELECT bool_and(has_table_privilege($1::regclass, needed)) FROM unnest(string_to_array($2, ',')) needed`, &quoted, &list)
	if err != nil || *rows[0][0] == "t" {
		return err
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("user %q may not write to table %s", s.config.User, name),
		Fix: "grant it, or make the user its owner, who may also add columns", SQL: "GRANT " + strings.Join(needed, ", ") + " ON " + quoted + " TO " + quote(s.config.User) + ";",
	}
}
