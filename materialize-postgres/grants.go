package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/sqlsink"
)

// seen remembers a table that this session has to do with.
func (s *session) seen(n tableName) {
	if s.schemas == nil {
		s.schemas = map[string][]string{}
	}
	if !slices.Contains(s.schemas[n.table], n.schema) {
		s.schemas[n.table] = append(s.schemas[n.table], n.schema)
	}
}

// placed completes a refusal of the server by the table that it is about, which the message alone names, without its schema. Where several schemas have such a
// table, none is guessed.
func (s *session) placed(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if name := deniedTable(pg); len(s.schemas[name]) == 1 {
			pg.SchemaName, pg.TableName = s.schemas[name][0], name
		}
	}
	return err
}

// deniedTable is the table that the user lacks a right to; "": the error is about something else, or knows the table's schema already.
func deniedTable(pg *pgconn.PgError) string {
	if pg.Code != codeInsufficientPriv || pg.TableName != "" {
		return ""
	}
	for _, kind := range []string{"for table ", "for relation "} { // in 10 it was a relation
		if _, name, found := strings.Cut(pg.Message, kind); found {
			return name
		}
	}
	return ""
}

// grant is the statement that lets the user write to a table. doing tells whether it has to be emptied as well.
func (c *config) grant(n tableName, doing string) string {
	needed := "SELECT, INSERT, UPDATE"
	if c.HardDelete && n.table != sqlsink.CheckpointTable {
		needed += ", DELETE"
	}
	if strings.Contains(doing, "TRUNCATE ") {
		needed += ", TRUNCATE"
	}
	return "GRANT " + needed + " ON " + n.sql() + " TO " + quote(c.User) + ";"
}
