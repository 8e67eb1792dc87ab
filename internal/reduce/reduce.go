package reduce

import (
	"bytes"
	"fmt"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/internal/rawjson"
)

// Error tells which values cannot be reduced.
type Error struct {
	Location string // a JSON pointer into the document
	What     string
}

func (e *Error) Error() string { return "reducing " + location(e.Location) + ": " + e.What }

func location(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return pointer
}

func wrong(format string, args ...any) error { return &Error{What: fmt.Sprintf(format, args...)} }

// below puts a step in front of an error's location.
func below(err error, token []byte) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // it comes from this package as it is
		token = bytes.ReplaceAll(bytes.ReplaceAll(token, []byte("~"), []byte("~0")), []byte("/"), []byte("~1"))
		e.Location = "/" + string(token) + e.Location
	}
	return err
}

// Reduce appends to dst what two valid documents come to, of which right is the newer; nil: there is none on that side. With full, left is the beginning
// of the document's history: what is marked for deletion goes away, and deleted tells that this is so for the document itself; out is then its last
// form, as a soft deletion stores it. A left document that is a deletion counts as none then.
//
// Without full, reductions may be grouped in any way: Reduce(Reduce(a, b), c) is Reduce(a, Reduce(b, c)). One thing such a group cannot hold is a
// deletion in its middle: see Deletes.
func (r *Reducer) Reduce(dst, left, right []byte, full bool) (out []byte, deleted bool, err error) {
	left, right = trim(left), trim(right)
	if full && left != nil && right != nil && r.Deletes(left) {
		left = nil
	}
	begin := len(dst)
	r.free = 0
	out, deleted, err = r.reduce(dst, r.root, left, right, full)
	if err != nil {
		return dst[:begin], false, err
	}
	if r.byOp && full && right != nil && !deleted {
		deleted = IsDeletion(right)
	}
	return out, deleted, nil
}

// Single is Reduce for a document that has nothing to its left and never will have.
func (r *Reducer) Single(dst, doc []byte) (out []byte, deleted bool, err error) {
	return r.Reduce(dst, nil, doc, true)
}

// Deletes tells whether a document ends the history of its key. What combines documents before it knows what is stored must not reduce a later document
// into one that deletes: it must go on with the later one alone, and remember that whatever is stored is void. Reduced into the deletion, the later
// document would keep the members of what was deleted.
func (r *Reducer) Deletes(doc []byte) bool {
	if r.byOp && IsDeletion(doc) {
		return true
	}
	doc = trim(doc)
	return len(doc) > 0 && r.ruleFor(r.root, doc).delete
}

var op, _ = rawjson.ParsePointer("/_meta/op")

// IsDeletion tells whether a document's /_meta/op is "d".
func IsDeletion(doc []byte) bool {
	// Most documents have no such string anywhere.
	if !bytes.Contains(doc, []byte(`"d"`)) && !bytes.Contains(doc, []byte(`\u`)) {
		return false
	}
	value, ok, err := op.Find(doc)
	return err == nil && ok && len(value) > 2 && value[0] == '"' && rawjson.NameIs(value[1:len(value)-1], "d")
}

// trim returns a document without space around it; nil where there is nothing.
func trim(doc []byte) []byte {
	if doc = bytes.Trim(doc, " \t\r\n"); len(doc) == 0 {
		return nil
	}
	return doc
}

// reduce appends what the values of a place come to. gone tells that it is marked for deletion, and that nothing of it must stay.
func (r *Reducer) reduce(dst []byte, p *place, left, right []byte, full bool) (_ []byte, gone bool, err error) {
	switch {
	case right == nil:
		return append(dst, left...), false, nil
	case p == nil:
		return append(dst, right...), false, nil
	}
	in := r.ruleFor(p, right)
	switch in.name {
	case lastWriteWins:
		dst = append(dst, right...)
	case firstWriteWins:
		if left == nil {
			left = right
		}
		dst = append(dst, left...)
	case merge:
		dst, err = r.merge(dst, in, left, right, full)
	case appendItems:
		dst, err = joinArrays(dst, left, right)
	case sum:
		dst, err = addUp(dst, left, right)
	case minimize, maximize:
		dst = append(dst, extreme(in.strategy, left, right)...)
	case set:
		dst, err = r.reduceSet(dst, in, left, right, full)
	case jsonSchemaMerge:
		dst, err = joinSchemas(dst, left, right)
	}
	return dst, in.delete && full, err
}

// extreme returns the smaller or larger value, by the key or as a whole.
func extreme(s *strategy, left, right []byte) []byte {
	if left == nil {
		return right
	}
	c := compareBy(s.key, left, right)
	if s.name == minimize && c < 0 || s.name == maximize && c > 0 {
		return left
	}
	return right
}

// compareBy compares two values by the parts that a key names. What is absent counts as null.
func compareBy(key []rawjson.Pointer, a, b []byte) int {
	if len(key) == 0 {
		return rawjson.Compare(a, b)
	}
	for _, p := range key {
		x, _, _ := p.Find(a) // both are valid
		y, _, _ := p.Find(b)
		if c := rawjson.Compare(orNull(x), orNull(y)); c != 0 {
			return c
		}
	}
	return 0
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// joinArrays appends the items of both arrays.
func joinArrays(dst, left, right []byte) ([]byte, error) {
	for _, side := range [][]byte{left, right} {
		if side != nil && side[0] != '[' && !rawjson.IsNull(side) {
			return dst, wrong("append needs arrays, found %s", shorten(side))
		}
	}
	switch {
	case left == nil || rawjson.IsNull(right):
		return append(dst, right...), nil
	case rawjson.IsNull(left):
		return append(dst, left...), nil
	}
	a, b := inside(left), inside(right)
	dst = append(append(dst, '['), a...)
	if len(a) > 0 && len(b) > 0 {
		dst = append(dst, ',')
	}
	return append(append(dst, b...), ']'), nil
}

// inside is what stands between the brackets.
func inside(value []byte) []byte { return trim(value[1 : len(value)-1]) }

func joinSchemas(dst, left, right []byte) ([]byte, error) {
	if left == nil || rawjson.IsNull(left) || rawjson.IsNull(right) {
		return append(dst, right...), nil
	}
	joined, err := jsonschema.Join(left, right)
	if err != nil {
		return dst, wrong("jsonSchemaMerge needs schemas: %v", err)
	}
	return append(dst, joined...), nil
}

// shorten keeps the start of a value that goes into a sentence.
func shorten(value []byte) []byte {
	if len(value) <= 40 {
		return value
	}
	return append(bytes.ToValidUTF8(bytes.Clone(value[:40]), nil), "…"...)
}
