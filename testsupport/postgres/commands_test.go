package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
)

// made is what a command could have left behind.
const made = `SELECT concat_ws(' ', (SELECT string_agg(oid::regclass::text, ',' ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace), (SELECT count(*) FROM pg_namespace),
	(SELECT count(*) FROM pg_publication), (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()), (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace))`

// Whoever may do everything creates nothing by looking, and is told what was asked for in one message.
func TestCommands_CreateNothingAndAnswerOnce(t *testing.T) {
	broken := databaseOn(t, pgtest.Start(t, pgtest.Options{Conf: map[string]string{"wal_level": "replica"}}), "CREATE TABLE a (id int PRIMARY KEY)")
	d := newDatabase(t, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)", "INSERT INTO a VALUES (1)")
	poor := d.capture(table("a", "id"), table("b", "id")).as(d.role())
	wrong := d.capture(table("a", "id"))
	wrong.config["password"] = "not-the-password"
	good := d.capture(table("a", "id"), table("b", "id"))
	for _, x := range []struct {
		of   *capture
		args []string
		kind string
		says []string // of a status that is FAILED; none: it has succeeded
	}{
		{good, []string{"spec"}, "SPEC", nil},
		{good, []string{"check"}, "CONNECTION_STATUS", nil},
		{good, []string{"check", "--streams", good.streams}, "CONNECTION_STATUS", nil},
		{good, []string{"validate", "--streams", good.streams}, "CONNECTION_STATUS", nil},
		{good, []string{"discover"}, "CATALOG", nil},
		{wrong, []string{"check", "--streams", wrong.streams}, "CONNECTION_STATUS", []string{"does not accept the password of user"}},
		{broken.capture(table("a", "id")), []string{"check", "--streams", "a"}, "CONNECTION_STATUS", []string{"wal_level", "ALTER SYSTEM SET wal_level = logical;"}},
		{poor, []string{"check", "--streams", poor.streams}, "CONNECTION_STATUS", []string{
			"3 problems", `GRANT SELECT ON "public"."a" TO "` + fmt.Sprint(poor.config["user"]) + `";`, `GRANT SELECT ON "public"."b" TO`, `CREATE PUBLICATION "flow_publication" FOR TABLE ONLY "public"."a", ONLY "public"."b"`,
		}},
	} {
		before := x.of.db.one(made)
		p, err := binary.Start(binary.Command{Path: binary.Build(t, "source-postgres"), Args: x.args, Config: x.of.rawConfig()})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := p.Drain()
		if err != nil {
			t.Fatal(err)
		}
		what := strings.Join(x.args, " ")
		if exit, err := p.Wait(patience); err != nil || exit.Code != 0 {
			t.Errorf("%s ended with code %d: %v %s", what, exit.Code, err, exit.Stderr)
		}
		answers := 0
		for _, line := range lines {
			var m struct {
				Type             string
				ConnectionStatus struct{ Status, Message string }
			}
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%s: %v: %.300s", what, err, line)
			}
			if m.Type == "LOG" {
				continue
			}
			answers++
			if s := m.ConnectionStatus; m.Type != x.kind || x.kind == "CONNECTION_STATUS" && (s.Status == "FAILED") != (x.says != nil) {
				t.Errorf("%s: %.500s", what, line)
			}
			for _, part := range x.says {
				if !strings.Contains(m.ConnectionStatus.Message, part) {
					t.Errorf("%s: %q is missing in %s", what, part, m.ConnectionStatus.Message)
				}
			}
		}
		if answers != 1 {
			t.Errorf("%s printed %d messages besides logs, want one", what, answers)
		}
		if after := x.of.db.one(made); after != before {
			t.Errorf("%s has made something: %s, before it was %s", what, after, before)
		}
	}
}
