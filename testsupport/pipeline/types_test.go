package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// values by type: what has been stumbled over somewhere.
var values = []struct {
	typ    string
	values []string
}{
	{"boolean", []string{"true", "false"}},
	{"smallint", []string{"-32768", "32767"}},
	{"int", []string{"2147483647", "0"}},
	{"bigint", []string{"-9223372036854775808", "9223372036854775807"}},
	{"oid", []string{"4294967295", "0"}},
	{"real", []string{"16777216", "'-0'", "'NaN'", "'-Infinity'", "123.456", "1e-40"}},
	{"double precision", []string{"0.1::float8 + 0.2::float8", "1e308", "5e-324", "'-0'", "'Infinity'"}},
	{"numeric", []string{"-1234567890123456789012345678901234567890.12345678901234567890", "100.00", "'NaN'", "1e-20", "'-Infinity'"}},
	{"numeric(10,2)", []string{"1", "0"}},
	{"money", []string{"-999.99", "1234.5"}},
	{"text", []string{"''", "'NULL'", `E'\\N'`, `E'a\tb\nc\\d"e'`, `'\x1F600 😀 漢 é'`, "repeat('long ', 20000)"}},
	{"varchar(20)", []string{"'foo '", "''"}},
	{"char(6)", []string{"'foo'", "''"}},
	{"name", []string{"'foo'"}},
	{`"char"`, []string{"'a'", `E'\x01'`}},
	{"bytea", []string{`'\xdeadbeef00'`, "''", "decode(repeat('00ff', 5000), 'hex')"}},
	{"bit(3)", []string{"B'101'"}},
	{"varbit", []string{"B''", "B'1'"}},
	{"date", []string{"'2024-02-29'", "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'10000-01-01'", "'0001-01-01'"}},
	{"timestamp", []string{"'2024-01-15 14:30:00.12'", "'infinity'", "'-infinity'", "'4713-01-01 00:00:00 BC'", "'294276-12-31 23:59:59.999999'"}},
	{"timestamptz", []string{"'2024-01-15 14:30:00+05:30'", "'2024-01-15 14:30:00.000001Z'", "'0044-03-15 12:00:00.5Z BC'", "'infinity'", "'1800-01-01 00:00:00+00:19:32'"}},
	{"time", []string{"'14:30'", "'24:00:00'", "'23:59:59.999999'"}},
	{"timetz", []string{"'14:30:00+05:30:15'", "'24:00:00-01'", "'04:05:06.7-08'", "'04:05:06+00'"}},
	{"interval", []string{"'1 year 2 mons 3 days 04:05:06.7'", "'-1 day 02:03:04'", "'0'", "'300:00:00'"}},
	{"uuid", []string{"'00112233-4455-6677-8899-AABBCCDDEEFF'"}},
	{"json", []string{`'{"b": 1.0, "a": [1e400, null, "\u0000 \u00e9"]}'`, "'null'", `'"text"'`, "'12345678901234567890123456789012345678'"}},
	{"jsonb", []string{`'{"bb": 1.0, "a": [null, {"x": "\""}]}'`, "'null'", "'[]'", "'1e30'"}},
	{"xml", []string{"'<a>x &amp; y</a>'"}},
	{"tsvector", []string{"'a fat:2,4A cat'"}},
	{"tsquery", []string{"'fat & cat'"}},
	{"inet", []string{"'192.168.1.1'", "'10.0.0.1/8'", "'::1'", "'2001:4f8:3:ba::1/64'"}},
	{"cidr", []string{"'192.168.1.0/24'"}},
	{"macaddr", []string{"'08-00-2b-01-02-03'"}},
	{"macaddr8", []string{"'08:00:2b:01:02:03:04:05'"}},
	{"point", []string{"'(1,2)'"}},
	{"box", []string{"'((1,2),(3,4))'"}},
	{"circle", []string{"'<(1,2),3>'"}},
	{"int4range", []string{"'[5,5]'", "'empty'", "'(,)'"}},
	{"numrange", []string{"'(0,1.50]'"}},
	{"tsrange", []string{`'["2024-01-01 00:00","2024-12-31 23:59:59.5")'`, "'(,)'", "'empty'"}},
	{"tstzrange", []string{`'[2024-01-01 00:00+02,]'`}},
	{"int4multirange", []string{"'{[1,3),[5,7)}'"}},
	{"pg_lsn", []string{"'16/B374D848'"}},
	{"xid8", []string{"'18446744073709551615'"}},
	{"mood", []string{"'happy'", "'it''s \"odd\"'"}},
	{"pair", []string{`'(1,"x, y")'`, "row(null, null)::pair"}},
	{"positive", []string{"5"}},
	{"positives", []string{"'{5,6}'"}},
	{"int[]", []string{"'{{1,2},{3,NULL}}'", "'{}'", "'[0:1]={5,6}'"}},
	{"bigint[]", []string{"'{9223372036854775807}'"}},
	{"text[]", []string{`'{"NULL",NULL,"a,b","q\"uote",""}'`, "'{}'"}},
	{"numeric[]", []string{"'{1.10,NaN,12345678901234567890123456789.5}'"}},
	{"real[]", []string{"'{1.5,NaN,-0}'"}},
	{"boolean[]", []string{"'{t,f,NULL}'"}},
	{"bytea[]", []string{`'{"\\xdeadbeef",NULL}'`}},
	{"date[]", []string{"'{2024-02-29,-infinity}'"}},
	{"timestamptz[]", []string{`'{"2024-01-15 14:30:00+05:30",infinity}'`}},
	{"uuid[]", []string{"'{00112233-4455-6677-8899-AABBCCDDEEFF}'"}},
	{"jsonb[]", []string{`array['{"x": 1.0}'::jsonb, 'null', NULL]`}},
	{"inet[]", []string{"'{10.0.0.1,NULL}'"}},
	{"box[]", []string{"'{(3,4),(1,2);(7,8),(5,6)}'"}},
	{"mood[]", []string{"'{happy,NULL}'"}},
}

// Values arrive as they are, through the backfill and through the log; each type is also a key where it can be one.
func TestPipeline_EveryTypeArrivesAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run(t, r.left, "CREATE DOMAIN positive AS int CHECK (value > 0)", "CREATE DOMAIN positives AS positive[]", `CREATE TYPE mood AS ENUM ('happy', 'it''s "odd"')`, "CREATE TYPE pair AS (a int, b text)",
		"SET lc_monetary = 'C'")
	columns := []string{"k int PRIMARY KEY", "filler text"}
	var names []string
	rows := 0
	for i, v := range values {
		names = append(names, fmt.Sprintf("c%d", i))
		columns = append(columns, fmt.Sprintf("c%d %s", i, v.typ))
		rows = max(rows, len(v.values))
	}
	run(t, r.left, "CREATE TABLE every ("+strings.Join(columns, ", ")+")")
	insert := func(k, row int) {
		t.Helper()
		var list []string
		for _, v := range values {
			list = append(list, v.values[row%len(v.values)])
		}
		run(t, r.left, fmt.Sprintf("INSERT INTO every (k, %s) VALUES (%d, %s)", strings.Join(names, ", "), k, strings.Join(list, ", ")))
	}
	keys := []string{"bigint", "text", "numeric", "uuid", "date", "timestamptz", "time", "bytea", "boolean", "char(6)", "inet", "interval", "oid"}
	var keyed []string
	for i, typ := range keys {
		table := fmt.Sprintf("by_%d", i)
		keyed = append(keyed, table)
		run(t, r.left, fmt.Sprintf("CREATE TABLE %s (k %s PRIMARY KEY, n int)", table, typ))
		for n, v := range valuesOf(typ) {
			// An index takes no long values, and of those that documents write alike one only can be a key.
			if !strings.Contains(v, "repeat") && !strings.Contains(v, "BC") && !strings.Contains(v, "-infinity") && v != "'10000-01-01'" && v != "'24:00:00'" {
				run(t, r.left, fmt.Sprintf("INSERT INTO %s VALUES (%s, %d)", table, v, n))
			}
		}
	}
	for k := range rows {
		insert(k, k)
	}
	run(t, r.left, fmt.Sprintf("INSERT INTO every (k) VALUES (%d)", 1000))
	r.write()
	r.once()
	r.equal([]string{"k"}, append(keyed, "every")...)
	for k := range rows {
		insert(2000+k, k)
	}
	set := make([]string, len(names))
	for i, name := range names {
		set[i] = fmt.Sprintf("%s = (SELECT %[1]s FROM every WHERE k = 2000)", name)
	}
	run(t, r.left, "UPDATE every SET "+strings.Join(set, ", ")+" WHERE k = 1000", "UPDATE every SET filler = 'touched' WHERE k < 3", "DELETE FROM every WHERE k = 2001")
	for _, name := range names {
		run(t, r.left, "UPDATE every SET "+name+" = NULL WHERE k = 0")
	}
	for _, table := range keyed {
		run(t, r.left, "UPDATE "+table+" SET n = n + 100", "DELETE FROM "+table+" WHERE n = 101")
	}
	r.once()
	r.equal([]string{"k"}, append(keyed, "every")...)
}

func valuesOf(typ string) []string {
	for _, v := range values {
		if v.typ == typ {
			return v.values
		}
	}
	return nil
}
