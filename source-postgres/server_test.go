package main

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"
	logtest "github.com/sirupsen/logrus/hooks/test"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/internal/pgwire"
)

const rolePassword = "not-secret"

// site is a database with a role that may capture from it: it replicates, may create a publication, and owns what the test makes it own.
type site struct {
	t       *testing.T
	cluster *pgtest.Cluster
	config  *config
}

// newSite makes one on the package's cluster of a version. The role's name needs quoting everywhere.
func newSite(t *testing.T, version int) *site {
	t.Helper()
	return siteOn(t, servers.Cluster(t, version))
}

func siteOn(t *testing.T, cluster *pgtest.Cluster) *site {
	t.Helper()
	unique := strings.ToLower(rand.Text()[:10])
	role := `cap "Ture" ` + unique
	// The role goes after the database, whose objects it owns.
	t.Cleanup(func() { _ = cluster.Exec("postgres", "DROP ROLE IF EXISTS "+quote(role)) })
	database := cluster.NewDatabase(t)
	s := &site{t: t, cluster: cluster, config: &config{
		Address: cluster.Addr(), User: role, Password: rolePassword, Database: database,
		DiscoveryFilters: discoveryFilters{DiscoverUnpublishedTables: true},
		Advanced:         advanced{PublicationName: "flow_publication", SlotName: "slot_" + unique},
	}}
	s.exec("CREATE ROLE "+quote(role)+" LOGIN REPLICATION PASSWORD '"+rolePassword+"'", "GRANT CREATE ON DATABASE "+database+" TO $role")
	t.Cleanup(func() {
		_, _ = cluster.Query(database, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active AND database = '"+database+"'")
	})
	return s
}

// exec runs statements as the superuser. $role stands for the role's quoted name.
func (s *site) exec(statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		if err := s.cluster.Exec(s.config.Database, s.expand(sql)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) expand(sql string) string {
	return strings.ReplaceAll(sql, "$role", quote(s.config.User))
}

// query runs a statement as the superuser and returns its rows as lines.
func (s *site) query(sql string) string {
	s.t.Helper()
	rows, err := s.cluster.Query(s.config.Database, s.expand(sql))
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, " "))
	}
	return strings.Join(lines, "\n")
}

// connect opens a connection as the connector does.
func (s *site) connect() *pgx.Conn {
	s.t.Helper()
	conn, err := s.config.connect(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { closeQuietly(conn) })
	return conn
}

// replicate opens a replication connection.
func (s *site) replicate() *pgwire.Conn {
	s.t.Helper()
	settings, err := s.config.pgConfig(true)
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := pgwire.Connect(s.t.Context(), settings)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// superuser opens a connection that can hold a transaction open.
func (s *site) superuser() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.cluster.DSN(s.config.Database))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (s *site) catalog() *catalog {
	s.t.Helper()
	k, err := newCatalog(s.t.Context(), s.connect(), s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	return k
}

// listen gathers what is logged while the test runs.
func listen(t *testing.T) *logtest.Hook {
	t.Helper()
	hook := new(logtest.Hook)
	old := log.StandardLogger().ReplaceHooks(log.LevelHooks{})
	log.AddHook(hook)
	t.Cleanup(func() { log.StandardLogger().ReplaceHooks(old) })
	return hook
}

// logged are the lines so far, with their fields.
func logged(hook *logtest.Hook) string {
	var b strings.Builder
	for _, e := range hook.AllEntries() {
		text, err := e.String()
		if err != nil {
			text = err.Error()
		}
		b.WriteString(text)
	}
	return b.String()
}

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
