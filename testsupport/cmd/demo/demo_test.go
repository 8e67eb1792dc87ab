package main

import (
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is printed as %s, want %s", n, got, want)
		}
	}
}

// The demo itself is run by make test, whole and broken; here only its shop.
func TestShopTrades(t *testing.T) {
	c := pgtest.Start(t, pgtest.Options{})
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err = openShop(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	trade, err := startTrade(t.Context(), c.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if err = trade.await(t.Context(), 500); err != nil {
		t.Error(err)
	}
	if err = trade.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if trade.Changes(table) == 0 {
			t.Errorf("no change of %s was counted", table)
		}
	}
	var moved, shipped, added, cancelled, long int64
	err = conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM items WHERE id > 1000000000), (SELECT count(*) FROM orders WHERE shipped_at IS NOT NULL),
		(SELECT count(*) FROM orders WHERE id > $1), (SELECT $1 - count(*) FROM orders WHERE id <= $1), (SELECT count(*) FROM customers WHERE pg_column_size(profile) > 4000)`,
		orders).Scan(&moved, &shipped, &added, &cancelled, &long)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int64{"items with a new key": moved, "shipped orders": shipped, "new orders": added, "cancelled orders": cancelled, "long profiles": long} {
		if n == 0 {
			t.Errorf("%s: none", name)
		}
	}
	tag, err := conn.Exec(t.Context(), breakOneValue)
	if err != nil || tag.RowsAffected() != 1 {
		t.Errorf("breaking one value changed %d rows, %v", tag.RowsAffected(), err)
	}
}
