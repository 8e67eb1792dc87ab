package main

import (
	"slices"
	"testing"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/source-postgres/pgoutput"
	"github.com/estuary/connectors/sqlcapture"
)

// The changes of a table without a key are told apart by their index in the transaction: two must never have the same.
func TestLogReader_CountsOnWhenARelationIsDescribedAgain(t *testing.T) {
	r := newLogReader(nil, func(*pgoutput.Relation) (*sqlcapture.Table, error) { return &sqlcapture.Table{}, nil }, "", nil, 0)
	b := r.batch()
	change := func(rel *pgoutput.Relation) {
		t.Helper()
		if err := r.row(b, &pgoutput.Message{Kind: pgoutput.Insert, Relation: rel}, pgwire.Message{}); err != nil {
			t.Fatal(err)
		}
	}
	describe := func(oid uint32) *pgoutput.Relation {
		t.Helper()
		rel := &pgoutput.Relation{OID: oid}
		if err := r.relation(b, rel); err != nil {
			t.Fatal(err)
		}
		return rel
	}
	r.txn = &sqlcapture.Txn{}
	one, other := describe(1), describe(2)
	change(one)
	change(one)
	change(other)
	one = describe(1)
	for oid := uint32(100); oid < 6000; oid++ { // more than are remembered
		describe(oid)
	}
	change(one)
	change(other)
	r.txn = &sqlcapture.Txn{}
	change(one)
	var got []int64
	for _, e := range b.events {
		if e.Kind == sqlcapture.EventInsert {
			got = append(got, e.Row)
		}
	}
	if !slices.Equal(got, []int64{0, 1, 0, 2, 1, 0}) {
		t.Errorf("the indexes are %v", got)
	}
}

func TestWithout(t *testing.T) {
	for _, c := range []struct {
		indexes []int
		want    []string
	}{
		{nil, []string{"a", "b", "c"}}, {[]int{1}, []string{"a", "c"}}, {[]int{0, 2}, []string{"b"}}, {[]int{0, 1, 2}, []string{}},
	} {
		if got := without([]string{"a", "b", "c"}, c.indexes); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, want %v", c.indexes, got, c.want)
		}
	}
	if got := without[string](nil, []int{1}); got != nil {
		t.Errorf("the row that is not there became %v", got)
	}
}
