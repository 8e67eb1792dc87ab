package columns

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

const (
	// maxShapes is how many shapes of objects are remembered, with names of maxShapeBytes together.
	maxShapes     = 256
	maxShapeBytes = 1 << 20
	// maxMembers is how many members an object may have that projections may move: as many as a row has columns.
	maxMembers = 100_000
	// maxWarnings is how many warnings are kept: shapes may go on without end.
	maxWarnings = 100
)

// shapes finds the plan for the members that an object has. Neighbours mostly have the same, and then their names are compared, and nothing is looked up.
type shapes struct {
	options     Options
	added       *added
	projections *projections
	last        *shape
	known       map[string]*shape // by the names, as they are written
	bytes       int               // of the names in known
	warnings    []string
	names       [][]byte // of the object at hand
	values      [][]byte
	key         []byte
	value       func(dst []byte, i int) ([]byte, bool, error)
}

// shape is what there is to know about objects with certain members in a certain order.
type shape struct {
	names [][]byte    // with their quotes
	plan  *RecordPlan // nil: all members stay where they are
	from  []int       // the member of each of the plan's fields
	err   error
}

// of reads an object's members and returns its shape.
func (s *shapes) of(raw []byte) *shape {
	s.names, s.values = s.names[:0], s.values[:0]
	jsontext.Members(raw, func(name, value []byte) bool {
		s.names, s.values = append(s.names, name), append(s.values, value)
		return len(s.names) <= maxMembers
	})
	if len(s.names) > maxMembers {
		return &tooManyMembers
	}
	if s.last != nil && s.last.matches(s.names) {
		return s.last
	}
	s.key = append(bytes.Join(s.names, []byte(",")), ',')
	found := s.known[string(s.key)]
	if found == nil {
		if s.known == nil || len(s.known) >= maxShapes || s.bytes > maxShapeBytes {
			s.known, s.bytes = map[string]*shape{}, 0
		}
		s.bytes += len(s.key)
		found = s.make()
		s.known[string(s.key)] = found
	}
	s.last = found
	return found
}

var tooManyMembers = shape{err: &FieldError{Reason: fmt.Sprintf("an object of more than %d members cannot be projected", maxMembers)}}

func (s *shape) matches(names [][]byte) bool {
	if len(s.names) != len(names) {
		return false
	}
	for i, name := range names {
		if !bytes.Equal(name, s.names[i]) {
			return false
		}
	}
	return true
}

// make plans the object at hand. Of members with one name the last one counts if the object is written anew.
func (s *shapes) make() *shape {
	made := &shape{}
	var fields []string
	at := map[string]int{}
	for i, raw := range s.names {
		made.names = append(made.names, bytes.Clone(raw))
		name := spelled(raw)
		if field, again := at[name]; again {
			made.from[field] = i
			continue
		}
		at[name] = len(fields)
		fields, made.from = append(fields, name), append(made.from, i)
	}
	found, warnings, err := place(fields, nil, s.projections, s.added)
	for _, w := range warnings {
		if len(s.warnings) < maxWarnings && !slices.Contains(s.warnings, w) {
			s.warnings = append(s.warnings, w)
		}
	}
	if err == nil {
		err = inside(fields, found)
	}
	if err != nil {
		made.err = &FieldError{Reason: err.Error()}
		return made
	}
	moved := false
	for i, f := range found {
		moved = moved || len(f.tokens) != 1 || f.tokens[0] != fields[i]
	}
	if moved {
		root, err := layout(fields, found, nil, s.added)
		if err != nil {
			made.err = &FieldError{Reason: err.Error()}
			return made
		}
		made.plan = &RecordPlan{program: compile(root)}
	}
	return made
}

// append appends the document of the object at hand.
func (s *shape) append(dst []byte, all *shapes, n int64) ([]byte, error) {
	if s.err != nil {
		return dst, s.err
	}
	if all.value == nil {
		all.value = func(dst []byte, i int) ([]byte, bool, error) {
			return append(dst, all.values[all.last.from[i]]...), true, nil
		}
	}
	return s.plan.Append(dst, n, all.value)
}
