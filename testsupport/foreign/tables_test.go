package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"
)

// newest leaves of each key the last record.
func newest(h held) []json.RawMessage {
	last := map[string]json.RawMessage{}
	for _, r := range h.Records {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(r, &members) // written by this package
		key := ""
		for _, path := range h.Key {
			key += string(members[path[0]]) + "|"
		}
		last[key] = r
	}
	return slices.Collect(maps.Values(last))
}

// same compares the rows of a table with records, in any order: each declared column, and the document as a whole where the table has it.
func same(t *testing.T, conn *pgx.Conn, table string, h held, records []json.RawMessage) {
	t.Helper()
	if diff := differences(t, conn, table, h, records); diff != "" {
		t.Errorf("table %s is not what the source holds:\n%s", table, diff)
	}
}

func differences(t *testing.T, conn *pgx.Conn, table string, h held, records []json.RawMessage) string {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Format string }
	}
	if err := json.Unmarshal(h.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, r := range records {
		whole := canonical(t, r)
		members, _ := whole.(map[string]any)
		row := "document " + render(members)
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			row += "\n  " + name + " " + column(schema.Properties[name].Format, members[name])
		}
		times[row]++
	}
	rows, err := conn.Query(t.Context(), "SELECT row_to_json(t)::text FROM "+table+" t")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		members, _ := canonical(t, []byte(text)).(map[string]any)
		document, _ := members["flow_document"].(map[string]any)
		maps.DeleteFunc(document, func(name string, _ any) bool { return strings.HasPrefix(name, "_airbyte_") })
		row := "document " + render(document)
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			row += "\n  " + name + " " + column(schema.Properties[name].Format, members[name])
		}
		times[row]--
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	var diff []string
	for row, n := range times {
		switch {
		case n > 0:
			diff = append(diff, fmt.Sprintf("missing %d times: %s", n, row))
		case n < 0:
			diff = append(diff, fmt.Sprintf("too much %d times: %s", -n, row))
		}
	}
	slices.Sort(diff)
	return strings.Join(diff[:min(len(diff), 6)], "\n")
}

// canonical is a JSON value in which equal numbers have equal texts.
func canonical(t *testing.T, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return plain(v)
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return "number " + r.RatString()
	case map[string]any:
		for name, value := range v {
			v[name] = plain(value)
		}
	case []any:
		for i, value := range v {
			v[i] = plain(value)
		}
	}
	return v
}

// column is a value as columns are compared: times by when they are.
func column(format string, v any) string {
	if s, ok := v.(string); ok && format == "date-time" {
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return render(v)
}

func render(v any) string {
	raw, _ := json.Marshal(v) // members are sorted
	return string(raw)
}
