package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/protocol/protocoltest"
)

// TestConformance drives the built binary as its runners do.
func TestConformance(t *testing.T) {
	binary := buildConnector(t)
	cluster := servers.Cluster(t, 0)
	protocoltest.Sink(t, func(tb testing.TB) *protocoltest.SinkFixture { return conformanceFixture(tb, cluster, binary) })
}

func buildConnector(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "materialize-postgres")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the connector: %v: %s", err, out)
	}
	return path
}

// conformanceFixture is a database of its own.
func conformanceFixture(tb testing.TB, cluster *pgtest.Cluster, binary string) *protocoltest.SinkFixture {
	tb.Helper()
	database := cluster.NewDatabase(tb)
	config := func(user, password string) json.RawMessage {
		return fmt.Appendf(nil, `{"address":%q,"user":%q,"password":%q,"database":%q,"schema":"lake","hardDelete":true}`, cluster.Addr(), user, password, database)
	}
	return &protocoltest.SinkFixture{
		Binary: binary, Config: config(pgtest.User, pgtest.Password), Secrets: []string{pgtest.Password, "wrong-password"},
		Refused:         []json.RawMessage{config(pgtest.User, "wrong-password"), config("nobody", pgtest.Password)},
		KeepsCheckpoint: true,
		Rows: func(_ context.Context, table string) ([]json.RawMessage, error) {
			rows, err := cluster.Query(database, "SELECT row_to_json(t) FROM lake."+quote(table)+" t")
			if err != nil && strings.Contains(err.Error(), codeNoTable) {
				return nil, nil
			}
			var list []json.RawMessage
			for _, r := range rows {
				list = append(list, json.RawMessage(r[0]))
			}
			return list, err
		},
	}
}
