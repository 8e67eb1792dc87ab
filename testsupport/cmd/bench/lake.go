package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/compare"
)

// lake is the database that a sink writes to, with the sink's input files.
type lake struct {
	*server
	b        *bench
	database string
	dir      string
}

// newLake makes the database; the caller must close it, and drop it once the figures are taken.
func (b *bench) newLake(ctx context.Context, database string) (*lake, error) {
	if err := b.sinks.exec(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the sink's inputs: %w", err)
	}
	l := &lake{server: b.sinks, b: b, database: database, dir: dir}
	config, err := json.Marshal(l.config())
	if err == nil {
		err = os.WriteFile(l.file("config.json"), config, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the sink: %w", err), l.close())
	}
	return l, nil
}

func (l *lake) close() error { return os.RemoveAll(l.dir) }

func (l *lake) drop(ctx context.Context) error { return l.dropDatabase(ctx, l.database) }

func (l *lake) file(name string) string { return filepath.Join(l.dir, name) }

// config is that of materialize-postgres.
func (l *lake) config() map[string]any {
	return map[string]any{
		"address": l.cluster.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": l.database, "advanced": map[string]any{"sslmode": "disable"},
	}
}

// empty are the statements that take away whatever a sink has made.
func (l *lake) empty() []string {
	return []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"}
}

// twin are the statements that make a table of the reference's own like the one that the sink has made, and empty.
func (l *lake) twin() []string {
	return []string{"CREATE SCHEMA IF NOT EXISTS reference", "DROP TABLE IF EXISTS " + twin, "CREATE TABLE " + twin + " (LIKE " + table + " INCLUDING ALL)"}
}

const twin = "reference.wide"

// capture keeps what source-postgres reads of a database in a file, and the catalog under which it was read.
func (l *lake) capture(ctx context.Context, s *subject, name string) error {
	out, err := os.Create(l.file(name + ".jsonl"))
	if err != nil {
		return fmt.Errorf("keeping what the source reads: %w", err)
	}
	if err = l.b.prepare(ctx, s.database); err == nil {
		_, err = s.read(ctx, out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	catalog, err := os.ReadFile(s.file("catalog"))
	if err != nil {
		return fmt.Errorf("reading the catalog: %w", err)
	}
	// A sink is told that there is one row for each key.
	keyed := bytes.ReplaceAll(catalog, []byte(`"destination_sync_mode":"append"`), []byte(`"destination_sync_mode":"append_dedup"`))
	if !bytes.Contains(keyed, []byte("append_dedup")) {
		return fmt.Errorf("preparing the catalog: it has no destination_sync_mode: %.300s", catalog)
	}
	return os.WriteFile(l.file("catalog.json"), keyed, 0o600)
}

// write runs the sink on a captured file.
func (l *lake) write(name string) command {
	return command{
		path: l.b.built.sink, args: []string{"write", "--config", l.file("config.json"), "--catalog", l.file("catalog.json")}, stdin: l.file(name + ".jsonl"),
	}
}

// dump copies the sink's table to a file in COPY's text form, in the order of the keys.
func (l *lake) dump(ctx context.Context, name string) error {
	out, err := os.Create(l.file(name + ".copy"))
	if err != nil {
		return fmt.Errorf("keeping the rows of the sink's table: %w", err)
	}
	_, err = l.psql(l.database, "COPY (SELECT * FROM "+table+" ORDER BY id) TO STDOUT").run(ctx, out)
	return errors.Join(err, out.Close())
}

// equals compares the sink's table with the one that was captured, which are of different databases.
func (l *lake) equals(ctx context.Context, source string, rows int64) error {
	return l.b.in(ctx, source, func(from *pgx.Conn) error {
		return l.in(ctx, l.database, func(to *pgx.Conn) error {
			schema, name, _ := strings.Cut(table, ".")
			at := compare.Name{Schema: schema, Table: name}
			r, err := compare.Table(ctx, from, at, to, at, []string{"id"})
			if err != nil {
				return err
			}
			if len(r.Differences) > 0 {
				return fmt.Errorf("comparing what was written with the source: %s", r.Differences[0])
			}
			if r.Rows != rows {
				return fmt.Errorf("comparing what was written with the source: there are %d rows, want %d", r.Rows, rows)
			}
			l.progress("%s: %s rows, every column equals the source", l.database, grouped(r.Rows))
			return nil
		})
	})
}

// timed prepares the database by the statements, takes one timed run, and counts the rows afterwards that are as the run leaves them.
func (l *lake) timed(ctx context.Context, c command, name, where string, statements []string) (usage, error) {
	u, err := l.measured(ctx, filepath.Base(c.path), l.database, expected{}, func(sink *counter) (usage, error) { return c.run(ctx, sink) }, statements...)
	return u, errors.Join(err, l.holds(ctx, name, where, l.b.rows))
}

// holds looks at the number of rows of a table after a timed run.
func (l *lake) holds(ctx context.Context, name, where string, rows int64) error {
	return l.in(ctx, l.database, func(conn *pgx.Conn) error {
		var n int64
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM "+name+" WHERE "+where).Scan(&n); err != nil {
			return fmt.Errorf("counting the rows of %s: %w", name, err)
		}
		if n != rows {
			return fmt.Errorf("counting the rows of %s: there are %d where %s, want %d", name, n, where, rows)
		}
		return nil
	})
}
