package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v4"
)

// List says which list of changes is judged.
type List struct {
	Source, Sink Name
	// Key columns of the source; of a table without a key those that tell its rows apart for the test.
	Key []string
	// Version is the column with the row's version (package load): it grows by one with each change of a key, deletions included.
	Version string
	// Ledger is the source's table of committed changes, with the columns tbl, key, ver, op.
	Ledger Name
}

// change is a row of a delta table.
type change struct {
	key, op  string
	added    int64 // the transaction of the sink that added it
	version  int64
	hasOld   bool // version is there: a deletion may carry the key alone
	snapshot bool
}

// after is the version of the key after the change.
func (c change) after() int64 {
	if c.op == "d" {
		return c.version + 1
	}
	return c.version
}

// fate is what is known of a key so far.
type fate struct {
	version int64
	known   bool // version is the last one
	op      string
	scanned bool
}

// Changes judges the rows of a delta table in the order of the transactions that added them, and within one in the order of the log: each change of the
// log once, none left out, none rolled back, each row of a backfill at most once, and the last one of each key as the ledger has it and as the source's
// row is.
func Changes(ctx context.Context, source, sink *pgx.Conn, l List) (Result, error) {
	columns, err := prepare(ctx, source, l.Source, sink, l.Sink)
	if err != nil {
		return Result{}, err
	}
	var keys, plain []string
	for _, name := range l.Key {
		plain = append(plain, pgx.Identifier{name}.Sanitize())
		for _, c := range columns {
			if c.name == name {
				keys = append(keys, c.sink)
			}
		}
	}
	if len(keys) != len(l.Key) || slices.Contains(keys, "") {
		return Result{}, fmt.Errorf("comparing %s: key %v is not there on both sides", l.Source, l.Key)
	}
	fates, found, err := l.judge(ctx, sink, strings.Join(keys, " || '|' || "))
	if err != nil {
		return Result{}, err
	}
	if err := l.settle(ctx, source, fates, &found); err != nil {
		return Result{}, err
	}
	last := fmt.Sprintf(`(SELECT * FROM (SELECT DISTINCT ON (%s) * FROM %s ORDER BY %[1]s, xmin::text::bigint DESC, %[3]s + ("_meta/op" = 'd')::int DESC)
		AS newest WHERE "_meta/op" <> 'd') AS last`, strings.Join(plain, ", "), l.Sink.quoted(), pgx.Identifier{l.Version}.Sanitize())
	r, err := rows(ctx, source, l.Source, sink, l.Sink, last, columns, l.Key)
	for _, d := range found.Differences {
		r.add(d)
	}
	return r, err
}

func (l List) judge(ctx context.Context, sink *pgx.Conn, key string) (fates map[string]*fate, r Result, err error) {
	list, err := sink.Query(ctx, fmt.Sprintf(`SELECT %s, "_meta/op", xmin::text::bigint, %s::bigint, coalesce(("_meta"->'source'->>'snapshot')::boolean, false) FROM %s
		ORDER BY 1, 3, ("_meta"->'source'->'loc'->>0)::bigint, ("_meta"->'source'->'loc'->>1)::bigint, ("_meta"->'source'->>'row')::bigint`,
		key, pgx.Identifier{l.Version}.Sanitize(), l.Sink.quoted()))
	if err != nil {
		return nil, r, fmt.Errorf("reading the changes in %s: %w", l.Sink, err)
	}
	defer list.Close()
	fates = map[string]*fate{}
	var group []change // of one key, added by one transaction
	settle := func() {
		for _, c := range inOrder(group) {
			f := fates[c.key]
			if f == nil {
				f = &fate{}
				fates[c.key] = f
			}
			if wrong := f.take(c); wrong != "" {
				r.add(Difference{Table: l.Source.String(), Key: c.key, Column: l.Version, Source: "each change once, in order", Sink: wrong})
			}
		}
		group = group[:0]
	}
	for list.Next() {
		var c change
		var version *int64
		if err := list.Scan(&c.key, &c.op, &c.added, &version, &c.snapshot); err != nil {
			return nil, r, fmt.Errorf("reading the changes in %s: %w", l.Sink, err)
		}
		if version != nil {
			c.version, c.hasOld = *version, true
		}
		if len(group) > 0 && (group[0].key != c.key || group[0].added != c.added) {
			settle()
		}
		group = append(group, c)
	}
	settle()
	return fates, r, list.Err()
}

// inOrder puts rows of a backfill, which have no place in the log, before the first change that they do not contain.
func inOrder(group []change) []change {
	var ordered []change
	for _, c := range group {
		if !c.snapshot {
			ordered = append(ordered, c)
		}
	}
	for _, c := range group {
		if c.snapshot {
			at := slices.IndexFunc(ordered, func(o change) bool { return o.after() > c.version })
			if at < 0 {
				at = len(ordered)
			}
			ordered = slices.Insert(ordered, at, c)
		}
	}
	return ordered
}

// take adds a change to what is known and returns what is wrong with it.
func (f *fate) take(c change) string {
	before := *f
	f.op = c.op
	if c.hasOld && c.version < 0 {
		return fmt.Sprintf("version %d, which was rolled back", -c.version)
	}
	if c.op == "d" {
		f.version, f.known = before.version+1, before.known
		if c.hasOld {
			f.version, f.known = c.version+1, true
		}
		switch {
		case before.op == "d":
			return "two deletions with nothing in between"
		case before.known && c.hasOld && c.version != before.version:
			return fmt.Sprintf("the deletion of version %d right after version %d", c.version, before.version)
		}
		return ""
	}
	if !c.hasOld {
		return "a row without a version"
	}
	f.version, f.known, f.scanned = c.version, true, before.scanned || c.snapshot
	switch {
	case c.snapshot && before.scanned:
		return fmt.Sprintf("version %d, from a backfill that had been through with this key", c.version)
	case !before.known:
	case c.version < before.version, c.version == before.version && !c.snapshot:
		return fmt.Sprintf("version %d after version %d", c.version, before.version)
	case c.version > before.version+1 && !c.snapshot: // a backfill stands for the changes that it contains
		return fmt.Sprintf("version %d right after version %d, what lies between is lost", c.version, before.version)
	}
	return ""
}

// settle holds the end of each key's list against the ledger.
func (l List) settle(ctx context.Context, source *pgx.Conn, fates map[string]*fate, r *Result) error {
	list, err := source.Query(ctx, fmt.Sprintf("SELECT DISTINCT ON (key) key, ver, op FROM %s WHERE tbl = $1 ORDER BY key, seq DESC", l.Ledger.quoted()), l.Source.Table)
	if err != nil {
		return fmt.Errorf("reading the ledger %s: %w", l.Ledger, err)
	}
	defer list.Close()
	for list.Next() {
		var key, op string
		var version int64
		if err := list.Scan(&key, &version, &op); err != nil {
			return fmt.Errorf("reading the ledger %s: %w", l.Ledger, err)
		}
		f := fates[key]
		delete(fates, key)
		d := Difference{Table: l.Source.String(), Key: key, Column: l.Version, Source: fmt.Sprintf("version %d (%s) as the last change", version, op)}
		switch {
		case f == nil && op != "d": // of a row that was gone before the backfill came by there is nothing
			d.Sink = "no change at all"
		case f == nil:
			continue
		case f.known && f.version != version, (f.op == "d") != (op == "d"):
			d.Sink = fmt.Sprintf("version %d (%s)", f.version, f.op)
		default:
			continue
		}
		r.add(d)
	}
	for key := range fates {
		if len(r.Differences) < most {
			r.add(Difference{Table: l.Source.String(), Key: key, Source: "no change at all in the ledger", Sink: "some"})
		}
	}
	return list.Err()
}
