package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4"

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
	if rel.Identity == pgoutput.IdentityDefault || rel.Identity == pgoutput.IdentityIndex {
		for _, c := range rel.Columns {
			if c.Key {
				t.Key = append(t.Key, c.Name)
			}
		}
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

// publishesGenerated tells whether the log may have generated columns: from PostgreSQL 18 on a publication can ask for the stored ones, as a whole or in a
// table's column list.
func publishesGenerated(ctx context.Context, s *session) (bool, error) {
	if s.version < 180000 {
		return false, nil
	}
	var yes bool
	err := s.conn.QueryRow(ctx, `SELECT p.pubgencols <> 'n' OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prattrs IS NOT NULL)
		FROM pg_publication p WHERE p.pubname = $1`, s.config.Advanced.PublicationName).Scan(&yes)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return yes, s.config.explain("looking up what the publication publishes", err)
}

// generated returns the indexes of a relation's generated columns, which the log does not tell from others.
func (l *logTables) generated(rel *pgoutput.Relation) (indexes []int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := l.config.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer closeQuietly(conn)
	names, err := textFrom(conn)(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = `+strconv.FormatUint(uint64(rel.OID), 10)+` AND attgenerated <> ''`)
	if err != nil {
		return nil, fmt.Errorf("looking up the generated columns of %s: %w", rel, err)
	}
	for i, c := range rel.Columns {
		if slices.Contains(names, c.Name) {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
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
