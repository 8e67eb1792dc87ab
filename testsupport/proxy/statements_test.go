package proxy

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

func TestOnStatement_ComesBeforeEachStatement(t *testing.T) {
	c := pgtest.Start(t, pgtest.Options{})
	p, err := New(c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var mu sync.Mutex
	var seen []string
	p.OnStatement(func(sql string) bool {
		mu.Lock()
		defer mu.Unlock()
		rows := "none yet"
		if found, err := c.Query("postgres", "SELECT count(*) FROM t"); err == nil {
			rows = found[0][0]
		}
		seen = append(seen, strings.Fields(sql)[0]+" "+rows)
		return !strings.HasPrefix(sql, "DROP")
	})
	for _, mode := range []string{"disable", "prefer"} { // prefer asks for TLS first and goes on without
		if err := c.Exec("postgres", "DROP TABLE IF EXISTS t"); err != nil {
			t.Fatal(err)
		}
		seen = nil
		host, port, _ := strings.Cut(p.Addr(), ":")
		conn, err := pgx.Connect(t.Context(), "host="+host+" port="+port+" user="+pgtest.User+" password="+pgtest.Password+" database=postgres sslmode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, conn, "CREATE TABLE t (k int, word text)")
		exec(t, conn, "INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, $1) AS n", 3)
		rows := make([][]any, 5000) // far more than any buffer
		for i := range rows {
			rows[i] = []any{int32(i), strings.Repeat("y", 1000)}
		}
		if n, copyErr := conn.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"k", "word"}, pgx.CopyFromRows(rows)); copyErr != nil || n != 5000 {
			t.Fatalf("copied %d rows, %v", n, copyErr)
		}
		exec(t, conn, "DELETE FROM t")
		if _, err = conn.Exec(t.Context(), "DROP TABLE t"); err == nil {
			t.Error("a statement that is not to be passed on was run")
		}
		_ = conn.Close(t.Context())
		mu.Lock()
		// The driver asks for the columns' types before a COPY.
		seen = slices.DeleteFunc(seen, func(s string) bool { return strings.HasPrefix(strings.ToLower(s), "select") })
		want := []string{"CREATE none yet", "INSERT 0", "copy 3", "DELETE 5003", "DROP 0"}
		if !slices.Equal(seen, want) {
			t.Errorf("sslmode %s: %q, want %q", mode, seen, want)
		}
		mu.Unlock()
	}
	if n := p.Stats().Statements; n < 8 {
		t.Errorf("%s statements were counted, want 8 at least", strconv.FormatInt(n, 10))
	}
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func TestListen_TakesAnAddressAgainRightAway(t *testing.T) {
	target := target(t)
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for range 3 {
		p, err := Listen(address, target)
		if err != nil {
			t.Fatal(err)
		}
		conn := dial(t, p)
		if n, err := ask(conn, 10); err != nil || n != 10 {
			t.Errorf("%d bytes came, %v", n, err)
		}
		p.Close()
	}
}
