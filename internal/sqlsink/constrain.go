package sqlsink

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// Options are choices of the destination's configuration that decide about fields.
type Options struct {
	Delta bool
	// NoDocument: the root document need not be stored; it is rebuilt from the columns.
	NoDocument bool
	// MaxColumns of a table; fields beyond it are not selected unless somebody asks.
	MaxColumns int
}

// Constrain says what may become of each projection. live is the table as it is, nil: there is none. last is what was asked for last, nil: nothing is known.
// A table that starts over (a raised backfill counter) counts as a new one.
func Constrain(d Dialect, p *materialize.Proposed, live *Live, last *Table, o Options) (map[string]materialize.Constraint, error) {
	c := &constrainer{d: d, p: p, live: live, last: last, o: o}
	again := p.Last != nil && p.Last.Backfill != p.Backfill
	if p.Last != nil && p.Last.DeltaUpdates && !o.Delta && !again {
		return nil, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("collection %s was materialized by delta updates, so its table may hold several rows for one key", p.Collection.Name),
			Fix: "raise the binding's backfill counter (pipeline backfill FILE STREAM), which empties the table and starts over, or keep delta_updates",
		}
	}
	if again {
		c.live, c.last = nil, nil
	}
	if !o.Delta && len(p.Collection.Key) == 0 {
		return nil, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("collection %s has no key, so its rows cannot be kept up to date", p.Collection.Name),
			Fix: "give it a key, or set delta_updates, which adds a row for each document",
		}
	}
	if !o.Delta {
		if err := floatKeys(p); err != nil {
			return nil, err
		}
	}
	c.rivals()
	all := make(map[string]materialize.Constraint, len(p.Collection.Projections))
	for i := range p.Collection.Projections {
		q := &p.Collection.Projections[i]
		got := c.constrain(q)
		if name := d.Fold(q.Field); name != q.Field {
			got.Folded = name
		}
		all[q.Field] = got
	}
	c.crowd(all)
	return all, nil
}

// floatKeys refuses keys of floating point before a run meets the first fraction in one: packed keys hold none.
func floatKeys(p *materialize.Proposed) error {
	var problems []error
	for i := range p.Collection.Projections {
		q := &p.Collection.Projections[i]
		if !q.Key || ShapeOf(&q.Inference) != Float {
			continue
		}
		problems = append(problems, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("field %q, a part of the key of collection %s, is a floating-point number, which cannot be a key", q.Field, p.Collection.Name),
			Fix: "choose another key, make the column numeric at the source, or set delta_updates, which adds a row for each document",
		})
	}
	return errors.Join(problems...)
}

type constrainer struct {
	d    Dialect
	p    *materialize.Proposed
	live *Live
	last *Table
	o    Options
	// winners are the fields with the most right to a column's name, by that name.
	winners map[string]claim
}

// claim is a field's right to a column's name.
type claim struct {
	field string
	rank  int
	tied  bool // another field has no less right to it
}

// rivals finds the fields that fold to one name. A key has the first right to it, then an explicit projection, then who has it already.
func (c *constrainer) rivals() {
	c.winners = map[string]claim{}
	for i := range c.p.Collection.Projections {
		q := &c.p.Collection.Projections[i]
		rank := 0
		switch {
		case q.Key:
			rank = 3
		case q.Explicit:
			rank = 2
		case c.selected(q.Field):
			rank = 1
		}
		name := c.d.Fold(q.Field)
		if best, ok := c.winners[name]; !ok || rank > best.rank {
			c.winners[name] = claim{field: q.Field, rank: rank}
		} else if rank == best.rank && rank == 0 { // of two keys, or two that somebody asked for, the first has it
			best.tied = true
			c.winners[name] = best
		}
	}
}

func (c *constrainer) selected(field string) bool {
	return c.last != nil && slices.ContainsFunc(c.last.Columns, func(l Column) bool { return l.Field == field })
}

func (c *constrainer) constrain(q *protocol.Projection) materialize.Constraint {
	shape := ShapeOf(&q.Inference)
	root := q.Pointer == ""
	name := c.d.Fold(q.Field)
	winner := c.winners[name]
	switch {
	case !winner.tied && winner.field != q.Field:
		return materialize.Constraint{Kind: materialize.FieldForbidden, Reason: fmt.Sprintf("field %q has the column %q already", winner.field, name)}
	case shape == Never && !root:
		return materialize.Constraint{Kind: materialize.FieldForbidden, Reason: "no value other than null is valid here, so no column suits it"}
	}
	if root {
		shape = Object
	}
	k := c.fresh(q, shape, root)
	if winner.tied {
		k = materialize.Constraint{Kind: materialize.FieldOptional, Reason: fmt.Sprintf("another field wants the column %q, too: select one of them", name)}
	}
	if c.live == nil {
		return k
	}
	return c.existing(q, shape, k, c.live.Column(name))
}

// fresh is what holds for a table that has no such column yet.
func (c *constrainer) fresh(q *protocol.Projection, shape Shape, root bool) materialize.Constraint {
	is := func(k materialize.ConstraintKind, reason string) materialize.Constraint {
		return materialize.Constraint{Kind: k, Reason: reason}
	}
	switch {
	case q.Key && c.o.Delta:
		return is(materialize.LocationRecommended, "a part of the key")
	case q.Key:
		return is(materialize.LocationRequired, "a part of the key, by which rows are found")
	case root && c.o.Delta:
		return is(materialize.LocationRecommended, "the whole document")
	case root && c.o.NoDocument:
		return is(materialize.FieldOptional, "documents are rebuilt from their columns")
	case root:
		return is(materialize.LocationRequired, "the whole document, which later ones are reduced into")
	case q.Pointer == "/_meta/op":
		return is(materialize.LocationRecommended, "tells deleted rows from others")
	case q.Pointer == "/_meta" || strings.HasPrefix(q.Pointer, "/_meta/"):
		return is(materialize.FieldOptional, "metadata")
	case shape == Object:
		return is(materialize.FieldOptional, "an object, stored as JSON")
	case shape == Array, shape == Multiple:
		return is(materialize.LocationRecommended, "stored as JSON")
	default:
		return is(materialize.LocationRecommended, "a single scalar type")
	}
}

// existing is what holds where there is a table; column nil: it lacks this one.
func (c *constrainer) existing(q *protocol.Projection, shape Shape, k materialize.Constraint, column *LiveColumn) materialize.Constraint {
	key := q.Key && !c.o.Delta
	if column == nil {
		if key && len(c.live.Columns) > 0 {
			return materialize.Constraint{Kind: materialize.Incompatible, Reason: "the table has no such column, and a key's cannot be added to rows that are there"}
		}
		return k
	}
	wanted := c.d.Type(shape, q.Key)
	inKey := slices.Contains(c.live.Key, column.Name)
	switch _, castable := c.d.Cast(column.Type, wanted, c.d.Quote(column.Name)); {
	case key && len(c.live.Key) > 0 && !inKey:
		return materialize.Constraint{Kind: materialize.Incompatible, Reason: fmt.Sprintf("the table's primary key is (%s), without this column", strings.Join(c.live.Key, ", "))}
	case column.Type == wanted, c.d.Holds(column.Type, shape, key):
		if c.selected(q.Field) {
			return c.keep(k, "a part of the table already")
		}
		return k
	case castable && !inKey:
		if c.selected(q.Field) {
			return c.keep(k, fmt.Sprintf("its column changes from %s to %s", column.Type, wanted))
		}
		return k
	}
	return materialize.Constraint{
		Kind:   materialize.Incompatible,
		Reason: fmt.Sprintf("its column has type %s, and values of type %s need %s", column.Type, describe(&q.Inference), wanted),
	}
}

// keep recommends what is selected already.
func (c *constrainer) keep(k materialize.Constraint, reason string) materialize.Constraint {
	if k.Kind == materialize.FieldOptional {
		k.Kind = materialize.LocationRecommended
	}
	k.Reason += "; " + reason
	return k
}

// describe renders an inference for people.
func describe(i *protocol.Inference) string {
	text := strings.Join(i.Types, " or ")
	if i.Format != "" {
		text += " with format " + i.Format
	}
	if i.ContentEncoding != "" {
		text += " in " + i.ContentEncoding
	}
	return text
}

// crowd makes recommended fields optional beyond what a table can hold, in the order of the projections.
func (c *constrainer) crowd(all map[string]materialize.Constraint) {
	room := c.o.MaxColumns
	if room == 0 {
		return
	}
	for _, k := range all {
		if k.Kind == materialize.LocationRequired || k.Kind == materialize.FieldRequired {
			room--
		}
	}
	for i := range c.p.Collection.Projections {
		q := &c.p.Collection.Projections[i]
		k := all[q.Field]
		if k.Kind != materialize.LocationRecommended {
			continue
		}
		if room--; room < 0 && !c.selected(q.Field) {
			k.Kind, k.Reason = materialize.FieldOptional, fmt.Sprintf("a table has room for %d columns only", c.o.MaxColumns)
			all[q.Field] = k
		}
	}
}
