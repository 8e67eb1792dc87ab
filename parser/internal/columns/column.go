package columns

import (
	"bytes"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/jsontext"
)

const (
	// maxValue is how many bytes JSON may have that is a field's text: as many as a row (64 MiB).
	maxValue = 64 << 20
	// maxDepth is how many objects and arrays may be inside of each other in it.
	maxDepth = 512
)

// verdict is what became of a text.
type verdict uint8

const (
	written verdict = iota
	left            // it is no value, and the document may do without
	wrong           // it is of no type that the schema allows
	wide            // it is an integer of too many digits
	huge            // it is a number beyond float64
	garbled         // it is not UTF-8
)

// absence is what stands for a value that is not there.
type absence uint8

const (
	leaveOut absence = iota
	writeNull
	reject
)

// column turns the text of one column into JSON.
type column struct {
	header
	types   jsonschema.Types
	append  func(c *column, dst, text []byte, quoted bool) ([]byte, verdict)
	missing absence // the row is too short
	empty   absence // the text is empty, or NoValue, and that is no value of an allowed type

	nulls, trues, falses words
	keepsEmpty           bool // "" in quotes is no null
	noValue              []byte
	plainPoint           bool // a plain number may have a decimal point
	decimalComma         bool
	thousands            string
	offset               string // of times without one; "": times stay as they are
}

// newColumn plans a column whose location has a shape; known: the schema says something of it.
func newColumn(h header, s jsonschema.Shape, known, required bool, o *Options) *column {
	c := &column{header: h, types: s.Types, noValue: []byte(o.NoValue)}
	// What may be anything is text: no type is guessed from data.
	unknown := !known || s.Types == jsonschema.AnyTypes && s.Values == nil
	if unknown {
		c.types = jsonschema.String
	}
	nullable := !known || s.Types&jsonschema.Null != 0
	switch {
	case required && !nullable:
		c.missing, c.empty = reject, reject
	case required, o.MissingNull && nullable:
		c.missing = writeNull
	}
	if c.types&jsonschema.Null != 0 {
		c.empty = writeNull
		c.nulls = newWords(o.Nulls)
	}
	isString := c.types&jsonschema.String != 0
	c.trues, c.falses = newWords(o.Trues), newWords(o.Falses)
	c.trues.anyCase, c.falses.anyCase = !isString, !isString
	c.nulls.anyCase = false
	c.keepsEmpty = o.QuotedEmptyIsString && isString
	if !isString {
		c.decimalComma, c.thousands = o.DecimalComma, o.Thousands
	}
	c.plainPoint = c.types&jsonschema.Fraction != 0 && !c.decimalComma
	if isString && s.Format == "date-time" && known {
		c.offset = o.DefaultOffset
	}
	c.append = c.choose()
	return c
}

// choose returns the narrowest function for the column's types.
func (c *column) choose() func(*column, []byte, []byte, bool) ([]byte, verdict) {
	const null = jsonschema.Null
	if len(c.noValue) > 0 || c.offset != "" {
		return appendAny
	}
	switch c.types &^ null {
	case jsonschema.String:
		if c.types&null == 0 {
			return appendText
		}
		return appendTextOrNull
	default:
		return appendAny
	}
}

func looksNumeric(word string) bool {
	return word != "" && (word[0] == '-' || word[0]-'0' <= 9)
}

func appendText(_ *column, dst, text []byte, _ bool) ([]byte, verdict) {
	return appendString(dst, text)
}

func appendString(dst, text []byte) ([]byte, verdict) {
	if out, ok := jsontext.AppendStringStrict(dst, text); ok {
		return out, written
	}
	return dst, garbled
}

func appendTextOrNull(c *column, dst, text []byte, quoted bool) ([]byte, verdict) {
	if c.isNull(text, quoted) {
		return append(dst, "null"...), written
	}
	return appendString(dst, text)
}

// appendAny tries all types in their order, null, integer, number, boolean, array, object, string: the first counts that the text is of and the schema allows.
func appendAny(c *column, dst, text []byte, quoted bool) ([]byte, verdict) {
	if !quoted && len(c.noValue) > 0 && bytes.Equal(text, c.noValue) {
		return c.appendAbsence(dst, c.noValueIs())
	}
	if c.isNull(text, quoted) {
		return append(dst, "null"...), written
	}
	// Blanks around a value are not a part of it, unless it is a string.
	if trimmed := trim(text); len(trimmed) > 0 {
		out, v := c.appendTyped(dst, trimmed)
		if v == written || c.types&jsonschema.String == 0 {
			return out, v
		}
	} else if c.types&jsonschema.String == 0 {
		return c.appendAbsence(dst, c.empty)
	}
	if c.offset != "" {
		if out, ok := appendTime(dst, text, c.offset); ok {
			return out, written
		}
	}
	return appendString(dst, text)
}

// appendTyped tries all types but null and string on a text without blanks around it.
func (c *column) appendTyped(dst, text []byte) ([]byte, verdict) {
	failed := wrong
	if c.types&jsonschema.Number != 0 {
		out, v := c.appendNumber(dst, text)
		if v == written {
			return out, written
		}
		failed = v
	}
	if c.types&jsonschema.Boolean != 0 {
		switch {
		case c.trues.has(text):
			return append(dst, "true"...), written
		case c.falses.has(text):
			return append(dst, "false"...), written
		}
	}
	if text[0] == '[' && c.types&jsonschema.Array != 0 || text[0] == '{' && c.types&jsonschema.Object != 0 {
		if out, ok := jsontext.AppendValue(dst, text, jsontext.Options{MaxValue: maxValue, MaxDepth: maxDepth}); ok {
			return out, written
		}
	}
	return dst, failed
}

// appendAbsence writes what stands for a value that is not there.
func (c *column) appendAbsence(dst []byte, a absence) ([]byte, verdict) {
	switch a {
	case writeNull:
		return append(dst, "null"...), written
	case reject:
		return dst, wrong
	default:
		return dst, left
	}
}

// noValueIs is what stands for NoValue: null where the schema allows it, nothing where it does not insist.
func (c *column) noValueIs() absence {
	if c.types&jsonschema.Null != 0 {
		return writeNull
	}
	return c.empty
}

func (c *column) isNull(text []byte, quoted bool) bool {
	return c.nulls.has(text) && (len(text) > 0 || !quoted || !c.keepsEmpty)
}

// reason says why a text was not taken.
func (c *column) reason(v verdict, text []byte) string {
	switch {
	case v == wide:
		return "is an integer of more than 40 digits"
	case v == garbled:
		return "is not valid UTF-8"
	case v == huge:
		return "is beyond the numbers of 64 bits, which reach to 1.8e308"
	case len(trim(text)) == 0 || len(c.noValue) > 0 && bytes.Equal(text, c.noValue):
		return "is no value, and the schema requires one"
	}
	var kinds []string
	for _, name := range c.types.Names() {
		if named := nouns[name]; named != "" {
			kinds = append(kinds, named)
		}
	}
	switch len(kinds) {
	case 0:
		return "is not null"
	case 1:
		return "is not " + kinds[0]
	}
	return "is neither " + strings.Join(kinds[:len(kinds)-1], ", ") + " nor " + kinds[len(kinds)-1]
}

// nouns are what people call a type. Null is not mentioned where there is another.
var nouns = map[string]string{"array": "a JSON array", "boolean": "a boolean", "integer": "an integer", "number": "a number", "object": "a JSON object", "string": "a string"}

// words is a list of texts with a meaning.
type words struct {
	list    []string
	lengths uint64 // bit n: one of n bytes is in the list; bit 63: one of 63 or more
	anyCase bool
}

func newWords(list []string) words {
	w := words{list: list}
	for _, word := range list {
		w.lengths |= 1 << min(len(word), 63)
	}
	return w
}

func (w *words) any(is func(string) bool) bool { return slices.ContainsFunc(w.list, is) }

func (w *words) has(text []byte) bool {
	return w.lengths>>min(len(text), 63)&1 != 0 && w.contains(text)
}

func (w *words) contains(text []byte) bool {
	for _, word := range w.list {
		if string(text) == word || w.anyCase && len(text) == len(word) && strings.EqualFold(string(text), word) {
			return true
		}
	}
	return false
}
