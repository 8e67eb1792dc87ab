package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/fixture"
)

const (
	table       = "public.wide"
	publication = "bench_publication"
	slot        = "bench_slot"
)

// bench owns two servers: sources are read on the one that it is, sinks write to the other. Every part makes databases of its own on them.
type bench struct {
	sizes
	*server
	sinks *server
	built programs
}

// server is a PostgreSQL with its programs.
type server struct {
	programs string // folder of psql and pg_recvlogical
	cluster  *pgtest.Cluster
	// progress is told what happens now; timed work happens between the lines.
	progress func(format string, args ...any)
}

// serverConf are settings under which neither side waits for the disk, and nothing of the server's own runs inside a measurement.
func serverConf(rows int64) map[string]string {
	// A scan of a table above a quarter of shared_buffers bypasses them, so they are four times the table, and some: 2 KiB for a row of about 450 bytes.
	buffers := max(512, rows*2/1024)
	return map[string]string{
		"shared_buffers":     strconv.FormatInt(buffers, 10) + "MB",
		"max_wal_size":       "16GB",
		"checkpoint_timeout": "1h",
		"autovacuum":         "off",
	}
}

func newBench(built programs, s sizes, progress func(format string, args ...any)) (*bench, error) {
	sources, err := newServer(s, progress)
	if err != nil {
		return nil, err
	}
	sinks, err := newServer(s, progress)
	if err != nil {
		return nil, errors.Join(err, sources.close())
	}
	return &bench{sizes: s, server: sources, sinks: sinks, built: built}, nil
}

func newServer(s sizes, progress func(format string, args ...any)) (*server, error) {
	folder, err := pgtest.BinDir(pgtest.DefaultVersion)
	if err != nil {
		return nil, err
	}
	cluster, err := pgtest.New(pgtest.Options{Conf: serverConf(s.rows)})
	if err != nil {
		return nil, err
	}
	return &server{programs: folder, cluster: cluster, progress: progress}, nil
}

func (b *bench) close() error { return errors.Join(b.server.close(), b.sinks.close()) }

func (s *server) close() error { return s.cluster.Stop() }

func printProgress(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// settings describes the server for the document.
func (b *bench) settings() string {
	conf := serverConf(b.rows)
	list := []string{"fsync=off", "full_page_writes=off", "wal_level=logical"}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		list = append(list, name+"="+conf[name])
	}
	return strings.Join(list, ", ")
}

func (s *server) version(ctx context.Context) (version string, err error) {
	err = s.in(ctx, "postgres", func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW server_version").Scan(&version)
	})
	return version, err
}

// in runs f with a connection that is closed before anything is measured.
func (s *server) in(ctx context.Context, database string, f func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.cluster.DSN(database))
	if err != nil {
		return fmt.Errorf("connecting to database %s: %w", database, err)
	}
	return errors.Join(f(conn), conn.Close(context.WithoutCancel(ctx)))
}

// exec runs statements one after another.
func (s *server) exec(ctx context.Context, database string, statements ...string) error {
	return s.in(ctx, database, func(conn *pgx.Conn) error { return execAll(ctx, conn, statements...) })
}

func execAll(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("running %.100q: %w", sql, err)
		}
	}
	return nil
}

// openDatabase makes a database with the wide table and so many rows.
func (s *server) openDatabase(ctx context.Context, name string, rows int64) error {
	s.progress("filling a table with %s rows", grouped(rows))
	if err := s.exec(ctx, "postgres", "CREATE DATABASE "+name); err != nil {
		return err
	}
	return s.in(ctx, name, func(conn *pgx.Conn) error { return fixture.CreateWide(ctx, conn, table, rows) })
}

// dropDatabase gives disk and log back before the next part.
func (s *server) dropDatabase(ctx context.Context, name string) error {
	if err := s.awaitIdle(ctx, name); err != nil {
		return err
	}
	return s.exec(ctx, "postgres", dropSlots("database = '"+name+"'"), "DROP DATABASE "+name+" WITH (FORCE)", "CHECKPOINT")
}

// dropSlots is the statement that drops the slots for which a condition is true.
func dropSlots(where string) string {
	return "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE " + where
}

// prepare makes the server as it was before the last run: nobody is connected, the connector's slot is gone, what was to be written is written.
// The statements come before the checkpoint.
func (s *server) prepare(ctx context.Context, database string, statements ...string) error {
	if err := s.awaitIdle(ctx, database); err != nil {
		return err
	}
	all := append([]string{dropSlots("slot_name = '" + slot + "'")}, statements...)
	return s.exec(ctx, database, append(all, "CHECKPOINT")...)
}

// awaitIdle waits for the server's side of the last run, which ends some moments after its client.
func (s *server) awaitIdle(ctx context.Context, database string) error {
	const patience = time.Minute
	return s.in(ctx, "postgres", func(conn *pgx.Conn) error {
		for deadline := time.Now().Add(patience); ; {
			var left int
			err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()", database).Scan(&left)
			switch {
			case err != nil:
				return fmt.Errorf("waiting for the end of the last run: %w", err)
			case left == 0:
				return nil
			case time.Now().After(deadline):
				return fmt.Errorf("waiting for the end of the last run: %d sessions are left after %s", left, patience)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// environment lets the server's own programs find it by the way that the subject takes, TCP.
func (s *server) environment(database string) []string {
	return []string{"PGHOST=127.0.0.1", "PGPORT=" + strconv.Itoa(s.cluster.Port), "PGUSER=" + pgtest.User, "PGPASSWORD=" + pgtest.Password, "PGDATABASE=" + database, "PGSSLMODE=disable"}
}

// program runs one of PostgreSQL's own programs.
func (s *server) program(ctx context.Context, name, database string, sink io.Writer, args ...string) (usage, error) {
	return execute(ctx, filepath.Join(s.programs, name), args, s.environment(database), sink)
}

// psql runs one statement.
func (s *server) psql(database, statement string) command {
	return command{path: filepath.Join(s.programs, "psql"), args: []string{"--no-psqlrc", "--quiet", "--command", statement}, env: s.environment(database)}
}
