package pgwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgconn"
)

// copyRow renders values as a row, nil as NULL.
func copyRow(dst []byte, values ...[]byte) []byte {
	for i, v := range values {
		if i > 0 {
			dst = append(dst, '\t')
		}
		if v == nil {
			dst = append(dst, '\\', 'N')
		} else {
			dst = AppendCopyText(dst, v)
		}
	}
	return append(dst, '\n')
}

func code(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return fmt.Sprint(err)
}

func TestServer_CopyInTakesEveryValue(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), nil)
	mustExec(t, c, "CREATE TABLE t (id serial, a text, b text)")
	values := [][]byte{
		nil,
		{},
		[]byte(`\N`), []byte(`\.`), []byte("a\tb\nc\\d\r\b\f\v"), []byte("ü😀"), []byte("\\"), []byte("\t"), []byte("x\n"), []byte("12345678\\"), []byte("1234567\t9"),
		bytes.Repeat([]byte("y\\"), 150_000), // more than a message
	}
	var rows []byte
	for _, a := range values {
		for _, b := range values {
			rows = copyRow(rows, a, b)
		}
	}
	n, err := c.CopyIn(t.Context(), "COPY t (a, b) FROM STDIN", rows)
	if err != nil || n != int64(len(values)*len(values)) {
		t.Fatalf("got %d, %v", n, err)
	}
	r, err := c.CopyOut(t.Context(), "COPY (SELECT a, b FROM t ORDER BY id) TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	var fields [][]byte
	for i, a := range values {
		for j, b := range values {
			if fields, err = r.Next(fields); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(fields, [][]byte{a, b}) && !(bytes.Equal(fields[0], a) && bytes.Equal(fields[1], b) && (fields[0] == nil) == (a == nil) && (fields[1] == nil) == (b == nil)) {
				t.Fatalf("row %d, %d: got %.80q, want %.80q, %.80q", i, j, fields, a, b)
			}
		}
	}
	if _, err = r.Next(fields); err == nil {
		t.Error("there are more rows than were sent")
	}
	if n, err = c.CopyIn(t.Context(), "COPY t (a) FROM STDIN", nil); n != 0 || err != nil {
		t.Errorf("no rows: got %d, %v", n, err)
	}
}

func TestServer_CopyInBinary(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), nil)
	mustExec(t, c, "CREATE TABLE t (a text, b int2)")
	rows := []byte("\x00\x02\x00\x00\x00\x03x\ty\x00\x00\x00\x02\x00\x07" + "\x00\x02\xff\xff\xff\xff\x00\x00\x00\x02\xff\xff")
	const sql = "COPY t (a, b) FROM STDIN (FORMAT binary)"
	if n, err := c.CopyInBinary(t.Context(), sql, bytes.Repeat(rows, 50_000)); n != 100_000 || err != nil { // more than a message
		t.Fatalf("got %d, %v", n, err)
	}
	if n, err := c.CopyInBinary(t.Context(), sql, nil); n != 0 || err != nil {
		t.Errorf("no rows: got %d, %v", n, err)
	}
	if _, err := c.CopyInBinary(t.Context(), "COPY t (a, b) FROM STDIN", rows); err == nil || !strings.Contains(err.Error(), "rows in binary form were written") {
		t.Errorf("into a COPY in text form: %v", err)
	}
	if _, err := c.CopyInBinary(t.Context(), sql, rows[:10]); code(err) != "22P04" {
		t.Errorf("half a row: %v", err)
	}
	rowsOf := mustExec(t, c, `SELECT count(*)::text, sum(b)::text, string_agg(DISTINCT a, ',') FROM t`)
	if row := rowsOf[0]; row[0] != "100000" || row[1] != "300000" || row[2] != "x\ty" {
		t.Errorf("the table holds %s rows, %s, %q", row[0], row[1], row[2])
	}
}

// A refusal may come before the rows, among them, or after them; each leaves the connection usable.
func TestServer_CopyInIsRefused(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), nil)
	mustExec(t, c, "CREATE TABLE t (id int PRIMARY KEY, b text)")
	rows := copyRow(nil, []byte("1"), []byte("a"))
	many := bytes.Repeat(copyRow(nil, []byte("7"), bytes.Repeat([]byte("z"), 1000)), 20_000) // far more than the socket's buffers hold
	for _, x := range []struct {
		name, sql string
		rows      []byte
		want      string
	}{
		{"no table", "COPY nowhere FROM STDIN", many, "42P01"},
		{"no COPY", "SELECT 1", rows, "the statement is no COPY ... FROM STDIN"},
		{"binary", "COPY t FROM STDIN (FORMAT binary)", rows, "the statement copies in binary form, and rows in text form were written"},
		{"syntax", "COPY t FROM", many, "42601"},
		{"a value", "COPY t FROM STDIN", append(copyRow(nil, []byte("x"), nil), many...), "22P02"},
		{"a key twice", "COPY t FROM STDIN", many, "23505"},
		{"columns", "COPY t FROM STDIN", copyRow(nil, []byte("1"), nil, nil), "22P04"},
		{"a zero byte", "COPY t FROM STDIN\x00", rows, "a statement cannot hold a zero byte"},
	} {
		n, err := c.CopyIn(t.Context(), x.sql, x.rows)
		if code(err) != x.want && fmt.Sprint(err) != x.want {
			t.Errorf("%s: got %d, %v, want %s", x.name, n, err, x.want)
		}
		if got := mustExec(t, c, "SELECT count(*) FROM t")[0][0]; got != "0" {
			t.Errorf("%s: %s rows are there", x.name, got)
		}
	}

	// A savepoint before the COPY saves the transaction.
	mustExec(t, c, "BEGIN; INSERT INTO t VALUES (7, 'before')")
	if _, err := c.CopyIn(t.Context(), "SAVEPOINT s; COPY t FROM STDIN", many); code(err) != "23505" {
		t.Errorf("got %v", err)
	}
	if c.TxStatus() != 'E' {
		t.Errorf("the transaction's status is %q", c.TxStatus())
	}
	mustExec(t, c, "ROLLBACK TO s")
	if n, err := c.CopyIn(t.Context(), "SAVEPOINT s; COPY t FROM STDIN", rows); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	mustExec(t, c, "COMMIT")
	if got := mustExec(t, c, "SELECT string_agg(id::text, ',' ORDER BY id) FROM t")[0][0]; got != "1,7" {
		t.Errorf("got %s", got)
	}
}

func TestServer_CopyInSaysWhyTheSessionEnded(t *testing.T) {
	database := servers.Cluster(t, 15).NewDatabase(t)
	c, other := connect(t, database, nil), connect(t, database, nil)
	mustExec(t, c, "CREATE TABLE t (v text)")
	mustExec(t, other, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", c.PID()))
	many := bytes.Repeat(copyRow(nil, bytes.Repeat([]byte("z"), 1000)), 20_000)
	if _, err := c.CopyIn(t.Context(), "COPY t FROM STDIN", many); code(err) != "57P01" && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("got %v", err)
	}
	if _, err := c.CopyIn(t.Context(), "COPY t FROM STDIN", nil); err == nil {
		t.Error("a broken connection was used")
	}
}

func TestServer_CopyInEndsWithItsContext(t *testing.T) {
	database := servers.Cluster(t, 15).NewDatabase(t)
	c, other := connect(t, database, nil), connect(t, database, nil)
	mustExec(t, other, "CREATE TABLE t (v text)")
	mustExec(t, other, "BEGIN; LOCK TABLE t")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := c.CopyIn(ctx, "COPY t FROM STDIN", copyRow(nil, nil)); err == nil || err.Error() != "enough" {
		t.Errorf("got %v", err)
	}
}

func TestServer_ExecParams(t *testing.T) {
	c := connect(t, servers.Cluster(t, 15).NewDatabase(t), nil)
	text := func(s string) *string { return &s }
	r, err := c.ExecParams(t.Context(), `SELECT $1::int + 1 AS n, $2::text AS "odd ""name", $3::text`, text("41"), text(`it's "\`+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Columns, []string{"n", `odd "name`, "text"}) || !reflect.DeepEqual(deref(r.Rows), [][]string{{"42", `it's "\` + "\n", "NULL"}}) {
		t.Errorf("got %q %q", r.Columns, deref(r.Rows))
	}
	if r, err = c.ExecParams(t.Context(), "CREATE TABLE t (id int)"); err != nil || r.Tag != "CREATE TABLE" {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err = c.ExecParams(t.Context(), "INSERT INTO t VALUES ($1), ($2)", text("1"), nil); err != nil || r.Tag != "INSERT 0 2" {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err = c.ExecParams(t.Context(), "INSERT INTO t VALUES ($1)", text("x")); code(err) != "22P02" {
		t.Errorf("got %v", err)
	}
	if _, err = c.ExecParams(t.Context(), "SELECT 1; SELECT 2"); code(err) != "42601" {
		t.Errorf("two statements: got %v", err)
	}
	if _, err = c.ExecParams(t.Context(), "SELECT $1", text("a\x00b")); code(err) != "22021" {
		t.Errorf("a zero byte: got %v", err)
	}
	if got := mustExec(t, c, "SELECT count(*) FROM t")[0][0]; got != "2" {
		t.Errorf("got %s rows", got)
	}
}

func FuzzAppendCopyText(f *testing.F) {
	for _, seed := range []string{"", `\`, "\t\n\r", `\N`, "1234567\\", "12345678\\", "12345678\n12345678\r", "ÿ\x80\x1f\x20"} {
		f.Add([]byte(seed), []byte("x"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		row := copyRow(nil, a, b)
		if bytes.Count(row, []byte("\n")) != 1 {
			t.Fatalf("%q is %d rows", row, bytes.Count(row, []byte("\n")))
		}
		fields, err := splitRow(nil, row[:len(row)-1], 2)
		if err != nil || !bytes.Equal(fields[0], a) || !bytes.Equal(fields[1], b) || fields[0] == nil || fields[1] == nil {
			t.Fatalf("%q, %q became %q, then %q, %v", a, b, row, fields, err)
		}
	})
}

func BenchmarkAppendCopyText(b *testing.B) {
	value := []byte(strings.Repeat(`{"a":"some text, longer than a word"}`, 10))
	var dst []byte
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		dst = AppendCopyText(dst[:0], value)
	}
}
