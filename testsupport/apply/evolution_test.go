package apply

import (
	"maps"
	"slices"
)

// widened are the columns whose type changes: each conversion of the type table, and some from types that only a user gives a column.
var widened = []struct {
	name, from, to string
	before, after  string // values of the document; after empty: the same
	user           string // the type that a user has given the column
}{
	{name: "int_num", from: "integer", to: "integer:1e19", before: "9007199254740993"},
	{name: "int_float", from: "integer", to: "number", before: "5"},
	{name: "small_num", from: "integer", to: "integer:1e19", before: "-7", user: "smallint"},
	{name: "int4_float", from: "integer", to: "number", before: "6", user: "integer"},
	{name: "int_text", from: "integer!", to: "string!", before: "7", after: `"7"`},
	{name: "num_text", from: "number", to: "string", before: "1.5", after: `"1.5"`},
	{name: "real_text", from: "number", to: "string", before: "0.1", after: `"0.1"`, user: "real"},
	{name: "big_text", from: "integer:1e19", to: "string", before: "12345678901234567890", after: `"12345678901234567890"`},
	{name: "decimal_text", from: "string:number", to: "string", before: `"1.10"`},
	{name: "bool_text", from: "boolean", to: "string", before: "true", after: `"true"`},
	{name: "date_text", from: "string:date", to: "string", before: `"2024-02-29"`},
	{name: "at_text", from: "string:date-time", to: "string", before: `"2024-01-15T14:30:00.5Z"`},
	{name: "zoneless_text", from: "string:date-time", to: "string", before: `"2024-01-15T14:30:00.5Z"`, user: "timestamp"},
	{name: "time_text", from: "string:time", to: "string", before: `"14:30:00Z"`},
	{name: "span_text", from: "string:duration", to: "string", before: `"P1Y2M3DT4H5M6.7S"`},
	{name: "uuid_text", from: "string:uuid", to: "string", before: `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{name: "ip_text", from: "string:ipv4", to: "string", before: `"10.0.0.1"`},
	{name: "net_text", from: "string:ipv4", to: "string", before: `"10.0.0.0/8"`, user: "cidr"},
	{name: "mac_text", from: "string:macaddr", to: "string", before: `"08:00:2b:01:02:03"`},
	{name: "mac8_text", from: "string:macaddr8", to: "string", before: `"08:00:2b:01:02:03:04:05"`},
	{name: "bytes_text", from: "string:base64", to: "string", before: `"3q2+7w=="`},
	{name: "json_text", from: "object", to: "string", before: `{"a":[1]}`, after: `"{\"a\":[1]}"`},
	{name: "int_json", from: "integer", to: "integer,string", before: "3"},
	{name: "num_json", from: "number", to: "number,string", before: "2.5"},
	{name: "big_json", from: "integer:1e19", to: "integer,string", before: "12345678901234567890"},
	{name: "bool_json", from: "boolean", to: "boolean,string", before: "false"},
	{name: "date_json", from: "string:date", to: "string,integer", before: `"2024-02-29"`},
	{name: "at_json", from: "string:date-time", to: "string,integer", before: `"2024-01-15T14:30:00.5Z"`},
	{name: "time_json", from: "string:time", to: "string,integer", before: `"14:30:00Z"`},
	{name: "span_json", from: "string:duration", to: "string,integer", before: `"P1Y2M3DT4H5M6.7S"`},
	{name: "uuid_json", from: "string:uuid", to: "string,integer", before: `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{name: "ip_json", from: "string:ipv4", to: "string,integer", before: `"10.0.0.1"`},
	{name: "mac_json", from: "string:macaddr", to: "string,integer", before: `"08:00:2b:01:02:03"`},
	{name: "bytes_json", from: "string:base64", to: "array,string", before: `"AA=="`},
	{name: "text_json", from: "string", to: "object,string", before: `"{not json"`},
	{name: "varchar_json", from: "string", to: "object,string", before: `"short"`, user: "varchar(20)"},
}

// ownThings are what a user adds to the tables of before.
var ownThings = []string{
	`ALTER TABLE lake.wide ADD COLUMN "users own" int DEFAULT 5, ADD COLUMN "users second" text NOT NULL DEFAULT 'x', ADD COLUMN "users third" int`,
	`CREATE INDEX "users index" ON lake.wide (same)`, `COMMENT ON COLUMN lake.wide.int_json IS 'in pounds'`, `COMMENT ON TABLE lake.same IS 'words of a user'`,
	`ALTER TABLE lake.again ADD COLUMN "users note" text`,
	`CREATE TABLE lake."users table" (v int PRIMARY KEY)`, `INSERT INTO lake."users table" VALUES (1), (2)`,
}

// evolution is a change of what is materialized.
type evolution struct {
	from, to []table
	user     []string // statements of a user's, before the first document is stored
	late     []string // and after it
	// edits are where the catalog in the end differs from one made from scratch: what §1.8 keeps, and what is the user's.
	edits map[string]string
	// same are the fields of table wide that hold the same as before, in whatever form.
	same []string
}

// convergence is a change that needs every kind of step.
func convergence() *evolution {
	wideFrom := []field{{"id", "integer!", "1"}, {"same", "string", `"s"`}, {"loose", "integer!", "4"}, {"gone", "string!", `"g"`}, {"goneB", "integer", "2"}}
	wideTo := []field{{"id", "integer!", "1"}, {"same", "string", `"s"`}, {"loose", "integer", "4"}, {"new", "string!", `"n"`}, {"other", "integer", "8"}}
	e := &evolution{same: []string{"id", "same", "loose"}}
	for _, w := range widened {
		after := w.after
		if after == "" {
			after = w.before
		}
		wideFrom, wideTo = append(wideFrom, field{w.name, w.from, w.before}), append(wideTo, field{w.name, w.to, after})
		e.same = append(e.same, w.name)
		if w.user != "" {
			e.user = append(e.user, "ALTER TABLE lake.wide ALTER COLUMN "+w.name+" TYPE "+w.user+" USING NULL")
		}
	}
	plain := []field{{"id", "integer!", "1"}, {"v", "string", `"v"`}}
	again := []field{{"id", "string!", `"x"`}, {"n", "integer!", "1"}, {"v", "string:date!", `"2024-01-01"`}}
	anew := []field{{"n", "integer!", "1"}, {"id", "string!", `"x"`}, {"v", "boolean", "true"}, {"w", "integer", "5"}}
	emptied := []field{{"id", "integer!", "1"}, {"v", "string!", `"v"`}, {"at", "integer", "1"}}
	e.from = []table{
		{name: "wide", keys: 1, fields: wideFrom},
		{name: "again", keys: 1, fields: again},
		{name: "emptied", keys: 1, fields: emptied},
		{name: "same", keys: 1, fields: plain},
		{name: "adds", keys: 1, fields: []field{{"id", "integer!", "1"}, {"v", "string!", `"v"`}}},
		{name: "left", keys: 1, fields: plain},
	}
	e.to = []table{
		{name: "wide", keys: 1, fields: wideTo},
		{name: "again", keys: 2, fields: anew, backfill: 1},
		{name: "emptied", keys: 1, fields: []field{{"id", "integer!", "1"}, {"v", "string", `"v"`}, {"at", "string:date-time", `"2024-01-15T14:30:00Z"`}, {"more", "boolean", "true"}}, backfill: 1},
		e.from[3],
		{name: "adds", keys: 1, fields: e.from[4].fields, delta: true},
		{name: "elsewhere", schema: "second", keys: 1, fields: plain},
		{name: "brand new", keys: 1, fields: plain, extra: `CREATE INDEX mine ON lake."brand new" (v); ALTER TABLE lake."brand new" ADD COLUMN extra int`},
	}
	e.user = append(e.user, ownThings...)
	// Nobody fills this one any more, so it may not stay NOT NULL; the one with a default may.
	e.late = []string{`UPDATE lake.wide SET "users third" = 7`, `ALTER TABLE lake.wide ALTER COLUMN "users third" SET NOT NULL`}
	e.edits = map[string]string{
		"lake.wide new": "text", "lake.wide gone": "text", "lake.wide goneB": "bigint",
		"lake.wide users own": "integer DEFAULT 5", "lake.wide users second": "text NOT NULL DEFAULT 'x'::text", "lake.wide users third": "integer",
		"lake.wide index users index": `CREATE INDEX "users index" ON lake.wide USING btree (same)`, "lake.wide int_json": "json, in pounds",
		"lake.same": "words of a user", "lake.again users note": "text",
		"lake.users table": "", "lake.users table v": "integer NOT NULL", "lake.users table key": "PRIMARY KEY (v)",
		"lake.users table index users table_pkey": `CREATE UNIQUE INDEX "users table_pkey" ON lake."users table" USING btree (v)`,
		"lake.left": "Materialized by Estuary from acme/left", "lake.left id": "bigint NOT NULL", "lake.left v": "text", "lake.left flow_document": "json", "lake.left key": "PRIMARY KEY (id)",
		"lake.left index left_pkey": "CREATE UNIQUE INDEX left_pkey ON lake.\"left\" USING btree (id)",
	}
	return e
}

// kept asks for the rows that have to stay, and for what is the user's.
const kept = `
SELECT 'fields that have left, and what is the user''s', concat_ws(' ', new IS NULL, gone, "goneB", "users own", "users second", "users third") FROM lake.wide
UNION ALL SELECT 'the user''s table', string_agg(v::text, ',' ORDER BY v) FROM lake."users table"
UNION ALL SELECT 'tables that start over', concat_ws(' ', (SELECT count(*) FROM lake.again), (SELECT count(*) FROM lake.emptied))
UNION ALL SELECT 'a table that only grows now', concat_ws(' ', count(*), min(v)) FROM lake.adds
UNION ALL SELECT 'a table that is bound no more', concat_ws(' ', id, v) FROM lake."left"
UNION ALL SELECT 'a table that stays as it is', concat_ws(' ', id, v) FROM lake.same`

var keptRows = map[string]string{
	"fields that have left, and what is the user's": "t g 2 5 x 7", "the user's table": "1,2", "tables that start over": "0 0", "a table that only grows now": "1 v",
	"a table that is bound no more": "1 v", "a table that stays as it is": "1 v",
}

// byCopies is a change of types by a database that has no ALTER COLUMN TYPE. The function that reads JSON out of text belongs to the direct way.
func byCopies() *evolution {
	e := convergence()
	e.edits = maps.Clone(e.edits)
	// A column that has taken another's place is nullable, and has none of its comments.
	e.edits["lake.wide int_text"], e.edits["lake.wide int_json"] = "text", "json"
	few := []string{"id", "same", "loose", "gone", "goneB", "new", "other", "int_num", "int_text", "at_text", "int_json", "bytes_json"}
	for _, list := range [][]table{e.from, e.to} {
		list[0].fields = slices.DeleteFunc(list[0].fields, func(f field) bool { return !slices.Contains(few, f.name) })
	}
	e.same = slices.DeleteFunc(e.same, func(name string) bool { return !slices.Contains(few, name) })
	e.user = ownThings // no column with a type of a user's is left
	return e
}
