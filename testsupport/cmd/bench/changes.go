package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/fixture"
)

const (
	// transactionChanges are the row changes of one transaction of the first half.
	transactionChanges = 1000
	// roundChanges are made by one insert, one update and one delete, of 40, 40 and 20 rows; kinds come mixed that way also in the large transaction.
	roundChanges = 100
)

// baseRows is how many rows there have to be before so many changes: 40 of 100 are updated and 20 deleted, no row twice, so that what the log says of a
// row is what the table holds in the end.
func baseRows(changes int64) int64 { return changes / roundChanges * 60 }

// rowsAfter is how many there are after them.
func rowsAfter(changes int64) int64 { return baseRows(changes) + changes/roundChanges*(40-20) }

// changed is the SQL condition for the rows that were inserted or updated by makeChanges.
func changed(changes int64) string {
	rounds := changes / roundChanges
	return fmt.Sprintf("(id <= %d OR id > %d)", rounds*40, baseRows(changes))
}

// makeChanges makes the changes, half of them in transactions of 1000, and then half in a single one.
func makeChanges(ctx context.Context, conn *pgx.Conn, changes int64) error {
	rounds := changes / roundChanges
	for round := int64(0); round < rounds; {
		until := round + transactionChanges/roundChanges
		if round >= rounds/2 {
			until = rounds
		}
		err := conn.BeginFunc(ctx, func(tx pgx.Tx) error {
			for ; round < until; round++ {
				if err := changeRound(ctx, tx.Conn(), rounds, round); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changeRound uses rows of its own: updates come from the first 40 of 60 of the table, deletions from the others.
func changeRound(ctx context.Context, conn *pgx.Conn, rounds, round int64) error {
	base := rounds * 60
	if err := fixture.AddWide(ctx, conn, table, base+round*40+1, base+round*40+40); err != nil {
		return err
	}
	tag, err := conn.Exec(ctx, "UPDATE "+table+" SET quantity = quantity + 1, updated_at = created_at + interval '1 day', note = note || ' changed' WHERE id BETWEEN $1 AND $2",
		round*40+1, round*40+40)
	if err = affected(tag, err, 40); err != nil {
		return err
	}
	tag, err = conn.Exec(ctx, "DELETE FROM "+table+" WHERE id BETWEEN $1 AND $2", rounds*40+round*20+1, rounds*40+round*20+20)
	return affected(tag, err, 20)
}

func affected(tag pgconn.CommandTag, err error, rows int64) error {
	if err == nil && tag.RowsAffected() != rows {
		err = fmt.Errorf("%s, want %d rows", tag, rows)
	}
	if err != nil {
		return fmt.Errorf("changing rows: %w", err)
	}
	return nil
}
