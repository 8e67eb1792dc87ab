package reduce

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

func (r *Reducer) merge(dst []byte, in *rule, left, right []byte, full bool) ([]byte, error) {
	for _, side := range [][]byte{left, right} {
		if side != nil && side[0] != '{' && side[0] != '[' && !rawjson.IsNull(side) {
			return dst, wrong("merge needs objects or arrays, found %s", shorten(side))
		}
	}
	switch {
	case rawjson.IsNull(right):
		return append(dst, right...), nil
	case left != nil && rawjson.IsNull(left):
		return append(dst, left...), nil
	case left != nil && left[0] != right[0]:
		return dst, wrong("merge needs two objects or two arrays, found %s and %s", shorten(left), shorten(right))
	case left == nil && in.plain:
		return append(dst, right...), nil
	case right[0] == '{':
		return r.mergeObjects(dst, in, left, right, full)
	}
	return r.mergeArrays(dst, in, left, right, full)
}

// mergeObjects appends the members of both objects: those of the left one in their order, then those that only the right one has.
func (r *Reducer) mergeObjects(dst []byte, in *rule, left, right []byte, full bool) (_ []byte, err error) {
	t := r.table()
	defer func() { r.free-- }()
	if left != nil {
		if err = rawjson.Object(left, func(name, value []byte) error {
			t.member(name).left = value
			return nil
		}); err != nil {
			return dst, wrong("%v", err)
		}
	}
	if err = rawjson.Object(right, func(name, value []byte) error {
		t.member(name).right = value
		return nil
	}); err != nil {
		return dst, wrong("%v", err)
	}
	dst = append(dst, '{')
	first := len(dst)
	for i := range t.members {
		m := &t.members[i]
		begin := len(dst)
		if begin > first {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), m.raw...), '"', ':')
		switch {
		case m.right == nil:
			dst = append(dst, m.left...)
		case in.plain:
			dst = append(dst, m.right...)
		default:
			var gone bool
			if dst, gone, err = r.reduce(dst, r.member(in, m.name), m.left, m.right, full); err != nil {
				return dst, below(err, m.name)
			}
			if gone {
				dst = dst[:begin]
			}
		}
	}
	return append(dst, '}'), nil
}

// table lists the members of two objects, in order of appearance; of members with one name the last of each side.
type table struct {
	members []member
	next    int     // the member that is likely named next
	index   []int32 // open addressing, place in members + 1; used for more than a few members
}

type member struct {
	name, raw   []byte // what it spells, and how it is spelled first
	left, right []byte // nil: that side has none
}

// few members are compared one by one.
const few = 8

var seed = maphash.MakeSeed()

// table returns an empty table of the next level; the caller gives it back by r.free--.
func (r *Reducer) table() *table {
	if r.free == len(r.tables) {
		r.tables = append(r.tables, new(table))
	}
	t := r.tables[r.free]
	r.free++
	t.members, t.next = t.members[:0], 0
	clear(t.index)
	return t
}

// member returns the member of a raw name, a new one if there is none yet.
func (t *table) member(raw []byte) *member {
	if t.next == len(t.members) {
		t.next = 0 // the right object's members follow in the order of the left one's
	}
	name := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		name = rawjson.AppendUnquoted(nil, raw)
	}
	at := t.find(name)
	if at < 0 {
		at = len(t.members)
		t.members = append(t.members, member{name: name, raw: raw})
		t.insert(at)
	}
	t.next = at + 1
	return &t.members[at]
}

func (t *table) find(name []byte) int {
	if t.next < len(t.members) && bytes.Equal(t.members[t.next].name, name) {
		return t.next
	}
	if len(t.members) <= few {
		for i := range t.members {
			if bytes.Equal(t.members[i].name, name) {
				return i
			}
		}
		return -1
	}
	mask := uint64(len(t.index) - 1)
	for slot := maphash.Bytes(seed, name) & mask; t.index[slot] != 0; slot = (slot + 1) & mask {
		if at := int(t.index[slot] - 1); bytes.Equal(t.members[at].name, name) {
			return at
		}
	}
	return -1
}

// insert keeps the index at most half full.
func (t *table) insert(at int) {
	switch {
	case len(t.members) <= few:
		return
	case len(t.members) == few+1 || 2*len(t.members) > len(t.index):
		if 2*len(t.members) > len(t.index) {
			t.index = make([]int32, max(64, 2*len(t.index)))
		}
		clear(t.index)
		for i := range t.members {
			t.place(i)
		}
	default:
		t.place(at)
	}
}

func (t *table) place(at int) {
	mask := uint64(len(t.index) - 1)
	slot := maphash.Bytes(seed, t.members[at].name) & mask
	for t.index[slot] != 0 {
		slot = (slot + 1) & mask
	}
	t.index[slot] = int32(at + 1) //nolint:gosec // a document does not have two billion members
}

// mergeArrays merges index by index, or items with equal keys.
func (r *Reducer) mergeArrays(dst []byte, in *rule, left, right []byte, full bool) (_ []byte, err error) {
	a, b := items(left), items(right)
	if len(in.key) > 0 {
		if err = sorted(in.key, a, b); err != nil {
			return dst, err
		}
	}
	dst = append(dst, '[')
	first := len(dst)
	for i, at := 0, 0; i < len(a) || at < len(b); {
		var l, rt []byte
		l, rt, i, at = pair(in.key, a, b, i, at)
		begin := len(dst)
		if begin > first {
			dst = append(dst, ',')
		}
		// A schema's items are named by the place in the newer array, which is the one that has been looked at.
		index := max(at-1, 0)
		var gone bool
		if dst, gone, err = r.reduce(dst, in.element(index), l, rt, full); err != nil {
			return dst, below(err, strconv.AppendInt(nil, int64(index), 10))
		}
		if gone {
			dst = dst[:begin]
		}
	}
	return append(dst, ']'), nil
}

// pair takes the next items of two arrays: those with the smallest key, or, without a key, one of each. nil: that side has none.
func pair(key []rawjson.Pointer, a, b [][]byte, i, j int) (left, right []byte, _, _ int) {
	c := 0
	switch {
	case i == len(a):
		c = 1
	case j == len(b):
		c = -1
	case len(key) > 0:
		c = compareBy(key, a[i], b[j])
	}
	if c <= 0 {
		left = a[i]
		i++
	}
	if c >= 0 {
		right = b[j]
		j++
	}
	return left, right, i, j
}

// sorted refuses arrays that are not in the order of their key, each key once: merged, they would hold keys twice.
func sorted(key []rawjson.Pointer, lists ...[][]byte) error {
	for _, list := range lists {
		for i := 1; i < len(list); i++ {
			if compareBy(key, list[i-1], list[i]) >= 0 {
				return wrong("an array that is merged by its key must be sorted by it, each key once; %s is followed by %s", shorten(list[i-1]), shorten(list[i]))
			}
		}
	}
	return nil
}

func items(array []byte) (list [][]byte) {
	if array == nil {
		return nil
	}
	_ = rawjson.Array(array, func(v []byte) error { // the document is valid
		list = append(list, v)
		return nil
	})
	return list
}
