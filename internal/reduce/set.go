package reduce

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// update is a change of a set: first remove or intersect, then add. Terms are sorted.
type update struct {
	add    []term
	added  []byte // the value of "add"; nil: it is absent
	mask   []term
	effect string // what mask does: intersect or remove; empty: there is none
}

// term is a member of a set: a member of an object, or an item of an array.
type term struct {
	name, raw []byte // of a member: what it spells, and how
	value     []byte
}

// terms knows how the sets of one place are written.
type terms struct {
	key  []rawjson.Pointer
	kind byte // { or [; 0: not known yet
}

// reduceSet appends the update that does what left does and then right. With full there is nothing before left, so that only additions are left.
func (r *Reducer) reduceSet(dst []byte, in *rule, left, right []byte, full bool) ([]byte, error) {
	ts := &terms{key: in.key}
	var a update
	var err error
	if left != nil {
		if a, err = ts.parse(left); err != nil {
			return dst, err
		}
	}
	b, err := ts.parse(right)
	if err != nil {
		return dst, err
	}
	mask, effect := ts.compose(a, b)
	switch b.effect {
	case "remove":
		a.add = ts.combine(a.add, b.mask, onlyLeft)
	case "intersect":
		a.add = ts.combine(a.add, b.mask, both)
	}
	dst = append(dst, '{')
	if a.added != nil || b.added != nil {
		if dst, err = r.appendAdditions(append(dst, `"add":`...), ts, in, a, b, full); err != nil {
			return dst, below(err, []byte("add"))
		}
	}
	if effect != "" && !full {
		if a.added != nil || b.added != nil {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), effect...), `":`...)
		dst = ts.append(dst, mask)
	}
	return append(dst, '}'), nil
}

// compose returns the mask of both updates together.
func (ts *terms) compose(a, b update) (mask []term, effect string) {
	switch a.effect + b.effect {
	case "removeremove":
		return ts.combine(a.mask, b.mask, either), "remove"
	case "intersectremove":
		return ts.combine(a.mask, b.mask, onlyLeft), "intersect"
	case "removeintersect":
		return ts.combine(b.mask, a.mask, onlyLeft), "intersect"
	case "intersectintersect":
		return ts.combine(a.mask, b.mask, both), "intersect"
	}
	if b.effect != "" {
		return b.mask, b.effect
	}
	return a.mask, a.effect
}

// appendAdditions appends the additions of both updates; a member that both add is reduced.
func (r *Reducer) appendAdditions(dst []byte, ts *terms, in *rule, a, b update, full bool) (_ []byte, err error) {
	var inAdd *rule
	if p := r.member(in, []byte("add")); p != nil && b.added != nil {
		inAdd = r.ruleFor(p, b.added)
	}
	dst = append(dst, ts.kind)
	first := len(dst)
	ts.walk(a.add, b.add, func(x, y *term) {
		if err != nil {
			return
		}
		begin := len(dst)
		if begin > first {
			dst = append(dst, ',')
		}
		if y == nil {
			dst = ts.appendTerm(dst, x, x.value)
			return
		}
		var p *place
		switch {
		case inAdd == nil:
		case ts.kind == '{':
			p = r.member(inAdd, y.name)
		default:
			p = inAdd.element(len(inAdd.items))
		}
		var earlier []byte
		if x != nil {
			earlier = x.value
		}
		value, gone, failed := r.reduce(nil, p, earlier, y.value, full)
		if failed != nil {
			err = below(failed, ts.token(y))
			return
		}
		if dst = ts.appendTerm(dst, y, value); gone {
			dst = dst[:begin]
		}
	})
	return append(dst, ts.kind+2), err // { and }, [ and ] are two apart
}

// token names a term in an error's location.
func (ts *terms) token(t *term) []byte {
	if ts.kind == '{' {
		return t.name
	}
	return strconv.AppendQuote(nil, string(shorten(t.value)))
}

func (ts *terms) parse(value []byte) (u update, err error) {
	if value[0] != '{' {
		return u, wrong(`set needs an object with "add", "intersect" or "remove", found %s`, shorten(value))
	}
	err = rawjson.Object(value, func(name, v []byte) (err error) {
		switch {
		case rawjson.NameIs(name, "add"):
			u.added = v
			u.add, err = ts.terms(v)
		case rawjson.NameIs(name, "intersect"), rawjson.NameIs(name, "remove"):
			effect := string(rawjson.AppendUnquoted(nil, name))
			if u.effect != "" && u.effect != effect {
				return wrong(`set takes "intersect" or "remove", not both`)
			}
			u.effect = effect
			u.mask, err = ts.terms(v)
		default:
			err = wrong(`set knows "add", "intersect" and "remove", found %q`, name)
		}
		return err
	})
	return u, err
}

// terms reads an object or an array; all sets of one place must be of one kind.
func (ts *terms) terms(value []byte) (list []term, err error) {
	kind := value[0]
	if kind != '{' && kind != '[' {
		return nil, wrong("the terms of a set must be objects or arrays, found %s", shorten(value))
	}
	if ts.kind != 0 && ts.kind != kind {
		return nil, wrong("the terms of a set must all be objects or all be arrays, found %s among the others", shorten(value))
	}
	if ts.kind = kind; kind == '[' {
		array := items(value)
		if err = sorted(ts.key, array); err != nil {
			return nil, err
		}
		for _, v := range array {
			list = append(list, term{value: v})
		}
		return list, nil
	}
	if err = rawjson.Object(value, func(raw, v []byte) error {
		name := raw
		if bytes.IndexByte(raw, '\\') >= 0 {
			name = rawjson.AppendUnquoted(nil, raw)
		}
		list = append(list, term{name, raw, v})
		return nil
	}); err != nil {
		return nil, wrong("%v", err)
	}
	slices.Reverse(list) // of members with one name the last counts
	slices.SortStableFunc(list, func(x, y term) int { return bytes.Compare(x.name, y.name) })
	return slices.CompactFunc(list, func(x, y term) bool { return bytes.Equal(x.name, y.name) }), nil
}

// Which terms of two lists combine keeps.
func onlyLeft(x, y *term) bool { return y == nil }
func both(x, y *term) bool     { return x != nil && y != nil }
func either(_, _ *term) bool   { return true }

// combine returns terms of two lists, of equal ones the left.
func (ts *terms) combine(a, b []term, keep func(x, y *term) bool) (list []term) {
	ts.walk(a, b, func(x, y *term) {
		switch {
		case !keep(x, y):
		case x != nil:
			list = append(list, *x)
		default:
			list = append(list, *y)
		}
	})
	return list
}

// walk calls f with the terms of two lists in order, equal ones together; nil: that list has none.
func (ts *terms) walk(a, b []term, f func(x, y *term)) {
	for len(a) > 0 || len(b) > 0 {
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		case ts.kind == '{':
			c = bytes.Compare(a[0].name, b[0].name)
		default:
			c = compareBy(ts.key, a[0].value, b[0].value)
		}
		var x, y *term
		if c <= 0 {
			x, a = &a[0], a[1:]
		}
		if c >= 0 {
			y, b = &b[0], b[1:]
		}
		f(x, y)
	}
}

func (ts *terms) append(dst []byte, list []term) []byte {
	dst = append(dst, ts.kind)
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ts.appendTerm(dst, &list[i], list[i].value)
	}
	return append(dst, ts.kind+2)
}

func (ts *terms) appendTerm(dst []byte, t *term, value []byte) []byte {
	if ts.kind == '{' {
		dst = append(append(append(dst, '"'), t.raw...), '"', ':')
	}
	return append(dst, value...)
}
