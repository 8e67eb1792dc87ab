package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/sqlsink"
)

// Replace makes the next Commit put a binding's new table in the place of the one that readers see.
func (t *transactor) Replace(_ context.Context, index int) error {
	b := t.bindings[index]
	if !b.replace {
		return fmt.Errorf("binding %d was not opened to be replaced", index)
	}
	if err := b.present(); err != nil {
		return err
	}
	t.replacing = append(t.replacing, b)
	return nil
}

// swap is the statements that do it. Who may read the old table may read the new one.
func (t *transactor) swap(ctx context.Context, b *binding) (string, error) {
	old, fresh := b.target.name, b.target.rows
	live, err := t.session.describe(ctx, []tableName{old, fresh})
	if err != nil {
		return "", err
	}
	var sql []string
	if live[old] != nil {
		name := old.sql()
		rows, _, err := t.session.Execute(ctx, `SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN NULL ELSE pg_catalog.pg_get_userbyid(a.grantee) END, a.is_grantable::text
			FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a WHERE c.oid = $1::regclass AND a.grantee <> c.relowner`, &name)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			to := "PUBLIC"
			if r[1] != nil {
				to = quote(*r[1])
			}
			grant := fmt.Sprintf("GRANT %s ON %s TO %s", *r[0], fresh.sql(), to)
			if *r[2] == "true" {
				grant += " WITH GRANT OPTION"
			}
			sql = append(sql, grant)
		}
		sql = append(sql, "DROP TABLE "+old.sql())
	}
	sql = append(sql, fmt.Sprintf("ALTER TABLE %s RENAME TO %s", fresh.sql(), quote(old.table)))
	if l := live[fresh]; l != nil && l.Constraint != "" {
		name := sqlsink.CutName(old.table, maxNameBytes-len("_pkey")) + "_pkey"
		index := tableName{old.schema, name}.sql()
		rows, _, err := t.session.Execute(ctx, `SELECT pg_catalog.to_regclass($1) IS NULL`, &index)
		if err != nil {
			return "", err
		}
		if *rows[0][0] == "t" || live[old] != nil && live[old].Constraint == name { // else it is somebody else's, and ours may be called otherwise
			sql = append(sql, fmt.Sprintf("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", old.sql(), quote(l.Constraint), quote(name)))
		}
	}
	return strings.Join(sql, ";\n"), nil
}

// replaced makes later rows go to the table under its final name.
func (b *binding) replaced() {
	b.target.rows = b.target.name
	b.replace = false
}
