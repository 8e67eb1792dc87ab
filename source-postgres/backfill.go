package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// scanner reads tables over a connection of its own, which is opened when first needed: a capture that only follows the log needs none.
type scanner struct {
	session *session
	conn    *pgwire.Conn
}

var (
	_ sqlcapture.Scanner = (*scanner)(nil)
	_ sqlcapture.Filler  = (*scanner)(nil)
)

func (s *scanner) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	cfg := s.session.config
	settings, err := cfg.pgConfig(false)
	if err != nil {
		return err
	}
	conn, err := pgwire.Connect(ctx, settings)
	if err != nil {
		return cfg.explain("connecting for the backfill", err)
	}
	if err := prepareRows(ctx, conn); err != nil {
		_ = conn.Close() // the error says enough
		return cfg.explain("preparing the backfill's session", err)
	}
	s.conn = conn
	return nil
}

func (s *scanner) close() {
	if s.conn != nil {
		_ = s.conn.Close() // nothing depends on a polite end
	}
}

// Visible asks over the session, which is never busy with a chunk.
func (s *scanner) Visible(ctx context.Context, txns []sqlcapture.TxnID) ([]sqlcapture.TxnID, string, error) {
	return s.session.visible(ctx, txns)
}

// lockTimeout bounds the wait for a table's lock: whoever wants a stronger one waits behind us meanwhile.
const lockTimeout = 2 * time.Second

// Scan begins the chunk's transaction. The lock comes before the snapshot: TRUNCATE, DROP and a rewriting ALTER TABLE are not kept apart from a snapshot
// that was taken before them, and would make the chunk look like an empty table (sql-cdc §4.2).
func (s *scanner) Scan(ctx context.Context, req sqlcapture.ScanRequest) (_ sqlcapture.Chunk, err error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	_, err = s.conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL lock_timeout = "+
		strconv.FormatInt(lockTimeout.Milliseconds(), 10)+"; LOCK TABLE "+quoteTable(req.Table.Schema, req.Table.Name)+" IN ACCESS SHARE MODE; SET LOCAL lock_timeout = 0")
	defer func() {
		if err != nil {
			s.rollback()
		}
	}()
	if err != nil {
		return nil, s.scanError(req.Table, err)
	}
	texts, err := textFromWire(s.conn)(ctx, snapshotSQL(s.session.version))
	if err != nil || len(texts) != 1 {
		return nil, s.session.config.explain("taking a snapshot", errors.Join(err, emptyAnswer(texts)))
	}
	c := &chunk{scanner: s, req: req}
	if c.snapshot, err = parseSnapshot(texts[0]); err != nil {
		return nil, err
	}
	c.table, err = s.session.catalog.describe(ctx, textFromWire(s.conn), req.Table)
	if err != nil {
		return nil, s.scanError(req.Table, err)
	}
	if c.table == nil {
		return nil, sqlcapture.ErrNoTable
	}
	if err := c.start(ctx); err != nil {
		if (req.After != nil || req.Until != nil) && isNoValue(err) {
			return nil, sqlcapture.ErrKeyLost
		}
		if isTimeout(err) {
			return nil, c.timedOut(err)
		}
		return nil, s.scanError(req.Table, err)
	}
	return c, nil
}

func emptyAnswer(texts []string) error {
	if len(texts) == 1 {
		return nil
	}
	return fmt.Errorf("the server's answer has %d rows", len(texts))
}

// rollback ends the chunk's transaction; a connection that cannot is given up, and the next chunk opens another.
func (s *scanner) rollback() {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = s.conn.Close() // it is of no use any more
		s.conn = nil
	}
}

// scanError sorts the server's refusals: what concerns this table alone does not end the others.
func (s *scanner) scanError(t sqlcapture.TableName, err error) error {
	name := quoteTable(t.Schema, t.Name)
	cfg := s.session.config
	switch code := pgserver.State(err); code {
	case "55P03": // lock_not_available
		return sqlcapture.ErrLocked
	case "42P01", "3F000": // undefined_table, invalid_schema_name
		return sqlcapture.ErrNoTable
	case codeInsufficientPriv:
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && strings.Contains(pg.Message, "row-level security") {
			return &sqlcapture.TableProblem{Table: t, Problem: &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("row-level security hides rows of table %s from user %s, so it would be captured in part", name, cfg.User),
				Fix: "let the user read all rows", SQL: "ALTER ROLE " + quote(cfg.User) + " BYPASSRLS;", Err: err,
			}}
		}
		return &sqlcapture.TableProblem{Table: t, Problem: &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("user %s may not read table %s", cfg.User, name), Fix: "let it read the table",
			SQL: "GRANT USAGE ON SCHEMA " + quote(t.Schema) + " TO " + quote(cfg.User) + "; GRANT SELECT ON " + name + " TO " + quote(cfg.User) + ";", Err: err,
		}}
	case "42703": // undefined_column: the description is younger than the request
		return &sqlcapture.TableProblem{Table: t, Problem: &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("table %s has lost a column that is part of its key", name), Fix: "give this stream no state (under pipeline: pipeline backfill FILE STREAM), so that it is read anew", Err: err,
		}}
	}
	return cfg.explain("reading table "+name, err)
}

// Fill reads single values again, for rows whose new key the log told without them.
func (s *scanner) Fill(ctx context.Context, t sqlcapture.TableName, keyColumns []string, keys []rowkey.Key, cols []string) ([][]sqlcapture.Value, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	tables, err := s.session.catalog.Tables(ctx, []sqlcapture.TableName{t})
	if err != nil || len(tables) == 0 {
		return make([][]sqlcapture.Value, len(keys)), err // gone: a DROP follows
	}
	table := tables[0]
	columns, err := columnsNamed(table, keyColumns)
	if err != nil {
		return make([][]sqlcapture.Value, len(keys)), nil // the log has a description without the key before long
	}
	places := make([]int, 0, len(cols)) // in cols, of the columns that are read
	for i, name := range cols {
		if c, missing := columnsNamed(table, []string{name}); missing == nil { // else dropped since: nobody has its value any more
			columns, places = append(columns, c[0]), append(places, i)
		}
	}
	var list strings.Builder
	byKey := make(map[string]int, len(keys))
	for i, k := range keys {
		if i > 0 {
			list.WriteString(", ")
		}
		var values string
		if values, err = keyLiterals(k); err != nil {
			return nil, err
		}
		list.WriteString(values)
		byKey[string(k)] = i
	}
	if _, err := s.conn.Exec(ctx, "BEGIN READ ONLY; "+s.searchPath(table, keyColumns)); err != nil {
		return nil, s.session.config.explain("reading table "+t.String()+" again", err)
	}
	defer s.rollback()
	copied, err := s.conn.CopyOut(ctx, "COPY (SELECT "+sqlColumns(columns)+" FROM "+table.Native.(*relation).sqlOnly()+ //nolint:forcetypeassert // the catalog sets it
		" WHERE ("+sqlColumns(columns[:len(keyColumns)])+") IN ("+list.String()+")) TO STDOUT")
	if err != nil {
		return nil, s.scanError(t, err)
	}
	defer func() { _ = copied.Close() }() // after io.EOF it does nothing
	rows := make([][]sqlcapture.Value, len(keys))
	var fields [][]byte
	for {
		fields, err = copied.Next(fields)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, s.scanError(t, err)
		}
		key, err := appendRowKey(nil, columns[:len(keyColumns)], fields)
		if err != nil {
			return nil, err
		}
		if i, ok := byKey[string(key)]; ok {
			rows[i] = make([]sqlcapture.Value, len(cols))
			for j := range cols {
				rows[i][j] = sqlcapture.Absent()
			}
			for j, place := range places {
				rows[i][place] = nil
				if v := fields[len(keyColumns)+j]; v != nil {
					rows[i][place] = append(make([]byte, 0, len(v)), v...)
				}
			}
		}
	}
}

// searchPath makes the transaction find the operators of key types that an extension brought: without them a comparison of citext columns quietly takes
// text's, whose order is not the one that ORDER BY sorts by, and rows would be left out. Empty: none is needed.
func (s *scanner) searchPath(t *sqlcapture.Table, key []string) string {
	const builtin = "pg_catalog"
	path := []string{builtin}
	for _, a := range t.Native.(*relation).Columns { //nolint:forcetypeassert // the catalog sets it
		if !slices.Contains(key, a.Name) {
			continue
		}
		if schema := s.session.catalog.types.operatorSchema(a.Type); !slices.Contains(path, schema) {
			path = append(path, schema)
		}
	}
	if len(path) == 1 {
		return ""
	}
	for i, schema := range path {
		path[i] = quote(schema)
	}
	return "SET LOCAL search_path = " + strings.Join(path, ", ")
}

// isNoValue tells whether the server refused a literal as no value of its type: one of an enum's values was renamed since it was read, say.
func isNoValue(err error) bool {
	switch pgserver.State(err) {
	case "22P02", "22003", "22007", "22008": // invalid_text_representation, out of range, invalid_datetime_format, datetime_field_overflow
		return true
	}
	return false
}

// isTimeout tells whether the server ended the query for its statement_timeout.
func isTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "57014"
}
