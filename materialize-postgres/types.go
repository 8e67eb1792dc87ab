package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/sqlsink"
)

// types are the rules of column types. A live type is what format_type prints.
type types struct {
	json string // the type of JSON columns
}

var columnTypes = map[sqlsink.Shape]string{
	sqlsink.Boolean:       "boolean",
	sqlsink.Integer:       "bigint",
	sqlsink.BigInteger:    "numeric",
	sqlsink.Number:        "double precision",
	sqlsink.Float:         "double precision",
	sqlsink.IntegerString: "numeric",
	sqlsink.DecimalString: "numeric",
	sqlsink.Text:          "text",
	sqlsink.Date:          "date",
	sqlsink.DateTime:      "timestamp with time zone",
	sqlsink.Time:          "time without time zone",
	sqlsink.Duration:      "interval",
	sqlsink.UUID:          "uuid",
	sqlsink.IP:            "inet",
	sqlsink.MAC:           "macaddr",
	sqlsink.MAC8:          "macaddr8",
	sqlsink.Binary:        "bytea",
}

// Type is the type of a new column. In a key two values must be one exactly when they are equal JSON, so formats that have several spellings of one value stay text.
func (t types) Type(s sqlsink.Shape, key bool) string {
	if !key {
		if name, ok := columnTypes[s]; ok {
			return name
		}
		return t.json
	}
	switch s {
	case sqlsink.Boolean, sqlsink.Integer, sqlsink.BigInteger, sqlsink.UUID, sqlsink.Binary:
		return columnTypes[s]
	case sqlsink.Number:
		return "numeric"
	case sqlsink.Object, sqlsink.Array, sqlsink.Multiple:
		return "jsonb" // json has no equality
	default:
		return "text"
	}
}

// base is a type without its modifier: "character varying" of "character varying(20)", "timestamp with time zone" of "timestamp(3) with time zone".
func base(live string) string {
	open := strings.IndexByte(live, '(')
	if open < 0 {
		return live
	}
	end := strings.IndexByte(live[open:], ')')
	if end < 0 {
		return live
	}
	return live[:open] + live[open+end+1:]
}

var (
	integers = []string{"bigint", "integer", "smallint"}
	texts    = []string{"text", "character varying"}
	jsons    = []string{"json", "jsonb"}
)

// Holds tells whether a live column takes the values of a shape: ones that a user has made narrower (varchar for text) count, and refuse single values.
func (t types) Holds(live string, s sqlsink.Shape, key bool) bool {
	b := base(live)
	if b == t.Type(s, key) {
		return true
	}
	is := func(names ...string) bool { return slices.Contains(names, b) }
	text := is(texts...)
	if key {
		switch s {
		case sqlsink.Integer:
			return is(integers...) || is("numeric")
		case sqlsink.Text:
			return text
		default:
			return text && s.IsString()
		}
	}
	switch s {
	case sqlsink.Integer:
		return is(integers...) || is("numeric")
	case sqlsink.Number, sqlsink.Float:
		return is("numeric", "real")
	case sqlsink.Text:
		return text || is("character", "citext")
	case sqlsink.DateTime:
		return text || is("timestamp without time zone")
	case sqlsink.Time:
		return text || is("time with time zone")
	case sqlsink.IP:
		return text || is("cidr")
	case sqlsink.Object, sqlsink.Array, sqlsink.Multiple:
		return is(jsons...)
	default:
		return text && s.IsString()
	}
}

// parseFunction makes JSON of a text column. Documents that were once turned into text become documents again, everything else a JSON string.
const parseFunction = "pg_temp.flow_parse_json"

const createParseFunction = `CREATE OR REPLACE FUNCTION pg_temp.flow_parse_json(t text) RETURNS json LANGUAGE plpgsql AS $flow$
BEGIN
	IF t ~ '^\s*[{[]' THEN RETURN t::json; END IF;
	RETURN to_json(t);
EXCEPTION WHEN others THEN
	RETURN to_json(t);
END $flow$`

// Cast converts a live column to a type that can hold every value of the live one.
func (t types) Cast(live, wanted, column string) (string, bool) {
	b := base(live)
	isJSON := slices.Contains(jsons, b)
	isText := slices.Contains(texts, b) || b == "character" || b == "citext"
	switch wanted {
	case "numeric":
		return column + "::numeric", slices.Contains(integers, b)
	case "double precision":
		return column + "::double precision", slices.Contains(integers, b) || b == "real"
	case "bigint":
		return column + "::bigint", b == "integer" || b == "smallint"
	case "text":
		switch b {
		case "json", "jsonb":
			return column + " #>> '{}'", true
		case "bytea":
			// encode breaks lines at 76 characters.
			return fmt.Sprintf(`replace(encode(%s, 'base64'), E'\n', '')`, column), true
		case "timestamp with time zone":
			return isoTimestamp(column + " AT TIME ZONE 'UTC'"), true
		case "timestamp without time zone":
			return isoTimestamp(column), true
		case "time without time zone":
			return column + "::text || 'Z'", true
		case "bigint", "integer", "smallint", "numeric", "double precision", "real", "boolean", "date", "interval", "uuid", "macaddr", "macaddr8", "cidr", "character varying", "character", "citext":
			return column + "::text", true
		case "inet":
			return fmt.Sprintf("CASE WHEN masklen(%[1]s) = CASE family(%[1]s) WHEN 4 THEN 32 ELSE 128 END THEN host(%[1]s) ELSE %[1]s::text END", column), true
		}
	case "json", "jsonb":
		switch {
		case isJSON:
			return column + "::" + wanted, wanted == "json" // json to jsonb may meet escapes that jsonb refuses
		case isText && wanted == "json":
			return parseFunction + "(" + column + "::text)", true
		case isText: // jsonb refuses some texts
			return "", false
		}
		switch b {
		case "bigint", "integer", "smallint", "numeric", "double precision", "real", "boolean":
			return "to_" + wanted + "(" + column + ")", true
		}
		if expr, ok := t.Cast(live, "text", column); ok {
			return "to_" + wanted + "(" + expr + ")", true
		}
	}
	return "", false
}

// isoTimestamp renders a timestamp in UTC as the documents have it. Infinity has no such form.
func isoTimestamp(timestamp string) string {
	return fmt.Sprintf(`CASE WHEN isfinite(%[1]s) THEN (to_json(%[1]s) #>> '{}') || 'Z' ELSE (%[1]s)::text END`, timestamp)
}
