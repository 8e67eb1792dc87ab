package main

import "github.com/estuary/connectors/protocol"

// appender and keyer are sqlcapture.Column's AppendJSON and AppendKey.
type (
	appender = func(dst, value []byte) ([]byte, error)
	keyer    = func(dst, value []byte) ([]byte, error)
)

// order tells whether the packed keys of a type come in the database's order.
type order uint8

const (
	noOrder     order = iota
	anyway            // whatever the column
	byCollation       // in columns whose collation compares bytes
)

// rule is how the values of some types are described, printed and packed.
type rule struct {
	// names of pg_type, separated by spaces.
	names  string
	schema protocol.Schema
	json   appender
	// key is nil for types that cannot be scanned by: those without < and >, and those whose text these do not take as a value of the type (composite
	// types, and reg*, which are compared as oid).
	key   keyer
	order order
}

var (
	boolean  = protocol.Schema{Types: []string{"boolean"}}
	integer  = protocol.Schema{Types: []string{"integer"}}
	text     = protocol.Schema{Types: []string{"string"}}
	anything = protocol.Schema{}
	// Strings only for NaN and the infinities; as decimal numbers always, since JSON readers round numbers.
	float   = protocol.Schema{Types: []string{"number", "string"}, Format: "number"}
	decimal = formatted("number")
	base64d = protocol.Schema{Types: []string{"string"}, ContentEncoding: "base64"}
	textMap = protocol.Schema{Types: []string{"object"}, Additional: &protocol.Schema{Types: []string{"string", "null"}}}
)

func formatted(format string) protocol.Schema {
	return protocol.Schema{Types: []string{"string"}, Format: format}
}

// rules lists the base types that PostgreSQL and its extensions come with. A base type that is not listed is text.
var rules = []rule{
	{"bool", boolean, appendBool, keyBool, anyway},
	{"int2 int4 int8 oid", integer, appendInteger, keyInteger, anyway},
	{"float4 float8", float, appendFloat, keyFloat, anyway},
	{"numeric", decimal, appendPlain, keyNumeric, anyway},
	{"money", text, appendString, keyText, noOrder},
	{"text varchar name", text, appendString, keyText, byCollation},
	{"bpchar", text, appendString, keyPadded, byCollation},
	{"char citext", text, appendString, keyText, noOrder},
	{"bytea", base64d, appendBytea, keyBytea, anyway},
	{"bit varbit", text, appendPlain, keyText, anyway},
	{"date", formatted("date"), appendDate, keyDate, anyway},
	{"timestamp", formatted("date-time"), appendTimestamp, keyDate, anyway},
	{"timestamptz", formatted("date-time"), appendTimestampTZ, keyDate, anyway},
	{"time", formatted("time"), appendTime, keyText, anyway},
	{"timetz", text, appendTimeTZ, keyText, noOrder},
	{"interval", text, appendString, keyText, noOrder},
	{"uuid", formatted("uuid"), appendPlain, keyUUID, anyway},
	{"json", anything, appendDocument, nil, noOrder},
	{"jsonb", anything, appendDocument, keyText, noOrder},
	{"xml jsonpath", text, appendString, nil, noOrder},
	{"tsvector tsquery", text, appendString, keyText, noOrder},
	{"inet", text, appendInet, keyText, noOrder},
	{"cidr", text, appendString, keyText, noOrder},
	{"macaddr macaddr8", text, appendString, keyText, anyway},
	{"point line lseg box path polygon circle", text, appendString, nil, noOrder},
	{"xid cid", text, appendString, nil, noOrder},
	{"xid8", text, appendString, keyInteger, anyway},
	{"pg_lsn tid oidvector", text, appendString, keyText, noOrder},
	{"int2vector pg_snapshot txid_snapshot aclitem refcursor", text, appendString, nil, noOrder},
	{"regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype", text, appendString, nil, noOrder},
	{"ltree isbn isbn13 ismn ismn13 issn issn13 ean13 upc cube seg", text, appendString, keyText, noOrder},
	{"lquery ltxtquery", text, appendString, nil, noOrder},
	{"hstore", textMap, appendHstore, nil, noOrder},
	{"geometry geography vector halfvec sparsevec", text, appendString, keyText, noOrder},
}

// The rules of the types that people define, by their kind.
var (
	enumRule      = rule{schema: text, json: appendString, key: keyText}
	compositeRule = rule{schema: text, json: appendString}
	rangeRule     = rule{schema: text, json: appendString, key: keyText}
	otherRule     = rule{schema: text, json: appendString, key: keyText}
)
