package columns

import (
	"strconv"
	"unicode/utf8"
)

// FieldError is what is wrong with one row; the next one may be fine.
type FieldError struct {
	Column string // as the header has it; "": it concerns the row as a whole
	Reason string // what follows the value in a sentence, or the sentence
	Value  string // clipped to 100 bytes
	// HasValue: Value is the field's, and not left out.
	HasValue bool
}

// MaxValue is how many bytes of a value an error quotes.
const MaxValue = 100

func (e *FieldError) Error() string {
	switch {
	case e.Column == "":
		return "reading a row: " + e.Reason
	case !e.HasValue:
		return "reading column " + strconv.Quote(e.Column) + ": " + e.Reason
	}
	return "reading column " + strconv.Quote(e.Column) + ": the value " + strconv.Quote(e.Value) + " " + e.Reason
}

func fieldError(column, reason string, value []byte) *FieldError {
	return &FieldError{Column: column, Reason: reason, Value: clip(value), HasValue: true}
}

// clip returns at most the first MaxValue bytes, whole characters.
func clip(value []byte) string {
	if len(value) <= MaxValue {
		return string(value)
	}
	end := MaxValue - len("…")
	for end > MaxValue-8 && !utf8.RuneStart(value[end]) {
		end--
	}
	return string(value[:end]) + "…"
}
