package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pair is how one type is compared: an expression that the server evaluates, and what the emitted JSON is turned into. Both give the same text for the
// same value.
type pair struct {
	sql  string // with %s for the quoted column
	json func(json.RawMessage) (string, error)
	post func(string) (string, error) // applied to the server's text; nil: nothing
}

var (
	plain    = pair{sql: "%s::text", json: number}
	quoted   = pair{sql: "%s::text", json: str}
	jsonPair = pair{sql: "%s::text", json: canonicalJSON, post: func(s string) (string, error) { return canonicalJSON(json.RawMessage(s)) }}
	moment   = pair{sql: `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`, json: timestamp}
)

// pairs by the name that format_type gives, without a modifier.
var pairs = map[string]pair{
	"smallint": plain, "integer": plain, "bigint": plain, "oid": plain,
	"boolean":                  {sql: "%s::text", json: func(raw json.RawMessage) (string, error) { return string(raw), nil }},
	"text":                     quoted,
	"character varying":        quoted,
	"uuid":                     quoted,
	"numeric":                  quoted,
	"date":                     quoted,
	"double precision":         {sql: "%s::text", json: number, post: float},
	"jsonb":                    jsonPair,
	"json":                     jsonPair,
	"bytea":                    {sql: "translate(encode(%s, 'base64'), E'\\n', '')", json: str},
	"timestamp with time zone": moment,
	"timestamp without time zone": {
		sql: `to_char(%s, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`, json: timestamp,
	},
	"text[]":    {sql: "to_json(%s)::text", json: canonicalJSON, post: dimensions},
	"integer[]": {sql: "to_json(%s)::text", json: canonicalJSON, post: dimensions},
	"bigint[]":  {sql: "to_json(%s)::text", json: canonicalJSON, post: dimensions},
	"boolean[]": {sql: "to_json(%s)::text", json: canonicalJSON, post: dimensions},
	"uuid[]":    {sql: "to_json(%s)::text", json: canonicalJSON, post: dimensions},
}

func number(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] == '"' {
		return "", fmt.Errorf("%s is no JSON number", raw)
	}
	if bytes.ContainsAny(raw, ".eE") {
		return float(string(raw))
	}
	return string(raw), nil
}

// float makes 1e+100, 1E100 and 10…0 one text.
func float(s string) (string, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no number: %w", s, err)
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}

func str(raw json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%.100s is no JSON string", raw)
	}
	return s, nil
}

func timestamp(raw json.RawMessage) (string, error) {
	s, err := str(raw)
	if err != nil {
		return "", err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return "", fmt.Errorf("%q is no RFC 3339 time: %w", s, err)
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
}

// canonicalJSON sorts members and keeps numbers as they are written.
func canonicalJSON(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("%.100s is no JSON: %w", raw, err)
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// dimensions turns a nested JSON array into the form in which arrays are emitted: {"dimensions":[2,2],"elements":[1,2,3,4]}.
func dimensions(nested string) (string, error) {
	d := json.NewDecoder(strings.NewReader(nested))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("%.100s is no JSON: %w", nested, err)
	}
	sizes, elements := []int{}, []any{}
	for level := v; ; {
		list, ok := level.([]any)
		if !ok || len(list) == 0 {
			break
		}
		sizes = append(sizes, len(list))
		level = list[0]
	}
	var flatten func(any)
	flatten = func(v any) {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				flatten(item)
			}
			return
		}
		elements = append(elements, v)
	}
	flatten(v)
	text, err := json.Marshal(map[string]any{"dimensions": sizes, "elements": elements})
	return string(text), err
}
