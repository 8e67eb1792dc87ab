package main

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol/materialize"
)

// A few keys at the end of a large table are looked up by the index. The planner, left alone, reads the whole table: it knows nothing of a temporary one.
func TestStatements_LookUpKeys(t *testing.T) {
	const rows, changed = 10_000, 1000
	s := newSite(t, 15)
	s.exec("ALTER ROLE $role SET random_page_cost = 100") // with which the planner does so with a small table already
	w := wide(true)
	s.apply(nil, w)
	r := s.open(w)
	docs := wideDocs(r, 0, rows, false)
	if err := r.tr.Store(t.Context(), iterate(docs)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.tr.Commit(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	b := r.tr.bindings[0]
	s.exec("ANALYZE lake.wide")
	// Within a transaction, temporary tables keep what was put in.
	last := wideDocs(r, rows-changed, changed, true)
	if err := r.tr.Store(t.Context(), iterate(last)); err != nil {
		t.Fatal(err)
	}
	planOf(r, "update", b.update())
	planOf(r, "insert", b.insert())
	next, loaded := 0, 0
	keys := materialize.NewKeyIter(func() (*materialize.Key, error) {
		if next++; next > changed {
			return nil, nil
		}
		return &materialize.Key{Values: last[next-1].Key}, nil
	})
	if err := r.tr.Load(t.Context(), keys, func(int, []byte) error { loaded++; return nil }); err != nil || loaded != changed {
		t.Fatalf("%d documents were loaded, %v", loaded, err)
	}
	planOf(r, "load", b.byIndex(b.load(1)))
	for _, name := range []string{"enable_hashjoin", "enable_mergejoin"} { // as ever, for what users' triggers do
		if got, _, err := r.tr.session.Execute(t.Context(), "SELECT current_setting('"+name+"')"); err != nil || *got[0][0] != "on" {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
}

func planOf(r *run, what, sql string) {
	t := r.s.t
	t.Helper()
	begin := strings.Index(sql, "\n") + 1
	results, err := r.tr.session.conn.Exec(t.Context(), sql[:begin]+"EXPLAIN "+sql[begin:])
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for _, result := range results {
		for _, row := range result.Rows {
			plan = append(plan, *row[0])
		}
	}
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "Nested Loop") || !strings.Contains(text, "using wide_pkey") {
		t.Errorf("%s:\n%s", what, text)
	}
}
