package parity

// value is a row of the table of promised values.
type value struct {
	typ       string // SQL, of the column
	sql       string // an expression that the column takes
	json      string // what has to be printed
	extension string // that the type comes from
}

var values = []value{
	{typ: "boolean", sql: `'yes'`, json: `true`},
	{typ: "boolean", sql: `'off'`, json: `false`},
	{typ: "smallint", sql: `-32768`, json: `-32768`},
	{typ: "integer", sql: `2147483647`, json: `2147483647`},
	{typ: "bigint", sql: `-9223372036854775808`, json: `-9223372036854775808`},
	{typ: "serial", sql: `7`, json: `7`},
	{typ: "oid", sql: `4294967295`, json: `4294967295`},
	{typ: "xid", sql: `'4294967295'`, json: `"4294967295"`},
	{typ: "cid", sql: `'4294967295'`, json: `"4294967295"`},
	{typ: "xid8", sql: `'18446744073709551615'`, json: `"18446744073709551615"`},
	{typ: "real", sql: `123.456`, json: `123.456`},
	{typ: "real", sql: `16777216`, json: `1.6777216e+07`},
	{typ: "real", sql: `0.1`, json: `0.1`},
	{typ: "real", sql: `'NaN'`, json: `"NaN"`},
	{typ: "real", sql: `'Infinity'`, json: `"Infinity"`},
	{typ: "real", sql: `'-0'`, json: `-0`},
	{typ: "double precision", sql: `0.1::float8 + 0.2::float8`, json: `0.30000000000000004`},
	{typ: "double precision", sql: `1e100`, json: `1e+100`},
	{typ: "double precision", sql: `'-Infinity'`, json: `"-Infinity"`},
	{typ: "numeric", sql: `123.456`, json: `"123.456"`},
	{typ: "numeric", sql: `100.00`, json: `"100.00"`},
	{typ: "numeric", sql: `1E+20`, json: `"100000000000000000000"`},
	{typ: "numeric", sql: `1234567890123456789012345678901234567890`, json: `"1234567890123456789012345678901234567890"`},
	{typ: "numeric", sql: `'NaN'`, json: `"NaN"`},
	{typ: "numeric", sql: `'Infinity'`, json: `"Infinity"`},
	{typ: "numeric(5,-2)", sql: `5`, json: `"0"`},
	{typ: "decimal(10,2)", sql: `1`, json: `"1.00"`},
	{typ: "money", sql: `1234.5`, json: `"$1,234.50"`},
	{typ: "money", sql: `-999.99`, json: `"-$999.99"`},
	{typ: "varchar(5)", sql: `'foo'`, json: `"foo"`},
	{typ: "varchar(3)", sql: `'äöü'`, json: `"äöü"`}, // characters, not bytes
	{typ: "char(10)", sql: `'foo'`, json: `"foo       "`},
	{typ: `"char"`, sql: `'a'`, json: `"a"`},
	{typ: `"char"`, sql: `1::"char"`, json: `"\u0001"`},
	{typ: `"char"`, sql: `0::"char"`, json: `""`},
	{typ: "name", sql: `'foo'`, json: `"foo"`},
	{typ: "text", sql: `'<b>&amp; "grün" 漢 😀 \ ' || chr(10) || chr(9) || chr(1)`, json: `"<b>&amp; \"grün\" 漢 😀 \\ \n\t\u0001"`},
	{typ: "text", sql: `''`, json: `""`},
	{typ: "citext", sql: `'HeLLo'`, json: `"HeLLo"`, extension: "citext"},
	{typ: "citext[]", sql: `'{aB,NULL}'`, json: `{"dimensions":[2],"elements":["aB",null]}`, extension: "citext"},
	{typ: "ltree", sql: `'Top.Science'`, json: `"Top.Science"`, extension: "ltree"},
	{typ: "lquery", sql: `'Top.*'`, json: `"Top.*"`, extension: "ltree"},
	{typ: "isbn13", sql: `'978-0-393-04002-9'`, json: `"978-0-393-04002-9"`, extension: "isn"},
	{typ: "bytea", sql: `decode('DEADBEEF', 'hex')`, json: `"3q2+7w=="`},
	{typ: "bytea", sql: `''`, json: `""`},
	{typ: "bit(3)", sql: `B'101'`, json: `"101"`},
	{typ: "varbit", sql: `''`, json: `""`},
	{typ: "date", sql: `'January 8, 1999'`, json: `"1999-01-08"`},
	{typ: "date", sql: `'infinity'`, json: `"9999-12-31"`},
	{typ: "date", sql: `'-infinity'`, json: `"0000-01-01"`},
	{typ: "date", sql: `'0044-03-15 BC'`, json: `"0000-01-01"`},
	{typ: "date", sql: `'10000-01-01'`, json: `"9999-12-31"`},
	{typ: "timestamp", sql: `'2024-01-15 14:30:00'`, json: `"2024-01-15T14:30:00Z"`},
	{typ: "timestamp", sql: `'2024-01-15 14:30:00.12'`, json: `"2024-01-15T14:30:00.12Z"`},
	{typ: "timestamp", sql: `'infinity'`, json: `"9999-12-31T23:59:59Z"`},
	{typ: "timestamp", sql: `'-infinity'`, json: `"0000-01-01T00:00:00Z"`},
	{typ: "timestamp", sql: `'0044-03-15 01:02:03 BC'`, json: `"0000-01-01T00:00:00Z"`},
	{typ: "timestamp", sql: `'10000-01-01 01:02:03'`, json: `"9999-12-31T23:59:59Z"`},
	{typ: "timestamptz", sql: `'2024-01-15 14:30:00+05:30'`, json: `"2024-01-15T09:00:00Z"`},
	{typ: "timestamptz", sql: `'infinity'`, json: `"9999-12-31T23:59:59Z"`},
	{typ: "time", sql: `'14:30'`, json: `"14:30:00Z"`},
	{typ: "time", sql: `'23:59:59.999999'`, json: `"23:59:59.999999Z"`},
	{typ: "time", sql: `'24:00:00'`, json: `"23:59:59.999999Z"`},
	{typ: "timetz", sql: `'14:30:00+05:30'`, json: `"14:30:00+05:30"`},
	{typ: "timetz", sql: `'04:05:06-08'`, json: `"04:05:06-08:00"`},
	{typ: "timetz", sql: `'00:00:00+00'`, json: `"00:00:00Z"`},
	{typ: "timetz", sql: `'14:30:00+05:30:15'`, json: `"14:30:00+05:30"`},
	{typ: "interval", sql: `'1 year 2 mons 3 days 04:05:06.7'`, json: `"P1Y2M3DT4H5M6.7S"`},
	{typ: "interval", sql: `'0'`, json: `"PT0S"`},
	{typ: "interval", sql: `'-1 day +02:03:04'`, json: `"P-1DT2H3M4S"`},
	{typ: "interval", sql: `'300:00:00'`, json: `"PT300H"`},
	{typ: "uuid", sql: `'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'`, json: `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{typ: "json", sql: `'{"b":1, "a": 1.0}'`, json: `{"b":1,"a":1.0}`},
	{typ: "json", sql: `'[1e400, 123456789012345678901234567890]'`, json: `[1e400,123456789012345678901234567890]`},
	{typ: "json", sql: `'null'`, json: `null`},
	{typ: "json", sql: `'{"a":1, "a":2}'`, json: `{"a":1,"a":2}`},
	{typ: "jsonb", sql: `'{"b": 1, "a": 2}'`, json: `{"a":2,"b":1}`},
	{typ: "jsonb", sql: `'1e400'`, json: `1` + zeros(400)},
	{typ: "jsonpath", sql: `'$.name'`, json: `"$.\"name\""`},
	{typ: "xml", sql: `'<a>x</a>'`, json: `"<a>x</a>"`, extension: "xml"},
	{typ: "tsvector", sql: `'a fat cat sat'`, json: `"'a' 'cat' 'fat' 'sat'"`},
	{typ: "tsvector", sql: `'fat:2,4A cat:3'`, json: `"'cat':3 'fat':2,4A"`},
	{typ: "tsquery", sql: `'fat & cat'`, json: `"'fat' & 'cat'"`},
	{typ: "inet", sql: `'192.168.1.1'`, json: `"192.168.1.1/32"`},
	{typ: "inet", sql: `'10.0.0.1/8'`, json: `"10.0.0.1/8"`},
	{typ: "inet", sql: `'2001:4f8:3:ba::1'`, json: `"2001:4f8:3:ba::1/128"`},
	{typ: "cidr", sql: `'192.168.1.0/24'`, json: `"192.168.1.0/24"`},
	{typ: "macaddr", sql: `'08-00-2b-01-02-03'`, json: `"08:00:2b:01:02:03"`},
	{typ: "macaddr8", sql: `'08-00-2b-01-02-03-04-05'`, json: `"08:00:2b:01:02:03:04:05"`},
	{typ: "point", sql: `'(1,2)'`, json: `"(1,2)"`},
	{typ: "point", sql: `'(0.30000000000000004,NaN)'`, json: `"(0.30000000000000004,NaN)"`},
	{typ: "line", sql: `'{1,2,3}'`, json: `"{1,2,3}"`},
	{typ: "lseg", sql: `'[(1,2),(3,4)]'`, json: `"[(1,2),(3,4)]"`},
	{typ: "box", sql: `'((1,2),(3,4))'`, json: `"(3,4),(1,2)"`},
	{typ: "path", sql: `'[(1,2),(3,4)]'`, json: `"[(1,2),(3,4)]"`},
	{typ: "path", sql: `'((0,0))'`, json: `"((0,0))"`},
	{typ: "polygon", sql: `'((0,0),(0,1),(1,0))'`, json: `"((0,0),(0,1),(1,0))"`},
	{typ: "circle", sql: `'<(1,2),3>'`, json: `"<(1,2),3>"`},
	{typ: "int4range", sql: `'[5,5]'`, json: `"[5,6)"`},
	{typ: "int8range", sql: `'(,)'`, json: `"(,)"`},
	{typ: "int4range", sql: `'empty'`, json: `"empty"`},
	{typ: "numrange", sql: `'(0,1]'`, json: `"(0,1]"`},
	{typ: "daterange", sql: `'[2024-01-01,2024-12-31)'`, json: `"[2024-01-01,2024-12-31)"`},
	{typ: "tsrange", sql: `'["2024-01-01 00:00:00","2024-12-31 23:59:59.5")'`, json: `"[2024-01-01T00:00:00Z,2024-12-31T23:59:59.5Z)"`},
	{typ: "tstzrange", sql: `'["2024-01-01 09:00:00+09",)'`, json: `"[2024-01-01T00:00:00Z,)"`},
	{typ: "int4multirange", sql: `'{[1,3),[5,7)}'`, json: `"{[1,3),[5,7)}"`},
	{typ: "floatrange", sql: `'(1,2]'`, json: `"(1,2]"`},
	{typ: "mood", sql: `'happy'`, json: `"happy"`},
	{typ: "item", sql: `ROW(1234, 5678, ' ''hello''')`, json: `"(1234,5678,\" 'hello'\")"`},
	{typ: "item", sql: `ROW(NULL, NULL, NULL)`, json: `"(,,)"`},
	{typ: "posint", sql: `5`, json: `5`},
	{typ: "smallpos", sql: `6`, json: `6`}, // a domain over a domain
	{typ: "mood_domain", sql: `'sad day'`, json: `"sad day"`},
	{typ: "item_domain", sql: `ROW(1, 2, 'x')`, json: `"(1,2,x)"`},
	{typ: "range_domain", sql: `'[1,2)'`, json: `"[1,2)"`},
	{typ: "mood_domain[]", sql: `'{ok,NULL}'`, json: `{"dimensions":[2],"elements":["ok",null]}`},
	{typ: "intlist", sql: `'{1,2}'`, json: `{"dimensions":[2],"elements":[1,2]}`},
	{typ: "hstore", sql: `'"a"=>"1", "b"=>NULL'`, json: `{"a":"1","b":null}`, extension: "hstore"},
	{typ: "integer[]", sql: `'{{1,2},{3,4}}'`, json: `{"dimensions":[2,2],"elements":[1,2,3,4]}`},
	{typ: "integer[]", sql: `'{}'`, json: `{"dimensions":[],"elements":[]}`},
	{typ: "integer[]", sql: `'{1,2,NULL}'`, json: `{"dimensions":[3],"elements":[1,2,null]}`},
	{typ: "integer[]", sql: `'[0:1]={5,6}'`, json: `{"dimensions":[2],"elements":[5,6]}`},
	{typ: "box[]", sql: `'{(3,4),(1,2);(7,8),(5,6)}'`, json: `{"dimensions":[2],"elements":["(3,4),(1,2)","(7,8),(5,6)"]}`},
	{typ: "date[]", sql: `'{2022-01-09,infinity}'`, json: `{"dimensions":[2],"elements":["2022-01-09","9999-12-31"]}`},
	{typ: "timestamptz[]", sql: `'{2022-01-09 09:00:00.5+09}'`, json: `{"dimensions":[1],"elements":["2022-01-09T00:00:00.5Z"]}`},
	{typ: "bytea[]", sql: `ARRAY[decode('00ff', 'hex')]`, json: `{"dimensions":[1],"elements":["AP8="]}`},
	{typ: "float8[]", sql: `ARRAY[0.1::float8 + 0.2::float8, 'NaN']`, json: `{"dimensions":[2],"elements":[0.30000000000000004,"NaN"]}`},
	{typ: "interval[]", sql: `'{1 day}'`, json: `{"dimensions":[1],"elements":["P1D"]}`},
	{typ: "mood[]", sql: `'{happy,"sad day"}'`, json: `{"dimensions":[2],"elements":["happy","sad day"]}`},
	{typ: "text[]", sql: `ARRAY['NULL', NULL, '', 'a,b', '{x}', 'q"q', 'b\b']`, json: `{"dimensions":[7],"elements":["NULL",null,"","a,b","{x}","q\"q","b\\b"]}`},
	{typ: "int2vector", sql: `'1 2 3'`, json: `"1 2 3"`},
	{typ: "oidvector", sql: `'1 2 3'`, json: `"1 2 3"`},
	{typ: "pg_lsn", sql: `'16/B374D848'`, json: `"16/B374D848"`},
	{typ: "tid", sql: `'(0,1)'`, json: `"(0,1)"`},
	{typ: "pg_snapshot", sql: `'10:20:10,14,15'`, json: `"10:20:10,14,15"`},
	{typ: "regclass", sql: `'pg_class'`, json: `"pg_class"`},
	{typ: "regclass", sql: `'elsewhere.thing'`, json: `"elsewhere.thing"`}, // its text depends on search_path
	{typ: "regtype", sql: `'int4'`, json: `"integer"`},
	{typ: "aclitem", sql: `'postgres=r/postgres'`, json: `"postgres=r/postgres"`},
	{typ: "cube", sql: `'(1,2),(3,4)'`, json: `"(1, 2),(3, 4)"`, extension: "cube"},
	{typ: "seg", sql: `'1.5 .. 2.5'`, json: `"1.5 .. 2.5"`, extension: "seg"},
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

// ownTypes are those of the values that no extension brings.
const ownTypes = `
	CREATE SCHEMA elsewhere;
	CREATE TABLE elsewhere.thing ();
	CREATE TYPE mood AS ENUM ('sad day', 'ok', 'happy');
	CREATE TYPE item AS (id int, sku int, note text);
	CREATE DOMAIN posint AS int CHECK (value > 0);
	CREATE DOMAIN smallpos AS posint CHECK (value < 10);
	CREATE DOMAIN intlist AS int[];
	CREATE DOMAIN mood_domain AS mood;
	CREATE DOMAIN item_domain AS item;
	CREATE TYPE floatrange AS RANGE (subtype = float8);
	CREATE DOMAIN range_domain AS floatrange`

// hostile are settings of the role that captures: they change how values print, what names mean and how the client's bytes are read.
const hostile = `
	ALTER ROLE %[1]s SET datestyle = 'SQL, DMY';
	ALTER ROLE %[1]s SET timezone = 'Asia/Tokyo';
	ALTER ROLE %[1]s SET bytea_output = 'escape';
	ALTER ROLE %[1]s SET extra_float_digits = 0;
	ALTER ROLE %[1]s SET intervalstyle = 'sql_standard';
	ALTER ROLE %[1]s SET lc_monetary = 'POSIX';
	ALTER ROLE %[1]s SET row_security = off;
	ALTER ROLE %[1]s SET search_path = 'elsewhere', 'pg_temp';
	ALTER ROLE %[1]s SET client_encoding = 'LATIN1';
	ALTER ROLE %[1]s SET standard_conforming_strings = off;
	ALTER ROLE %[1]s SET quote_all_identifiers = on;
	ALTER ROLE %[1]s SET xmloption = 'document';
	ALTER ROLE %[1]s SET default_transaction_isolation = 'serializable'`
