package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// hostileSettings are what a DBA may have set for the database; ours have to win.
const hostileSettings = `
ALTER DATABASE %[1]s SET datestyle = 'SQL, DMY';
ALTER DATABASE %[1]s SET timezone = 'Asia/Tokyo';
ALTER DATABASE %[1]s SET intervalstyle = 'sql_standard';
ALTER DATABASE %[1]s SET extra_float_digits = 0;
ALTER DATABASE %[1]s SET bytea_output = 'escape'`

// typedSession makes a database with our own types and hostile settings, and connects to it as the connector does.
func typedSession(t *testing.T) *pgx.Conn {
	t.Helper()
	cluster := servers.Cluster(t, 15)
	database := cluster.NewDatabase(t)
	for _, sql := range []string{ownTypes, fmt.Sprintf(hostileSettings, database)} {
		if err := cluster.Exec(database, sql); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := pgx.ParseConfig(cluster.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range sessionSettings() {
		settings.RuntimeParams[name] = value
	}
	conn, err := pgx.ConnectConfig(context.Background(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// wire runs a query and returns its rows in text form, NULL as nil.
func wire(t *testing.T, conn *pgx.Conn, sql string) [][][]byte {
	t.Helper()
	result := conn.PgConn().ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatalf("%s: %v", sql, result.Err)
	}
	return result.Rows
}

// tableColumns describes a table's columns by its attributes, as discovery does.
func tableColumns(t *testing.T, conn *pgx.Conn, types *typeTable, table string) []sqlcapture.Column {
	t.Helper()
	var columns []sqlcapture.Column
	rows, err := conn.Query(context.Background(), `SELECT attname::text, atttypid::int8, atttypmod, attnotnull, coalesce(collname IN ('C', 'POSIX'), false)
		FROM pg_attribute LEFT JOIN pg_collation k ON k.oid = attcollation WHERE attrelid = $1::text::regclass AND attnum > 0 ORDER BY attnum`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a attribute
		var oid int64
		if err := rows.Scan(&a.Name, &oid, &a.Typmod, &a.NotNull, &a.BytewiseCollation); err != nil {
			t.Fatal(err)
		}
		a.OID = uint32(oid)
		c, known := types.columnOf(a)
		if !known {
			t.Errorf("the type of %s, %d, is not known", a.Name, oid)
		}
		columns = append(columns, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}

// execute runs statements in a session whose search path knows the types that the test made.
func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.PgConn().Exec(context.Background(), "BEGIN; SET LOCAL search_path = public; "+sql+"; COMMIT").ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// bug sql-cdc 69: estuary/connectors, values were corrupted or rounded by a role's datestyle, intervalstyle or extra_float_digits.
// bug sql-cdc 70: estuary/connectors, timestamptz differed between backfill and log.
// bug sql-cdc 77: estuary/connectors, arrays of enums, domains and types of extensions have other OIDs in every database.
func TestSamples_OnTheServer(t *testing.T) {
	conn := typedSession(t)
	types, err := loadTypes(context.Background(), conn, typeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var columns, values []string
	for i, s := range samples {
		columns = append(columns, fmt.Sprintf("c%d %s", i, s.typ))
		values = append(values, s.sql)
	}
	execute(t, conn, "CREATE TABLE samples ("+strings.Join(columns, ", ")+"); INSERT INTO samples VALUES ("+strings.Join(values, ", ")+")")
	row := wire(t, conn, "SELECT * FROM public.samples")[0]
	f := newFixture(typeOptions{})
	for i, c := range tableColumns(t, conn, types, "public.samples") {
		s := samples[i]
		if string(row[i]) != s.wire {
			t.Errorf("%s %s: the server prints %s, the sample says %s", s.typ, s.sql, row[i], s.wire)
		}
		got, err := c.AppendJSON(nil, slices.Clone(row[i]))
		if err != nil || string(got) != s.json {
			t.Errorf("%s %s: got %s, want %s (%v)", s.typ, s.sql, got, s.json, err)
		}
		if want := f.named(t, s.typ).Type; c.Type != want {
			t.Errorf("%s is called %s on the server, %s in the fixture", s.typ, c.Type, want)
		}
	}
}

// keyValues are values of each type that can be ordered, at its edges. The server sorts them; the packed keys have to come out sorted, too.
var keyValues = map[string][]string{
	"bool":        {"t", "f"},
	"int2":        {"-32768", "-1", "0", "1", "255", "256", "32767"},
	"int4":        {"-2147483648", "-65536", "-65535", "0", "65535", "65536", "2147483647"},
	"int8":        {"-9223372036854775808", "-9007199254740993", "-9007199254740992", "0", "9007199254740993", "9223372036854775807"},
	"oid":         {"0", "2147483648", "4294967295"},
	"xid8":        {"0", "9223372036854775808", "18446744073709551615"},
	"float4":      {"-Infinity", "-1e38", "-1.5", "-1e-45", "-0", "0", "1e-45", "0.1", "16777216", "Infinity", "NaN"},
	"float8":      {"-Infinity", "-1e308", "-0.1", "0", "5e-324", "0.1", "0.30000000000000004", "0.3", "1e308", "Infinity", "NaN"},
	"numeric":     {"-Infinity", "-1e100", "-12.5", "-12.49", "-0.001", "0.00", "0", "1.0", "1.00", "1.000000000000000000000000000001", "9007199254740993", "9007199254740992", "1e-200", "Infinity", "NaN"},
	"text":        {"", "a", "A", "B", "a b", "ab", "ä", "z", "\U0001F600", "\uffff", "~"},
	"varchar":     {"", "a", "A", "ä", "_"},
	"name":        {"a", "A", "ä", "_"},
	"bpchar":      {"a", "a\x01", "a ", "a b", "ab", "A", ""},
	"bytea":       {`\x`, `\x00`, `\x0000`, `\x00ff`, `\xff`, `\x01`},
	"bit(9)":      {"000000000", "000000001", "100000000", "011111111", "111111111"},
	"varbit":      {"", "0", "00", "1", "10", "100000000", "1000000001", "000000001", "01"},
	"date":        {"-infinity", "4713-01-01 BC", "0044-03-15 BC", "0044-03-16 BC", "0001-12-31 BC", "0001-01-01", "0999-12-31", "1999-01-08", "9999-12-31", "10000-01-01", "5874897-12-31", "infinity"},
	"timestamp":   {"-infinity", "4713-01-01 00:00:00 BC", "0044-03-15 12:00:00 BC", "0044-03-15 12:00:00.5 BC", "0044-03-15 12:00:01 BC", "0001-01-01 00:00:00", "2024-01-15 12:00:00", "2024-01-15 12:00:00.5", "2024-01-15 12:00:00.12", "2024-01-15 12:00:00.123456", "2024-01-15 12:00:01", "10000-01-01 00:00:00", "294276-12-31 23:59:59.999999", "infinity"},
	"timestamptz": {"-infinity", "4713-06-01 00:00:00+00 BC", "0044-03-15 12:00:00+00 BC", "0044-03-15 12:00:00.5+00 BC", "0001-01-01 00:00:00+00", "2024-01-15 12:00:00+00", "2024-01-15 12:00:00.5+00", "2024-01-15 12:00:01+00", "294276-12-31 23:59:59.999999+00", "infinity"},
	"time":        {"00:00:00", "12:00:00", "12:00:00.5", "12:00:00.05", "12:00:01", "23:59:59.999999", "24:00:00"},
	"uuid":        {"00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "9fffffff-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
	"macaddr":     {"00:00:00:00:00:00", "08:00:2b:01:02:03", "a0:00:2b:01:02:03", "08:00:2b:ff:02:03"},
	"macaddr8":    {"08:00:2b:01:02:03:04:05", "08:00:2b:01:ff:03:04:05", "ff:00:2b:01:02:03:04:05"},
	// No order of ours, but the literal has to find the row again.
	"citext": {"a", "B", "ab"}, "mood": {"sad day", "ok", "happy"}, "interval": {"P1M", "P30D", "PT0.5S"}, "timetz": {"12:00:00+05:30", "12:00:00-08"},
	"inet": {"10.0.0.1", "10.0.0.0/8"}, "money": {"$1,234.50"}, "jsonb": {`{"a": 1}`}, "int4[]": {"{1,NULL}", "[0:1]={1,2}"}, "int4range": {"[1,2)"},
	"ltree": {"a.b"}, "tsrange": {`["2024-01-01 00:00:00",)`}, "posint": {"1", "300"}, `"char"`: {"a", ""}, "pg_lsn": {"16/B374D848"},
	"cidr": {"10.0.0.0/8"}, "isbn13": {"978-0-393-04002-9"}, "tsvector": {"'a' 'b'"}, "cube": {"(1, 2),(3, 4)"}, "seg": {"1.5 .. 2.5"}, "tid": {"(0,1)"}, "oidvector": {"1 2"},
}

// bug sql-cdc 11: estuary/connectors, keys of smallint columns crashed.
// bug sql-cdc 12: estuary/connectors, a timestamp key's fraction lost its trailing zeros and sorted wrongly.
// bug sql-cdc 13: estuary/connectors, float keys were rounded and differed between scan and events.
// bug sql-cdc 14: estuary/connectors, decimal keys went through float64.
// bug sql-cdc 15: vitessio/vitess #9546, an enum key was compared as text while the index orders by position.
// bug sql-cdc 16: estuary/connectors, UUID and MAC keys were bytes in one path and text in the other.
func TestKeys_OrderAndLiteralsAreTheServers(t *testing.T) {
	conn := typedSession(t)
	types, err := loadTypes(context.Background(), conn, typeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The operators of an extension's types live where the extension does. Without them citext is compared as text but sorted as citext.
	wire(t, conn, "SELECT set_config('search_path', 'pg_catalog, public', false)")
	for declaration, values := range keyValues {
		t.Run(declaration, func(t *testing.T) { checkKeys(t, conn, types, declaration, values) })
	}
}

func checkKeys(t *testing.T, conn *pgx.Conn, types *typeTable, declaration string, values []string) {
	collate := ""
	if slices.Contains([]string{"text", "varchar", "bpchar", "name"}, declaration) {
		collate = ` COLLATE "C"`
	}
	var literals []string
	for _, v := range values {
		literals = append(literals, "("+quoted(v)+"::"+declaration+")")
	}
	execute(t, conn, "DROP TABLE IF EXISTS keys; CREATE TABLE keys (k "+declaration+collate+"); INSERT INTO keys VALUES "+strings.Join(literals, ", "))
	column := tableColumns(t, conn, types, "public.keys")[0]
	// With each value, how many are after it.
	const sorted = `SELECT k, count(*) OVER (ORDER BY k DESC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) FROM public.keys ORDER BY k`
	var before rowkey.Key
	var followers string
	for i, row := range wire(t, conn, sorted) {
		text := string(row[0])
		packed, err := column.AppendKey(nil, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := -1
		if followers == string(row[1]) {
			want = 0
		}
		if i > 0 && column.Ordered && rowkey.Compare(before, packed) != want {
			t.Errorf("the key of %s compares as %d to that of the value before, want %d", text, rowkey.Compare(before, packed), want)
		}
		before, followers = packed, string(row[1])
		elements, err := rowkey.Literals(packed)
		if err != nil || len(elements) != 1 {
			t.Fatalf("%s: %+v, %v", text, elements, err)
		}
		// As a scan goes on after a key: the literal has no type of its own.
		after := wire(t, conn, "SELECT count(*) FROM public.keys WHERE (k) > ("+quoted(elements[0].Text)+")")
		if string(after[0][0]) != followers {
			t.Errorf("%s rows come after the literal %q, want %s after %s", after[0][0], elements[0].Text, followers, text)
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Which types the engine may compare by their packed keys.
//
// bug sql-cdc 6: estuary/connectors, keys were compared by bytes where the database has another order.
func TestOrdered(t *testing.T) {
	f := newFixture(typeOptions{})
	var ordered []string
	for name, oid := range f.oids {
		for _, bytewise := range []bool{false, true} {
			c, _ := f.columnOf(attribute{Name: "c", OID: oid, Typmod: -1, BytewiseCollation: bytewise})
			if c.Ordered && !bytewise {
				ordered = append(ordered, name)
				if _, ok := keyValues[name]; !ok && !slices.Contains([]string{"bit", "smallint_posint"}, name) {
					t.Errorf("the order of %s is not held against the server", name)
				}
			}
			text := slices.Contains([]string{"text", "varchar", "bpchar", "name", "code"}, name)
			if text && c.Ordered != bytewise {
				t.Errorf("%s with a collation that compares bytes = %v is ordered = %v", name, bytewise, c.Ordered)
			}
		}
	}
	for _, name := range []string{"citext", "mood", "interval", "timetz", "inet", "jsonb", "int4[]", "item", "char", "ltree", "int4range"} {
		if slices.Contains(ordered, name) {
			t.Errorf("%s counts as ordered", name)
		}
	}
	if len(ordered) < 15 {
		t.Errorf("only %v are ordered", ordered)
	}
	// A database in another encoding sorts by bytes that we do not see.
	f.bytewise = false
	if c, _ := f.columnOf(attribute{OID: f.oids["text"], Typmod: -1, BytewiseCollation: true}); c.Ordered {
		t.Error("text of a database in an encoding other than UTF-8 counts as ordered")
	}
}
