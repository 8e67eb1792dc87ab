package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"
)

func TestCopyFields(t *testing.T) {
	got := copyFields([]byte(`1` + "\t" + `\N` + "\t" + `a\tb\\n\n` + "\t" + `{"x":"\\"q"}` + "\t"))
	want := []any{"1", nil, "a\tb\\n\n", `{"x":"\"q"}`, ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A row that is not there is not passed over: then there would be nothing to compare.
func TestBatchUpdates_EachRowOnce(t *testing.T) {
	b := smallBench(t)
	err := b.in(t.Context(), "postgres", func(conn *pgx.Conn) error {
		return execAll(t.Context(), conn, "CREATE TABLE few (id int PRIMARY KEY, word text, doc json)", "INSERT INTO few VALUES (1, 'a', '{}'), (2, 'b', '{}')")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range b.environment("postgres") {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	if err = batchUpdates([]string{"few", "id"}, strings.NewReader("1\tx\\ty\t{\"n\":1}\n2\t\\N\t{}\n")); err != nil {
		t.Fatal(err)
	}
	rows, err := b.cluster.Query("postgres", "SELECT string_agg(concat_ws('|', id, coalesce(word, 'NULL'), doc), ' ' ORDER BY id) FROM few")
	if err != nil || rows[0][0] != "1|x\ty|{\"n\":1} 2|NULL|{}" {
		t.Errorf("%q, %v", rows, err)
	}
	if err = batchUpdates([]string{"few", "id"}, strings.NewReader("3\tx\t{}\n")); err == nil || !strings.Contains(err.Error(), "changed 0 rows") {
		t.Errorf("an update of no row: %v", err)
	}
}
