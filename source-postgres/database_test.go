package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgwire"
)

// hostileRole is everything that a DBA may have set for the role and that would change our values, or end our sessions.
var hostileRole = map[string]string{
	"datestyle": "SQL, DMY", "timezone": "Asia/Tokyo", "intervalstyle": "sql_standard", "extra_float_digits": "0", "bytea_output": "escape",
	"lc_monetary": "C.UTF-8", "search_path": "nowhere", "client_encoding": "LATIN1", "standard_conforming_strings": "off", "row_security": "on",
	"statement_timeout": "1ms", "lock_timeout": "1ms", "idle_in_transaction_session_timeout": "1ms", "idle_session_timeout": "1min",
	"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on", "synchronous_commit": "remote_apply",
}

// bug sql-cdc 69: estuary/connectors history: a role's settings corrupted or rounded values, in the log only.
// bug sql-cdc 70: estuary/connectors history: timestamptz differed between backfill and log.
func TestConnections_WinOverTheRolesSettings(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newSite(t, version)
			for name, value := range hostileRole {
				if name == "search_path" {
					value = "nowhere, public"
				}
				s.exec("ALTER ROLE $role SET " + name + " = '" + value + "'")
			}
			if version >= 17 {
				s.exec("ALTER ROLE $role SET transaction_timeout = '1min'")
			}
			want := map[string]string{
				"datestyle": "ISO, MDY", "timezone": "UTC", "intervalstyle": "iso_8601", "extra_float_digits": "3", "bytea_output": "hex", "lc_monetary": "C",
				"search_path": "pg_catalog", "client_encoding": "UTF8", "standard_conforming_strings": "on", "row_security": "off", "statement_timeout": "0",
				"lock_timeout": "0", "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "default_transaction_isolation": "read committed",
				"default_transaction_deferrable": "off", "synchronous_commit": "local", "application_name": applicationName,
			}
			if version >= 17 {
				want["transaction_timeout"] = "0"
			}
			repl := s.replicate()
			if _, err := repl.Exec(t.Context(), liftTimeouts); err != nil {
				t.Fatal(err)
			}
			for name, run := range map[string]textQuery{"queries": textFrom(s.connect()), "replication": textFromWire(repl)} {
				for setting, w := range want {
					got, err := run(t.Context(), "SELECT current_setting("+pgwire.QuoteLiteral(setting)+")")
					if err != nil || len(got) != 1 || got[0] != w {
						t.Errorf("%s: %s is %q, %v, want %q", name, setting, got, err, w)
					}
				}
			}
		})
	}
}

// What stands in the environment or in the files of the user who runs us must not lead elsewhere.
func TestConnections_IgnoreTheEnvironment(t *testing.T) {
	s := newSite(t, 15)
	passwords := t.TempDir() + "/pgpass"
	if err := os.WriteFile(passwords, []byte("*:*:*:*:elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"PGHOST": "nowhere.invalid", "PGPORT": "1", "PGDATABASE": "nothing", "PGUSER": "nobody", "PGPASSWORD": "wrong", "PGPASSFILE": passwords,
		"PGAPPNAME": "other", "PGSSLMODE": "verify-full", "PGTARGETSESSIONATTRS": "standby", "PGCONNECT_TIMEOUT": "1", "PGTZ": "Asia/Tokyo",
	} {
		t.Setenv(name, value)
	}
	var got string
	if err := s.connect().QueryRow(t.Context(), "SELECT current_database() || ' ' || current_user || ' ' || current_setting('application_name')").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := s.config.Database + " " + s.config.User + " " + applicationName; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The grants that the README tells to paste are enough, and all of them are needed for the check to say so.
func TestGrants_OfTheReadmeSuffice(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sql, _ := strings.Cut(string(readme), "```sql\n")
	sql, _, ok := strings.Cut(sql, "```")
	if !ok {
		t.Fatal("the README has no SQL")
	}
	s := newSite(t, 15)
	s.exec("REVOKE CREATE ON DATABASE "+s.config.Database+" FROM $role", "DROP ROLE $role", "CREATE TABLE orders (id int PRIMARY KEY)", "CREATE TABLE items (id int PRIMARY KEY)")
	s.config.Password = "secret"
	pasted := strings.ReplaceAll(sql, "flow_capture", "$role")
	if strings.Count(pasted, "$role") < 3 {
		t.Fatalf("the SQL is not about the role: %s", sql)
	}
	s.exec(pasted)
	if err := check(t.Context(), s.config, "", bindings("orders", "items")); err != nil {
		t.Errorf("got %v", err)
	}
}
