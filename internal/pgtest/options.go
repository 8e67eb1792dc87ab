package pgtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// User is the superuser of every cluster.
	User = "postgres"
	// Password is User's password. TCP connections are checked with scram-sha-256, so that a wrong password is refused as in production.
	Password = "pgtest-only"
	// DefaultVersion is the major version of an Options without one.
	DefaultVersion = 15
)

// Options describes a cluster. The zero value is PostgreSQL 15 with logical replication.
type Options struct {
	// Version is the major version: 15, 17 or 18. 0: DefaultVersion.
	Version int
	// Conf holds settings that are added to, or replace, those of the harness, e.g. {"wal_level": "replica"}. Values are quoted here.
	Conf map[string]string
}

func (o Options) version() int {
	if o.Version == 0 {
		return DefaultVersion
	}
	return o.Version
}

// defaults are safe to lose but otherwise like production: synchronous_commit stays on, because with it off no commit ever waits for a standby and
// every test about synchronous standbys would pass for nothing.
func defaults() map[string]string {
	return map[string]string{
		"wal_level":             "logical",
		"max_wal_senders":       "50",
		"max_replication_slots": "50",
		"max_connections":       "200",
		"fsync":                 "off",
		"full_page_writes":      "off",
		"synchronous_commit":    "on",
		"shared_buffers":        "32MB",
		"max_wal_size":          "512MB",
		"listen_addresses":      "127.0.0.1",
		"log_line_prefix":       "%m [%p] %a ",
		"timezone":              "UTC",
		"log_timezone":          "UTC",
	}
}

// renderConf writes settings in the syntax of postgresql.conf, sorted by name.
func renderConf(settings map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	return b.String()
}
