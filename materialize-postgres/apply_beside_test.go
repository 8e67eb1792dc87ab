package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/estuary/connectors/protocol/materialize"
)

// Sinks that start at the same moment in an empty database find the same things missing.
func TestApply_BesideOthers(t *testing.T) {
	s := newSite(t, 15)
	const sinks, rounds = 4, 5
	for range rounds {
		s.exec("DROP SCHEMA IF EXISTS lake CASCADE")
		plans := make([]materialize.Plan, sinks)
		for i := range plans {
			var err error
			if plans[i], err = s.sink().Apply(t.Context(), nil, []materialize.Binding{bind(fmt.Sprintf("t%d", i), 1, "id integer!", "flow_document"), bind("both", 1, "id integer!", "flow_document")}, nil); err != nil {
				t.Fatal(err)
			}
		}
		failed := make([]error, sinks)
		var wait sync.WaitGroup
		for i := range plans {
			wait.Go(func() { failed[i] = plans[i].Run(context.Background()) })
		}
		wait.Wait()
		if err := errors.Join(failed...); err != nil {
			t.Fatal(err)
		}
		equal(t, "tables", s.query(`SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'lake' AND relkind = 'r'`), fmt.Sprint(sinks+2))
	}
}
