package rawjson

import (
	"bytes"
	"slices"
)

// Compare orders two valid JSON values, trimmed, by what they mean: null, false, true, numbers by their exact value, strings by code point, arrays element
// by element, objects by their members in the order of the names. It returns -1, 0 or 1.
func Compare(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	ka, kb := kind(a), kind(b)
	if ka != kb {
		return order(ka, kb)
	}
	switch ka {
	case kindNumber:
		x, _ := ParseNumber(a)
		y, _ := ParseNumber(b)
		return x.Compare(y)
	case kindString:
		return bytes.Compare(text(a), text(b))
	case kindArray:
		return slices.CompareFunc(elements(a), elements(b), Compare)
	case kindObject:
		return slices.CompareFunc(members(a), members(b), func(m, n member) int {
			if c := bytes.Compare(m.name, n.name); c != 0 {
				return c
			}
			return Compare(m.value, n.value)
		})
	}
	return 0
}

const (
	kindNull = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

func kind(value []byte) int {
	if len(value) == 0 {
		return kindNull
	}
	switch value[0] {
	case 'n':
		return kindNull
	case 'f':
		return kindFalse
	case 't':
		return kindTrue
	case '"':
		return kindString
	case '[':
		return kindArray
	case '{':
		return kindObject
	}
	return kindNumber
}

// text returns what a string spells, a view where nothing is escaped.
func text(value []byte) []byte {
	raw := value[1 : len(value)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return AppendUnquoted(nil, raw)
}

func elements(array []byte) (list [][]byte) {
	_ = Array(array, func(v []byte) error { // the value is valid
		list = append(list, v)
		return nil
	})
	return list
}

type member struct{ name, value []byte }

// members returns an object's members sorted by name, the last of each name.
func members(object []byte) []member {
	var list []member
	_ = Object(object, func(name, value []byte) error { // the value is valid
		if bytes.IndexByte(name, '\\') >= 0 {
			name = AppendUnquoted(nil, name)
		}
		list = append(list, member{name, value})
		return nil
	})
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	return slices.CompactFunc(list, func(a, b member) bool { return bytes.Equal(a.name, b.name) })
}
