package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

var servers = pgtest.Shared{Options: pgtest.Options{Conf: map[string]string{"max_prepared_transactions": "5"}}}

func TestMain(m *testing.M) { servers.Run(m) }

// patience bounds every wait of these tests; it only has to be longer than a slow machine takes.
const patience = 60 * time.Second

// database is a database of a server, with a slot's name of its own: those are the cluster's.
type database struct {
	t       *testing.T
	cluster *pgtest.Cluster
	name    string
	slot    string
}

// newDatabase makes a database on the package's server and runs the statements in it.
func newDatabase(t *testing.T, statements ...string) *database {
	t.Helper()
	return databaseOn(t, servers.Cluster(t, pgtest.DefaultVersion), statements...)
}

// databaseOn makes a database on a server.
func databaseOn(t *testing.T, cluster *pgtest.Cluster, statements ...string) *database {
	t.Helper()
	name := cluster.NewDatabase(t)
	d := &database{t: t, cluster: cluster, name: name, slot: "slot_" + name}
	d.exec(statements...)
	return d
}

// exec runs statements as the superuser, each in a transaction of its own.
func (d *database) exec(statements ...string) {
	d.t.Helper()
	for _, sql := range statements {
		if err := d.cluster.Exec(d.name, sql); err != nil {
			d.t.Fatal(err)
		}
	}
}

// one returns the only value of a query.
func (d *database) one(sql string) string {
	d.t.Helper()
	rows, err := d.cluster.Query(d.name, sql)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		d.t.Fatalf("%s: %d rows, want a single value", sql, len(rows))
	}
	return rows[0][0]
}

// until asks the server again and again until a query returns want.
func (d *database) until(sql, want string) {
	d.t.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = d.one(sql); got == want {
			return
		}
	}
	d.t.Fatalf("%s: still %s after %s, want %s", sql, got, patience, want)
}

// connect opens a session, for transactions that stay open.
func (d *database) connect() *pgx.Conn {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.cluster.DSN(d.name))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // some tests close it themselves
	return conn
}

// run runs statements on an open session.
func (d *database) run(conn *pgx.Conn, statements ...string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			d.t.Fatalf("%s: %v", sql, err)
		}
	}
}

// role makes a role that may replicate and nothing else; the cluster keeps it only as long as the test.
func (d *database) role() string {
	d.t.Helper()
	name := "role_" + d.name
	d.exec(fmt.Sprintf("CREATE ROLE %s LOGIN REPLICATION PASSWORD 'secret'", name))
	d.t.Cleanup(func() {
		_ = d.cluster.Exec(d.name, "DROP OWNED BY "+name)
		_ = d.cluster.Exec(d.name, "DROP ROLE "+name) // else it goes with the cluster
	})
	return name
}

// big is an SQL expression for a text of 40,000 characters, other ones for each seed, which is stored out of line.
func big(seed string) string {
	return "(SELECT string_agg(md5(" + seed + "::text || part), '') FROM generate_series(1, 1250) part)"
}

// background runs statements that may have to wait, and returns how to wait for their end.
func (d *database) background(statements ...string) (wait func()) {
	done := make(chan error, 1)
	go func() {
		for _, sql := range statements {
			if err := d.cluster.Exec(d.name, sql); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return func() {
		d.t.Helper()
		if err := <-done; err != nil {
			d.t.Fatal(err)
		}
	}
}

// setting changes a setting of the whole server, and changes it back after the test.
func (d *database) setting(name, value, back string) {
	d.t.Helper()
	set := func(value string) {
		d.t.Helper()
		if err := d.cluster.SetConf(name, value); err != nil {
			d.t.Fatal(err)
		}
		if err := d.cluster.Reload(); err != nil {
			d.t.Fatal(err)
		}
	}
	set(value)
	d.t.Cleanup(func() { set(back) })
}

// copyIn writes rows with a single COPY.
func (d *database) copyIn(conn *pgx.Conn, table string, columns []string, rows [][]any) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows)); err != nil {
		d.t.Fatal(err)
	}
}
