package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/estuary/connectors/source-postgres/pgoutput"
	"github.com/estuary/connectors/sqlcapture"
)

// logTables makes the engine's descriptions of what the log describes. The log's reader alone uses it.
type logTables struct {
	config *config
	types  *typeTable
}

// describe pairs the log's columns with their rules. A type that is younger than what was loaded is looked up, over a connection of its own since the
// session belongs to the engine (bug sql-cdc 77: enums, domains and extension types have another oid in each database).
func (l *logTables) describe(rel *pgoutput.Relation) (*sqlcapture.Table, error) {
	t := &sqlcapture.Table{
		TableName: sqlcapture.TableName{Schema: rel.Namespace, Name: rel.Name},
		Identity:  strconv.FormatUint(uint64(rel.OID), 10),
	}
	if t.Schema == "" {
		t.Schema = "pg_catalog" // which the log does not spell out
	}
	unknown := l.columns(t, rel)
	if unknown == "" {
		return t, nil
	}
	if err := l.reload(); err != nil {
		return nil, fmt.Errorf("looking up the type of column %q of %s: %w", unknown, rel, err)
	}
	l.columns(t, rel) // a type that was dropped meanwhile is taken as text
	return t, nil
}

// columns sets the table's columns and returns the name of one whose type is not known.
func (l *logTables) columns(t *sqlcapture.Table, rel *pgoutput.Relation) (unknown string) {
	t.Columns = make([]sqlcapture.Column, 0, len(rel.Columns))
	for _, c := range rel.Columns {
		column, known := l.types.column(c.Name, c.TypeOID, c.TypeMod, false)
		if !known {
			unknown = c.Name
		}
		t.Columns = append(t.Columns, column)
	}
	return unknown
}

func (l *logTables) reload() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := l.config.connect(ctx)
	if err != nil {
		return err
	}
	defer closeQuietly(conn)
	l.types, err = loadTypes(ctx, conn, typeOptions{ArrayFormat: arrayFormat(l.config.Advanced.ArrayFormat)})
	return err
}
