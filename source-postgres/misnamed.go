package main

import (
	"context"
	"slices"
	"strings"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/pgwire"
)

// warnOfMisnamed tells of names in the configuration that nothing in the database bears. A table may be made later, so they are no problem; but a slip of
// the pen in skip_backfills would read a huge table that somebody meant to leave out, and one in include_schemas would offer nothing.
func (c *config) warnOfMisnamed(ctx context.Context, conn querier) error {
	for _, setting := range []struct {
		name, missing string // what tells that nothing bears the name n
		values        []string
	}{
		{
			"advanced.skip_backfills", `NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND s.nspname || '.' || c.relname = n)`,
			slices.DeleteFunc(splitList(c.Advanced.SkipBackfills), func(s string) bool { return s == allTables }),
		},
		{"discoveryFilters.include_schemas", `NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = n)`, c.DiscoveryFilters.IncludeSchemas},
	} {
		if len(setting.values) == 0 {
			continue
		}
		literals := make([]string, len(setting.values))
		for i, v := range setting.values {
			literals[i] = pgwire.QuoteLiteral(v)
		}
		missing, err := textFrom(conn)(ctx, "SELECT n FROM unnest(ARRAY["+strings.Join(literals, ", ")+"]::text[]) n WHERE "+setting.missing)
		if err != nil {
			return c.explain("looking up the names in "+setting.name, err)
		}
		if len(missing) > 0 {
			log.WithField("missing", strings.Join(missing, ", ")).Warn(setting.name + " names what the database does not have: look at the spelling")
		}
	}
	return nil
}
