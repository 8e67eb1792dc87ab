package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/sqlcapture"
)

// typeRow is what the rules need to know of a row of pg_type.
type typeRow struct {
	OID          uint32
	Schema, Name string
	// Kind is pg_type.typtype: b(ase), c(omposite), d(omain), e(num), m(ultirange), p(seudo), r(ange).
	Kind byte
	// Element is the type whose arrays these are, with the delimiter of its arrays; 0: not an array. (int2vector and oidvector are not.)
	Element   uint32
	Delimiter byte
	// Base and BaseTypmod are what a domain stands for.
	Base       uint32
	BaseTypmod int32
	// Subtype is the type of the bounds of a range or multirange.
	Subtype uint32
	// Output is the function that makes text of a value, if it lives in pg_catalog and the user may call it; else empty.
	Output string
}

// typesQuery asks for the whole of pg_type, whoever may use it. to_jsonb bridges the versions: multiranges came with 14.
const typesQuery = `
WITH ranges (oid, subtype) AS (
	SELECT rngtypid, rngsubtype FROM pg_catalog.pg_range
	UNION ALL
	SELECT (pg_catalog.to_jsonb(r)->>'rngmultitypid')::pg_catalog.oid, rngsubtype FROM pg_catalog.pg_range r
)
SELECT t.oid::int8, n.nspname::text, t.typname::text, t.typtype::text,
	coalesce(e.oid, 0)::int8, coalesce(e.typdelim, ',')::text,
	t.typbasetype::int8, t.typtypmod,
	coalesce(r.subtype, 0)::int8,
	coalesce((SELECT p.proname FROM pg_catalog.pg_proc p WHERE p.oid = t.typoutput AND p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
		AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')), '')::text
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid
LEFT JOIN ranges r ON r.oid = t.oid`

// typeOptions are the choices that a configuration leaves open.
type typeOptions struct {
	// ArrayFormat is object when empty.
	ArrayFormat arrayFormat
}

// typeTable knows the types of one database at one moment. It is never changed.
type typeTable struct {
	options typeOptions
	rows    map[uint32]typeRow
	// bytewise: text that the server compares byte by byte has the same order in UTF-8, in which we get it.
	bytewise bool
}

// loadTypes reads the types of the database.
func loadTypes(ctx context.Context, conn *pgx.Conn, options typeOptions) (*typeTable, error) {
	result, err := conn.Query(ctx, typesQuery)
	if err != nil {
		return nil, fmt.Errorf("reading the types of the database: %w", err)
	}
	defer result.Close()
	var rows []typeRow
	for result.Next() {
		var oid, element, base, subtype int64
		var kind, delimiter string
		var r typeRow
		if err := result.Scan(&oid, &r.Schema, &r.Name, &kind, &element, &delimiter, &base, &r.BaseTypmod, &subtype, &r.Output); err != nil {
			return nil, fmt.Errorf("reading the types of the database: %w", err)
		}
		r.OID, r.Element, r.Base, r.Subtype = uint32(oid), uint32(element), uint32(base), uint32(subtype)
		r.Kind, r.Delimiter = kind[0], delimiter[0]
		rows = append(rows, r)
	}
	if err := result.Err(); err != nil {
		return nil, fmt.Errorf("reading the types of the database: %w", err)
	}
	t := newTypeTable(rows, options)
	// Latin 1 has its characters in Unicode's order, ASCII of unknown extension comes unchanged; other encodings are re-ordered by the conversion.
	switch conn.PgConn().ParameterStatus("server_encoding") {
	case "UTF8", "LATIN1", "SQL_ASCII":
	default:
		t.bytewise = false
	}
	return t, nil
}

// newTypeTable makes a table from rows, for a database in UTF-8.
func newTypeTable(rows []typeRow, options typeOptions) *typeTable {
	t := &typeTable{options: options, rows: make(map[uint32]typeRow, len(rows)), bytewise: true}
	for _, r := range rows {
		t.rows[r.OID] = r
	}
	return t
}

// attribute is a column as pg_attribute describes it.
type attribute struct {
	Name    string
	OID     uint32
	Typmod  int32
	NotNull bool
	// BytewiseCollation: the column's collation compares bytes ("C", "POSIX", "ucs_basic", "pg_c_utf8").
	BytewiseCollation bool
}

// column is columnOf for the log's descriptions, which do not tell the collation.
func (t *typeTable) column(name string, oid uint32, typmod int32, notNull bool) (c sqlcapture.Column, known bool) {
	return t.columnOf(attribute{Name: name, OID: oid, Typmod: typmod, NotNull: notNull})
}

// columnOf applies the rules to a column. A type that is not known, because it is younger than the table, is taken as text; the caller then loads the
// table anew.
func (t *typeTable) columnOf(a attribute) (c sqlcapture.Column, known bool) {
	d := t.describe(a.OID, a.Typmod, 0)
	return sqlcapture.Column{
		Name:       a.Name,
		Type:       d.name,
		NotNull:    a.NotNull,
		Schema:     d.schema,
		AppendJSON: d.json,
		AppendKey:  d.key,
		Ordered:    d.key != nil && (d.order == anyway || d.order == byCollation && a.BytewiseCollation && t.bytewise),
	}, d.known
}

// description is a rule applied to one type.
type description struct {
	rule
	name  string
	known bool
}

// maxNesting bounds domains over arrays over domains; PostgreSQL itself lets them be nested.
const maxNesting = 32

// describe resolves domains and arrays. The type modifier of an array is that of its elements.
func (t *typeTable) describe(oid uint32, typmod int32, nesting int) description {
	row, ok := t.rows[oid]
	if !ok || nesting > maxNesting {
		return description{rule: otherRule, name: "type " + strconv.FormatUint(uint64(oid), 10)}
	}
	if row.Element != 0 {
		e := t.describe(row.Element, typmod, nesting+1)
		codec := array{row.Delimiter, e.json}
		return description{
			rule:  rule{schema: arraySchema(t.options.ArrayFormat, e.schema), json: codec.appender(t.options.ArrayFormat), key: keyText},
			name:  e.name + "[]",
			known: e.known,
		}
	}
	d := description{name: qualified(row), known: true}
	switch row.Kind {
	case 'd':
		base := t.describe(row.Base, row.BaseTypmod, nesting+1)
		d.rule, d.known = base.rule, base.known
	case 'e':
		d.rule = enumRule
	case 'c':
		d.rule = compositeRule
	case 'r', 'm':
		d.rule, d.known = t.rangeRule(row, nesting)
	case 'b':
		d.rule = baseRule(row)
		d.modify(row, typmod)
	default:
		d.rule = otherRule
	}
	return d
}

// rangeRule is that of a range or multirange.
func (t *typeTable) rangeRule(row typeRow, nesting int) (rule, bool) {
	bound := t.describe(row.Subtype, -1, nesting+1)
	r := rangeRule
	switch bound.schema.Format {
	case "date", "date-time":
		r.json = timeRange{bound.json}.appendRange
		if row.Kind == 'm' {
			r.json = timeRange{bound.json}.appendMultirange
		}
	}
	return r, bound.known
}

var rulesByName = func() map[string]rule {
	m := make(map[string]rule)
	for _, r := range rules {
		for _, name := range strings.Fields(r.names) {
			m[name] = r
		}
	}
	return m
}()

// baseRule finds the rule of a base type. Extensions may live in any schema, so the name decides; only a superuser can make a base type of such a name.
func baseRule(row typeRow) rule {
	if r, ok := rulesByName[row.Name]; ok {
		return r
	}
	return otherRule
}

// modify applies what the type modifier says, as format_type does.
func (d *description) modify(row typeRow, typmod int32) {
	const header = 4 // VARHDRSZ, which some modifiers include
	if row.Schema != "pg_catalog" || typmod < 0 {
		return
	}
	switch row.Name {
	case "varchar", "bpchar":
		d.schema.MaxLength = int(typmod - header)
		d.name += fmt.Sprintf("(%d)", typmod-header)
	case "bit", "varbit", "time", "timetz", "timestamp", "timestamptz":
		d.name += fmt.Sprintf("(%d)", typmod)
	case "numeric":
		precision, scale := (typmod-header)>>16&0xFFFF, (typmod-header)&0x7FF
		d.name += fmt.Sprintf("(%d,%d)", precision, scale^1024-1024) // 11 bits with sign
	}
}

// qualified is the name of a type, with its schema where that is not a usual one.
func qualified(row typeRow) string {
	if row.Schema == "pg_catalog" || row.Schema == "public" {
		return row.Name
	}
	return row.Schema + "." + row.Name
}

// operatorSchema is where the comparison operators of a type are found: the schema that its extension lives in, pg_catalog for all others. A session
// that does not search it may still find operators for citext, those of text, and so filters by another order than it sorts by.
func (t *typeTable) operatorSchema(oid uint32) string {
	row := t.rows[oid]
	for range maxNesting {
		switch {
		case row.Kind == 'd':
			row = t.rows[row.Base]
		case row.Element != 0 || row.Kind != 'b':
			return "pg_catalog" // anyarray, anyenum, anyrange, record
		default:
			return row.Schema
		}
	}
	return "pg_catalog"
}
