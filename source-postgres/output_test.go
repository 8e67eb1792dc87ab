package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/sqlcapture"
)

// outputTable makes a table of the samples that keep lets through, with a row of them and a row of NULLs.
func outputTable(t *testing.T, conn *pgx.Conn, name string, keep func(sample) bool) (*sqlcapture.Table, []sample) {
	t.Helper()
	table := &sqlcapture.Table{TableName: sqlcapture.TableName{Schema: "public", Name: name}}
	native := new(relation)
	var kept []sample
	var definitions, names, values []string
	for _, s := range samples {
		if !keep(s) {
			continue
		}
		names = append(names, fmt.Sprintf("c%d", len(kept)))
		definitions = append(definitions, names[len(kept)]+" "+s.typ)
		values = append(values, s.sql)
		kept = append(kept, s)
	}
	execute(t, conn, "CREATE TABLE "+name+" ("+strings.Join(definitions, ", ")+"); INSERT INTO "+name+" VALUES ("+strings.Join(values, ", ")+"); INSERT INTO "+name+" DEFAULT VALUES")
	for _, row := range wire(t, conn, "SELECT attname, atttypid FROM pg_attribute WHERE attrelid = 'public."+name+"'::regclass AND attnum > 0 ORDER BY attnum") {
		var oid uint32
		if _, err := fmt.Sscan(string(row[1]), &oid); err != nil {
			t.Fatal(err)
		}
		table.Columns = append(table.Columns, sqlcapture.Column{Name: string(row[0])})
		native.Columns = append(native.Columns, relationColumn{Name: string(row[0]), Type: oid})
	}
	table.Native = native
	return table, kept
}

// copied runs a COPY and returns its rows.
func copied(t *testing.T, conn *pgx.Conn, sql string) [][][]byte {
	t.Helper()
	settings, err := (&config{Address: fmt.Sprintf("%s:%d", conn.Config().Host, conn.Config().Port), User: conn.Config().User, Password: conn.Config().Password, Database: conn.Config().Database, Advanced: advanced{SSLMode: "disable"}}).pgConfig(false)
	if err != nil {
		t.Fatal(err)
	}
	own, err := pgwire.Connect(context.Background(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	if err := prepareRows(context.Background(), own); err != nil {
		t.Fatal(err)
	}
	r, err := own.CopyOut(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var rows [][][]byte
	for {
		fields, err := r.Next(nil)
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		row := make([][]byte, len(fields))
		for i, f := range fields {
			if f != nil {
				row[i] = append([]byte{}, f...)
			}
		}
		rows = append(rows, row)
	}
}

// What the output functions print, sent in binary form, is what COPY sends in text form, for every type that is not an extension's.
func TestTextColumns_PrintWhatTheTextFormPrints(t *testing.T) {
	conn := typedSession(t)
	types, err := loadTypes(context.Background(), conn, typeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ofExtension := func(s sample) bool {
		return slices.Contains([]string{"hstore", "citext", "ltree", "lquery", "ltxtquery", "isbn", "isbn13", "cube", "seg"}, s.typ)
	}
	table, kept := outputTable(t, conn, "builtin", func(s sample) bool { return !ofExtension(s) })
	values, options := types.textColumns(table)
	if !strings.Contains(options, "binary") {
		t.Fatalf("a table of builtin types is read by COPY (SELECT %s) %s", values, options)
	}
	binary, text := copied(t, conn, "COPY (SELECT "+values+" FROM public.builtin) TO STDOUT"+options), copied(t, conn, "COPY public.builtin TO STDOUT")
	if len(binary) != 2 || len(text) != 2 {
		t.Fatalf("%d rows in binary form, %d in text form, want 2", len(binary), len(text))
	}
	for i, s := range kept {
		if string(binary[0][i]) != s.wire || !bytes.Equal(binary[0][i], text[0][i]) {
			t.Errorf("%s %s: %q in binary form, %q in text form, the sample says %q", s.typ, s.sql, binary[0][i], text[0][i], s.wire)
		}
		if (binary[1][i] == nil) != (text[1][i] == nil) {
			t.Errorf("%s: NULL is %q in binary form, %q in text form", s.typ, binary[1][i], text[1][i])
		}
	}
	mixed, _ := outputTable(t, conn, "mixed", func(s sample) bool { return s.typ == "hstore" || s.typ == "int4" })
	if _, options := types.textColumns(mixed); options != "" {
		t.Errorf("a table with a type of an extension is read with%s", options)
	}
}

// An administrator may have taken the right to call functions away from everybody.
func TestTextColumns_WithoutTheRightToCallAFunction(t *testing.T) {
	conn := typedSession(t)
	execute(t, conn, `REVOKE EXECUTE ON FUNCTION pg_catalog.int4out(int4) FROM public; CREATE ROLE poor_`+conn.Config().Database)
	if _, err := conn.Exec(context.Background(), "SET ROLE poor_"+conn.Config().Database); err != nil {
		t.Fatal(err)
	}
	types, err := loadTypes(context.Background(), conn, typeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	table := func(oid uint32) *sqlcapture.Table {
		return &sqlcapture.Table{Columns: []sqlcapture.Column{{Name: "c"}}, Native: &relation{Columns: []relationColumn{{Name: "c", Type: oid}}}}
	}
	if values, options := types.textColumns(table(23)); values != `"c"` || options != "" {
		t.Errorf("an integer without the right to print it: %s%s", values, options)
	}
	if values, options := types.textColumns(table(20)); values != `pg_catalog."int8out"("c")` || options == "" {
		t.Errorf("a bigint: %s%s", values, options)
	}
	if values, options := types.textColumns(table(25)); values != `"c"` || options == "" {
		t.Errorf("a text: %s%s", values, options)
	}
	if values, options := types.textColumns(table(4294967295)); values != `"c"` || options != "" {
		t.Errorf("a type that is not known yet: %s%s", values, options)
	}
}
