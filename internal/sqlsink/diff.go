package sqlsink

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// Step is one statement of a plan, safe to repeat. It may be several in one, which then take effect together.
type Step struct {
	Table string // for people
	SQL   string
}

// Change says how a binding changed since it was applied last.
type Change struct {
	// Backfill: it was told to start over, so its rows go.
	Backfill bool
	// Last is what was asked for last; nil: nothing is known.
	Last *Table
}

// tempSuffix marks the column that takes over from one whose type changes.
const tempSuffix = "_flowtmp1"

// TempName is the name of the temporary column of a column.
func TempName(d Names, column string) string {
	name := column + tempSuffix
	if d.Fold(name) == name {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(column)) // a hash never fails
	for n := len(column); n > 0; n-- {
		if name = fmt.Sprintf("%s_%08x%s", CutName(column, n), h.Sum32(), tempSuffix); d.Fold(name) == name {
			break
		}
	}
	return name
}

// Diff returns the steps that make a live table what a binding asks for; live nil: there is none yet. Steps only ever add, widen or loosen: no column and
// no table goes, whoever made it. warn lists what a user has changed so that writing may fail.
func Diff(d Dialect, want *Table, live *Live, change Change) (steps []Step, warn []string, err error) {
	f := &differ{d: d, want: want, live: live, change: change, table: QualifiedName(d, want.Schema, want.Name)}
	if live == nil {
		return []Step{f.step(d.Create(want))}, nil, nil
	}
	if live.Kind != "" {
		return nil, nil, f.problem(fmt.Sprintf("%s is %s", f.name(), live.Kind), "use another table's name")
	}
	for _, part := range []func() error{f.resume, f.truncate, f.dropKey, f.add, f.loosen, f.widen, f.addKey} {
		if err := part(); err != nil {
			return nil, nil, err
		}
	}
	return f.steps, f.warn, nil
}

type differ struct {
	d      Dialect
	want   *Table
	live   *Live
	change Change
	table  string // qualified, quoted
	steps  []Step
	warn   []string
	// keyless: the table has no primary key any more.
	keyless bool
}

func (f *differ) name() string { return f.want.Schema + "." + f.want.Name }

func (f *differ) step(sql string) Step { return Step{Table: f.name(), SQL: sql} }

func (f *differ) push(sql string) { f.steps = append(f.steps, f.step(sql)) }

func (f *differ) problem(summary, fix string) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix}
}

// resume finishes migrations that were cut short between their last two steps: only the temporary column is there. What follows sees it renamed.
func (f *differ) resume() error {
	for _, c := range f.want.Columns {
		temp := TempName(f.d, c.Name)
		i := slices.IndexFunc(f.live.Columns, func(l LiveColumn) bool { return l.Name == temp })
		if i < 0 || f.live.Column(c.Name) != nil {
			continue
		}
		f.push(f.rename(temp, c.Name))
		changed := *f.live
		changed.Columns = slices.Clone(f.live.Columns)
		changed.Columns[i].Name = c.Name
		f.live = &changed
	}
	return nil
}

func (f *differ) rename(from, to string) string {
	return fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", f.table, f.d.Quote(from), f.d.Quote(to))
}

func (f *differ) truncate() error {
	if f.change.Backfill {
		f.push(f.d.Truncate(f.table))
	}
	return nil
}

// wantedKey are the names of the columns of the primary key.
func (f *differ) wantedKey() []string {
	if !f.want.Keyed {
		return nil
	}
	var names []string
	for _, c := range f.want.Keys() {
		names = append(names, c.Name)
	}
	return names
}

// dropKey takes a primary key away that the rows to come would break.
func (f *differ) dropKey() error {
	wanted := f.wantedKey()
	switch {
	case len(f.live.Key) == 0 || sameSet(f.live.Key, wanted):
		return nil
	case f.want.Keyed && !f.change.Backfill:
		return f.problem(fmt.Sprintf("the primary key of table %s is (%s), and the binding's key is (%s)", f.name(), strings.Join(f.live.Key, ", "), strings.Join(wanted, ", ")),
			"raise the binding's backfill counter (pipeline backfill FILE STREAM), which empties the table and starts over, or use another table")
	}
	f.push(fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", f.table, f.d.Quote(f.live.Constraint)))
	f.keyless = true
	return nil
}

// add adds what is missing, nullable: the rows that are there have no value.
func (f *differ) add() error {
	var missing []Column
	for _, c := range f.want.Columns {
		if f.live.Column(c.Name) != nil {
			continue
		}
		if f.want.Keyed && c.Key && !f.change.Backfill {
			return f.problem(fmt.Sprintf("table %s has no column %q, which is a part of the binding's key", f.name(), c.Name),
				"raise the binding's backfill counter (pipeline backfill FILE STREAM), which empties the table and starts over, or use another table")
		}
		if f.change.Last != nil && !f.change.Backfill && slices.ContainsFunc(f.change.Last.Columns, func(l Column) bool { return l.Name == c.Name }) {
			f.warn = append(f.warn, fmt.Sprintf("somebody has dropped column %q of table %s: it is added again, and stays empty in the rows that were there until each is written anew; "+
				"the binding's backfill counter, raised, fills it", c.Name, f.name()))
		}
		c.NotNull = false
		missing = append(missing, c)
	}
	if len(missing) > 0 {
		f.push(f.d.AddColumns(f.table, missing))
	}
	return nil
}

// loosen drops NOT NULL from what may be null now, and from columns that nobody fills any more.
func (f *differ) loosen() error {
	var clauses []string
	for _, l := range f.live.Columns {
		if !l.NotNull || l.Default || slices.Contains(f.live.Key, l.Name) && !f.keyless {
			continue
		}
		i := slices.IndexFunc(f.want.Columns, func(c Column) bool { return c.Name == l.Name })
		if i >= 0 && f.want.Columns[i].NotNull {
			continue
		}
		clauses = append(clauses, fmt.Sprintf("ALTER COLUMN %s DROP NOT NULL", f.d.Quote(l.Name)))
	}
	if len(clauses) > 0 {
		f.push(fmt.Sprintf("ALTER TABLE %s %s", f.table, strings.Join(clauses, ", ")))
	}
	return nil
}

// widen changes the types of columns that cannot hold their fields any more.
func (f *differ) widen() error {
	var changes []TypeChange
	for _, c := range f.want.Columns {
		l := f.live.Column(c.Name)
		if l == nil || c.Custom || l.Type == c.Type || f.d.Holds(l.Type, c.Shape, c.Key && f.want.Keyed) {
			continue
		}
		expr, ok := f.d.Cast(l.Type, c.Type, f.d.Quote(c.Name))
		key := slices.Contains(f.live.Key, c.Name) && !f.keyless
		switch {
		case f.change.Backfill: // there are no rows
			expr = "NULL"
		case f.asked(c):
			f.warn = append(f.warn, fmt.Sprintf("column %q of table %s has type %s, and values are made for %s: somebody has changed it, and writing may fail", c.Name, f.name(), l.Type, c.Type))
			continue
		case key || !ok:
			return f.problem(fmt.Sprintf("column %q of table %s has type %s, and field %q needs %s", c.Name, f.name(), l.Type, c.Field, c.Type),
				"raise the binding's backfill counter (pipeline backfill FILE STREAM), which empties the table and starts over, or leave the field out")
		}
		changes = append(changes, TypeChange{c, expr})
	}
	if len(changes) == 0 {
		return nil
	}
	if sql := f.d.AlterTypes(f.table, changes); sql != "" {
		f.push(sql)
		return nil
	}
	for _, c := range changes {
		f.migrate(c.Column, c.Expr)
	}
	return nil
}

// asked tells whether the same type was asked for last, so that the table is what has changed, and not the binding.
func (f *differ) asked(c Column) bool {
	return f.change.Last != nil && slices.ContainsFunc(f.change.Last.Columns, func(l Column) bool { return l.Name == c.Name && l.Type == c.Type })
}

// migrate changes a column's type by way of a temporary column. Cut short before the old column is gone, that starts again with the values; after it,
// resume finishes it.
func (f *differ) migrate(c Column, expr string) {
	temp := c
	temp.Name, temp.NotNull = TempName(f.d, c.Name), false
	old := f.live.Column(temp.Name)
	if old != nil && old.Type != c.Type { // left by a migration to another type, which is not wanted any more
		f.push(fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", f.table, f.d.Quote(temp.Name)))
		old = nil
	}
	if old == nil {
		f.push(f.d.AddColumns(f.table, []Column{temp}))
	}
	f.push(fmt.Sprintf("UPDATE %s SET %s = %s WHERE true", f.table, f.d.Quote(temp.Name), expr))
	f.push(fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", f.table, f.d.Quote(c.Name)))
	f.push(f.rename(temp.Name, c.Name))
}

// addKey adds the primary key to a table whose key has changed, and which is empty.
func (f *differ) addKey() error {
	wanted := f.wantedKey()
	if len(wanted) == 0 || sameSet(f.live.Key, wanted) {
		return nil
	}
	if !f.change.Backfill {
		if f.live.UniqueBy(wanted) {
			return nil
		}
		f.warn = append(f.warn, fmt.Sprintf("table %s has no primary key: rows are looked up by (%s), which is slow without an index on it", f.name(), strings.Join(wanted, ", ")))
		return nil
	}
	f.push(fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", f.table, quoteAll(f.d, wanted)))
	return nil
}
