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
	const usual, digit = `{"dimensions":[0],"elements":[`, len(`{"dimensions":[`)
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
		dst[start+digit] = '0' + byte(sizes.count[1])
		return dst, nil
	}
	var memory [128]byte
	head := append(memory[:0], usual[:digit]...)
	for _, n := range sizes.count[1 : sizes.depth+1] {
		head = append(strconv.AppendInt(head, int64(n), 10), ',')
	}
	head = append(head[:len(head)-1], usual[digit+1:]...)
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
		case c == '}' && depth > 0 && (done || depth == 1 && items[1] == 0):
			if sizes.count[depth] == 0 {
				sizes.count[depth] = items[depth]
			}
			if sizes.count[depth] != items[depth] {
				return dst, sizes, fmt.Errorf("rendering an array: %w at byte %d: its parts differ in size", errArray, i)
			}
			if nested {
				dst = append(dst, ']')
			}
			items[depth] = 0
			depth--
			i++
			if done = true; depth == 0 && i < len(value) {
				return dst, sizes, fmt.Errorf("rendering an array: %w at byte %d: it goes on behind its end", errArray, i)
			}
		case done:
			return dst, sizes, fmt.Errorf("rendering an array: %w at byte %d: no %q between two elements", errArray, i, a.delimiter)
		case c == '{' && depth < maxDimensions && sizes.depth == 0 || c == '{' && depth < sizes.depth:
			if nested {
				dst = append(dst, '[')
			}
			items[depth]++
			depth++
			i++
		case c == '{' || c == '}' || c == a.delimiter || depth == 0 || sizes.depth != 0 && sizes.depth != depth:
			return dst, sizes, fmt.Errorf("rendering an array: %w at byte %d: unexpected %q", errArray, i, c)
		default:
			var element []byte
			var quoted, ok bool
			start := i
			if quoted = c == '"'; quoted {
				element, i, ok = unquote(value, i+1)
			} else {
				for i < len(value) && value[i] != a.delimiter && value[i] != '}' {
					i++
				}
				element, ok = value[start:i], true
			}
			if !ok {
				return dst, sizes, fmt.Errorf("rendering an array: %w at byte %d: no closing quote", errArray, start)
			}
			sizes.depth = depth
			items[depth]++
			done = true
			if !quoted && len(element) == 4 && bytes.EqualFold(element, []byte("NULL")) {
				dst = append(dst, "null"...)
				continue
			}
			var err error
			if dst, err = a.element(dst, element); err != nil {
				return dst, sizes, fmt.Errorf("rendering an array's element at byte %d: %w", start, err)
			}
		}
	}
	if depth != 0 || !done {
		return dst, sizes, fmt.Errorf("rendering an array: %w: it ends too early", errArray)
	}
	return dst, sizes, nil
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
