package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

var servers pgtest.Shared

func TestMain(m *testing.M) { servers.Run(m) }

// pairs are a source column with a value, the sink's column with the value that a sink makes of the document, and another one, which is a difference.
var pairs = []struct{ typ, value, sinkType, stored, other string }{
	{"boolean", "true", "boolean", "true", "false"},
	{"smallint", "-32768", "bigint", "-32768", "-32767"},
	{"bigint", "-9223372036854775808", "bigint", "-9223372036854775808", "-9223372036854775807"},
	{"oid", "4294967295", "bigint", "4294967295", "1"},
	{"real", "16777216", "double precision", "1.6777216e+07", "16777217"},
	{"real", "123.456", "double precision", "123.456", "123.45600128173828"},
	{"real", "'-0'", "double precision", "'-0'", "0"},
	{"double precision", "0.1::float8 + 0.2::float8", "double precision", "0.30000000000000004", "0.3"},
	{"double precision", "'NaN'", "double precision", "'NaN'", "NULL"},
	{"numeric", "1234567890123456789012345678.10", "numeric", "1234567890123456789012345678.10", "1234567890123456789012345678.1"},
	{"numeric(10,2)", "1", "text", "'1.00'", "'1'"},
	{"money", "-999.99", "text", "'-$999.99'", "'$999.99'"},
	{"text", "'NULL'", "text", "'NULL'", "NULL"},
	{"text", `E'q"\\\n\u00e9 \u6f22'`, "text", `E'q"\\\n\u00e9 \u6f22'`, `E'q"\\ \u00e9 \u6f22'`},
	{"varchar(9)", "''", "text", "''", "NULL"},
	{"char(6)", "'foo'", "text", "'foo   '", "'foo'"},
	{"bytea", `'\xdeadbeef'`, "bytea", `'\xdeadbeef'`, `'\xdeadbeee'`},
	{"bytea", "''", "bytea", "''", "NULL"},
	{"varbit", "'101'", "text", "'101'", "'1010'"},
	{"date", "'2024-02-29'", "date", "'2024-02-29'", "'2024-03-01'"},
	{"date", "'infinity'", "date", "'9999-12-31'", "'infinity'"},
	{"date", "'0044-03-15 BC'", "date", "'0001-01-01'", "'0001-01-02'"},
	{"date", "'-infinity'", "text", "'0000-01-01'", "'-infinity'"},
	{"timestamp", "'2024-01-15 14:30:00.12'", "timestamptz", "'2024-01-15T14:30:00.12Z'", "'2024-01-15T14:30:00.120001Z'"},
	{"timestamp", "'infinity'", "timestamptz", "'9999-12-31T23:59:59Z'", "'9999-12-31T23:59:58Z'"},
	{"timestamptz", "'2024-01-15 14:30:00+05:30'", "timestamptz", "'2024-01-15T09:00:00Z'", "'2024-01-15T14:30:00Z'"},
	{"timestamptz", "'2024-01-15 14:30:00.5+05:30'", "text", "'2024-01-15T09:00:00.5Z'", "'2024-01-15T09:00:00.50Z'"},
	{"timestamptz", "'0044-03-15 12:00:00.5Z BC'", "timestamptz", "'0001-01-01T00:00:00Z'", "'0001-01-01T00:00:01Z'"},
	{"time", "'24:00:00'", "time", "'23:59:59.999999'", "'24:00'"},
	{"time", "'14:30'", "text", "'14:30:00Z'", "'14:30Z'"},
	{"timetz", "'14:30:00+05:30:15'", "text", "'14:30:00+05:30'", "'14:30:00+05:31'"},
	{"timetz", "'24:00:00-01'", "text", "'23:59:59.999999-01:00'", "'24:00:00-01:00'"},
	{"timetz", "'04:05:06.7+00'", "text", "'04:05:06.7Z'", "'04:05:06.7+00'"},
	{"interval", "'-1 day 02:03:04'", "text", "'P-1DT2H3M4S'", "'-1 day 02:03:04'"},
	{"uuid", "'00112233-4455-6677-8899-AABBCCDDEEFF'", "uuid", "'00112233-4455-6677-8899-aabbccddeeff'", "'00112233-4455-6677-8899-aabbccddeefe'"},
	{"json", `'{"b": 1.0, "a": [1e400]}'`, "json", `'{"b":1.0,"a":[1e400]}'`, `'{"a":[1e400],"b":1.0}'`},
	{"jsonb", `'{"bb": 1.0, "a": [null]}'`, "json", `'{"a":[null],"bb":1.0}'`, `'{"a":[null],"bb":1}'`},
	{"jsonb", "'null'", "json", "NULL", `'"null"'`},
	{"inet", "'192.168.1.1'", "text", "'192.168.1.1/32'", "'192.168.1.1'"},
	{"int[]", "'{{1,2},{3,NULL}}'", "json", `'{"dimensions":[2,2],"elements":[1,2,3,null]}'`, `'{"dimensions":[4],"elements":[1,2,3,null]}'`},
	{"text[]", `'{}'`, "json", `'{"dimensions":[],"elements":[]}'`, "NULL"},
	{"text[]", `'[0:1]={"NULL",NULL}'`, "json", `'{"elements":["NULL",null],"dimensions":[2]}'`, `'{"elements":[null,null],"dimensions":[2]}'`},
	{"timestamptz[]", `'{"2024-01-15 14:30:00+05:30",infinity,0044-03-15 BC}'`, "json", `'{"dimensions":[3],"elements":["2024-01-15T09:00:00Z","9999-12-31T23:59:59Z","0000-01-01T00:00:00Z"]}'`, "NULL"},
	{"date[]", `'{2024-02-29,-infinity}'`, "json", `'{"dimensions":[2],"elements":["2024-02-29","0000-01-01"]}'`, `'{"dimensions":[2],"elements":["2024-02-29","0001-01-01"]}'`},
	{"bytea[]", `'{"\\xdeadbeef"}'`, "json", `'{"dimensions":[1],"elements":["3q2+7w=="]}'`, "NULL"},
	{"real[]", `'{16777216,NaN}'`, "json", `'{"dimensions":[1],"elements":[16777216]}'`, ""},
	{"jsonb[]", `array['{"x": 1}'::jsonb]`, "json", `'{"dimensions":[1],"elements":[{"x":1}]}'`, `'{"dimensions":[1],"elements":["{\"x\":1}"]}'`},
	{"int4range", "'[5,5]'", "text", "'[5,6)'", "'[5,5]'"},
	{"tsrange", `'["2024-01-01 00:00","2024-12-31 23:59:59.5")'`, "text", "'[2024-01-01T00:00:00Z,2024-12-31T23:59:59.5Z)'", "'empty'"},
	{"tstzrange", "'empty'", "text", "'empty'", "NULL"},
	{"positive", "5", "bigint", "5", "6"},
	{"positives", "'{5}'", "json", `'{"dimensions":[1],"elements":[5]}'`, `'{"dimensions":[1],"elements":["5"]}'`},
	{"mood", "'happy'", "text", "'happy'", "'sad'"},
}

func TestTable_ComparesEachTypeInTheFormOfDocuments(t *testing.T) {
	c := servers.Cluster(t, 15)
	database := c.NewDatabase(t)
	exec := func(sql string) {
		t.Helper()
		if err := c.Exec(database, sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE SCHEMA s; CREATE SCHEMA d; CREATE DOMAIN positive AS int CHECK (value > 0); CREATE DOMAIN positives AS positive[]; CREATE TYPE mood AS ENUM ('happy', 'sad')")
	names, types, values, sinkTypes, stored := []string{"k"}, []string{"k int"}, []string{"1"}, []string{"k bigint"}, []string{"1"}
	for i, p := range pairs {
		name := fmt.Sprintf("c%d", i)
		names = append(names, name)
		types, values = append(types, name+" "+p.typ), append(values, p.value)
		sinkTypes, stored = append(sinkTypes, name+" "+p.sinkType), append(stored, p.stored)
	}
	exec("SET lc_monetary = 'C'; CREATE TABLE s.t (" + strings.Join(types, ", ") + "); INSERT INTO s.t VALUES (" + strings.Join(values, ", ") + "); INSERT INTO s.t (k) VALUES (2)")
	exec("CREATE TABLE d.t (\"_meta/op\" text DEFAULT 'c', " + strings.Join(sinkTypes, ", ") + ")")
	exec("INSERT INTO d.t (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(stored, ", ") + "); INSERT INTO d.t (k) VALUES (2)")
	left, right := connect(t, c.DSN(database)), connect(t, c.DSN(database))
	compare := func() Result {
		t.Helper()
		r, err := Table(t.Context(), left, Name{"s", "t"}, right, Name{"d", "t"}, []string{"k"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, d := range compare().Differences {
		if !strings.HasSuffix(d.Column, fmt.Sprint(slotOf("real[]"))) { // its value is another one on purpose
			t.Errorf("%s (%s)", d, typeOf(d.Column))
		}
	}
	exec(`UPDATE d.t SET c` + fmt.Sprint(slotOf("real[]")) + ` = '{"dimensions":[2],"elements":[1.6777216e+07,"NaN"]}' WHERE k = 1`)
	if r := compare(); len(r.Differences) > 0 || r.Rows != 2 {
		t.Fatalf("%d rows, %v", r.Rows, r.Differences)
	}
	for i, p := range pairs {
		if p.other == "" {
			continue
		}
		column := fmt.Sprintf("c%d", i)
		exec("UPDATE d.t SET " + column + " = " + p.other + " WHERE k = 1")
		r := compare()
		if len(r.Differences) != 1 || r.Differences[0].Column != column || r.Differences[0].Key != "1" || r.Differences[0].Table != "s.t" {
			t.Errorf("%s %s against %s: %v", p.typ, p.value, p.other, r.Differences)
		}
		exec("UPDATE d.t SET " + column + " = " + p.stored + " WHERE k = 1")
		if p.stored != "NULL" {
			exec("UPDATE d.t SET " + column + " = " + p.stored + " WHERE k = 2")
			if r := compare(); len(r.Differences) != 1 || r.Differences[0].Key != "2" || r.Differences[0].Source != "NULL" {
				t.Errorf("%s: a value in place of NULL: %v", p.typ, r.Differences)
			}
			exec("UPDATE d.t SET " + column + " = NULL WHERE k = 2")
		}
	}
	for _, x := range []struct{ sql, undo, key, column string }{
		{"DELETE FROM d.t WHERE k = 2", "INSERT INTO d.t (k) VALUES (2)", "2", ""},
		{"INSERT INTO d.t (k) VALUES (2)", "DELETE FROM d.t WHERE ctid = (SELECT max(ctid) FROM d.t WHERE k = 2)", "2", ""},
		{"INSERT INTO d.t (k) VALUES (3)", "DELETE FROM d.t WHERE k = 3", "3", ""},
		{"ALTER TABLE d.t RENAME c0 TO x0", "ALTER TABLE d.t RENAME x0 TO c0", "of any row", "c0"},
	} {
		exec(x.sql)
		if r := compare(); len(r.Differences) != 1 || r.Differences[0].Key != x.key || r.Differences[0].Column != x.column {
			t.Errorf("%s: %v", x.sql, r.Differences)
		}
		exec(x.undo)
	}
	if r := compare(); len(r.Differences) > 0 {
		t.Errorf("in the end: %v", r.Differences)
	}
}

func slotOf(typ string) int {
	for i, p := range pairs {
		if p.typ == typ {
			return i
		}
	}
	return -1
}

func typeOf(column string) string {
	for i, p := range pairs {
		if column == fmt.Sprintf("c%d", i) {
			return p.typ + " " + p.value
		}
	}
	return ""
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

const listed = `CREATE TABLE t (k int, ver bigint, word text);
CREATE TABLE ledger (seq bigserial, tbl text, key text, ver bigint, op text);
INSERT INTO t VALUES (1, 3, 'one'), (2, 2, 'two');
INSERT INTO ledger (tbl, key, ver, op) VALUES ('t', '1', 1, 'c'), ('t', '2', 1, 'c'), ('t', '1', 2, 'u'), ('t', '3', 1, 'c'), ('t', '3', 2, 'd'), ('t', '1', 3, 'u'), ('t', '2', 2, 'u'), ('t', '4', 1, 'c'), ('t', '4', 2, 'd');
CREATE SCHEMA d;
CREATE TABLE d.t (k bigint, ver bigint, word text, "_meta" json, "_meta/op" text)`

func TestChanges_FindsWhatIsLostDoubledOrOutOfOrder(t *testing.T) {
	c := servers.Cluster(t, 15)
	database := c.NewDatabase(t)
	if err := c.Exec(database, listed); err != nil {
		t.Fatal(err)
	}
	left, right := connect(t, c.DSN(database)), connect(t, c.DSN(database))
	const scan, log = `'{"source":{"snapshot":true}}'`, `'{"source":{}}'` // each row is added by a transaction of its own
	good := []string{
		"(1, 2, 'old', " + scan + ", 'c')", "(2, 1, 'old', " + log + ", 'c')", "(3, 1, 'x', " + log + ", 'c')", "(3, 1, 'x', " + log + ", 'd')",
		"(1, 3, 'one', " + log + ", 'u')", "(2, 2, 'two', " + log + ", 'u')", "(2, 2, 'two', " + scan + ", 'c')",
	}
	with := func(at int, row string) []string {
		list := append([]string(nil), good...)
		if row == "" {
			return append(list[:at], list[at+1:]...)
		}
		list[at] = row
		return list
	}
	for _, test := range []struct {
		name, key string
		rows      []string
	}{
		{"as it is", "", good},
		{"the last change is lost", "1", with(4, "")},
		{"a change in the middle is lost", "2", append(with(6, ""), "(2, 3, 'two', "+log+", 'u')")},
		{"a deletion is lost", "3", with(3, "")},
		{"a change comes twice", "1", append(with(6, good[6]), good[4])},
		{"a deletion comes twice", "3", append(with(6, good[6]), good[3])},
		{"a backfill comes twice", "2", append(with(6, good[6]), good[6])},
		{"an older version after a newer one", "2", append(with(1, good[5]), good[1])},
		{"a rolled back change", "1", with(0, "(1, -2, 'old', "+scan+", 'c')")},
		{"another value", "1", with(4, "(1, 3, 'uno', "+log+", 'u')")},
		{"a key of nobody", "9", with(0, "(9, 2, 'old', "+scan+", 'c')")},
		{"a row that was gone", "4", append(with(6, good[6]), "(4, 1, 'x', "+scan+", 'c')")},
	} {
		if err := c.Exec(database, "TRUNCATE d.t"); err != nil {
			t.Fatal(err)
		}
		for _, row := range test.rows {
			if err := c.Exec(database, "INSERT INTO d.t VALUES "+row); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Changes(t.Context(), left, right, List{Source: Name{"public", "t"}, Sink: Name{"d", "t"}, Key: []string{"k"}, Version: "ver", Ledger: Name{"public", "ledger"}})
		if err != nil {
			t.Fatal(err)
		}
		named := false
		for _, d := range r.Differences {
			named = named || d.Key == test.key
		}
		if named != (test.key != "") || test.key == "" && len(r.Differences) > 0 {
			t.Errorf("%s: %v", test.name, r.Differences)
		}
	}
}

// In one transaction of the sink the order of its rows on the disk says nothing.
func TestInOrder_PutsRowsOfABackfillWhereTheyBelong(t *testing.T) {
	list := inOrder([]change{
		{op: "c", version: 4, snapshot: true}, {op: "c", version: 3}, {op: "d", version: 3}, {op: "c", version: 5},
	})
	var got []int64
	for _, c := range list {
		got = append(got, c.after())
	}
	if fmt.Sprint(got) != "[3 4 4 5]" || !list[2].snapshot {
		t.Errorf("%v %+v", got, list)
	}
}

func TestSame_CountsRows(t *testing.T) {
	c := servers.Cluster(t, 15)
	database := c.NewDatabase(t)
	if err := c.Exec(database, `CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.t (k int, j json, at text); CREATE TABLE b.t (at text, j json, k int);
		INSERT INTO a.t VALUES (1, '{}', 'x'), (1, '{}', 'y'), (2, NULL, 'z'); INSERT INTO b.t VALUES ('u', '{}', 1), ('v', NULL, 2), ('w', '{}', 1)`); err != nil {
		t.Fatal(err)
	}
	left, right := connect(t, c.DSN(database)), connect(t, c.DSN(database))
	for _, test := range []struct {
		sql  string
		want int
	}{
		{"", 0},
		{"UPDATE b.t SET j = '{ }' WHERE at = 'u'", 2},
		{"UPDATE b.t SET j = '{}'", 2},
		{"UPDATE b.t SET j = NULL WHERE k = 2; INSERT INTO b.t VALUES ('w', '{}', 1)", 1},
		{"DELETE FROM b.t WHERE k = 1", 1},
	} {
		if err := c.Exec(database, test.sql); err != nil {
			t.Fatal(err)
		}
		r, err := Same(t.Context(), left, Name{"a", "t"}, right, Name{"b", "t"}, "at")
		if err != nil || len(r.Differences) != test.want || r.Rows != 3 {
			t.Errorf("after %q: %d rows, %v, %v; want %d differences", test.sql, r.Rows, r.Differences, err, test.want)
		}
	}
}
