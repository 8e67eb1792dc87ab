package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
)

func TestErrors_NameTheCure(t *testing.T) {
	c := &config{Address: "db.example.com", User: "loa der", Database: "la ke", Schema: "lake"}
	for _, x := range []struct {
		code, message, want string
		kind                protocol.Kind
	}{
		{"28P01", "no", "password", protocol.Config},
		{"3D000", "no", `database "la ke"`, protocol.Config},
		{"3F000", `schema "x" does not exist`, "apply the materialization again", protocol.Config},
		{"42P01", `relation "x" does not exist`, "bring back what was dropped", protocol.Config},
		{"42501", "permission denied for schema lake", `GRANT USAGE, CREATE ON SCHEMA "lake" TO "loa der"`, protocol.Config},
		{"42501", "permission denied for schema an other", `GRANT USAGE, CREATE ON SCHEMA "an other" TO "loa der"`, protocol.Config},
		{"42501", `permission denied to create temporary tables in database "la ke"`, `GRANT TEMPORARY ON DATABASE "la ke"`, protocol.Config},
		{"42501", "must be owner of table t", "owner", protocol.Config},
		{"42501", `query would be affected by row-level security policy for table "t"`, `ALTER ROLE "loa der" BYPASSRLS;`, protocol.Config},
		{"53100", "could not extend file", "more disk", protocol.Transient},
		{"53300", "too many", "max_connections", protocol.Transient},
		{"57P01", "terminating", "try again", protocol.Transient},
		{"57P03", "starting up", "try again", protocol.Transient},
		{"40001", "could not serialize", "try again", protocol.Transient},
		{"40P01", "deadlock detected", "try again", protocol.Transient},
		{"25006", "cannot execute INSERT in a read-only transaction", "use the address of the primary", protocol.Config},
		{"53400", "configuration limit exceeded", "try again", protocol.Transient},
		{"57014", "canceling statement due to user request", "try again", protocol.Transient},
		{"57P05", "idle session timeout", "try again", protocol.Transient},
		{"58030", "could not read file", "try again", protocol.Transient},
		{"08006", "connection failure", "try again", protocol.Transient},
		{"XX000", "a bug of the server", "storing", protocol.System},
		{"55P03", "canceling statement due to lock timeout", "pg_blocking_pids", protocol.Transient},
	} {
		pg := &pgconn.PgError{Code: x.code, Message: x.message}
		err := c.explain("storing", fmt.Errorf("some: %w", pg))
		if protocol.KindOf(err) != x.kind || !strings.Contains(err.Error(), x.want) || !errors.Is(err, pg) {
			t.Errorf("%s, %s: got %v, of kind %s", x.code, x.message, err, protocol.KindOf(err))
		}
	}
	for code, want := range map[string]string{"54011": "select fewer fields", "2BP01": "depends on table lake.t", "0A000": "depends on table lake.t", "XX000": "changing lake.t by"} {
		err := c.explainStep(sqlsink.Step{Table: "lake.t", SQL: "ALTER TABLE x"}, &pgconn.PgError{Code: code, Message: "m"})
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

func TestErrors_OfRows(t *testing.T) {
	c := &config{}
	b := &binding{stream: "acme/c", target: &target{name: tableName{"lake", "t"}}, keys: 1, columns: []sqlsink.Column{{Field: "the/field", Name: "col umn"}}}
	rows := []byte("1\t\\N\n2\ty\n3\tz\n")
	for _, x := range []struct {
		pg   pgconn.PgError
		want string
	}{
		{pgconn.PgError{Code: "23502", ColumnName: "col umn", Where: "COPY t, line 2: \"2\ty\""}, `no value in field "the/field" (its key is 2)`},
		{pgconn.PgError{Code: "22P02", Message: `invalid input "y"`, Where: `COPY t, line 3, column col umn: "z"`}, `field "the/field" that column "col umn" of table lake.t cannot hold (its key is 3): invalid input "y"`},
		{pgconn.PgError{Code: "22003", Message: "out of range", Where: "COPY t, line 99, column other: \"z\""}, `field "other"`},
		{pgconn.PgError{Code: "22003", Message: "smallint out of range"}, "a document of acme/c has a value that a column of table lake.t cannot hold: smallint"},
		{pgconn.PgError{Code: "54000", Message: "row is too big", Where: "COPY t, line 1"}, "beyond a limit of PostgreSQL (its key is 1): row is too big"},
		{pgconn.PgError{Code: "54000", Message: "row is too big", Where: "COPY t"}, "beyond a limit of PostgreSQL (most likely the one with 2 values, whose key is 2): row is too big"},
		{pgconn.PgError{Code: "23505", Message: "duplicate", Detail: "Key (x)"}, "drop the constraint"},
		{pgconn.PgError{Code: "21000", Message: "twice"}, "two keys of acme/c"},
	} {
		err := c.explainRows(chunk{b: b, rows: rows}, &x.pg)
		if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", x.pg.Code, err, x.want)
		}
	}
}

// What users have put on a table refuses rows: who reads that has to know what it is, and nothing is tried again.
func TestErrors_OfConstraintsAndTriggers(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	s.exec(`CREATE TABLE lake.others (id bigint PRIMARY KEY)`, `GRANT SELECT, REFERENCES ON lake.others TO $role`,
		`CREATE FUNCTION lake.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.v = 'raised' THEN RAISE 'not this one'; END IF;
			IF NEW.v = 'coded' THEN RAISE 'nor this' USING ERRCODE = 'ZZ123'; END IF;
			IF NEW.v = 'zero' THEN NEW.id = NEW.id / 0; END IF;
			RETURN NEW; END $$`,
		`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON lake.t FOR EACH ROW EXECUTE PROCEDURE lake.refuse()`,
		`ALTER TABLE lake.t ADD CONSTRAINT "no bad" CHECK (v <> 'bad'), ADD CONSTRAINT known FOREIGN KEY (id) REFERENCES lake.others, ADD CONSTRAINT known_later FOREIGN KEY (id) REFERENCES lake.others DEFERRABLE INITIALLY DEFERRED`,
		`INSERT INTO lake.others VALUES (1), (2)`)
	for _, x := range []struct{ doc, want, fix string }{
		{`{"id":1,"v":"bad"}`, `the check constraint "no bad" of table lake.t refuses a document of acme/t`, `ALTER TABLE "lake"."t" DROP CONSTRAINT "no bad"`},
		{`+{"id":1,"v":"bad"}`, `the check constraint "no bad" of table lake.t refuses a document of acme/t`, `ALTER TABLE "lake"."t" DROP CONSTRAINT "no bad"`},
		{`{"id":9,"v":"x"}`, `the foreign key "known" of table lake.t refuses`, `DROP CONSTRAINT "known"`},
		{`{"id":1,"v":"raised"}`, "a trigger of table lake.t refuses a document of acme/t", "DISABLE TRIGGER"},
		{`{"id":1,"v":"coded"}`, "nor this, raised in lake.refuse()", "DISABLE TRIGGER"},
		{`{"id":1,"v":"zero"}`, "division by zero, raised in lake.refuse()", "DISABLE TRIGGER"},
	} {
		r := s.open(b)
		err := r.store(put{0, x.doc})
		_ = r.tr.Close()
		problemOf(t, err, x.want, x.fix)
	}
	s.exec(`ALTER TABLE lake.t DROP CONSTRAINT known`) // what is looked at by COMMIT
	r := s.open(b)
	err := r.store(put{0, `{"id":9,"v":"x"}`})
	if err == nil {
		_, err = r.tr.Commit(t.Context(), []byte(`{}`))
	}
	problemOf(t, err, `the foreign key "known_later" of table lake.t refuses a document`, `DROP CONSTRAINT "known_later"`)
}

// Of a partitioned table nobody has to drop a constraint: it lacks a partition.
func TestErrors_NoPartition(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.AdoptTables = true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `CREATE TABLE lake.t (id bigint PRIMARY KEY, v text, flow_document json) PARTITION BY RANGE (id)`,
		`CREATE TABLE lake.t_low PARTITION OF lake.t FOR VALUES FROM (0) TO (10)`, `GRANT SELECT, INSERT, UPDATE ON lake.t, lake.t_low TO $role`)
	b, part := bind("t", 1, "id integer!", "v string", "flow_document"), bind("t_low", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b, part)
	store := func(binding int, doc string) error {
		r := s.open(b, part)
		err := r.store(put{binding, doc})
		_ = r.tr.Close()
		return err
	}
	for _, doc := range []string{`{"id":11,"v":"x"}`, `+{"id":11,"v":"x"}`} {
		err := store(0, doc)
		problemOf(t, err, "no partition of table lake.t takes a document of acme/t", "contains (id) = (11)", "add a partition")
		if err != nil && strings.Contains(err.Error(), "constraint") {
			t.Errorf("got %v", err)
		}
	}
	err := store(0, `{"id":11,"v":"x"}`)
	problemOf(t, store(1, `{"id":11,"v":"x"}`), "table lake.t_low is a partition, and a document of acme/t_low", "write to the partitioned table")
	if p, ok := errors.AsType[*protocol.Problem](err); ok {
		s.exec(p.SQL)
	}
	equal(t, "cured", store(0, `{"id":11,"v":"x"}`), nil)
}

// A schema that promised more than its documents hold: the sentence says which field, and how to go on.
func TestErrors_NotNull(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "v string!", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	err := r.store(put{0, `{"id":1,"v":"x"}`}, put{0, `{"id":2}`})
	if err == nil || !strings.Contains(err.Error(), `acme/t has no value in field "v" (its key is 2)`) || !strings.Contains(err.Error(), `ALTER TABLE "lake"."t" ALTER COLUMN "v" DROP NOT NULL`) {
		t.Errorf("got %v", err)
	}
	// The table of another role.
	s.exec(`ALTER TABLE lake.t OWNER TO postgres`)
	plan, err := s.sink().Apply(t.Context(), nil, bindings(b, bind("t2", 1, "id integer!")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(t.Context()); err != nil {
		t.Errorf("a table that need not change: %v", err)
	}
	wider := bind("t", 1, "id integer!", "v string", "flow_document")
	if plan, err = s.sink().Apply(t.Context(), nil, bindings(wider), nil); err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "owner") {
		t.Errorf("got %v", err)
	}
}
