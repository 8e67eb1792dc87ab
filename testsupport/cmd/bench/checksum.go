package main

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // a checksum that the server can compute, too
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/fixture"
)

// checksum is of one column, in any order of its values: how many are not NULL, and the sum of the first 40 bits of their texts' MD5, which ten million
// of them do not overflow.
type checksum struct{ values, sum uint64 }

func (c *checksum) add(text []byte) {
	digest := md5.Sum(text) //nolint:gosec // see above
	c.values++
	c.sum += binary.BigEndian.Uint64(digest[:8]) >> 24
}

// checksums are of the columns of the fixture, in its order.
type checksums []checksum

func (c checksums) equal(want checksums) error {
	var all []error
	for i, name := range fixture.Columns {
		if c[i] != want[i] {
			all = append(all, fmt.Errorf("comparing column %s with the table: %d values with checksum %x, the server has %d with %x",
				name, c[i].values, c[i].sum, want[i].values, want[i].sum))
		}
	}
	return errors.Join(all...)
}

// canonical is the text of a document's value that serverText computes in SQL: strings without quotes and escapes, all else as it stands; of an array
// only its elements, since its dimensions follow.
func canonical(value json.RawMessage) (text []byte, null bool, err error) {
	switch {
	case len(value) == 0:
		return nil, false, errors.New("it is missing")
	case string(value) == "null":
		return nil, true, nil
	case value[0] == '"' && bytes.IndexByte(value, '\\') < 0:
		return value[1 : len(value)-1], false, nil
	case value[0] == '"':
		var s string
		err = json.Unmarshal(value, &s)
		return []byte(s), false, err
	case bytes.HasPrefix(value, []byte(`{"dimensions":`)):
		var array struct{ Elements json.RawMessage }
		err = json.Unmarshal(value, &array)
		return array.Elements, false, err
	}
	return value, false, nil
}

// serverText is the SQL expression of a column's canonical text. The fixture's attributes have no spaces but those that the server prints between members.
func serverText(column string) string {
	switch column {
	case "created_at", "updated_at":
		return "replace(btrim(to_json(" + column + `)::text, '"'), '+00:00', 'Z')`
	case "tags":
		return "array_to_json(tags)::text"
	case "attributes":
		return "replace(attributes::text, ' ', '')"
	case "active":
		return "CASE WHEN active THEN 'true' ELSE 'false' END"
	}
	return column + "::text"
}

// tableChecksums lets the server compute the checksums of the rows for which a condition is true.
func tableChecksums(ctx context.Context, conn *pgx.Conn, where string) (checksums, error) {
	var list []string
	sums := make(checksums, len(fixture.Columns))
	var into []any
	for i, column := range fixture.Columns {
		list = append(list, "count("+column+"), coalesce(sum(('x' || left(md5("+serverText(column)+"), 10))::bit(40)::bigint), 0)::text::bigint")
		into = append(into, &sums[i].values, &sums[i].sum)
	}
	query := "SELECT " + strings.Join(list, ", ") + " FROM " + table + " WHERE " + where
	if err := conn.QueryRow(ctx, query).Scan(into...); err != nil {
		return nil, fmt.Errorf("computing the table's checksums: %w", err)
	}
	return sums, nil
}
