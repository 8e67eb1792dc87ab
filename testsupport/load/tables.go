// Package load changes seven tables in every way there is, from several connections at once, and keeps a ledger of what was committed.
//
// Each row carries ver: a number that grows by one with every committed change of its key, its deletion and re-insertion included. Changes that are
// rolled back carry a negative ver, so that one that leaks out is seen at once. The ledger is written in the same transactions.
package load

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v4"
)

// Table is one of the seven.
type Table struct {
	Name    string   // without the schema
	Key     []string // key columns; of the keyless table: the column that tells rows apart for the tests
	Keyless bool

	types []string // of the key columns
	// values renders the n-th key, one SQL text form a key column.
	values func(n int) []string
}

// Tables are the seven: keys int, text of an ICU collation, text of collation C, uuid, numeric, (int, text), and none.
var Tables = []Table{
	{Name: "by_int", Key: []string{"k"}, types: []string{"bigint"}, values: func(n int) []string { return []string{fmt.Sprint(bigint(n))} }},
	{Name: "by_icu", Key: []string{"k"}, types: []string{`text COLLATE "en-x-icu"`}, values: func(n int) []string { return []string{word(n)} }},
	{Name: "by_c", Key: []string{"k"}, types: []string{`text COLLATE "C"`}, values: func(n int) []string { return []string{word(n)} }},
	{Name: "by_uuid", Key: []string{"k"}, types: []string{"uuid"}, values: func(n int) []string { return []string{spreadUUID(n)} }},
	{Name: "by_numeric", Key: []string{"k"}, types: []string{"numeric"}, values: func(n int) []string { return []string{decimal(n)} }},
	{Name: "by_pair", Key: []string{"a", "b"}, types: []string{"int", "text"}, values: func(n int) []string { return []string{fmt.Sprint(n % 5), word(n)} }},
	{Name: "by_none", Key: []string{"k"}, Keyless: true, types: []string{"bigint"}, values: func(n int) []string { return []string{fmt.Sprint(n)} }},
}

// Columns are the columns after the key, in order.
var Columns = []string{"ver", "word", "amount", "doc", "big", "at", "tags", "flag"}

// bigint is small for most n, and near either end of 64 bits for some: a float would make one key of two.
func bigint(n int) int64 {
	switch n % 9 {
	case 4:
		return math.MaxInt64 - int64(n)
	case 8:
		return math.MinInt64 + int64(n)
	}
	return int64(n*3 - 50)
}

// word renders keys whose order differs between collations: upper and lower case, accents, punctuation, digits.
func word(n int) string {
	stems := []string{"a", "A", "ä", "Z", "z", "_", "é", "e", "ß", "b-"}
	return fmt.Sprintf("%s%d%s", stems[n%len(stems)], n/len(stems), stems[(n/3)%len(stems)])
}

func spreadUUID(n int) string {
	h := uint64(n+1) * 0x9e3779b97f4a7c15
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(h>>32), uint16(h>>16), h&0xfff, (h>>12)&0xfff, uint64(n))
}

// decimal renders numbers of either sign, of many sizes, with and without a fraction.
func decimal(n int) string {
	sign := ""
	if n%3 == 0 {
		sign = "-"
	}
	switch n % 4 {
	case 0:
		return fmt.Sprintf("%s%d", sign, n+1)
	case 1:
		return fmt.Sprintf("%s%d.%03d", sign, n, n%1000)
	case 2:
		return fmt.Sprintf("%s0.000%d1", sign, n)
	}
	return fmt.Sprintf("%s%d000000000000000000000.5", sign, n)
}

// Create makes the seven tables and the ledger in a schema, which must exist.
func Create(ctx context.Context, conn *pgx.Conn, schema string) error {
	var sql strings.Builder
	for _, t := range Tables {
		name := schema + "." + t.Name
		fmt.Fprintf(&sql, "CREATE TABLE %s (", name)
		for i, column := range t.Key {
			fmt.Fprintf(&sql, "%s %s NOT NULL, ", column, t.types[i])
		}
		sql.WriteString("ver bigint NOT NULL, word text, amount numeric, doc jsonb, big text, at timestamptz, tags text[], flag boolean")
		if !t.Keyless {
			fmt.Fprintf(&sql, ", PRIMARY KEY (%s)", strings.Join(t.Key, ", "))
		}
		sql.WriteString(");\n")
		// EXTERNAL: no compression, so that a long value really leaves the row.
		fmt.Fprintf(&sql, "ALTER TABLE %s ALTER COLUMN big SET STORAGE EXTERNAL;\n", name)
		if t.Keyless {
			fmt.Fprintf(&sql, "CREATE INDEX ON %s (k);\nALTER TABLE %s REPLICA IDENTITY FULL;\n", name, name)
		}
	}
	fmt.Fprintf(&sql, "CREATE TABLE %s.ledger (seq bigserial PRIMARY KEY, tbl text NOT NULL, key text NOT NULL, ver bigint NOT NULL, op text NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id());\n", schema)
	if _, err := conn.Exec(ctx, sql.String()); err != nil {
		return fmt.Errorf("creating the tables of the load in schema %s: %w", schema, err)
	}
	return nil
}

// KeyText joins key values the way the ledger has them.
func KeyText(values ...string) string { return strings.Join(values, "|") }
