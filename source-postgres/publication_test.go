package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

func public(names ...string) (list []sqlcapture.TableName) {
	for _, n := range names {
		list = append(list, sqlcapture.TableName{Schema: "public", Name: n})
	}
	return list
}

// own makes a table that the role owns.
func (s *site) own(name, columns string) {
	s.t.Helper()
	s.exec("CREATE TABLE "+quote(name)+" ("+columns+")", "ALTER TABLE "+quote(name)+" OWNER TO $role")
}

func (s *site) published() string {
	s.t.Helper()
	return s.query("SELECT string_agg(schemaname || '.' || tablename, ' ' ORDER BY 1) FROM (SELECT * FROM pg_publication_tables ORDER BY 2, 3) t WHERE pubname = 'flow_publication' GROUP BY pubname")
}

// bug sql-cdc 47: estuary/connectors history: FOR ALL TABLES made UPDATE fail on every table without an identity.
// bug sql-cdc 48: estuary/connectors history: a table outside the publication gave neither changes nor an error.
// bug sql-cdc 51: estuary/connectors history: without publish_via_partition_root changes came under the names of partitions.
func TestPublish_CreatesAndAdds(t *testing.T) {
	for _, version := range []int{15, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newSite(t, version)
			s.own("a", "id int PRIMARY KEY")
			s.own(`b "x".y`, "id int PRIMARY KEY")
			s.own("not_ours", "id int PRIMARY KEY")
			s.exec("CREATE TABLE child (PRIMARY KEY (id)) INHERITS (a)", "ALTER TABLE child OWNER TO $role")
			k := s.catalog()
			if err := k.Publish(t.Context(), public("a", `b "x".y`, "gone")); err != nil {
				t.Fatal(err)
			}
			if got := s.published(); got != `public.a public.b "x".y` {
				t.Errorf("published: %s", got)
			}
			if got := s.query("SELECT puballtables, pubviaroot FROM pg_publication"); got != "f t" {
				t.Errorf("got the publication %s", got)
			}
			if err := k.Publish(t.Context(), public("a", "child")); err != nil {
				t.Fatal(err)
			}
			if got := s.published(); got != `public.a public.b "x".y public.child` {
				t.Errorf("published: %s", got)
			}
			if got := s.query("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"); got != "0" {
				t.Errorf("%s transactions were left open", got)
			}
		})
	}
}

func TestPublish_TakesAPublicationForAllTablesAsItIs(t *testing.T) {
	s := newSite(t, 15)
	s.exec("CREATE TABLE a (id int PRIMARY KEY)", "CREATE PUBLICATION flow_publication FOR ALL TABLES")
	if err := s.catalog().Publish(t.Context(), public("a")); err != nil {
		t.Error(err)
	}
}

// A change that was made before the table was published is not in the log when it commits later, so none may be open while it is added.
func TestPublish_LetsNoWriterStraddle(t *testing.T) {
	s := newSite(t, 15)
	s.own("a", "id int PRIMARY KEY")
	s.own("b", "id int PRIMARY KEY")
	hook := listen(t)
	writer := s.superuser()
	tx, err := writer.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO a VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	k := s.catalog()
	done := make(chan error, 1)
	go func() { done <- k.Publish(t.Context(), public("a", "b")) }()
	pid := fmt.Sprintf("pid %d", writer.PgConn().PID())
	eventually(t, "the log names the writer", func() bool { return strings.Contains(logged(hook), pid) })
	if got := s.published(); strings.Contains(got, "public.a") {
		t.Errorf("published while a writer is in the middle: %s", got)
	}
	// Others are kept waiting only for as long as an attempt lasts.
	second := make(chan error, 1)
	go func() { second <- s.cluster.Exec(s.config.Database, "INSERT INTO a VALUES (2)") }()
	select {
	case err := <-second:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * publishLockTimeout):
		t.Error("another writer waits behind us")
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := s.published(); got != "public.a public.b" {
		t.Errorf("published: %s", got)
	}
}

func TestPublish_GivesUpOnALockedTableAlone(t *testing.T) {
	s := newSite(t, 15)
	s.own("a", "id int PRIMARY KEY")
	s.own("b", "id int PRIMARY KEY")
	tx, err := s.superuser().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "INSERT INTO a VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	k := s.catalog()
	k.published.patience = 0
	problem := onlyTableProblem(t, k.Publish(t.Context(), public("a", "b")))
	if problem.Table.Name != "a" || problem.Problem.Kind != protocol.Transient {
		t.Errorf("got %v", problem)
	}
	if got := s.published(); got != "public.b" {
		t.Errorf("published: %s", got)
	}
}

func onlyTableProblem(t *testing.T, err error) *sqlcapture.TableProblem {
	t.Helper()
	list := protocol.Problems(err)
	if len(list) != 1 {
		t.Fatalf("got %v", err)
	}
	problem, ok := errors.AsType[*sqlcapture.TableProblem](list[0])
	if !ok {
		t.Fatalf("got %v", err)
	}
	return problem
}

// What we may not do ourselves comes as SQL that a person can paste, for the table alone.
func TestPublish_SaysWhatAPersonHasToDo(t *testing.T) {
	for _, c := range []struct{ name, prepare, want string }{
		{"somebody else's table", "ALTER TABLE \"it's\" OWNER TO postgres", `ALTER PUBLICATION "flow_publication" ADD TABLE ONLY "public"."it's";`},
		{"somebody else's publication", "ALTER PUBLICATION flow_publication OWNER TO postgres", `ALTER PUBLICATION "flow_publication" ADD TABLE ONLY "public"."it's";`},
		{"no identity", `ALTER TABLE "it's" DROP CONSTRAINT "it's_pkey"`, `ALTER TABLE "public"."it's" REPLICA IDENTITY FULL;`},
		{"identity nothing", `ALTER TABLE "it's" REPLICA IDENTITY NOTHING`, `ALTER TABLE "public"."it's" REPLICA IDENTITY FULL;`},
		{"deferrable primary key", `ALTER TABLE "it's" DROP CONSTRAINT "it's_pkey", ADD PRIMARY KEY (id) DEFERRABLE`, `ALTER TABLE "public"."it's" REPLICA IDENTITY FULL;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, 15)
			s.own("it's", "id int PRIMARY KEY")
			s.own("fine", "id int PRIMARY KEY")
			k := s.catalog()
			if err := k.published.ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := k.Publish(t.Context(), public("fine")); err != nil {
				t.Fatal(err)
			}
			s.exec(c.prepare)
			problem := onlyTableProblem(t, k.Publish(t.Context(), public("fine", "it's")))
			if problem.Table.Name != "it's" || problem.Problem.Kind != protocol.Config || !strings.Contains(problem.Problem.SQL, c.want) {
				t.Fatalf("got %v", problem)
			}
			sql := problem.Problem.SQL
			s.exec(sql)
			if err := k.Publish(t.Context(), public("fine", "it's")); err != nil {
				t.Errorf("after pasting %s: %v", sql, err)
			}
		})
	}
}

func TestPublish_Partitions(t *testing.T) {
	s := newSite(t, 15)
	s.exec("CREATE TABLE p (id int, v int) PARTITION BY RANGE (id)", "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)",
		"CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)", "ALTER TABLE p OWNER TO $role", "ALTER TABLE p REPLICA IDENTITY FULL", "ALTER TABLE p1 REPLICA IDENTITY FULL")
	k := s.catalog()
	// The identity of the table does not reach its partitions, and theirs is what counts.
	problem := onlyTableProblem(t, k.Publish(t.Context(), public("p")))
	if problem.Problem.SQL != "ALTER TABLE public.p2 REPLICA IDENTITY FULL;" {
		t.Errorf("got %s", problem.Problem.SQL)
	}
	s.exec(problem.Problem.SQL, "ALTER PUBLICATION flow_publication SET (publish_via_partition_root = false)")
	problem = onlyTableProblem(t, k.Publish(t.Context(), public("p")))
	if !strings.Contains(problem.Problem.SQL, "publish_via_partition_root = true") {
		t.Errorf("got %v", problem)
	}
	s.exec(problem.Problem.SQL)
	if err := k.Publish(t.Context(), public("p")); err != nil {
		t.Fatal(err)
	}
	if got := s.published(); got != "public.p" {
		t.Errorf("published: %s", got)
	}
}

// bug sql-cdc 49: estuary/connectors history: publish = 'insert', row filters and column lists gave partial data without a word.
// bug sql-cdc 50: estuary/connectors history: a column list without the identity's columns.
func TestPublish_WarnsOfWhatAPublicationLeavesOut(t *testing.T) {
	s := newSite(t, 15)
	for _, name := range []string{"filtered", "cut", "whole"} {
		s.own(name, "id int PRIMARY KEY, v int, w int GENERATED ALWAYS AS (id) STORED")
	}
	s.own("blind", "id int")
	s.exec("CREATE PUBLICATION flow_publication FOR TABLE filtered WHERE (id > 0), cut (id), whole, blind WITH (publish = 'insert, update')")
	hook := listen(t)
	k := s.catalog()
	for range 2 {
		if err := k.Publish(t.Context(), public("filtered", "cut", "whole", "blind")); err != nil {
			t.Fatal(err)
		}
	}
	lines := logged(hook)
	for _, want := range []string{"does not publish delete, truncate", `row filter on public.filtered`, `column list on public.cut: the backfill reads v`, `public.blind is published without a replica identity`} {
		if strings.Count(lines, want) != 1 {
			t.Errorf("%q is %d times in the log:\n%s", want, strings.Count(lines, want), lines)
		}
	}
	if strings.Contains(lines, "whole") {
		t.Errorf("a table that is published whole is warned of:\n%s", lines)
	}
}

func TestEnsure(t *testing.T) {
	s := newSite(t, 15)
	s.exec("REVOKE CREATE ON DATABASE " + s.config.Database + " FROM $role")
	k := s.catalog()
	err := k.published.ensure(t.Context())
	if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), `CREATE PUBLICATION "flow_publication" WITH (publish_via_partition_root = true);`) {
		t.Errorf("without the right: got %v", err)
	}
	s.exec("GRANT CREATE ON DATABASE " + s.config.Database + " TO $role")
	s.config.Advanced.ReadOnlyCapture = true
	if err := k.published.ensure(t.Context()); protocol.KindOf(err) != protocol.Config {
		t.Errorf("a read-only capture: got %v", err)
	}
	s.config.Advanced.ReadOnlyCapture = false
	for range 2 {
		if err := k.published.ensure(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := s.query("SELECT count(*) FROM pg_publication"); got != "1" {
		t.Errorf("got %s publications", got)
	}
}
