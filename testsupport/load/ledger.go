package load

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v4"
)

// Entry is a committed change.
type Entry struct {
	Seq int64
	Key string // KeyText
	Ver int64
	Op  string // c, u, d
}

// Ledger returns the committed changes of every table. Of one key they are in the order in which they happened.
func Ledger(ctx context.Context, conn *pgx.Conn, schema string) (map[string][]Entry, error) {
	rows, err := conn.Query(ctx, "SELECT seq, tbl, key, ver, op FROM "+schema+".ledger ORDER BY seq")
	if err != nil {
		return nil, fmt.Errorf("reading the ledger of schema %s: %w", schema, err)
	}
	defer rows.Close()
	ledger := map[string][]Entry{}
	for rows.Next() {
		var e Entry
		var table string
		if err := rows.Scan(&e.Seq, &table, &e.Key, &e.Ver, &e.Op); err != nil {
			return nil, fmt.Errorf("reading the ledger of schema %s: %w", schema, err)
		}
		ledger[table] = append(ledger[table], e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the ledger of schema %s: %w", schema, err)
	}
	return ledger, nil
}
