package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// Whatever right is taken away in the middle, the sentence has the statement that gives it back, and with that the work goes on.
func TestErrors_RevokedRights(t *testing.T) {
	s := newSite(t, 15)
	s.config.HardDelete, s.config.Advanced.AdoptTables = true, true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `CREATE TABLE lake."o t" (id bigint PRIMARY KEY, v text, flow_document json)`, `GRANT SELECT, INSERT, UPDATE, DELETE ON lake."o t" TO $role`)
	b := bind("o t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	s.exec(`ALTER TABLE lake.flow_checkpoints_v1 OWNER TO postgres`, `GRANT SELECT, INSERT, UPDATE ON lake.flow_checkpoints_v1 TO $role`)
	session := func(revoke string, f func(*run) error) error {
		r := s.open(b)
		defer r.tr.Close()
		r.commit(`{}`, `+{"id":1,"v":"x"}`)
		s.exec(revoke)
		return f(r)
	}
	store := func(doc string) func(*run) error {
		return func(r *run) error { return r.store(put{0, doc}) }
	}
	opened := func(*run) error {
		_, _, err := s.sink().Open(t.Context(), materialize.OpenRequest{Task: s.task, Bindings: bindings(b), Range: protocol.FullRange})
		return err
	}
	const rows, checkpoints = `GRANT SELECT, INSERT, UPDATE, DELETE ON "lake"."o t" TO `, `GRANT SELECT, INSERT, UPDATE ON "lake"."flow_checkpoints_v1" TO `
	for _, c := range []struct {
		revoke string
		do     func(*run) error
		want   string
	}{
		{`INSERT ON lake."o t"`, store(`{"id":2,"v":"x"}`), rows},
		{`UPDATE ON lake."o t"`, store(`+{"id":1,"v":"y"}`), rows},
		{`DELETE ON lake."o t"`, store(`+-{"id":1,"v":"y"}`), rows},
		{`SELECT ON lake."o t"`, func(r *run) error { _, err := r.tryLoad(t.Context(), put{0, `{"id":1}`}); return err }, rows},
		{`SELECT ON lake."o t"`, opened, rows},
		{`UPDATE ON lake.flow_checkpoints_v1`, func(r *run) error { _, err := r.tr.Commit(t.Context(), []byte(`{}`)); return err }, checkpoints},
		{`UPDATE ON lake.flow_checkpoints_v1`, opened, checkpoints},
	} {
		err := session("REVOKE "+c.revoke+" FROM $role", c.do)
		problemOf(t, err, "permission denied for table", ": grant it: "+c.want)
		p, ok := errors.AsType[*protocol.Problem](err)
		if !ok || p.SQL == "" {
			t.Fatalf("%s: got %v", c.revoke, err)
		}
		s.exec(strings.TrimSuffix(p.SQL, ";"))
	}
	again := b
	again.Backfill = 1
	plan, err := s.sink().Apply(t.Context(), bindings(b), bindings(again), nil)
	if err != nil {
		t.Fatal(err)
	}
	problemOf(t, plan.Run(t.Context()), `DELETE, TRUNCATE ON "lake"."o t" TO `)
}

// What check asks for is enough: a table that is only added to need not be read.
func TestOpen_ADeltaTableThatMayNotBeRead(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.AdoptTables = true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `CREATE TABLE lake.t (id bigint, flow_document json)`, `GRANT INSERT ON lake.t TO $role`)
	b := delta(bind("t", 1, "id integer!", "flow_document"))
	if _, err := s.sink().Validate(t.Context(), []materialize.Proposed{proposed(b, nil)}); err != nil {
		t.Fatal(err)
	}
	s.apply(nil, b)
	s.open(b).commit(`{}`, `{"id":1}`, `{"id":1}`)
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "2")
}

// Two schemas may have tables of one name: then the message does not tell which of them it is about, and nothing is guessed.
func TestErrors_RevokedRightsOfTwins(t *testing.T) {
	s := &session{}
	for _, n := range []tableName{{"lake", "one"}, {"lake", "one"}, {"lake", "twin"}, {"mart", "twin"}} {
		s.seen(n)
	}
	c := &config{User: "loader"}
	for table, want := range map[string]string{"one": `GRANT SELECT, INSERT, UPDATE ON "lake"."one" TO "loader";`, "twin": "grant it", "unknown": "grant it"} {
		err := c.explain("storing", s.placed(denied(table)))
		if !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	b := &binding{target: &target{name: tableName{"mart", "twin"}, rows: tableName{"mart", "twin"}}}
	if err := c.explainRows(chunk{b: b}, denied("twin")); !strings.HasSuffix(err.Error(), `ON "mart"."twin" TO "loader";`) {
		t.Errorf("of rows: got %v", err)
	}
}

func denied(table string) error {
	return &pgconn.PgError{Code: codeInsufficientPriv, Message: "permission denied for table " + table}
}
