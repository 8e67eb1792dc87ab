package load

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

var servers pgtest.Shared

func TestMain(m *testing.M) { servers.Run(m) }

func TestKeysAreDistinct(t *testing.T) {
	for _, table := range Tables {
		seen := map[string]int{}
		for n := range 5000 {
			key := KeyText(table.values(n)...)
			if other, ok := seen[key]; ok {
				t.Fatalf("%s: keys %d and %d are both %q", table.Name, other, n, key)
			}
			seen[key] = n
		}
	}
}

func TestLedgerAgreesWithTheTables(t *testing.T) {
	c := servers.Cluster(t, 0)
	dsn := c.DSN(c.NewDatabase(t))
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err = Create(ctx, conn, "public"); err != nil {
		t.Fatal(err)
	}
	l, err := New(ctx, Options{DSN: dsn, Seed: 7, Keys: 20, Pause: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err = l.Fill(ctx); err != nil {
		t.Fatal(err)
	}
	l.Run()
	for deadline := time.Now().Add(60 * time.Second); l.Changes() < 4000 && l.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d changes in 60 s", l.Changes())
		}
	}
	if err = l.Stop(); err != nil {
		t.Fatal(err)
	}

	ledger, err := Ledger(ctx, conn, "public")
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, table := range Tables {
		last := map[string]Entry{}
		for _, e := range ledger[table.Name] {
			if e.Ver != last[e.Key].Ver+1 {
				t.Fatalf("%s, key %s: version %d follows %d", table.Name, e.Key, e.Ver, last[e.Key].Ver)
			}
			last[e.Key] = e
			total++
		}
		rows, err := conn.Query(ctx, "SELECT concat_ws('|', "+strings.Join(table.Key, ", ")+"), ver FROM "+table.Name)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var key string
			var ver int64
			if err := rows.Scan(&key, &ver); err != nil {
				t.Fatal(err)
			}
			if e := last[key]; e.Ver != ver || e.Op == "d" {
				t.Errorf("%s, key %s: the table has version %d, the ledger %d %s", table.Name, key, ver, e.Ver, e.Op)
			}
			delete(last, key)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for key, e := range last {
			if e.Op != "d" {
				t.Errorf("%s, key %s: the ledger has version %d, the table no row", table.Name, key, e.Ver)
			}
		}
	}
	s := l.Stats()
	if total != s.Changes() {
		t.Errorf("the ledger has %d changes, the statistics %d", total, s.Changes())
	}
	for name, n := range map[string]int64{
		"rollbacks": s.Rollbacks, "savepoints": s.Savepoints, "long transactions": s.LongTransactions, "deletes": s.Deletes, "key changes": s.KeyChanges,
		"re-inserts": s.Reinserts, "copies": s.Copies, "TOAST touched": s.BigTouched, "TOAST untouched": s.BigUntouched, "columns set to NULL": s.Cleared,
	} {
		if n < 10 {
			t.Errorf("%s: %d, want at least 10 among %d changes", name, n, s.Changes())
		}
	}
	t.Logf("%+v", s)
	var outOfLine int64
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM by_int WHERE pg_column_size(big) > 4000").Scan(&outOfLine); err != nil || outOfLine == 0 {
		t.Errorf("%d rows have a long value, %v", outOfLine, err)
	}
	var toast int64
	if err := conn.QueryRow(ctx, "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'by_int'").Scan(&toast); err != nil || toast == 0 {
		t.Errorf("the TOAST table of by_int has %s bytes, %v", strconv.FormatInt(toast, 10), err)
	}
}
