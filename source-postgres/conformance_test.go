package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/protocol/protocoltest"
)

// TestConformance drives the built binary as its runners do.
func TestConformance(t *testing.T) {
	binary := buildConnector(t)
	cluster := servers.Cluster(t, 0)
	protocoltest.Source(t, func(tb testing.TB) *protocoltest.Fixture { return conformanceFixture(tb, cluster, binary) })
}

func buildConnector(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source-postgres")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the connector: %v: %s", err, out)
	}
	return path
}

// conformanceTables have a number, texts and no column at all for their keys. Their names lie in both halves of the key space.
const conformanceTables = `
CREATE TABLE items (id int PRIMARY KEY, name text, amount bigint NOT NULL);
CREATE TABLE prices (region text, code text, price int, PRIMARY KEY (region, code));
CREATE TABLE remarks (line text, n int);
ALTER TABLE remarks REPLICA IDENTITY FULL;
INSERT INTO items SELECT i, 'item ' || i, i * 10 FROM generate_series(1, 20) i;
INSERT INTO prices SELECT 'région ' || i % 3, 'c' || i, i FROM generate_series(1, 20) i;
INSERT INTO remarks SELECT 'line ' || i % 5, i % 3 FROM generate_series(1, 20) i;`

// conformanceFixture makes a database with the tables, and a config of its own slot: slots belong to the whole cluster.
func conformanceFixture(tb testing.TB, cluster *pgtest.Cluster, binary string) *protocoltest.Fixture {
	tb.Helper()
	database := cluster.NewDatabase(tb)
	exec := func(sql string) error { return cluster.Exec(database, sql) }
	if err := exec(conformanceTables); err != nil {
		tb.Fatal(err)
	}
	slot := "conformance_" + strings.ToLower(rand.Text()[:10])
	config := func(user, password string) json.RawMessage {
		return fmt.Appendf(nil, `{"address":%q,"user":%q,"password":%q,"database":%q,"advanced":{"slotName":%q,"backfill_chunk_size":7}}`,
			cluster.Addr(), user, password, database, slot)
	}
	var mu sync.Mutex
	changes := 0
	return &protocoltest.Fixture{
		Binary: binary, Config: config(pgtest.User, pgtest.Password), Secrets: []string{pgtest.Password, "wrong-password"},
		Refused: []json.RawMessage{config(pgtest.User, "wrong-password"), config("nobody", pgtest.Password)},
		Streams: []protocoltest.Stream{
			{Name: "items", Namespace: "public", Key: []string{"id"}},
			{Name: "prices", Namespace: "public", Key: []string{"region", "code"}},
			{Name: "remarks", Namespace: "public"},
		},
		Change: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			changes++
			return exec(strings.ReplaceAll(conformanceChange, "$n", fmt.Sprint(changes)))
		},
		Rows: func(context.Context) (map[string][]json.RawMessage, error) {
			all := map[string][]json.RawMessage{}
			for _, table := range []string{"items", "prices", "remarks"} {
				rows, err := cluster.Query(database, "SELECT row_to_json(t) FROM "+table+" t")
				if err != nil {
					return nil, err
				}
				for _, row := range rows {
					all[table] = append(all[table], json.RawMessage(row[0]))
				}
			}
			return all, nil
		},
		Grow: func(context.Context) error {
			return exec(`INSERT INTO items SELECT i, repeat('x', 8000), 1 FROM generate_series(100001, 101100) i`)
		},
		Void: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			changes++
			return exec(strings.ReplaceAll(`TRUNCATE items; INSERT INTO items VALUES ($n, 'first after it', 0)`, "$n", fmt.Sprint(changes)))
		},
	}
}

// conformanceChange inserts, updates, deletes and replaces a key; $n counts the calls. Several transactions, so that several positions lie between.
const conformanceChange = `
BEGIN;
INSERT INTO items VALUES (1000 + $n, 'new in $n', $n);
UPDATE items SET name = 'changed in $n' WHERE id = 1 + $n;
UPDATE items SET id = 2000 + $n WHERE id = 11 + $n;
COMMIT;
BEGIN;
UPDATE prices SET price = 1000 + $n WHERE code = 'c' || 1 + $n;
DELETE FROM prices WHERE code = 'c' || 11 + $n;
INSERT INTO prices VALUES ('région 0', 'n$n', NULL);
COMMIT;
BEGIN;
INSERT INTO remarks VALUES ('new in $n', NULL), ('new in $n', NULL);
UPDATE remarks SET n = 100 + $n WHERE line = 'line ' || $n % 5 AND n = 0;
DELETE FROM remarks WHERE line = 'line ' || ($n + 1) % 5 AND n = 1;
COMMIT`
