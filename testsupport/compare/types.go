package compare

import (
	"bytes"
	"encoding/json"
	"strings"
)

// form is the pair of expressions for one type. {} stands for the column; both give the same text for the same value, NULL for NULL.
type form struct {
	source string
	sink   string
	// sinkText is for sink columns that hold the document's text: those of keys, where the formats have several spellings of one value. "": sink does.
	sinkText string
	// element is the JSON of an array's element. "": a string of source's text.
	element string
	// json: both sides are JSON text, whose spaces say nothing, and of which null cannot be told from no value.
	json bool
}

// asText is for everything whose text is its form on both sides.
var asText = form{source: "{}::text", sink: "{}::text"}

// The years that RFC 3339 can write end at 9999; what lies before the year 1 becomes the year 0 in a document, which PostgreSQL's own types write as the year 1.
const (
	documentDate      = `CASE WHEN {} < '0001-01-01' THEN '0000-01-01' WHEN {} > '9999-12-31' THEN '9999-12-31' ELSE {}::text END`
	documentTimestamp = `CASE WHEN {} < '0001-01-01' THEN '0000-01-01T00:00:00Z' WHEN {} >= '10000-01-01' THEN '9999-12-31T23:59:59Z'
		ELSE regexp_replace(to_char({}, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '\.?0+$', '') || 'Z' END`
	documentTime   = `CASE WHEN {} = '24:00' THEN '23:59:59.999999' ELSE {}::text END`
	documentTimeTZ = `regexp_replace(regexp_replace(regexp_replace(regexp_replace({}::text, '^24:00:00', '23:59:59.999999'),
		'([+-]\d\d:\d\d):\d\d$', '\1'), '([+-]\d\d)$', '\1:00'), '[+-]00:00$', 'Z')`
	atUTC = `({} AT TIME ZONE 'UTC')`
)

// yearOne writes the year 0 as a column of PostgreSQL's types has it.
func yearOne(expression string) string {
	return "regexp_replace(" + expression + ", '^0000-', '0001-')"
}

func in(outer, inner string) string { return strings.ReplaceAll(outer, "{}", inner) }

func rangeOf(bound string) string {
	return `CASE WHEN {} IS NULL THEN NULL WHEN isempty({}) THEN 'empty' ELSE CASE WHEN lower_inc({}) THEN '[' ELSE '(' END || coalesce(` + in(bound, "lower({})") + `, '') || ',' || coalesce(` +
		in(bound, "upper({})") + `, '') || CASE WHEN upper_inc({}) THEN ']' ELSE ')' END END`
}

var (
	number = form{source: "{}::text", sink: "{}::text", element: "to_jsonb({})"}
	float  = form{source: "{}::text::double precision::text", sink: "{}::text::double precision::text", element: "to_jsonb({}::text::double precision)"}
	anyDoc = form{source: "{}::text", sink: "{}::text", element: "{}::jsonb", json: true}
)

// forms by the name in pg_type. What is not here is asText: types whose text the documents carry.
var forms = map[string]form{
	"bool": number, "int2": number, "int4": number, "int8": number, "oid": number,
	"float4": float, "float8": float,
	"bpchar": {source: "CASE WHEN {} IS NOT NULL THEN format('%s', {}) END", sink: "{}::text"}, // a cast would cut the spaces off
	"bytea":  {source: "encode({}, 'hex')", sink: "encode({}, 'hex')", element: `to_jsonb(translate(encode({}, 'base64'), E'\n', ''))`},
	"date":   {source: yearOne(documentDate), sink: "{}::text", sinkText: yearOne("{}"), element: "to_jsonb(" + documentDate + ")"},
	"timestamp": {
		source: yearOne(documentTimestamp), sink: in(documentTimestamp, atUTC), sinkText: yearOne("{}"), element: "to_jsonb(" + documentTimestamp + ")",
	},
	"timestamptz": {
		source: yearOne(in(documentTimestamp, atUTC)), sink: in(documentTimestamp, atUTC), sinkText: yearOne("{}"), element: "to_jsonb(" + in(documentTimestamp, atUTC) + ")",
	},
	"time":      {source: documentTime, sink: "rtrim({}::text, 'Z')", element: "to_jsonb(" + documentTime + " || 'Z')"},
	"timetz":    {source: documentTimeTZ, sink: "{}::text"},
	"json":      anyDoc,
	"jsonb":     anyDoc,
	"inet":      {source: "host({}) || '/' || masklen({})", sink: "{}::text"},
	"hstore":    {source: "hstore_to_jsonb({})::text", sink: "{}::jsonb::text", element: "hstore_to_jsonb({})"},
	"tsrange":   {source: rangeOf(documentTimestamp), sink: "{}::text"},
	"tstzrange": {source: rangeOf(in(documentTimestamp, atUTC)), sink: "{}::text"},
}

// sessionSettings fix the text of types that depend on the session.
const sessionSettings = "SET intervalstyle = 'iso_8601'; SET datestyle = 'ISO'; SET timezone = 'UTC'; SET lc_monetary = 'C'; SET extra_float_digits = 1; SET bytea_output = 'hex'"

func formOf(typ string) form {
	if f, ok := forms[typ]; ok {
		return f
	}
	return asText
}

// arrayOf is the form of arrays: {"dimensions":[2,2],"elements":[1,2,3,4]} in a JSON column.
func arrayOf(f form) form {
	element := f.element
	if element == "" {
		element = "to_jsonb(" + f.source + ")"
	}
	element = "CASE WHEN u.e IS NULL THEN 'null' ELSE " + in(element, "u.e") + " END"
	return form{
		source: `CASE WHEN {} IS NOT NULL THEN jsonb_build_object(
			'dimensions', coalesce((SELECT jsonb_agg(array_length({}, d) ORDER BY d) FROM generate_series(1, array_ndims({})) AS d), '[]'),
			'elements', coalesce((SELECT jsonb_agg(` + element + ` ORDER BY u.n) FROM unnest({}) WITH ORDINALITY AS u (e, n)), '[]'))::text END`,
		sink: "{}::jsonb::text",
	}
}

// onSink is the sink's expression for a column of this type of the sink.
func (f form) onSink(live string) string {
	if live == "text" && f.sinkText != "" {
		return f.sinkText
	}
	return f.sink
}

// text is a value as it is compared.
func (f form) text(v *string) *string {
	if v == nil || !f.json {
		return v
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(*v)); err != nil {
		return v // json and jsonb are checked by the server; whatever this is, it is to differ
	}
	compact := b.String()
	if compact == "null" {
		return nil
	}
	return &compact
}
