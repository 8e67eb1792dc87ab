package sqlcapture

import "testing"

func TestRewrittenSince(t *testing.T) {
	table := func(columns ...Column) *Table { return &Table{Columns: columns} }
	id, name, n := Column{Name: "id", Type: "int", NotNull: true}, Column{Name: "name", Type: "text"}, Column{Name: "n", Type: "int"}
	with := func(c Column, f func(*Column)) Column { f(&c); return c }
	before := fingerprint(table(id, name, n))
	for what, c := range map[string]struct {
		before string
		after  *Table
		want   string
	}{
		"nothing":                        {before, table(id, name, n), ""},
		"no state":                       {"", table(id), ""},
		"a column dropped":               {before, table(id, n), ""},
		"another order":                  {before, table(n, name, id), ""},
		"NOT NULL":                       {before, table(id, with(name, func(c *Column) { c.NotNull = true }), n), ""},
		"a column added, NULL so far":    {before, table(id, name, n, Column{Name: "x", Type: "text"}), ""},
		"a column added with a default":  {before, table(id, name, n, Column{Name: "x", Type: "text", Filled: true}), `column "x" was added, renamed or given another type`},
		"a column renamed":               {before, table(id, with(name, func(c *Column) { c.Name = "label" }), n), `column "label" was added, renamed or given another type`},
		"another type":                   {before, table(id, name, with(n, func(c *Column) { c.Type = "text" })), `column "n" was added, renamed or given another type`},
		"two":                            {before, table(id, with(name, func(c *Column) { c.Name = "a" }), with(n, func(c *Column) { c.Name = "b" })), `columns "a", "b" were added, renamed or given another type`},
		"a default, on a column of old":  {before, table(id, with(name, func(c *Column) { c.Filled = true }), n), ""},
		"a state of before, the same":    {whole(before), table(id, name, n), ""},
		"a state of before, with others": {whole(before), table(id, n), "its columns changed"},
	} {
		if got := rewrittenSince(c.before, c.after); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
