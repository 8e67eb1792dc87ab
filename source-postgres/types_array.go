package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/estuary/connectors/protocol"
)

// arrayFormat is how arrays are printed, by the names of the option array_format.
type arrayFormat string

const (
	arrayObject arrayFormat = "object" // {"dimensions":[2,2],"elements":[1,2,3,4]}
	arrayFlat   arrayFormat = "flat"   // [1,2,3,4]
	arrayNested arrayFormat = "nested" // [[1,2],[3,4]]
)

// arraySchema describes an array of elements: how deep it is nested is not part of a column's type in PostgreSQL.
func arraySchema(format arrayFormat, element protocol.Schema) protocol.Schema {
	element = element.Nullable()
	flat := protocol.Schema{Types: []string{"array"}, Items: &element}
	switch format {
	case arrayFlat:
		return flat
	case arrayNested:
		return protocol.Schema{Types: []string{"array"}}
	case arrayObject:
	}
	sizes := protocol.Schema{Types: []string{"array"}, Items: &protocol.Schema{Types: []string{"integer"}}}
	return protocol.Schema{Types: []string{"object"}, Properties: []protocol.Property{
		{Name: "dimensions", Schema: sizes, Required: true},
		{Name: "elements", Schema: flat, Required: true},
	}}
}

// array prints the arrays of one element type.
type array struct {
	delimiter byte // pg_type.typdelim of the elements
	element   appender
}

func (a array) appender(format arrayFormat) appender {
	switch format {
	case arrayFlat:
		return a.appendFlat
	case arrayNested:
		return a.appendNested
	case arrayObject:
	}
	return a.appendObject
}

func (a array) appendFlat(dst, value []byte) ([]byte, error) {
	dst, _, err := a.appendElements(append(dst, '['), value, false)
	return append(dst, ']'), err
}

func (a array) appendNested(dst, value []byte) ([]byte, error) {
	dst, _, err := a.appendElements(dst, value, true)
	return dst, err
}

// appendObject writes the head for one dimension below ten before the elements, since most arrays are so, and replaces it when it was wrong.
func (a array) appendObject(dst, value []byte) ([]byte, error) {
	const usual, size = `{"dimensions":[0],"elements":[`, len(`{"dimensions":[`)
	if string(value) == "{}" {
		return append(dst, `{"dimensions":[],"elements":[]}`...), nil
	}
	start := len(dst)
	dst, sizes, err := a.appendElements(append(dst, usual...), value, false)
	if err != nil {
		return dst, err
	}
	dst = append(dst, "]}"...)
	if sizes.depth == 1 && sizes.count[1] < 10 {
		dst[start+size] = '0' + byte(sizes.count[1])
		return dst, nil
	}
	var memory [128]byte
	head := append(memory[:0], usual[:size]...)
	for _, n := range sizes.count[1 : sizes.depth+1] {
		head = append(strconv.AppendInt(head, int64(n), 10), ',')
	}
	head = append(head[:len(head)-1], usual[size+1:]...)
	return slices.Replace(dst, start, start+len(usual), head...), nil
}

// PostgreSQL's MAXDIM.
const maxDimensions = 6

// dimensions are the sizes of an array: count[1] of the outermost dimension to count[depth].
type dimensions struct {
	depth int
	count [maxDimensions + 1]int
}

var errArray = errors.New("malformed array")

func malformed(at int, what string) error {
	return fmt.Errorf("rendering an array: %w at byte %d: %s", errArray, at, what)
}

// appendElements appends an array's elements with commas between them and, with nested, the brackets of all dimensions. The text form is
// https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO.
func (a array) appendElements(dst, value []byte, nested bool) ([]byte, dimensions, error) {
	var sizes dimensions
	if len(value) > 0 && value[0] == '[' { // lower bounds other than 1: [0:1][5:6]={{…
		value = value[bytes.IndexByte(value, '=')+1:]
	}
	var items [maxDimensions + 1]int // of the open braces
	depth, done := 0, false          // done: an item has ended, a delimiter or a closing brace must follow
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case done && c == a.delimiter:
			dst = append(dst, ',')
			done = false
			i++
		case c == '}' && depth > 0 && (done || len(value) == 2):
			if sizes.count[depth] == 0 {
				sizes.count[depth] = items[depth]
			}
			if sizes.count[depth] != items[depth] {
				return dst, sizes, malformed(i, "its parts differ in size")
			}
			if nested {
				dst = append(dst, ']')
			}
			items[depth] = 0
			depth--
			i++
			if done = true; depth == 0 && i < len(value) {
				return dst, sizes, malformed(i, "it goes on behind its end")
			}
		case done:
			return dst, sizes, malformed(i, "no delimiter between two elements")
		case c == '{' && (depth < sizes.depth || sizes.depth == 0 && depth < maxDimensions):
			if nested {
				dst = append(dst, '[')
			}
			items[depth]++
			depth++
			i++
		case depth == 0 || sizes.depth != 0 && sizes.depth != depth:
			return dst, sizes, malformed(i, "unexpected element")
		default:
			var n int
			var err error
			if dst, n, i, err = a.appendRow(dst, value, i); err != nil {
				return dst, sizes, err
			}
			sizes.depth = depth
			items[depth] += n
			done = true
		}
	}
	if depth != 0 || !done {
		return dst, sizes, malformed(len(value), "it ends too early")
	}
	return dst, sizes, nil
}

// appendRow appends elements from value[i] on, up to the brace that ends their row, and returns how many there were and where it stopped.
func (a array) appendRow(dst, value []byte, i int) (_ []byte, n, next int, err error) {
	for {
		start := i
		var element []byte
		if i < len(value) && value[i] == '"' {
			var ok bool
			if element, i, ok = unquote(value, i+1); !ok {
				return dst, n, i, malformed(start, "no closing quote")
			}
			dst, err = a.element(dst, element)
		} else {
			for i < len(value) && value[i] != a.delimiter && value[i] != '}' {
				i++
			}
			switch element = value[start:i]; {
			case i == start || element[0] == '{':
				return dst, n, i, malformed(i, "an element is missing")
			case isNull(element):
				dst = append(dst, "null"...)
			default:
				dst, err = a.element(dst, element)
			}
		}
		if err != nil {
			return dst, n, i, fmt.Errorf("rendering an array's element at byte %d: %w", start, err)
		}
		n++
		if i == len(value) || value[i] != a.delimiter {
			return dst, n, i, nil
		}
		dst = append(dst, ',')
		i++
	}
}

// isNull tells whether an element without quotes is NULL, in any case as PostgreSQL itself reads it.
func isNull(element []byte) bool {
	return len(element) == 4 && element[0]|0x20 == 'n' && bytes.EqualFold(element, []byte("null"))
}

// unquote returns the text between the quote before text[i] and the next one, and the index behind that. Backslashes are taken out in place.
func unquote(text []byte, i int) (_ []byte, next int, ok bool) {
	start := i
	for i < len(text) && text[i] != '"' && text[i] != '\\' {
		i++
	}
	w := i
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return text[start:w], i + 1, true
		case '\\':
			if i++; i == len(text) {
				return nil, i, false
			}
		}
		text[w] = text[i]
		w++
	}
	return nil, i, false
}
