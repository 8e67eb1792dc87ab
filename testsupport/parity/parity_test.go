package parity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var extensions = []string{"hstore", "citext", "ltree", "cube", "seg", "isn"}

var versions = []int{15, 17, 18}

// A value prints the same in the backfill and from the log, as the table promises, whatever the role's settings are; after the backfill the right to
// read the table is not needed any more.
//
// bug sql-cdc 69: estuary/connectors, a datestyle or extra_float_digits of the role changed what came from replication.
func TestValues_AreTheSameFromScanAndLog(t *testing.T) {
	for _, version := range versions {
		t.Run(fmt.Sprint("PostgreSQL ", version), func(t *testing.T) { sameValues(t, version) })
	}
}

func column(i int) string { return fmt.Sprintf("c%03d", i) }

// framed tells whether a table of such columns is read in binary form: the type's output function can be called by name.
func (v value) framed() bool {
	return v.extension == "" && v.typ != "mood_domain" && v.typ != "item_domain" && v.typ != "range_domain"
}

// builtin are the columns of such types.
func builtin() string {
	names := "k"
	for i, v := range values {
		if v.framed() {
			names += ", " + column(i)
		}
	}
	return names
}

func insert(k int) string {
	var columns, expressions []string
	for i, v := range values {
		columns = append(columns, column(i))
		expressions = append(expressions, v.sql)
	}
	return fmt.Sprintf("INSERT INTO public.everything (k, %s) VALUES (%d, %s)", strings.Join(columns, ", "), k, strings.Join(expressions, ", "))
}

func sameValues(t *testing.T, version int) {
	var statements, definitions []string
	for _, name := range extensions {
		statements = append(statements, "CREATE EXTENSION "+name)
	}
	for i, v := range values {
		definitions = append(definitions, column(i)+" "+v.typ)
	}
	p := newPlace(t, version, map[string]any{}, append(statements, ownTypes,
		"CREATE TABLE public.everything (k int PRIMARY KEY, "+strings.Join(definitions, ", ")+")",
		// PostgreSQL 18 refuses to update a published table whose replica identity is full and that has a generated column.
		"CREATE TABLE public.generated (k int PRIMARY KEY, made int GENERATED ALWAYS AS (k * 2) STORED); INSERT INTO public.generated VALUES (1)",
		"ALTER TABLE public.everything REPLICA IDENTITY FULL",
		insert(1), "INSERT INTO public.everything (k) VALUES (2)", "ALTER TABLE public.everything ALTER "+column(serial(t))+" DROP NOT NULL",
		"UPDATE public.everything SET "+column(serial(t))+" = NULL WHERE k = 2",
		"CREATE TABLE public.builtin AS SELECT "+builtin()+" FROM public.everything", "ALTER TABLE public.builtin ADD PRIMARY KEY (k)")...)
	schemas := map[string]map[string]stream{"Airbyte": p.airbyte(), "Flow": p.flow()}
	for what, streams := range schemas {
		if made := streams["generated"].names; len(made) == 0 || slices.Contains(made, "made") {
			t.Errorf("%s's schema has %v: the log leaves a generated column out", what, made)
		}
		for i := range values {
			if !slices.Contains(streams["everything"].names, column(i)) {
				t.Errorf("%s's schema lacks the column of type %s", what, values[i].typ)
			}
		}
	}
	r := p.read(nil, "--tail")
	r.await("the end of the backfills", func() bool { return r.active("everything") && r.active("builtin") && r.active("generated") })
	p.exec("REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM "+p.role,
		"INSERT INTO public.generated VALUES (2)", insert(3), "INSERT INTO public.everything (k) VALUES (4)", "UPDATE public.everything SET "+column(serial(t))+" = NULL WHERE k = 4",
		"UPDATE public.everything SET "+column(0)+" = false WHERE k = 1", "DELETE FROM public.everything WHERE k = 3", "DELETE FROM public.everything WHERE k = 4")
	key := func(k, op string, snapshot bool) func(record) bool {
		return func(rec record) bool {
			return rec.stream == "everything" && string(rec.columns["k"]) == k && rec.op == op && rec.snapshot == snapshot
		}
	}
	r.await("the last change", func() bool { return slices.ContainsFunc(r.records, key("4", "d", false)) })
	if err := r.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if exit := r.Finished(); exit.Code != 0 {
		t.Errorf("code %d: %v", exit.Code, r.logs)
	}
	scanned, empty := r.find("the scanned row", key("1", "c", true)), r.find("the scanned row of NULLs", key("2", "c", true))
	logged, emptied := r.find("the logged row", key("3", "c", false)), r.find("the logged row of NULLs", key("4", "u", false))
	// A table without a type of an extension, and without a domain over an enum, is read in another form.
	framed := r.find("the scanned row of builtin types", func(rec record) bool { return rec.stream == "builtin" && string(rec.columns["k"]) == "1" })
	framedEmpty := r.find("the scanned row of NULLs of builtin types", func(rec record) bool { return rec.stream == "builtin" && string(rec.columns["k"]) == "2" })
	updated, deleted := r.find("the update", key("1", "u", false)), r.find("the deletion", key("3", "d", false))
	for i, v := range values {
		name := column(i)
		from := func(rec record) string { return string(rec.columns[name]) }
		if from(scanned) != from(logged) {
			t.Errorf("%s %s: %s from the scan, %s from the log", v.typ, v.sql, from(scanned), from(logged))
		}
		if from(scanned) != v.json {
			t.Errorf("%s %s: printed as %s, promised is %s", v.typ, v.sql, from(scanned), v.json)
		}
		if v.framed() && (from(framed) != v.json || from(framedEmpty) != "null") {
			t.Errorf("%s %s: printed as %s, NULL as %s, from a table without types of extensions; promised is %s", v.typ, v.sql, from(framed), from(framedEmpty), v.json)
		}
		if i > 0 && (from(updated) != v.json || from(deleted) != v.json) {
			t.Errorf("%s %s: an update prints %s, a deletion %s", v.typ, v.sql, from(updated), from(deleted))
		}
		if from(empty) != "null" || from(emptied) != "null" {
			t.Errorf("%s NULL: %s from the scan, %s from the log", v.typ, from(empty), from(emptied))
		}
	}
	if before := part(t, updated.columns["_meta"], "before"); string(before[column(0)]) != "true" || string(before["k"]) != "1" {
		t.Errorf("before of the update: %s", updated.columns["_meta"])
	}
	for _, rec := range r.records {
		what := fmt.Sprintf("a document of %s with key %s, operation %s, snapshot %v, under the schema of ", rec.stream, rec.columns["k"], rec.op, rec.snapshot)
		for of, streams := range schemas {
			valid(t, what+of, streams[rec.stream].schema, rec.data)
		}
		if _, ok := rec.columns["made"]; ok {
			t.Errorf("a document has the generated column: %.300s", rec.data)
		}
	}
	if n := len(r.of("generated")); n != 2 {
		t.Errorf("%d documents of the table with a generated column, want one from the scan and one from the log", n)
	}
}

// serial is the index of the value whose column does not take NULL by itself.
func serial(t *testing.T) int {
	t.Helper()
	for i, v := range values {
		if v.typ == "serial" {
			return i
		}
	}
	t.Fatal("no value of type serial")
	return 0
}

func part(t *testing.T, document json.RawMessage, name string) map[string]json.RawMessage {
	t.Helper()
	var members, inner map[string]json.RawMessage
	if err := json.Unmarshal(document, &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members[name], &inner); err != nil {
		t.Fatalf("%s of %s: %v", name, document, err)
	}
	return inner
}
