package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/replay"
)

// report compares every table with both destinations, prints a line for each, and returns whether all are equal.
func report(ctx context.Context, conn *pgx.Conn, c *capture) (bool, error) {
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "table\trows\tchanges\tkills\tseconds\trows/s\tresult")
	all := true
	var found []replay.Difference
	for _, table := range tables {
		stream := streamOf(table)
		result := "equal"
		differences, rows, err := replay.Compare(ctx, conn, "public", table, c.committed, stream)
		if err != nil {
			return false, err
		}
		if len(differences) == 0 {
			if differences, _, err = replay.Compare(ctx, conn, "public", table, c.greedy, stream); err != nil {
				return false, err
			}
		}
		if len(differences) > 0 {
			d := differences[0]
			result = fmt.Sprintf("DIFFERENT in %s, key %s", d.Table, d.Key)
			if d.Column != "" {
				result += ", column " + d.Column
			}
			found = append(found, differences...)
			all = false
		}
		scanned, changes := c.committed.Counts(stream)
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%.1f\t%s\t%s\n", table, grouped(rows), grouped(changes), c.killed, c.seconds,
			grouped(int64(float64(scanned+changes)/c.seconds)), result)
	}
	if err := out.Flush(); err != nil {
		return false, fmt.Errorf("printing the report: %w", err)
	}
	for _, d := range found {
		fmt.Println(d)
	}
	for _, fold := range []*replay.Fold{c.committed, c.greedy} {
		if err := fold.Err(); err != nil {
			fmt.Println(err)
			all = false
		}
	}
	fmt.Println()
	return all, nil
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
