package sqlsink

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// plain is a dialect without surprises: names of 20 bytes, three types, no change of a type in place.
type plain struct{}

var _ Dialect = plain{}

func (plain) Quote(name string) string { return "<" + name + ">" }
func (plain) Fold(name string) string  { return CutName(name, 20) }
func (plain) Type(s Shape, _ bool) string {
	switch s {
	case Integer:
		return "int"
	case Text:
		return "text"
	default:
		return "any"
	}
}
func (p plain) Holds(live string, s Shape, key bool) bool { return live == p.Type(s, key) }
func (plain) Cast(live, wanted, column string) (string, bool) {
	return "CAST(" + column + " AS " + wanted + ")", live == "int" && wanted == "text" || wanted == "any"
}
func (plain) CreateSchema(schema string) string { return "SCHEMA " + schema }
func (plain) Create(t *Table) string            { return "CREATE " + t.Name }
func (plain) AddColumns(table string, columns []Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name+" "+c.Type)
	}
	return "ADD " + table + " " + strings.Join(names, ", ")
}
func (plain) AlterTypes(string, []TypeChange) string { return "" }
func (plain) Truncate(table string) string           { return "TRUNCATE " + table }

func projection(field string, types ...string) protocol.Projection {
	return protocol.Projection{Field: field, Pointer: "/" + field, Inference: protocol.Inference{Types: types, Exists: protocol.Must}}
}

func table(t *testing.T, keys int, ps ...protocol.Projection) *Table {
	t.Helper()
	b := materialize.Binding{Collection: protocol.Collection{Name: "c", Projections: ps}}
	for i, p := range ps {
		if i < keys {
			b.Fields.Keys = append(b.Fields.Keys, p.Field)
		} else {
			b.Fields.Values = append(b.Fields.Values, p.Field)
		}
	}
	b.DeltaUpdates = keys == 0
	want, err := TableOf(plain{}, &b, "s", "t")
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestShapeOf(t *testing.T) {
	for _, c := range []struct {
		name string
		in   protocol.Inference
		want Shape
	}{
		{"nothing", protocol.Inference{}, Never},
		{"null", protocol.Inference{Types: []string{"null"}}, Never},
		{"cannot exist", protocol.Inference{Types: []string{"string"}, Exists: protocol.Cannot}, Never},
		{"null does not count", protocol.Inference{Types: []string{"boolean", "null"}}, Boolean},
		{"integer", protocol.Inference{Types: []string{"integer"}, Minimum: "-9223372036854775808", Maximum: "9223372036854775807"}, Integer},
		{"above", protocol.Inference{Types: []string{"integer"}, Maximum: "9223372036854775808"}, BigInteger},
		{"below", protocol.Inference{Types: []string{"integer"}, Minimum: "-9223372036854775809"}, BigInteger},
		{"inferred bound", protocol.Inference{Types: []string{"integer"}, Maximum: "1e19"}, BigInteger},
		{"huge bound", protocol.Inference{Types: []string{"integer"}, Maximum: "1e999999999"}, BigInteger},
		{"no bound", protocol.Inference{Types: []string{"integer"}, Maximum: "many"}, Integer},
		{"number", protocol.Inference{Types: []string{"integer", "number"}}, Number},
		{"number or text", protocol.Inference{Types: []string{"null", "number", "string"}, Format: "number"}, Float},
		{"integer or text, format number", protocol.Inference{Types: []string{"integer", "string"}, Format: "number"}, DecimalString},
		{"integer or text", protocol.Inference{Types: []string{"integer", "string"}, Format: "integer"}, IntegerString},
		// The format counts only where every type but null is that number or a string.
		{"number or text, format integer", protocol.Inference{Types: []string{"number", "string"}, Format: "integer"}, Multiple},
		{"boolean or text, format number", protocol.Inference{Types: []string{"boolean", "string"}, Format: "number"}, Multiple},
		{"unknown format", protocol.Inference{Types: []string{"string"}, Format: "email"}, Text},
		{"base64", protocol.Inference{Types: []string{"string"}, ContentEncoding: "base64"}, Binary},
		{"any", protocol.Inference{Types: []string{"array", "boolean", "integer", "null", "number", "object", "string"}}, Multiple},
	} {
		if got := ShapeOf(&c.in); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func FuzzCutName(f *testing.F) {
	f.Add("plain", 3)
	f.Add("ünï😀", 6)
	f.Add("\x80\x80\x80", 2)
	f.Fuzz(func(t *testing.T, name string, limit int) {
		if limit < 0 || limit > 1000 {
			return
		}
		cut := CutName(name, limit)
		if len(cut) > limit || !strings.HasPrefix(name, cut) || CutName(cut, limit) != cut {
			t.Errorf("%q cut to %d is %q", name, limit, cut)
		}
		if utf8.ValidString(name) && (!utf8.ValidString(cut) || len(name) > limit && limit-len(cut) >= utf8.UTFMax) {
			t.Errorf("%q cut to %d is %q", name, limit, cut)
		}
	})
}

func TestTempName(t *testing.T) {
	seen := map[string]string{}
	for _, column := range []string{"a", "b", "ünï", strings.Repeat("x", 20), strings.Repeat("x", 19) + "y", strings.Repeat("ü", 10), "exactly eleven"} {
		name := TempName(plain{}, column)
		if (plain{}).Fold(name) != name || seen[name] != "" || name == column {
			t.Errorf("the temporary column of %q is %q, as that of %q", column, name, seen[name])
		}
		seen[name] = column
	}
}

func sqlOf(steps []Step) string {
	var list []string
	for _, s := range steps {
		list = append(list, s.SQL)
	}
	return strings.Join(list, "\n")
}

func TestDiff(t *testing.T) {
	id := projection("id", "integer")
	live := func(columns ...LiveColumn) *Live {
		return &Live{Columns: append([]LiveColumn{{Name: "id", Type: "int", NotNull: true}}, columns...), Key: []string{"id"}, Constraint: "pk"}
	}
	for _, c := range []struct {
		name   string
		want   *Table
		live   *Live
		change Change
		sql    string
		err    string
	}{
		{name: "no table", want: table(t, 1, id), sql: "CREATE t"},
		{name: "nothing to do", want: table(t, 1, id, projection("v", "string")), live: live(LiveColumn{Name: "v", Type: "text", NotNull: true})},
		{name: "a column of a user's", want: table(t, 1, id), live: live(LiveColumn{Name: "mine", Type: "blob"})},
		{name: "new columns", want: table(t, 1, id, projection("v", "string"), projection("w", "integer")), live: live(), sql: "ADD <s>.<t> v text, w int"},
		{
			name: "not null", want: table(t, 1, id), live: live(LiveColumn{Name: "v", Type: "text", NotNull: true}, LiveColumn{Name: "d", Type: "text", NotNull: true, Default: true}),
			sql: "ALTER TABLE <s>.<t> ALTER COLUMN <v> DROP NOT NULL",
		},
		{
			name: "a type that widens", want: table(t, 1, id, projection("v", "string")), live: live(LiveColumn{Name: "v", Type: "int"}),
			sql: "ADD <s>.<t> v_flowtmp1 text\nUPDATE <s>.<t> SET <v_flowtmp1> = CAST(<v> AS text) WHERE true\nALTER TABLE <s>.<t> DROP COLUMN <v>\nALTER TABLE <s>.<t> RENAME COLUMN <v_flowtmp1> TO <v>",
		},
		{
			name: "cut short after the column was added", want: table(t, 1, id, projection("v", "string")), live: live(LiveColumn{Name: "v", Type: "int"}, LiveColumn{Name: "v_flowtmp1", Type: "text"}),
			sql: "UPDATE <s>.<t> SET <v_flowtmp1> = CAST(<v> AS text) WHERE true\nALTER TABLE <s>.<t> DROP COLUMN <v>\nALTER TABLE <s>.<t> RENAME COLUMN <v_flowtmp1> TO <v>",
		},
		{
			name: "cut short before the last step", want: table(t, 1, id, projection("v", "string")), live: live(LiveColumn{Name: "v_flowtmp1", Type: "text"}),
			sql: "ALTER TABLE <s>.<t> RENAME COLUMN <v_flowtmp1> TO <v>",
		},
		{
			name: "cut short, and wanted otherwise since", want: table(t, 1, id, projection("v", "boolean")), live: live(LiveColumn{Name: "v", Type: "int"}, LiveColumn{Name: "v_flowtmp1", Type: "text"}),
			sql: "ALTER TABLE <s>.<t> DROP COLUMN <v_flowtmp1>\nADD <s>.<t> v_flowtmp1 any\nUPDATE <s>.<t> SET <v_flowtmp1> = CAST(<v> AS any) WHERE true\nALTER TABLE <s>.<t> DROP COLUMN <v>\nALTER TABLE <s>.<t> RENAME COLUMN <v_flowtmp1> TO <v>",
		},
		{name: "a type that does not widen", want: table(t, 1, id, projection("v", "integer")), live: live(LiveColumn{Name: "v", Type: "text"}), err: `column "v" of table s.t has type text`},
		{name: "a key's type", want: table(t, 1, projection("id", "string")), live: live(), err: `column "id" of table s.t has type int`},
		{name: "a longer key", want: table(t, 2, id, projection("v", "integer")), live: live(LiveColumn{Name: "v", Type: "int"}), err: "the primary key of table s.t is (id)"},
		{name: "a key without a column", want: table(t, 1, id), live: &Live{Columns: []LiveColumn{{Name: "x", Type: "int"}}}, err: `no column "id"`},
		{name: "a view", want: table(t, 1, id), live: &Live{Kind: "a view"}, err: "s.t is a view"},
		{
			name: "starting over with another key", want: table(t, 1, projection("v", "string"), id), live: live(), change: Change{Backfill: true},
			sql: "TRUNCATE <s>.<t>\nALTER TABLE <s>.<t> DROP CONSTRAINT IF EXISTS <pk>\nADD <s>.<t> v text\nALTER TABLE <s>.<t> ADD PRIMARY KEY (<v>)",
		},
		{name: "delta updates from now on", want: table(t, 0, id), live: live(), sql: "ALTER TABLE <s>.<t> DROP CONSTRAINT IF EXISTS <pk>\nALTER TABLE <s>.<t> ALTER COLUMN <id> DROP NOT NULL"},
	} {
		steps, _, err := Diff(plain{}, c.want, c.live, c.change)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || protocol.KindOf(err) != protocol.Config {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || sqlOf(steps) != c.sql {
			t.Errorf("%s: got\n%s\n%v\nwant\n%s", c.name, sqlOf(steps), err, c.sql)
		}
	}
}

func TestDiff_WarnsOfWhatAUserHasChanged(t *testing.T) {
	want := table(t, 1, projection("id", "integer"), projection("v", "integer"))
	live := &Live{Columns: []LiveColumn{{Name: "id", Type: "int"}, {Name: "v", Type: "blob"}}}
	steps, warn, err := Diff(plain{}, want, live, Change{Last: want})
	if err != nil || len(steps) != 0 || len(warn) != 2 || !strings.Contains(warn[0], "somebody has changed it") || !strings.Contains(warn[1], "no primary key") {
		t.Errorf("got %q, %q, %v", steps, warn, err)
	}
	live.Columns[1].Name = "w"
	if _, warn, err = Diff(plain{}, want, live, Change{Last: want}); err != nil || len(warn) != 2 || !strings.Contains(warn[0], `somebody has dropped column "v"`) {
		t.Errorf("a dropped column: got %q, %v", warn, err)
	}
	if _, warn, err = Diff(plain{}, want, live, Change{}); err != nil || len(warn) != 1 {
		t.Errorf("a new column: got %q, %v", warn, err)
	}
}

func TestTableOf_FieldSettings(t *testing.T) {
	b := materialize.Binding{Collection: protocol.Collection{Name: "c", Projections: []protocol.Projection{projection("id", "integer"), projection("v", "string")}}}
	b.Fields = protocol.FieldSelection{Keys: []string{"id"}, Values: []string{"v"}, FieldConfig: map[string]json.RawMessage{"v": json.RawMessage(`{"DDL":"varchar(20)"}`)}}
	want, err := TableOf(plain{}, &b, "s", "t")
	if err != nil || want.Columns[1].Type != "varchar(20)" {
		t.Fatalf("got %+v, %v", want, err)
	}
	// A chosen type is nobody's to change.
	live := &Live{Columns: []LiveColumn{{Name: "id", Type: "int"}, {Name: "v", Type: "character varying(20)", NotNull: true}}, Key: []string{"id"}}
	if steps, _, err := Diff(plain{}, want, live, Change{}); err != nil || len(steps) != 0 {
		t.Errorf("got %q, %v", steps, err)
	}
	b.Fields.FieldConfig["v"] = json.RawMessage(`"varchar"`)
	if _, err = TableOf(plain{}, &b, "s", "t"); err == nil || !strings.Contains(err.Error(), `field "v"`) {
		t.Errorf("got %v", err)
	}
}

func TestArrayLiteral(t *testing.T) {
	if got := ArrayLiteral([]string{"a", `q"\`, "", "{x,y}", "NULL"}); got != `{"a","q\"\\","","{x,y}","NULL"}` {
		t.Errorf("got %s", got)
	}
}
