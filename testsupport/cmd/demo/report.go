package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/compare"
)

// report compares every table with its copy, prints a line for each, and returns whether all are equal.
func report(ctx context.Context, source, sink *pgx.Conn, c *copier, t *trade) (bool, error) {
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "table\trows\tchanges\tkills\tseconds\trows/s\tresult")
	var found []compare.Difference
	for _, table := range tables {
		name := compare.Name{Schema: "public", Table: table}
		r, err := compare.Table(ctx, source, name, sink, name, []string{"id"})
		if err != nil {
			return false, err
		}
		result := "equal"
		if len(r.Differences) > 0 {
			d := r.Differences[0]
			result = fmt.Sprintf("DIFFERENT in %s, key %s", d.Table, d.Key)
			if d.Column != "" {
				result += ", column " + d.Column
			}
			found = append(found, r.Differences...)
		}
		changes := t.Changes(table)
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%.1f\t%s\t%s\n", table, grouped(r.Rows), grouped(changes), c.kills, c.seconds, grouped(int64(float64(r.Rows+changes)/c.seconds)), result)
	}
	if err := out.Flush(); err != nil {
		return false, fmt.Errorf("printing the report: %w", err)
	}
	for _, d := range found {
		fmt.Println(d)
	}
	fmt.Println()
	for _, side := range []struct {
		name string
		conn *pgx.Conn
	}{{"one row of the shop", source}, {"and of its copy", sink}} {
		row, err := sample(ctx, side.conn)
		if err != nil {
			return false, err
		}
		fmt.Printf("%-20s %s\n", side.name+":", row)
	}
	fmt.Println()
	return len(found) == 0, nil
}

// sample is the same row of each side, as JSON: the last shipped order.
func sample(ctx context.Context, conn *pgx.Conn) (row string, err error) {
	err = conn.QueryRow(ctx, "SELECT (to_jsonb(o) - '_meta' - 'flow_document')::text FROM orders o WHERE shipped_at IS NOT NULL ORDER BY id DESC LIMIT 1").Scan(&row)
	if err != nil {
		return "", fmt.Errorf("reading one row: %w", err)
	}
	return row, nil
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
