package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v4"
)

// Same compares two tables, of two databases maybe, as sets of rows in which a row may be there several times. Columns are the left one's but those in
// except; the right one must have them, too. A difference shows the whole row as its key; Source is what the left one has.
func Same(ctx context.Context, leftConn *pgx.Conn, left Name, rightConn *pgx.Conn, right Name, except ...string) (Result, error) {
	columns, err := columnsOf(ctx, leftConn, left)
	if err != nil {
		return Result{}, err
	}
	columns = slices.DeleteFunc(columns, func(c column) bool { return slices.Contains(except, c.name) })
	if len(columns) == 0 {
		return Result{}, fmt.Errorf("comparing %s with %s: it has no columns", left, right)
	}
	var r Result
	times := map[string][2]int{}
	var row []byte
	for i, s := range []struct {
		conn *pgx.Conn
		name Name
	}{{leftConn, left}, {rightConn, right}} {
		list, err := openSide(ctx, s.conn, s.name, s.name.quoted(), columns, nil, func(c column) string { return pgx.Identifier{c.name}.Sanitize() + "::text" })
		if err != nil {
			return r, err
		}
		for ; list.ok; list.next() {
			row = row[:0]
			for _, v := range list.values {
				if v != nil {
					row = append(append(row, '='), *v...)
				}
				row = append(row, 0) // no value has one
			}
			text := string(row)
			n := times[text]
			n[i]++
			times[text] = n
			if i == 0 {
				r.Rows++
			}
		}
		if err := list.err(s.name); err != nil {
			return r, err
		}
	}
	for text, n := range times {
		if n[0] != n[1] {
			r.add(Difference{Table: left.String(), Key: cut(readable(text)), Source: fmt.Sprintf("%d times", n[0]), Sink: fmt.Sprintf("%d times", n[1])})
		}
	}
	slices.SortFunc(r.Differences, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return r, nil
}

// readable is a row as people read it.
func readable(row string) string {
	var list []string
	for value := range strings.SplitSeq(strings.TrimSuffix(row, "\x00"), "\x00") {
		if text, ok := strings.CutPrefix(value, "="); ok {
			list = append(list, shown(&text))
		} else {
			list = append(list, shown(nil))
		}
	}
	return strings.Join(list, ", ")
}
