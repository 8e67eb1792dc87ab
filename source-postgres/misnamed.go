package main

import (
	"context"
	"slices"
	"strings"

	log "github.com/sirupsen/logrus"
)

// warnOfMisnamed tells of names in the configuration that nothing in the database bears. A table may be made later, so they are no problem; but a slip of
// the pen in skip_backfills would read a huge table that somebody meant to leave out, and one in include_schemas would offer nothing.
func (c *config) warnOfMisnamed(ctx context.Context, conn querier) error {
	for _, setting := range []struct {
		name, query string
		values      []string
	}{
		{"advanced.skip_backfills", `SELECT n FROM unnest($1::text[]) n WHERE NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
			WHERE c.relkind IN ('r', 'p') AND s.nspname || '.' || c.relname = n)`, slices.DeleteFunc(splitList(c.Advanced.SkipBackfills), func(s string) bool { return s == allTables })},
		{"discoveryFilters.include_schemas", `SELECT n FROM unnest($1::text[]) n WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = n)`, c.DiscoveryFilters.IncludeSchemas},
	} {
		if len(setting.values) == 0 {
			continue
		}
		rows, err := conn.Query(ctx, setting.query, setting.values)
		if err != nil {
			return c.explain("looking up the names in "+setting.name, err)
		}
		var missing []string
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				rows.Close()
				return c.explain("looking up the names in "+setting.name, err)
			}
			missing = append(missing, name)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return c.explain("looking up the names in "+setting.name, err)
		}
		if len(missing) > 0 {
			log.WithField("missing", strings.Join(missing, ", ")).Warn(setting.name + " names what the database does not have: look at the spelling")
		}
	}
	return nil
}
