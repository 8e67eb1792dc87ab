package main

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// Two tasks whose bindings name one table: the second is told before it writes anything, and how to go on when the first is gone.
func TestNeighbours_OfOneTable(t *testing.T) {
	s := newSite(t, 15)
	a, b, c := bind("a", 1, "id integer!", "flow_document"), bind("b.c", 1, "id integer!", "flow_document"), bind("c", 1, "id integer!", "flow_document")
	check := func(task string, paths ...[]string) error { return s.sink().CheckNeighbours(t.Context(), task, paths) }
	equal(t, "in an empty database", check("acme/mat", a.ResourcePath), nil)
	s.apply(nil, a, b, c)
	equal(t, "before any session", check("acme/mat", a.ResourcePath), nil)
	s.task = "it's mine"
	s.open(a, b).commitAll(`{}`, put{0, `{"id":1}`})
	equal(t, "of the same name", check(s.task, a.ResourcePath, b.ResourcePath), nil)
	equal(t, "of other tables", check("acme/mat", c.ResourcePath), nil)
	err := check("acme/mat", c.ResourcePath, b.ResourcePath, a.ResourcePath)
	problemOf(t, err, "tables lake.a, lake.b.c are written by the materialization named it's mine as well (its last session began 20", "use another table or schema")
	if n := len(protocol.Problems(err)); n != 1 {
		t.Errorf("%d problems of one materialization: %v", n, err)
	}
	// What it no longer writes to is free.
	s.open(b)
	equal(t, "a table that was let go", check("acme/mat", a.ResourcePath), nil)
	err = check("acme/mat", b.ResourcePath)
	problemOf(t, err, "table lake.b.c is written by the materialization named it's mine as well")
	// `write` takes turns by table.
	s.task = ""
	s.open(a).commitAll(`{"a.v1":{}}`, put{0, `{"id":1}`})
	equal(t, "a table that was written once", check("acme/mat", a.ResourcePath), nil)
	// The cure.
	_, sql, _ := strings.Cut(err.Error(), "DELETE ")
	s.exec("DELETE " + sql)
	equal(t, "when its row is gone", check("acme/mat", b.ResourcePath), nil)
}

// The schema of the checkpoints is a choice of each configuration, the tables need not be in it.
func TestNeighbours_WithCheckpointsElsewhere(t *testing.T) {
	s := newSite(t, 15)
	b := bind("a", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	s.exec(`CREATE SCHEMA strangers`, `CREATE TABLE strangers.flow_checkpoints_v1 (x int)`, `GRANT USAGE ON SCHEMA strangers TO $role`, `GRANT SELECT ON strangers.flow_checkpoints_v1 TO $role`)
	s.task = "first"
	s.open(b).commit(`{}`, `{"id":1}`)
	s.config.Schema = "other"
	problemOf(t, s.sink().CheckNeighbours(t.Context(), "second", [][]string{b.ResourcePath}), "named first as well", `DELETE FROM "lake"."flow_checkpoints_v1" WHERE materialization = 'first';`)
	equal(t, "of the same name", s.sink().CheckNeighbours(t.Context(), "first", [][]string{b.ResourcePath}), nil)
	s.exec(`REVOKE ALL ON lake.flow_checkpoints_v1 FROM $role`)
	equal(t, "in a table that may not be read", s.sink().CheckNeighbours(t.Context(), "second", [][]string{b.ResourcePath}), nil)
}
