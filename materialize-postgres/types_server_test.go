package main

import (
	"fmt"
	"strings"
	"testing"

	logtest "github.com/sirupsen/logrus/hooks/test"

	log "github.com/sirupsen/logrus"
)

// sample is a value of a document, what its column prints, and what a document that is rebuilt from the columns has; "": the value as it was.
type sample struct{ types, json, column, back string }

// samples hold every row of the type table, with the values that others have stumbled over.
var samples = []sample{
	{"boolean", `true`, `t`, ``},
	{"boolean", `false`, `f`, ``},
	{"integer", `0`, `0`, ``},
	{"integer", `-9223372036854775808`, `-9223372036854775808`, ``},
	{"integer", `9223372036854775807`, `9223372036854775807`, ``},
	{"integer", `9007199254740993`, `9007199254740993`, ``}, // 2^53 + 1 went through a float
	{"integer", `1.0`, `1`, `1`},
	{"integer", `-12.000e0`, `-12`, `-12`},
	{"integer", `1e3`, `1000`, `1000`},
	{"integer", `1200e-2`, `12`, `12`},
	{"integer", `0.0e-5`, `0`, `0`},
	{"number", `0.1`, `0.1`, ``},
	{"number", `1e308`, `1e+308`, `1e+308`},
	{"number", `-0`, `-0`, ``},
	{"number", `-0.0e5`, `-0`, `-0`},
	{"number", `5e-324`, `5e-324`, ``},
	{"number", `1e-400`, `0`, `0`}, // the server refuses it
	{"number", `-1e-400`, `-0`, `-0`},
	{"number", `123456789012345678901234567890`, `1.2345678901234568e+29`, `1.2345678901234568e+29`},
	{"number", `0.1000000000000000055511151231257827`, `0.1`, `0.1`},
	{"integer,number", `3`, `3`, ``},
	{"number,string:number", `1.5`, `1.5`, ``},
	{"number,string:number", `"NaN"`, `NaN`, ``}, // bug materializations 42: estuary/connectors history: NaN and infinities are no JSON numbers
	{"number,string:number", `"-Infinity"`, `-Infinity`, ``},
	{"number,string:number", `"Infinity"`, `Infinity`, ``},
	{"number,string:number", `-0`, `-0`, ``},
	{"string:integer", `"3.00"`, `3`, `"3"`}, // bug materializations 41: estuary/connectors history: "3.00" failed to load into integer columns
	{"string:integer", `"-123456789012345678901234567890"`, `-123456789012345678901234567890`, ``},
	{"integer,string:integer", `18446744073709551615`, `18446744073709551615`, `"18446744073709551615"`},
	{"string:number", `"123.4500"`, `123.4500`, ``},
	{"string:number", `"-1234567890123456789012345678901234567890.12345678901234567890"`, `-1234567890123456789012345678901234567890.12345678901234567890`, ``},
	{"string:number", `"NaN"`, `NaN`, ``},
	{"string:number", `"Infinity"`, `Infinity`, ``},
	{"string:number", `"1e3"`, `1000`, `"1000"`},
	{"string", `""`, ``, ``}, // bug materializations 76: estuary/connectors history: absent and empty were one
	{"string", `"\\N"`, `\N`, ``},
	{"string", `"\\."`, `\.`, ``},
	{"string", `"null"`, `null`, ``},
	{"string", `"tab\t line\n back\\ quote\" slash\/ \b\f\r \u001f"`, "tab\t line\n back\\ quote\" slash/ \b\f\r \x1f", `"tab\t line\n back\\ quote\" slash/ \b\f\r \u001f"`},
	{"string", `"Grüße \u00e9 \ud83d\ude00 😀 \u202ertl"`, "Grüße é 😀 😀 \u202ertl", "\"Grüße é 😀 😀 \u202ertl\""},
	{"string", `"lone \ud800 and \udc00x"`, "lone \uFFFD and \uFFFDx", "\"lone \uFFFD and \uFFFDx\""},
	{"string", "\"no UTF-8: \xff\xfe\"", "no UTF-8: \uFFFD\uFFFD", "\"no UTF-8: \uFFFD\uFFFD\""},
	{"string", `"a\u0000b"`, `ab`, `"ab"`}, // bug materializations 77: airbytehq/airbyte #3476: text and jsonb cannot hold U+0000
	{"string", `" trailing  "`, ` trailing  `, ``},
	{"string:date", `"2024-02-29"`, `2024-02-29`, ``},
	{"string:date", `"0000-01-01"`, `0001-01-01`, `"0001-01-01"`}, // bug materializations 43: estuary/connectors history: PostgreSQL has no year 0
	{"string:date", `"0000-02-29"`, `0001-02-28`, `"0001-02-28"`},
	{"string:date", `"9999-12-31"`, `9999-12-31`, ``},
	{"string:date", `"10000-01-01"`, `9999-12-31`, `"9999-12-31"`},
	{"string:date-time", `"2024-01-15T14:30:00Z"`, `2024-01-15 14:30:00+00`, ``},
	{"string:date-time", `"2024-01-15T14:30:00.123456Z"`, `2024-01-15 14:30:00.123456+00`, ``}, // bug materializations 44: estuary/connectors history: values were parsed and lost precision
	{"string:date-time", `"2024-01-15t14:30:00.5z"`, `2024-01-15 14:30:00.5+00`, `"2024-01-15T14:30:00.5Z"`},
	{"string:date-time", `"2024-01-15 14:30:00+14:00"`, `2024-01-15 00:30:00+00`, `"2024-01-15T00:30:00Z"`},
	{"string:date-time", `"2024-01-15T14:30:00"`, `2024-01-15 14:30:00+00`, `"2024-01-15T14:30:00Z"`},
	{"string:date-time", `"2016-12-31T23:59:60Z"`, `2017-01-01 00:00:00+00`, `"2017-01-01T00:00:00Z"`},
	{"string:date-time", `"0000-01-01T00:00:00Z"`, `0001-01-01 00:00:00+00`, `"0001-01-01T00:00:00Z"`},
	{"string:date-time", `"9999-12-31T23:59:59Z"`, `9999-12-31 23:59:59+00`, ``},
	{"string:date-time", `"12345-01-01T00:00:00Z"`, `9999-12-31 23:59:59+00`, `"9999-12-31T23:59:59Z"`},
	{"string:time", `"14:30:00Z"`, `14:30:00`, ``},
	{"string:time", `"23:59:59.999999Z"`, `23:59:59.999999`, ``},
	{"string:time", `"14:30:00+05:30"`, `14:30:00`, `"14:30:00Z"`},
	{"string:time", `"23:59:60Z"`, `24:00:00`, `"23:59:59.999999Z"`},
	{"string:duration", `"P1Y2M3DT4H5M6.7S"`, `P1Y2M3DT4H5M6.7S`, ``},
	{"string:duration", `"P2W"`, `P14D`, `"P14D"`},
	{"string:uuid", `"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"`, `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11`, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{"string:ipv4", `"192.168.1.1"`, `192.168.1.1`, ``},
	{"string:ipv6", `"2001:4f8:3:ba::1"`, `2001:4f8:3:ba::1`, ``},
	{"string:macaddr", `"08:00:2b:01:02:03"`, `08:00:2b:01:02:03`, ``},
	{"string:macaddr8", `"08:00:2b:01:02:03:04:05"`, `08:00:2b:01:02:03:04:05`, ``},
	{"string:base64", `"3q2+7w=="`, `\xdeadbeef`, ``},
	{"string:base64", `"3q2+\/w=="`, `\xdeadbeff`, `"3q2+/w=="`},
	{"string:base64", `""`, `\x`, ``},
	{"string:base64", `"3q2-7w"`, `\xdeadbeef`, `"3q2+7w=="`},
	{"object", `{"a":{"b":[1,null,"x\ty\\"]},"":0,"a b":1e400,"n":0.10}`, `{"a":{"b":[1,null,"x\ty\\"]},"":0,"a b":1e400,"n":0.10}`, ``},
	{"object", `{}`, `{}`, ``},
	{"object", `{"a":1,"a":2}`, `{"a":1,"a":2}`, ``},
	{"object", `{"nul":"\u0000","lone":"\ud800"}`, `{"nul":"\u0000","lone":"\ud800"}`, ``},
	{"array", `[]`, `[]`, ``},
	{"array", `[1,"2",[3]]`, `[1,"2",[3]]`, ``},
	// bug materializations 38: estuary/connectors history: objects of several types were forbidden
	{"boolean,integer,string", `"x\\y"`, `"x\\y"`, ``},
	{"boolean,integer,string", `123456789012345678901234567890.10`, `123456789012345678901234567890.10`, ``},
	{"array,boolean,integer,null,number,object,string", `[{"deep":null}]`, `[{"deep":null}]`, ``},
}

func TestTypes_OnTheServer(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newSite(t, version)
			fields := []string{"id integer!"}
			for i, x := range samples {
				fields = append(fields, fmt.Sprintf("c%03d %s", i, x.types))
			}
			b := bind("samples", 1, fields...)
			s.config.Advanced.NoFlowDocument = true
			s.apply(nil, b)
			r := s.open(b)
			// Twice: straight into the table, and by way of the temporary one.
			for id, sign := range []string{"", "+"} {
				doc, back := fmt.Sprintf(`{"id":%d`, id), fmt.Sprintf(`{"id":%d`, id)
				columns := []string{fmt.Sprint(id)}
				for i, x := range samples {
					doc += fmt.Sprintf(`,"c%03d":%s`, i, x.json)
					columns = append(columns, x.column)
					if x.back == "" {
						x.back = x.json
					}
					back += fmt.Sprintf(`,"c%03d":%s`, i, x.back)
				}
				r.commit(`{}`, sign+doc+"}")
				equal(t, "columns", s.query(`SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; SELECT * FROM lake.samples WHERE id = `+fmt.Sprint(id)), strings.Join(columns, " "))
				equal(t, "loaded", r.load(put{0, doc + "}"}), []string{"0 " + back + "}"})
			}
			// Null and absent are one.
			r.commit(`{}`, `{"id":7,"c001":null}`)
			equal(t, "loaded", r.load(put{0, `{"id":7}`}), []string{`0 {"id":7}`})
		})
	}
}

func TestTypes_InJSONB(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.JSONType = "jsonb"
	hook := listen(t)
	b := bind("samples", 1, "id integer!", "o object", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	doc := `{"id":1,"o":{"nul":"a\u0000b\\u0000","lone":"\ud800 \udc00 \ud83d\ude00 \u00e9"}}`
	r.commit(`{}`, doc)
	equal(t, "column", s.query(`SELECT o FROM lake.samples`), "{\"nul\": \"ab\\\\u0000\", \"lone\": \"\uFFFD \uFFFD 😀 é\"}")
	if got := logged(hook); strings.Count(got, "stripped the character U+0000") != 2 || !strings.Contains(got, "column=o") || !strings.Contains(got, "column=flow_document") {
		t.Errorf("logged %s", got)
	}
}

// Values that no column of the type can hold end the transaction with a sentence; what was committed before stays.
func TestTypes_RefuseInOneSentence(t *testing.T) {
	s := newSite(t, 15)
	for _, x := range []struct{ types, json, want string }{
		{"integer", `9223372036854775808`, `value "9223372036854775808" is out of range`},
		{"integer", `1.5`, `it is no integer; it starts with "1.5"`},
		{"integer", `1e-1`, `it is no integer`},
		{"integer", `1e400`, `beyond 64 bits`},
		{"number", `1e400`, `beyond the range of double precision; it starts with "1e400"`},
		{"number", strings.Repeat("9", 400), `beyond the range`},
		{"string:date", `"2024-13-01"`, `2024-13-01`},
		{"string:date", `"2024-02-30"`, `2024-02-30`},
		{"string:date-time", `"yesterday'"`, `no date or time`}, // PostgreSQL knows the word
		{"string:date", `"now"`, `no date or time`},
		{"string:time", `"allballs"`, `no date or time`},
		{"string:uuid", `"no\ttab"`, `invalid input syntax for type uuid`},
		{"string:number", `"1,5"`, `"1,5"`},
		{"string:base64", `"%%%"`, `it is no base64`},
		{"string:base64", `17`, `it is no string in base64`},
	} {
		b := bind("samples", 1, "id integer!", `odd "field" `+x.types)
		b.Collection.Projections[1].Field, b.Collection.Projections[1].Pointer, b.Fields.Values = `odd "field"`, "/v", []string{`odd "field"`}
		p := field("x " + x.types)
		b.Collection.Projections[1].Inference = p.Inference
		s.apply(nil, b)
		r := s.open(b)
		r.commit(`{"txn":1}`, `{"id":1}`)
		err := r.store(put{0, `{"id":2}`}, put{0, `{"id":3,"v":` + x.json + `}`}, put{0, `{"id":4}`})
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "acme/samples") || !strings.Contains(err.Error(), `odd \"field\"`) {
			t.Errorf("%s, %s: got %v", x.types, x.json, err)
		}
		equal(t, "rows", s.query(`SELECT id FROM lake.samples`), "1")
		equal(t, "checkpoint", string(s.open(b).opened.Checkpoint.JSON), `{"txn":1}`)
		_ = r.tr.Close()
		s.exec(`DROP TABLE lake.samples`)
	}
}

func TestTypes_OfExistingColumns(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.AdoptTables, s.config.Advanced.NoFlowDocument = true, true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `SET ROLE $role; CREATE TABLE lake.legacy (id int PRIMARY KEY, small smallint, name varchar(10), u text, j jsonb, ts timestamp, d text, n numeric(10,2), mine text DEFAULT 'x')`)
	// bug materializations 45: estuary/connectors history: integer columns of 4 bytes were refused
	b := bind("legacy", 1, "id integer!", "small integer", "name string", "u string:uuid", "j object", "ts string:date-time", "d string:date", "n number")
	if steps := s.apply(nil, b); len(steps) != 1 || !strings.Contains(steps[0], "flow_checkpoints_v1") {
		t.Errorf("the table is changed: %q", steps)
	}
	r := s.open(b)
	doc := `{"id":1,"small":-3,"name":"abc","u":"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11","j":{"b":"\u0000"},"ts":"2024-01-15T14:30:00Z","d":"0000-01-01","n":12.5}`
	r.commit(`{}`, doc, `{"id":2}`)
	equal(t, "row", s.query(`SELECT * FROM lake.legacy WHERE id = 1`), `1 -3 abc A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11 {"b": ""} 2024-01-15 14:30:00 0000-01-01 12.50 x`)
	equal(t, "loaded", r.load(put{0, doc}), []string{`0 {"id":1,"small":-3,"name":"abc","u":"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11","j":{"b": ""},"ts":"2024-01-15T14:30:00Z","d":"0000-01-01","n":12.50}`})
	err := r.store(put{0, `{"id":3,"name":"longer than ten"}`})
	if err == nil || !strings.Contains(err.Error(), `"name"`) || !strings.Contains(err.Error(), "too long for type character varying(10)") {
		t.Errorf("got %v", err)
	}
}

func TestTypes_Keys(t *testing.T) {
	s := newSite(t, 15)
	b := bind("keys", 6, "a string:date!", "b boolean!", "c integer!", "d string!", "e integer,string!", "f string:number!", "n integer")
	s.config.Advanced.NoFlowDocument = true
	s.apply(nil, b)
	r := s.open(b)
	keys := []string{
		`"a":"0000-01-01","b":true,"c":-5,"d":"x","e":1,"f":"1.0"`,
		`"a":"0000-01-01","b":true,"c":-5,"d":"x","e":"1","f":"1.0"`,
		`"a":"0000-01-01","b":true,"c":-5,"d":"x","e":1,"f":"1.00"`,
		`"a":"0000-01-01","b":false,"c":-5,"d":"X","e":1,"f":"NaN"`,
		`"a":"2024-01-01","b":false,"c":-5,"d":"trailing ","e":1,"f":"NaN"`,
		`"a":"2024-01-01","b":false,"c":-5,"d":"trailing","e":1,"f":"NaN"`,
		`"a":"2024-01-01","b":false,"c":-5,"d":"á","e":1,"f":"NaN"`,
		"\"a\":\"2024-01-01\",\"b\":false,\"c\":-5,\"d\":\"a\u0301\",\"e\":1,\"f\":\"NaN\"", // the same letter, composed otherwise
		"\"a\":\"2024-01-01\",\"b\":false,\"c\":-5,\"d\":\"a\u200b\",\"e\":1,\"f\":\"NaN\"",
		`"a":"2024-01-01","b":false,"c":-5,"d":"q\"b\\n\nt\t","e":1,"f":"NaN"`,
		`"a":"2024-01-01","b":false,"c":-5,"d":"` + strings.Repeat("k", 2000) + `","e":"\\","f":"NaN"`,
	}
	var first, second, want []string
	for i, k := range keys {
		first = append(first, fmt.Sprintf(`{%s,"n":%d}`, k, i))
		second = append(second, fmt.Sprintf(`+{%s,"n":%d}`, k, i+100))
	}
	r.commit(`{}`, first...)
	r.commit(`{}`, second...)
	equal(t, "rows", s.query(`SELECT count(*), sum(n) FROM lake.keys`), fmt.Sprint(len(keys), " ", 100*len(keys)+len(keys)*(len(keys)-1)/2))
	var puts []put
	for i, k := range keys {
		puts = append(puts, put{0, first[i]})
		want = append(want, fmt.Sprintf(`0 {%s,"n":%d}`, k, i+100))
	}
	got := r.load(puts...)
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("missing: %s\ngot %s", w, strings.Join(got, "\n"))
		}
	}
	equal(t, "loaded", len(got), len(want))

	err := r.store(put{0, `{"a":"x","b":true,"c":1,"d":"nul \u0000","e":1,"f":"1"}`})
	if err == nil || !strings.Contains(err.Error(), `field "d"`) || !strings.Contains(err.Error(), "U+0000") {
		t.Errorf("a zero byte in a key: %v", err)
	}
}

// bug materializations 27: estuary/connectors history: nulls in keys were accepted and broke joins later
func TestTypes_KeyWithoutAValue(t *testing.T) {
	s := newSite(t, 15)
	b := bind("keys", 2, "a integer,null!", "b string!", "flow_document")
	b.Collection.Projections[0].Types = []string{"integer", "null"}
	s.apply(nil, b)
	r := s.open(b)
	for _, doc := range []string{`{"a":null,"b":"x"}`, `{"b":"x"}`} {
		err := r.store(put{0, doc})
		if err == nil || !strings.Contains(err.Error(), "acme/keys") || !strings.Contains(err.Error(), "/a") {
			t.Errorf("%s: got %v", doc, err)
		}
		r = s.open(b)
	}
}

func TestTypes_OnNulRefuse(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.OnNul = "refuse"
	b := bind("texts", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	err := r.store(put{0, `{"id":1,"v":"a\u0000b"}`})
	if err == nil || !strings.Contains(err.Error(), `field "v"`) || !strings.Contains(err.Error(), "advanced.on_nul") {
		t.Errorf("got %v", err)
	}
}

func TestTypes_OnNulCounts(t *testing.T) {
	s := newSite(t, 15)
	hook := listen(t)
	b := delta(bind("texts", 0, "v string"))
	s.apply(nil, b)
	r := s.open(b)
	var docs []string
	for range 11 {
		docs = append(docs, `{"v":"a\u0000b"}`)
	}
	r.commit(`{}`, docs...)
	got := logged(hook)
	if strings.Count(got, "stripped") != 2 || !strings.Contains(got, "values=1 ") && !strings.Contains(got, "values=1\n") || !strings.Contains(got, "values=10") {
		t.Errorf("logged %s", got)
	}
	equal(t, "rows", s.query(`SELECT v, count(*) FROM lake.texts GROUP BY v`), "ab 11")
}

// bug materializations 40: estuary/connectors history: numbers spelled by strings became floats as keys
func TestTypes_OfKeys(t *testing.T) {
	rules := types{json: "json"}
	for _, s := range shapes {
		switch name := rules.Type(s.shape, true); name {
		case "json", "double precision", "real", "date", "interval", "timestamp with time zone":
			t.Errorf("keys of %s have type %s, in which two values are one, or which has no equality", s.say, name)
		}
	}
}

func TestHostileDocuments(t *testing.T) {
	s := newSite(t, 15)
	fields := []string{"id integer!", "name string"}
	var wide strings.Builder
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf("c%d string", i))
		fmt.Fprintf(&wide, `,"c%d":"%d"`, i, i)
	}
	fields = append(fields, " string", "ctid string", "big string", "flow_document")
	b := bind("hostile", 1, fields...)
	rebuilt := bind("rebuilt", 1, fields[:len(fields)-1]...)
	s.apply(nil, b, rebuilt)
	r := s.open(b, rebuilt)
	big := strings.Repeat("x\\\\", 8<<20)
	docs := []string{
		`{"id":1,"name":"a\u0000b","lone":"\ud800"}`,
		`{"id":2,"deep":` + strings.Repeat(`[{"d":`, 50) + "1" + strings.Repeat("}]", 50) + `}`,
		`{"id":3` + wide.String() + `}`,
		`{"id":4,"":"empty name","ctid":"taken"}`,
		`{"id":5,"big":"` + big + `"}`,
		`{"id":6,"two":1,"two":2}`,
	}
	for i, d := range docs {
		r.commitAll(fmt.Sprintf(`{"txn":%d}`, i), put{0, d}, put{1, d})
		equal(t, d[:8], r.load(put{0, d}), []string{"0 " + d})
	}
	equal(t, "columns", s.query(`SELECT id, name, c999, "_", "ctid_", length(big) FROM lake.hostile ORDER BY id`), fmt.Sprintf(`1 ab \N \N \N \N
2 \N \N \N \N \N
3 \N 999 \N \N \N
4 \N \N empty name taken \N
5 \N \N \N \N %d
6 \N \N \N \N \N`, 16<<20))
	equal(t, "rebuilt", r.load(put{1, docs[2]}, put{1, docs[3]}), []string{"1 " + docs[2], "1 " + docs[3]})
	if got := r.load(put{1, docs[4]}); len(got) != 1 || got[0] != "1 "+docs[4] {
		t.Errorf("the large string comes back in %d documents", len(got))
	}
}

// listen gathers what is logged while the test runs.
func listen(t *testing.T) *logtest.Hook {
	t.Helper()
	hook := new(logtest.Hook)
	old := log.StandardLogger().ReplaceHooks(log.LevelHooks{})
	log.AddHook(hook)
	t.Cleanup(func() { log.StandardLogger().ReplaceHooks(old) })
	return hook
}

// logged are the lines so far, with their fields.
func logged(hook *logtest.Hook) string {
	var b strings.Builder
	for _, e := range hook.AllEntries() {
		text, err := e.String()
		if err != nil {
			text = err.Error()
		}
		b.WriteString(text)
	}
	return b.String()
}

// Dates as keys are text, which holds every one. Where a user has made a date of the column, two that would become one are refused, not merged.
func TestTypes_DatesAsKeys(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "day string:date!", "flow_document")
	s.apply(nil, b)
	odd := []string{`{"day":"0000-02-29"}`, `{"day":"0000-02-28"}`, `{"day":"12024-01-01"}`, `{"day":"12025-01-01"}`}
	r := s.open(b)
	r.commit(`{}`, odd...)
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "4")
	_ = r.tr.Close()
	s.exec(`DELETE FROM lake.t`, `ALTER TABLE lake.t ALTER COLUMN day TYPE date USING day::date`)
	for _, doc := range odd {
		r = s.open(b)
		err := r.store(put{0, doc})
		_ = r.tr.Close()
		problemOf(t, err, "a document of acme/t", `field "day"`, "another key", `it starts with "\"`+doc[8:13])
	}
	r = s.open(b)
	r.commit(`{}`, `{"day":"2024-01-01"}`)
	equal(t, "rows", s.query(`SELECT day FROM lake.t`), "2024-01-01")
}
